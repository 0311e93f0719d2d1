"""What prompts for text roles say, and words that mean nothing."""

import pytest

import signatures
from demur.simulated.text_law import TEXT_KINDS
from demur.simulated.text_speaker import text_shift
from demur.simulated.text_traits import TEXT_BY_NAME, TEXT_NEUTRAL_SENTENCES, TEXT_TRAITS, text_traits_of
from demur.simulated.traits import persona_of
from signatures import rag

ROLES = [role for name, role in vars(rag).items() if name in signatures.__all__ and hasattr(role, "instructions")]


def _names(text: str) -> list[str]:
    return [trait.name for trait in text_traits_of(text)]


@pytest.mark.parametrize("trait", TEXT_TRAITS, ids=lambda trait: trait.name)
def test_a_proposed_sentence_has_its_own_trait_only(trait) -> None:
    assert _names(trait.sentence) == [trait.name]
    assert persona_of(trait.sentence) == 0


@pytest.mark.parametrize("text", [*TEXT_NEUTRAL_SENTENCES, *(role.instructions for role in ROLES)])
def test_neutral_sentences_and_the_prompts_that_optimizers_start_from_do_nothing(text: str) -> None:
    assert all(text_shift(text, kind) == 0 for kind in TEXT_KINDS)


def test_traits_count_once_and_are_capped() -> None:
    careful = TEXT_BY_NAME["against knowledge"].sentence
    assert text_shift(f"{careful} {careful}", "credulity") == pytest.approx(-1.0)
    everything = " ".join(trait.sentence for trait in TEXT_TRAITS if trait.helpful)
    assert text_shift(everything, "reading") == pytest.approx(-1.5)


def test_every_kind_of_error_has_a_remedy_and_a_harm() -> None:
    for kind in TEXT_KINDS:
        shifts = [trait.shifts.get(kind, 0) for trait in TEXT_TRAITS]
        assert min(shifts) <= -0.3 and max(shifts) >= 0.3, kind
    assert _names("Do not guess, and never answer quickly.") == []
