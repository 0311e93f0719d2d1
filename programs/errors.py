"""The errors that demur raises itself.

Every message says what is wrong, where, what was found, what was expected and what to do. The command line
shows a `DemurError` as one line, without a traceback; anything else is a bug.
"""


class DemurError(Exception):
    """Base of all errors that demur raises."""


class InputError(DemurError):
    """The user's input is wrong: an option, a file, a row, an argument of a program."""


class ImageError(InputError):
    """A picture cannot be used: not there, empty, truncated, no picture, or far too large."""


class RecordingError(DemurError):
    """A recording does not fit the program or the case that it is replayed for."""
