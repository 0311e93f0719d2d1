"""Whole programs as files that need no DSPy: `python_file` and `inspect_file` make them; the rest is how."""
