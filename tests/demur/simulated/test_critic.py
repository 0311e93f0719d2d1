"""The critic of documents, searches and answers errs at the stated rates and is swayed by arguments."""

from dataclasses import replace

import pytest

from demur.simulated import text_law
from demur.simulated.critic import OPPONENT, PROPONENT, stance_on_document
from demur.simulated.noise import shifted
from demur.simulated.parse import Ask, Field
from demur.simulated.text_traits import TEXT_BY_NAME
from evals.benchmarks.base import Case
from signatures import (
    AssessAnswer,
    AssessRelevance,
    AttackDocument,
    AttackSearch,
    DefendDocument,
    DefendSearch,
    JudgeDocument,
    JudgeSearch,
)
from tests.demur.simulated.text_asks import CASES, IRRELEVANT, Document, ask, cases, contradicted, documents, fact, say

SEEDS = range(3)
SHOWN = {
    "supports": lambda case: documents(case)[0],
    "misleads": contradicted,
    "irrelevant": lambda case: IRRELEVANT[0],
}
STANDINGS = list(SHOWN)


def _share(asks: list[Ask], field: str, value: str) -> float:
    said = [say(one, seed)[field] == value for seed in SEEDS for one in asks]
    return sum(said) / len(said)


def _argue(role: type, case: Case, standing: str, heard: str = "none", advice: str | None = None) -> Ask:
    return ask(role, case, advice, document=SHOWN[standing](case), own_argument="none", other_argument=heard)


@pytest.mark.parametrize("standing", STANDINGS)
def test_sides_hold_what_they_hold_at_the_stated_rates(standing: str) -> None:
    for role, rates in ((DefendDocument, text_law.CONCEDES), (AttackDocument, text_law.ATTACKS)):
        drops = _share([_argue(role, case, standing) for case in CASES], "holds", "drop")
        assert drops == pytest.approx(rates[standing], abs=0.04)


def test_an_argument_of_the_other_side_helps_if_it_is_right() -> None:
    right = say(_argue(AttackDocument, CASES[0], "irrelevant"))["argument"]
    assert "to be dropped" in right
    plain, taught, misled = (
        _share([_argue(DefendDocument, case, "misleads", heard) for case in CASES], "holds", "keep")
        for heard in ("none", right, "The document is to be kept, I say.")
    )
    assert taught == pytest.approx(shifted(plain, text_law.ANSWERED["right"]), abs=0.04)
    assert taught < plain - 0.1 < plain < misled


def test_the_sides_are_told_apart_by_their_fields_and_else_by_their_prompts() -> None:
    for role, name in ((DefendDocument, PROPONENT), (AttackDocument, OPPONENT)):
        asked = _argue(role, CASES[0], "supports", advice="Do it well.")
        assert stance_on_document(asked) == name
        blank = replace(_argue(role, CASES[0], "supports"), outputs=(Field("argument", "str"), Field("holds", "str")))
        assert stance_on_document(blank) == name


def _ruled(case: Case, standing: str, holds: tuple[str, str] = ("keep", "drop"), reply: str = "", **settings) -> Ask:
    sides = [{"argument": f"{reply}It is as I say.", "holds": held} for held in holds]
    return ask(
        JudgeDocument, case, document=SHOWN[standing](case), first_side=sides[0], second_side=sides[1], **settings
    )


def _error(standing: str, **settings) -> float:
    right = "keep" if standing == "supports" else "drop"
    return 1 - _share([_ruled(case, standing, **settings) for case in CASES], "ruling", right)


@pytest.mark.parametrize("standing", STANDINGS)
def test_the_ruling_errs_at_the_stated_rates(standing: str) -> None:
    lean = -text_law.JUDGE_FIRST if standing == "supports" else text_law.JUDGE_FIRST
    base = text_law.RULING_ERROR[standing]
    assert _error(standing) == pytest.approx(shifted(base, lean), abs=0.04)
    assert _error(standing, holds=("drop", "keep")) == pytest.approx(shifted(base, -lean), abs=0.04)
    replied = _error(standing, reply="In reply: ")
    assert replied == pytest.approx(shifted(base, lean + text_law.REPLIED), abs=0.04)
    right = "keep" if standing == "supports" else "drop"
    assert _error(standing, holds=(right, right)) < 0.06
    wrong = "drop" if standing == "supports" else "keep"
    assert _error(standing, holds=(wrong, wrong)) == pytest.approx(text_law.RULING_AGREED["wrong"], abs=0.04)


