"""What can be read off a predictor."""

from typing import cast

import dspy


def signature_of(predictor: dspy.Predict) -> type[dspy.Signature]:
    """The signature of a predictor; dspy annotates the attribute as an instance."""
    return cast("type[dspy.Signature]", predictor.signature)


def role_of(predictor_name: str) -> str:
    """The role that a predictor speaks for: the first part of its name.

    >>> role_of("debater_a.open"), role_of("judge")
    ('debater_a', 'judge')
    """
    return predictor_name.split(".")[0].split("[")[0]
