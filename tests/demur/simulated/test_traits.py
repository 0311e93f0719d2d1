"""What prompts say: advice, persona, and words that mean nothing."""

import pytest

from demur.simulated.kinds import MISSES
from demur.simulated.speaker import prompt_shift
from demur.simulated.traits import BY_NAME, EVERY_KIND, NEUTRAL_SENTENCES, TRAITS, persona_of, traits_of
from signatures import CONSERVATIVE, IMAGINATIVE, visual

ROLES = [role for role in vars(visual).values() if hasattr(role, "instructions")]


def _names(text: str) -> list[str]:
    return [trait.name for trait in traits_of(text)]


@pytest.mark.parametrize("trait", TRAITS, ids=lambda trait: trait.name)
def test_a_proposed_sentence_has_its_own_trait_only(trait) -> None:
    assert _names(trait.sentence) == [trait.name]
    assert persona_of(trait.sentence) == 0


@pytest.mark.parametrize("sentence", NEUTRAL_SENTENCES)
def test_neutral_sentences_do_nothing(sentence: str) -> None:
    assert all(prompt_shift(sentence, kind) == 0 for kind in EVERY_KIND)


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.__name__)
def test_the_prompts_that_optimizers_start_from_have_no_effect(role) -> None:
    assert all(prompt_shift(role.instructions, kind) == 0 for kind in EVERY_KIND)


def test_the_personas_are_the_two_ends() -> None:
    assert (persona_of(CONSERVATIVE.text), persona_of(IMAGINATIVE.text)) == (1, -1)
    assert _names(CONSERVATIVE.text) == _names(IMAGINATIVE.text) == []
    assert persona_of("Be cautious.") == 0.5


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Do not guess, and never answer quickly.", []),
        ("Rather than guess, look again.", []),
        ("Guess. Do not guess.", ["guess"]),
        ("SCAN EACH CORNER; check every region.", ["every region"]),
        ("Do not assume that the usual things are there.", ["no inference"]),
        ("Be polite. The other observer disagrees with you.", []),
        ("Is it one of the things that are often confused? Say no if in doubt.", ["look-alikes", "visible evidence"]),
    ],
)
def test_advice_is_recognised_in_other_words(text: str, names: list[str]) -> None:
    assert _names(text) == names


def test_shifts_of_distinct_traits_add_up_to_the_cap() -> None:
    look, small = BY_NAME["every region"].sentence, BY_NAME["small things"].sentence
    assert prompt_shift(f"{look} {look}", "miss small") == pytest.approx(-0.5)
    assert prompt_shift(f"{look} {small}", "miss small") == pytest.approx(-1.4)
    everything = " ".join(trait.sentence for trait in TRAITS if trait.helpful)
    assert prompt_shift(everything, "visual similarity") == pytest.approx(-1.5)
    assert prompt_shift(f"{CONSERVATIVE.text} {everything}", "visual similarity") == pytest.approx(-1.5 - 0.9)


def test_every_kind_of_error_has_a_remedy_and_a_harm() -> None:
    for kind in EVERY_KIND:
        shifts = [trait.shifts.get(kind, 0) for trait in TRAITS]
        assert min(shifts) <= -0.5 and max(shifts) >= 0.4, kind
    assert sum(BY_NAME["visible evidence"].shifts[kind] for kind in MISSES) > 0
