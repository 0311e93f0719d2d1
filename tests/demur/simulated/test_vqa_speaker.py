"""First answers and their confidence: the rates of the law, its temperatures, and what agreement tells."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from demur.simulated import law, vqa_law
from demur.simulated.noise import logit, mixed, shifted, uniform
from demur.simulated.truth import truth_of
from demur.simulated.vqa_law import Strategy
from demur.simulated.vqa_speaker import first_sight, probability_of_being_right, reported
from signatures import AnswerByAskingYourself, AnswerOpenly, AnswerStepByStep, AnswerWithDocuments
from tests.demur.simulated.vqa_asks import ASKED, about, ask

BY_FIELDS = {"openly": AnswerOpenly, "step by step": AnswerStepByStep, "self-ask": AnswerByAskingYourself}
SEEDS = range(3)


@cache
def _outcomes(strategy: Strategy) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of the confidence, and whether the answer is right, for all cases and seeds."""
    said = [(about(BY_FIELDS[strategy], case, seed), case) for seed in SEEDS for case in ASKED]
    sure = [logit(one.claims["answer"].probability) for one, _ in said]
    return np.array(sure), np.array([one.values["answer"] == case[1].label for one, case in said])


@pytest.mark.parametrize("strategy", BY_FIELDS)
def test_a_confidence_has_the_temperature_and_the_offset_of_its_strategy(strategy: Strategy) -> None:
    sure, right = _outcomes(strategy)

    def loss(line: np.ndarray) -> float:
        return float(np.logaddexp(0, np.where(right, -1, 1) * line[0] * (sure - line[1])).mean())

    temperature, offset = minimize(loss, np.array([1.0, 0.0]), method="Nelder-Mead").x
    assert temperature == pytest.approx(vqa_law.TEMPERATURE[strategy], abs=0.06)
    assert offset == pytest.approx(vqa_law.OFFSET[strategy], abs=0.35)


@pytest.mark.parametrize("strategy", BY_FIELDS)
def test_it_is_too_high_and_temperature_scaling_nearly_repairs_it(strategy: Strategy) -> None:
    sure, right = _outcomes(strategy)
    temperature = minimize(
        lambda one: float(np.logaddexp(0, np.where(right, -1, 1) * one[0] * sure).mean()), [1.0], method="Nelder-Mead"
    ).x[0]
    raw, scaled = (_gap(1 / (1 + np.exp(-factor * sure)), right) for factor in (1.0, temperature))
    assert raw > 0.09 and scaled < 0.06 and scaled < raw / 2


def _gap(confidence: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error."""
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(abs(confidence[place == one].sum() - right[place == one].sum()) / len(right) for one in range(bins))


@pytest.mark.parametrize("strategy", BY_FIELDS)
def test_strategies_err_at_their_rates(strategy: Strategy) -> None:
    truths = [truth_of(ask(AnswerOpenly, question.text, scene).given) for scene, question in ASKED]
    expected = np.mean([shifted(law.ERROR[truth.kind], vqa_law.SHIFT[strategy]) for truth in truths])
    _, right = _outcomes(strategy)
    assert 1 - right.mean() == pytest.approx(expected, abs=0.03)


def test_the_probability_of_being_right_is_one() -> None:
    """Among cases that are equally clear, so many are right."""
    draws = [[uniform(name, number) for name in ("own", "shared", "else")] for number in range(6000)]
    noticed = np.array([mixed(own, other, vqa_law.CLARITY) for own, _, other in draws])
    right = np.array([mixed(shared, own, law.SHARED) >= 0.4 for own, shared, _ in draws])
    known = np.array([probability_of_being_right(0.4, one) for one in noticed])
    assert right.mean() == pytest.approx(0.6, abs=0.02)
    for low, high in ((0.0, 0.25), (0.25, 0.75), (0.75, 1.0)):
        chosen = (low <= noticed) & (noticed < high)
        assert right[chosen].mean() == pytest.approx(known[chosen].mean(), abs=0.03)


def test_a_reported_confidence_is_stretched_and_within_bounds() -> None:
    assert logit(reported(0.8, "openly", 0.5)) == pytest.approx(logit(0.8) / 0.40 + 1.3)
    assert logit(reported(0.8, "openly", 0.975)) > logit(reported(0.8, "openly", 0.5)) + 0.5
    assert (reported(0.001, "background", 0.5), reported(0.999, "background", 0.5)) == vqa_law.RANGE


def test_speakers_share_errors_and_agreement_tells_more() -> None:
    """Of two specialists, both are wrong more often than by chance, and right more often where they agree."""
    outcomes = {name: _outcomes(name)[1] for name in ("step by step", "self-ask")}
    one, other = outcomes.values()
    assert (~one & ~other).mean() > (~one).mean() * (~other).mean() + 0.02
    agree = one == other
    assert one[agree].mean() > one.mean() + 0.05


def test_documents_about_the_object_help_and_others_hurt() -> None:
    def errors(*texts: str) -> float:
        wrong = 0
        for scene, question in ASKED[:600]:
            found = [{"title": "Found", "text": text.format(question.object)} for text in texts]
            asked = ask(AnswerWithDocuments, question.text, scene, documents=found)
            wrong += not first_sight(asked, truth_of(asked.given), 0, 0, "search").right
        return wrong / 600

    about_it, beside, none = errors("What is called {} is round."), errors("Nothing of use."), errors()
    assert about_it < none - 0.01 and none < beside - 0.03
