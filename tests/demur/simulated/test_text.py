"""The roles that answer text questions: every format, the same answers again, and errors at the stated rates."""

import random
from collections.abc import Callable

import dspy
import pytest

import signatures
from demur.simulated import simulated_lm, text_law
from demur.simulated.knowledge import learn
from demur.simulated.noise import shifted
from demur.simulated.parse import Ask, Demonstration, Values
from demur.simulated.text import answer_text
from demur.simulated.text_traits import TEXT_BY_NAME
from evals.benchmarks.base import Case
from evals.benchmarks.facts import Facts
from programs import make_program
from programs.retrieval import in_memory
from signatures import (
    AnswerFromDocuments,
    AnswerFromMemory,
    AnswerFromThoughts,
    DecideRetrieval,
    ThinkOneStep,
    WriteNextSentence,
    rag,
)
from tests.demur.simulated.asks import ADAPTERS, Recorder
from tests.demur.simulated.text_asks import (
    CASES,
    IRRELEVANT,
    ask,
    cases,
    contradicted,
    documents,
    fact,
    said,
    say,
)

SEEDS = range(6)
KINDS = {"one-hop": "one-hop", "two-hop": "two-hop", "yes-no": "yes/no"}
ROLES = [role for name, role in vars(rag).items() if name in signatures.__all__ and hasattr(role, "instructions")]


def _wrong(made: list[Case], asked: Callable[[Case], Ask]) -> set[tuple[str, int]]:
    asks = [(case, asked(case)) for case in made]
    return {
        (case.id, seed) for seed in SEEDS for case, one in asks if not fact(case).is_right(say(one, seed)["answer"])
    }


def _rate(made: list[Case], asked: Callable[[Case], Ask]) -> float:
    return len(_wrong(made, asked)) / (len(made) * len(SEEDS))


def _recall(case: Case) -> Ask:
    return ask(AnswerFromMemory, case)


def _read(case: Case) -> Ask:
    return ask(AnswerFromDocuments, case, documents=documents(case))


def _within(rate: float, expected: float, made: list[Case]) -> bool:
    """Within four standard errors of a binomial share; more than half of the chance is drawn anew for each seed."""
    return abs(rate - expected) < 4 * (expected * (1 - expected) / (len(made) * len(SEEDS))) ** 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_memory_errs_at_the_stated_rates(kind: str) -> None:
    made = cases(kind)
    assert _within(_rate(made, _recall), text_law.MEMORY_ERROR[KINDS[kind]], made)


def test_all_speakers_misremember_the_same_thing_and_often_together() -> None:
    made = cases("one-hop")
    other = lambda case: ask(AnswerFromDocuments, case, documents=[])  # noqa: E731
    first, second = _wrong(made, _recall), _wrong(made, other)
    assert len(first & second) / len(first) > len(second) / (len(made) * len(SEEDS)) + 0.1
    assert first - second and second - first
    for case in made:
        answers = {say(one, 0)["answer"] for one in (_recall(case), other(case))}
        assert answers <= {fact(case).answers[0], fact(case).wrong[0]}


@pytest.mark.parametrize("kind", KINDS)
def test_documents_that_hold_the_answer_are_read_at_the_stated_rate(kind: str) -> None:
    made = cases(kind)
    assert _within(_rate(made, _read), text_law.READING_ERROR, made)
    crowd = lambda case: ask(AnswerFromDocuments, case, documents=[*IRRELEVANT, *documents(case)])  # noqa: E731
    assert _within(_rate(made, crowd), shifted(text_law.READING_ERROR, 0.4), made)
    assert _wrong(made, _read) <= _wrong(made, crowd)


@pytest.mark.parametrize("kind", ["two-hop", "yes-no"])
def test_a_part_of_the_documents_helps_in_part(kind: str) -> None:
    made = cases(kind)
    rate = _rate(made, lambda case: ask(AnswerFromDocuments, case, documents=documents(case)[:1]))
    assert _within(rate, text_law.PARTIAL_ERROR[KINDS[kind]], made)


def test_misleading_documents_are_believed_at_the_stated_rate() -> None:
    made = cases("one-hop")
    asks = [(case, ask(AnswerFromDocuments, case, documents=[contradicted(case)])) for case in made]
    believed = [say(one, seed) for seed in SEEDS for _, one in asks]
    share = sum("document" in answer["reason"] for answer in believed) / len(believed)
    assert _within(share, text_law.CREDULITY, made)
    for answer, (case, _) in zip(believed, asks * len(SEEDS), strict=True):
        if "document" in answer["reason"]:
            assert answer["answer"] == fact(case).wrong[0]