def test_advice_helps_the_critic_where_it_is_about_that() -> None:
    careful = TEXT_BY_NAME["against knowledge"].sentence
    assert _error("misleads", instructions=careful) < _error("misleads", instructions="") - 0.08
    assert _error("supports", instructions=careful) == _error("supports", instructions="")
    assert (
        _error("supports", instructions=TEXT_BY_NAME["drop all"].sentence) > _error("supports", instructions="") + 0.1
    )


def _searched(role: type, case: Case, found: list[Document], **more) -> Ask:
    return ask(role, case, queries=[case.question], documents=found, **more)


def test_the_opponent_of_a_search_names_what_is_missing() -> None:
    made = cases("two-hop")
    for found, rate in ((lambda case: documents(case)[:1], "shown"), (lambda case: IRRELEVANT, "memory")):
        said = [say(_searched(AttackSearch, case, found(case)), seed) for seed in SEEDS for case in made]
        links = [fact(case).link for _ in SEEDS for case in made]
        named = [link in one["new_query"] for one, link in zip(said, links, strict=True)]
        assert sum(named) / len(named) == pytest.approx(text_law.PROPOSES_LINK[rate], abs=0.07)
        for one in said:
            assert (one["action"] == "none") == (one["new_query"] == "")
            assert (one["action"] == "rewrite") == (one["old_query"] != "")
            assert not set("\"'()[]") & set(one["new_query"])
        assert {one["action"] for one in said} == {"add", "rewrite", "none"}


def test_the_opponent_of_a_good_search_mostly_has_nothing_to_say() -> None:
    asks = [_searched(AttackSearch, case, documents(case)) for case in CASES]
    assert _share(asks, "action", "none") == pytest.approx(1 - text_law.NEEDLESS, abs=0.04)


def test_the_judge_of_a_search_errs_at_the_stated_rates() -> None:
    def asks(found: int | None, argument: str = "It lacks something. ") -> list[Ask]:
        made = []
        for case in cases("two-hop"):
            pro, opp = {"side": "proponent", "argument": "It suffices."}, {"side": "opponent", "argument": argument}
            if argument == "named":
                opp["argument"] = f"{fact(case).link} is missing."
            made.append(_searched(JudgeSearch, case, documents(case)[:found], first_side=pro, second_side=opp))
        return made

    against = text_law.JUDGE_FIRST - text_law.JUDGE_LONGER
    assert _share(asks(1), "winner", "proponent") == pytest.approx(shifted(0.22, against), abs=0.06)
    assert _share(asks(1, "named"), "winner", "proponent") < 0.18
    assert _share(asks(None), "winner", "opponent") == pytest.approx(shifted(0.22, -against), abs=0.06)


def test_the_proponent_of_a_search_argues() -> None:
    assert "suffice" in say(_searched(DefendSearch, CASES[0], IRRELEVANT))["argument"]


@pytest.mark.parametrize("standing", STANDINGS)
def test_relevance_is_found_at_the_stated_rates(standing: str) -> None:
    asks = [ask(AssessRelevance, case, document=SHOWN[standing](case)) for case in CASES]
    assert _share(asks, "relevant", "yes") == pytest.approx(text_law.RELEVANT[standing], abs=0.04)


def test_answers_that_a_document_states_are_found_supported() -> None:
    made = cases("one-hop")

    def asks(right: bool) -> list[Ask]:
        answers = [(case, case.label[0] if right else "Nobody") for case in made]
        return [
            ask(AssessAnswer, case, document=documents(case)[0], answer=text, reason="So.") for case, text in answers
        ]

    assert _share(asks(True), "supported", "fully") == pytest.approx(text_law.SUPPORTED["stated"], abs=0.05)
    assert _share(asks(False), "supported", "no") == pytest.approx(1 - text_law.SUPPORTED["absent"], abs=0.05)
    for right in (True, False):
        useful = [say(one, seed)["useful"] for seed in SEEDS for one in asks(right)]
        share = sum(number >= 4 for number in useful) / len(useful)
        assert share == pytest.approx(text_law.USEFUL["right" if right else "wrong"], abs=0.05)
        assert set(useful) == {2, 3, 4, 5}
