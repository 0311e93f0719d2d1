"""The application: command line, models, the simulated model, reports."""

from demur.models import make_lm

__all__ = ["make_lm"]