def test_irrelevant_documents_are_no_help_and_make_some_invent() -> None:
    made = cases("one-hop")
    rate = _rate(made, lambda case: ask(AnswerFromDocuments, case, documents=IRRELEVANT))
    memory = text_law.MEMORY_ERROR["one-hop"]
    assert _within(rate, memory + (1 - memory) * text_law.INVENTION, made)


def test_order_of_documents_changes_nothing() -> None:
    for case in CASES[:60]:
        shown = [*IRRELEVANT, *documents(case)[:1]]
        mixed = random.Random(case.id).sample(shown, len(shown))
        first, second = (ask(AnswerFromDocuments, case, documents=order) for order in (shown, mixed))
        assert say(first) == say(second)


def test_advice_mends_errors_and_makes_none() -> None:
    made = cases("one-hop")
    misled = lambda advice: lambda case: ask(AnswerFromDocuments, case, advice, documents=[contradicted(case)])  # noqa: E731
    plain = _wrong(made, misled(""))
    careful = _wrong(made, misled(TEXT_BY_NAME["against knowledge"].sentence))
    assert careful < plain == _wrong(made, misled("Be polite. You are an expert."))
    assert len(careful) < 0.93 * len(plain)
    assert plain < _wrong(made, misled(TEXT_BY_NAME["trust the document"].sentence))
    assert plain < _wrong(made, misled(TEXT_BY_NAME["hurry"].sentence))


def test_right_demonstrations_help_and_wrong_ones_hurt() -> None:
    made, shown = cases("one-hop")[6:], cases("one-hop")[:6]

    def demonstrations(right: bool) -> tuple[Demonstration, ...]:
        return tuple(
            Demonstration(Values({"question": case.question}), Values({"answer": case.label[0] if right else "nobody"}))
            for case in shown
        )

    def asked(demos: tuple[Demonstration, ...]) -> Callable[[Case], Ask]:
        return lambda case: ask(AnswerFromMemory, case, demonstrations=demos)

    plain, taught = _wrong(made, _recall), _wrong(made, asked(demonstrations(True)))
    assert taught < plain < _wrong(made, asked(demonstrations(False)))
    expected = shifted(text_law.MEMORY_ERROR["one-hop"], 4 * -0.3)
    assert _within(len(taught) / len(made) / len(SEEDS), expected, made)


def test_a_reason_names_the_link_so_that_a_search_can_find_it() -> None:
    made = cases("two-hop")
    first = [say(ask(AnswerFromDocuments, case, documents=documents(case)[:1])) for case in made]
    known = [fact(case).link in answer["reason"] for case, answer in zip(made, first, strict=True)]
    assert sum(known) / len(known) == pytest.approx(text_law.KNOWS_LINK["shown"], abs=0.1)


@pytest.mark.parametrize(
    ("role", "before", "step"),
    [(WriteNextSentence, "written", "sentence"), (ThinkOneStep, "thoughts", "thought")],
)
def test_steps_lead_to_the_link_and_then_to_the_answer(role: type[dspy.Signature], before: str, step: str) -> None:
    made = cases("two-hop")
    named = 0
    for case in made:
        first = say(ask(role, case, documents=documents(case)[:1], **{before: []}))
        assert first["answer"] == "" and case.question.rstrip("?") in first[step]
        named += fact(case).link in first[step]
        second = say(ask(role, case, documents=documents(case), **{before: [first[step]]}))
        assert second["answer"] and second["answer"] in second[step]
    assert named / len(made) == pytest.approx(text_law.KNOWS_LINK["shown"], abs=0.1)
    for case in cases("one-hop")[:20]:
        assert say(ask(role, case, documents=[], **{before: []}))["answer"]


def test_thoughts_that_name_the_link_help() -> None:
    made = cases("two-hop")

    def asked(thoughts: Callable[[Case], list[str]]) -> Callable[[Case], Ask]:
        return lambda case: ask(AnswerFromThoughts, case, documents=documents(case)[:1], thoughts=thoughts(case))

    assert _wrong(made, asked(lambda case: [f"It is about {fact(case).link}."])) < _wrong(made, asked(lambda _: []))


