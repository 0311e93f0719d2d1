"""The application: command line, models, the simulated model, reports."""

from importlib.metadata import version

from demur.models import make_lm

__all__ = ["__version__", "make_lm"]

__version__ = version("demur")
