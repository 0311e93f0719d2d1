"""Reading a yes or a no out of what a model, or another tool, said."""

from evals.reading.types import Language, Reading
from evals.reading.verdict import compat_verdict, read_verdict

__all__ = ["Language", "Reading", "compat_verdict", "read_verdict"]