def test_who_does_not_know_wants_to_look_something_up() -> None:
    made = cases("one-hop")
    wrong = _wrong(made, _recall)
    everything = {(case.id, seed): ask(DecideRetrieval, case) for seed in SEEDS for case in made}
    wants = {key for key, asked in everything.items() if say(asked, key[1])["retrieve"] == "yes"}
    assert len(wants & wrong) / len(wrong) == pytest.approx(text_law.RETRIEVES["wrong"], abs=0.05)
    assert len(wants - wrong) / len(everything.keys() - wrong) == pytest.approx(text_law.RETRIEVES["right"], abs=0.06)


def test_confidence_is_too_high_by_the_stated_amount() -> None:
    made = cases("one-hop")
    sure = [said(_recall(case), seed).claims["answer"].probability for seed in SEEDS for case in made]
    right = 1 - _rate(made, _recall)
    assert sum(sure) / len(sure) - right == pytest.approx(text_law.OVERCONFIDENCE, abs=0.02)
    assert min(sure) >= 0.05 and max(sure) <= 0.99
    stated = say(ask(WriteNextSentence, made[0], documents=[], written=[]))["confidence"]
    assert 0 <= float(stated) <= 1


def test_pictures_and_other_fields_are_no_business_of_these_roles() -> None:
    plain = ask(AnswerFromMemory, CASES[0])
    for signature in ("image, question -> answer, reason", "question -> colour", "text -> answer, reason"):
        other = dspy.Signature(signature)
        assert answer_text(Ask(**{**vars(plain), **_fields(other)}), 0, 0) is None


def _fields(signature: type[dspy.Signature]) -> dict:
    parts = ask(signature, CASES[0])
    return {"inputs": parts.inputs, "outputs": parts.outputs}


INPUTS = {
    "documents": documents(CASES[0]),
    "document": documents(CASES[0])[0],
    "written": [],
    "thoughts": ["It is said."],
    "queries": [CASES[0].question],
    "answer": CASES[0].label[0],
    "reason": "The documents say so.",
    "own_argument": "none",
    "other_argument": "none",
    "first_side": {
        "side": "proponent",
        "argument": "It is <good> & fine.",
        "holds": "keep",
        "answer": CASES[0].label[0],
    },
    "second_side": {"side": "opponent", "argument": "It is bad.", "holds": "drop", "answer": "Nobody & Company"},
    "own_answer": {"answer": CASES[0].label[0], "reason": "I know."},
    "other_answer": {"answer": "Nobody & Company", "reason": "As far as I know, it is."},
}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.__name__)
def test_every_role_is_answered_alike_in_every_format(role: type[dspy.Signature]) -> None:
    rewritten = role.with_instructions("Do your best.")
    answers = []
    for signature, adapter in [(role, each) for each in ADAPTERS.values()] + [(rewritten, ADAPTERS["chat"])]:
        recorder = Recorder()
        lm = dspy.LM("simulated", engine=recorder, cache=False, num_retries=0)
        with dspy.context(lm=lm, adapter=adapter):
            given = {"question": CASES[0].question, **INPUTS}
            prediction = dspy.Predict(signature)(**{name: given[name] for name in role.input_fields})
        assert len(recorder.requests) == 1, "the first answer was not in the format"
        answers.append(prediction.toDict())
    assert len(ROLES) == 17 and answers == [answers[0]] * 5
    assert not any("simulated" in str(value) for value in answers[0].values())


def test_a_seed_names_its_answers_and_a_sample_has_luck_of_its_own() -> None:
    def answers(seed: int, temperature: float = 0.0) -> list[str]:
        with dspy.context(lm=simulated_lm(seed, temperature=temperature)):
            predict = dspy.Predict(AnswerFromMemory)
            return [predict(question=case.question).answer for case in [*CASES[:15], *CASES[:15]]]

    first = answers(0)
    assert first == answers(0) and first[:15] == first[15:] and first != answers(1)
    warm = answers(0, temperature=1.0)
    assert warm[:15] == first[:15] and warm[15:] != warm[:15]


def test_a_reader_that_is_asked_how_sure_it_is_says_so():
    facts = Facts()
    cases = facts.load(limit=12)
    learn(cases)
    program = make_program("drag", {"adaptive": "confidence", "threshold": 0.0, "confidence": "verbalised"})
    program.use_retriever(in_memory(facts.passages()))
    with dspy.context(lm=simulated_lm()):
        results = [program(question=case.question) for case in cases]
    assert {result.outcome for result in results} == {"confident"}
    assert all(0 < result.confidence < 1 for result in results)
    right = sum(
        facts.correct(case.record(status="ok", answer=result.answer))
        for case, result in zip(cases, results, strict=True)
    )
    assert right >= 6
