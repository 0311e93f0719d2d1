"""What can be read off a predictor."""

from typing import cast

import dspy

from programs.errors import InputError


def signature_of(predictor: dspy.Predict) -> type[dspy.Signature]:
    """The signature of a predictor; dspy annotates the attribute as an instance."""
    return cast("type[dspy.Signature]", predictor.signature)


def role_of(predictor_name: str) -> str:
    """The role that a predictor speaks for: the first part of its name.

    >>> role_of("debater_a.open"), role_of("judge")
    ('debater_a', 'judge')
    """
    return predictor_name.split(".")[0].split("[")[0]


def refuse_identical_samples(predictor: dspy.Predict, samples: str) -> None:
    """Raise `InputError` if the predictor's model would give the same answer every time, each of them paid."""
    lm = predictor.lm or dspy.settings.lm
    if lm is not None and lm.kwargs.get("temperature") == 0:
        raise InputError(
            f"{samples} at temperature 0 give the same answer again; give a temperature above 0 (--temperature 0.7)"
        )
