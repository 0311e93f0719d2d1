"""What documents do for an answer: support it, mislead, or nothing."""

import json
from pathlib import Path

import pytest

from demur.simulated.documents import read_documents, said_instead, standing_of_document
from demur.simulated.knowledge import fact_of, learn
from evals.benchmarks.base import Case
from programs.retrieval.base import Passage
from tests.demur.simulated.text_asks import CASES, IRRELEVANT, cases, contradicted, documents, fact


@pytest.mark.parametrize("case", CASES[:40], ids=lambda case: case.id)
def test_supporting_passages_are_complete_together(case: Case) -> None:
    reading = read_documents(fact(case), [*IRRELEVANT, *documents(case)])
    assert reading.complete and list(reading.supporting) == documents(case)
    assert list(reading.irrelevant) == IRRELEVANT and not reading.misleading
    if len(documents(case)) > 1:
        assert not read_documents(fact(case), documents(case)[:1]).complete


@pytest.mark.parametrize("case", CASES[:40], ids=lambda case: case.id)
def test_a_contradicted_passage_misleads_to_what_it_says(case: Case) -> None:
    wrong = contradicted(case)
    assert standing_of_document(fact(case), wrong) == "misleads"
    reading = read_documents(fact(case), [*documents(case)[:-1], wrong])
    assert not reading.complete and list(reading.misleading) == [wrong]
    assert said_instead(fact(case), [wrong]) == fact(case).wrong[0]


def test_a_number_that_is_in_no_pool_is_found_by_its_form() -> None:
    case = next(case for case in cases("one-hop") if case.label[0].isdigit())
    document = documents(case)[0]
    shown = {**document, "text": document["text"].replace(case.label[0], "1066")}
    assert said_instead(fact(case), [shown]) == "1066"
    assert said_instead(fact(case), [{"title": "A", "text": "It says nothing."}]) is None


def test_a_text_that_says_nothing_of_its_title_is_irrelevant() -> None:
    case = cases("one-hop")[0]
    off = {"title": documents(case)[0]["title"], "text": "The weather was fine."}
    assert standing_of_document(fact(case), off) == "irrelevant"


def _learnt(question: str, answer: str, titles: list[str] | None) -> None:
    truth = {} if titles is None else {"supporting_titles": titles}
    learn([Case(question, question, [answer], "g", dict, truth=truth)])


def test_where_only_the_answer_is_known_one_of_the_supporting_passages_must_hold_it() -> None:
    _learnt("Where was the maker of the Vase born?", "Bath, Maine", ["Vase", "Ada King"])
    fact = fact_of("Where was the maker of the Vase born?")
    first = {"title": "Vase", "text": "The Vase was made by Ada King."}
    good = {"title": "Ada King", "text": "Ada King was born in Bath, Maine."}
    bad = {"title": "Ada King", "text": "Ada King was born in Bristol."}
    assert read_documents(fact, [first, good]).complete
    assert list(read_documents(fact, [first, bad]).misleading) == [bad]
    assert standing_of_document(fact, bad) == "supports"  # alone it could be the one that leads to the other
    learn([], [Passage("1", bad["title"], bad["text"], metadata={"corruption": "contradicted"})])
    assert standing_of_document(fact, bad) == "misleads"


def test_without_supporting_titles_what_states_the_answer_supports_it() -> None:
    _learnt("Who painted the Night?", "Ada King", None)
    fact = fact_of("Who painted the Night?")
    assert standing_of_document(fact, {"title": "X", "text": "It is by Ada King."}) == "supports"
    assert standing_of_document(fact, {"title": "X", "text": "It is by Ada Kingsley."}) == "irrelevant"
    _learnt("Could a penguin swim across the channel?", "yes", None)
    swims = fact_of("Could a penguin swim across the channel?")
    assert standing_of_document(swims, {"title": "X", "text": "A penguin near the channel."}) == "supports"
    assert standing_of_document(swims, {"title": "X", "text": "A penguin."}) == "irrelevant"


def test_the_supporting_passages_of_hotpotqa_are_complete_together(shared_data: Path) -> None:
    texts: dict[str, str] = {}
    for line in (shared_data / "qa" / "hotpotqa_100_corpus.jsonl").read_text("utf-8").splitlines():
        title, _, text = json.loads(line)["contents"].partition("\n")
        texts[title.strip('"')] = text
    rows = [json.loads(line) for line in (shared_data / "qa" / "hotpotqa_100_questions.jsonl").open(encoding="utf-8")]
    titles = {row["question"]: row["metadata"]["supporting_titles"] for row in rows}
    learn(
        Case(name, name, row["golden_answers"], "g", dict, truth={"supporting_titles": titles[name]})
        for row in rows
        for name in [row["question"]]
    )
    complete = 0
    for question, names in titles.items():
        shown = [{"title": name, "text": texts[name]} for name in names if name in texts]
        assert fact_of(question).kind in ("two-hop", "yes/no")
        complete += read_documents(fact_of(question), shown).complete
    assert complete == 99  # one golden answer spells a name otherwise than its passage
