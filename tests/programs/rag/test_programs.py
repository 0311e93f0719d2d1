"""The eight systems: who is asked how often, what they are shown, and what comes out."""

import json

import dspy
import pytest

from programs import InputError, make_program
from programs.searching import SearchingProgram
from tests.answering import QUESTION, ListRetriever, answering, document_of, role_of
from tests.scripted import scripted_lm

DISAGREE = {"recall": {"answer": "Leeds"}, "challenge": {"answer": "Leeds"}}
UNSETTLED = {"settled": "no"}
FIGHT = {
    "document_opponent": {"holds": "drop"},
    "document_judge": UNSETTLED,
    "response_judge": UNSETTLED | {"answer": "York"},
    **DISAGREE,
}
NO_ANSWER_YET = {"answer": ""}


def run(name, answers=None, retriever=None, **arguments):
    program = make_program(name, arguments)
    retriever = retriever or ListRetriever()
    if isinstance(program, SearchingProgram):
        program.use_retriever(retriever)
    lm, script = scripted_lm(answering(**(answers or {})), temperature=0.7)
    with dspy.context(lm=lm):
        result = program(question=QUESTION)
    return result, script.asked, retriever


@pytest.mark.parametrize(
    ("name", "arguments", "answers", "answer", "outcome", "calls"),
    [
        ("naive-generation", {}, {}, "Sheffield", "answered", 1),
        ("naive-rag", {}, {}, "Sheffield", "answered", 1),
        ("iter-retgen", {}, {}, "Sheffield", "answered", 2),
        ("iter-retgen", {"iterations": 4}, {}, "Sheffield", "answered", 4),
        ("ircot", {}, {}, "Sheffield", "answered", 1),
        ("ircot", {}, {"thinker": NO_ANSWER_YET}, "Sheffield", "answered", 4),
        ("ircot", {"max_steps": 1}, {"thinker": NO_ANSWER_YET}, "Sheffield", "answered", 2),
        ("flare", {}, {}, "Sheffield", "answered", 1),
        ("flare", {}, {"writer": {"confidence": "0.2"}}, "Sheffield", "answered", 2),
        ("flare", {}, {"writer": {"confidence": "0.2", "answer": ""}}, "Sheffield", "answered", 9),
        ("flare", {"threshold": 0}, {"writer": NO_ANSWER_YET}, "Sheffield", "answered", 5),
        ("self-rag", {"top_k": 3}, {"retrieval": {"retrieve": "no"}}, "Sheffield", "not retrieved", 2),
        ("self-rag", {"top_k": 3}, {}, "Sheffield", "criticised", 10),
        ("self-rag", {"top_k": 3}, {"relevance": {"relevant": "no"}}, "Sheffield", "nothing relevant", 5),
        ("text-debate", {}, {}, "Sheffield", "consensus", 2),
        ("drag", {"top_k": 3}, {}, "Sheffield", "consensus", 3 * 2 + 2),
        ("drag", {"top_k": 3}, FIGHT, "York", "judge", 3 * 2 * 3 + 2 * 3),
        ("drag", {"top_k": 3, "judge_order": "both"}, FIGHT, "York", "judge", 3 * 2 * 4 + 2 * 4),
        ("drag", {"top_k": 3, "max_query_debate_rounds": 1}, FIGHT, "York", "judge", 3 * 3 + 2 * 3),
        ("drag", {"top_k": 3, "max_answer_debate_rounds": 3}, FIGHT, "York", "judge", 3 * 2 * 3 + 3 * 3),
        ("drag", {"top_k": 3, "response_debate": False}, FIGHT, "Sheffield", "answered", 3 * 2 * 3 + 1),
        ("drag", {"top_k": 3, "retrieval_debate": "none"}, FIGHT, "York", "judge", 2 * 3),
        ("drag", {"top_k": 3, "retrieval_debate": "none", "response_debate": False}, {}, "Sheffield", "answered", 1),
        ("drag", {"retrieval_debate": "query"}, {}, "Sheffield", "consensus", 2 + 2),
        ("drag", {"top_k": 3, "retrieval_debate": "both"}, {}, "Sheffield", "consensus", 2 + 3 * 2 + 2),
        ("drag", {"top_k": 3, "consensus_stop": False}, {}, "Sheffield", "judge", 3 * 2 * 3 + 2 * 3),
        ("drag", {"adaptive": "agreement"}, {}, "Sheffield", "agreement", 2),
        ("drag", {"top_k": 3, "adaptive": "agreement"}, FIGHT, "York", "judge", 2 + 18 + 6),
        ("drag", {"adaptive": "confidence"}, {"checker": {"confidence": "85%"}}, "Sheffield", "confident", 1),
        ("drag", {"top_k": 1, "adaptive": "confidence"}, {"checker": {"confidence": "?"}}, "Sheffield", "consensus", 5),
    ],
)  # fmt: skip
def test_answers_outcomes_and_calls(name, arguments, answers, answer, outcome, calls):
    result, asked, _ = run(name, answers, **arguments)
    assert result.failure is None
    assert (result.answer, result.outcome, len(asked)) == (answer, outcome, calls)
    assert result.transcript.usage.calls == calls


def test_the_opponent_of_an_answer_sees_no_document_unless_the_roles_are_symmetric():
    _, asked, _ = run("drag", FIGHT, retrieval_debate="none")
    assert [role_of(request) for request in asked if "documents" not in request.inputs] == ["recall", "challenge"]
    result, asked, _ = run(
        "drag",
        {"read": disagreeing, "revise": disagreeing, "response_judge": UNSETTLED},
        retrieval_debate="none",
        asymmetric=False,
    )
    assert all("documents" in request.inputs for request in asked)
    assert result.transcript.answers["answer_opponent"] == ["1", "4"]


def disagreeing(asked):
    """A script for two debaters with one prompt: every answer is another."""
    return {"answer": str(asked.number)}


def test_text_debate_is_symmetric_and_goes_to_the_judge():
    answers = {"read": disagreeing, "revise": disagreeing, "response_judge": UNSETTLED | {"answer": "York"}}
    result, asked, _ = run("text-debate", answers)
    assert (result.answer, result.outcome, len(asked)) == ("York", "judge", 6)
    one, other = asked[0], asked[1]
    assert (one.system, one.user) == (other.system, other.user)
    assert json.loads(asked[3].inputs["other_answer"])["answer"] == "1"


@pytest.mark.parametrize("name", ["text-debate", "drag"])
def test_equal_debaters_at_temperature_0_are_refused(name):
    program = make_program(name, {"asymmetric": False} if name == "drag" else {})
    program.use_retriever(ListRetriever())
    lm, _ = scripted_lm(answering(), temperature=0)
    with dspy.context(lm=lm), pytest.raises(InputError, match="temperature above 0"):
        program.check()


def test_what_the_judges_rule_reaches_the_answer():
    def judge(asked):
        return {"ruling": "keep" if document_of(asked) == "Title 1" else "drop"}

    result, asked, _ = run("drag", {"document_opponent": {"holds": "drop"}, "document_judge": judge}, top_k=3)
    assert [(used.passage.id, used.kept) for used in result.documents] == [("d0", False), ("d1", True), ("d2", False)]
    read = next(request for request in asked if role_of(request) == "read")
    assert json.loads(read.inputs["documents"]) == [{"title": "Title 1", "text": "Text of passage 1."}]
    assert result.no_documents is False


def test_without_any_document_it_answers_and_says_so():
    conceded = {"document_proponent": {"holds": "drop"}, "document_opponent": {"holds": "drop"}}
    result, asked, _ = run("drag", conceded, top_k=3)
    read = next(request for request in asked if role_of(request) == "read")
    assert json.loads(read.inputs["documents"]) == []
    assert (result.answer, result.no_documents, len(asked)) == ("Sheffield", True, 8)


def test_a_failed_critic_has_no_vote():
    broken = {"document_proponent": "no fields", "document_opponent": {"holds": "drop"}, "document_judge": "none"}
    result, _, _ = run("drag", broken, top_k=2)
    assert [used.kept for used in result.documents] == [True, True]
    assert result.failure is None
    assert sum(not turn.ok for turn in result.transcript) == 2 * 2 * 2


def test_a_failed_side_of_the_answer_ends_the_case():
    result, _, _ = run("drag", {"recall": "no fields"}, retrieval_debate="none")
    assert (result.answer, result.failure.kind) == (None, "unparsed")


def test_an_earlier_verdict_may_fail_but_not_the_last():
    def judge(asked):
        first_round = json.loads(asked.inputs["first_side"])["answer"] == "Sheffield"
        return "no fields" if first_round else {"answer": "York"}

    answers = DISAGREE | {"response_judge": judge, "revise": {"answer": "Hull"}}
    result, _, _ = run("drag", answers, retrieval_debate="none")
    assert (result.answer, result.outcome) == ("York", "judge")
    result, _, _ = run("drag", DISAGREE | {"response_judge": "no fields"}, retrieval_debate="none")
    assert result.failure.kind == "unparsed"


def test_judging_in_both_orders_says_when_the_judge_contradicts_itself():
    def first_wins(asked):
        return {"answer": json.loads(asked.inputs["first_side"])["answer"]}

    result, asked, _ = run(
        "drag", DISAGREE | {"response_judge": first_wins}, retrieval_debate="none", judge_order="both"
    )
    assert (result.answer, result.contested, len(asked)) == ("Sheffield", True, 4)


def test_a_length_blind_judge_sees_as_many_words_of_each_side():
    long = {"argument": "one two three four five", "holds": "drop"}
    _, asked, _ = run("drag", {"document_opponent": long}, top_k=1, length_blind=True)
    judge = next(request for request in asked if role_of(request) == "document_judge")
    assert json.loads(judge.inputs["second_side"])["argument"] == "one two three …"
    assert json.loads(judge.inputs["first_side"])["argument"] == "it says so"


def test_the_debate_over_the_search_changes_the_queries():
    def opponent(asked):
        if len(json.loads(asked.inputs["queries"])) == 1:
            return {"action": "add", "new_query": "Ada Brook biography"}
        return {"action": "rewrite", "old_query": QUESTION, "new_query": "birthplace of Ada Brook"}

    answers = {"query_opponent": opponent, "query_judge": {"winner": "opponent"}}
    result, asked, retriever = run("drag", answers, retrieval_debate="query")
    assert retriever.queries == [
        QUESTION, QUESTION, "Ada Brook biography", "birthplace of Ada Brook", "Ada Brook biography",
    ]  # fmt: skip
    assert result.queries == ["birthplace of Ada Brook", "Ada Brook biography"]
    assert len(asked) == 2 * 3 + 2


@pytest.mark.parametrize(
    ("winner", "ends"),
    [("Proponent", True), ("proponent agent 0", True), ("The proponent.", True), ("OPPONENT", False)],
)
def test_the_winner_is_read_in_any_case_and_never_from_a_sentence(winner, ends):
    change = {"action": "add", "new_query": "more"}
    answers = {"query_opponent": change, "query_judge": {"winner": winner}}
    result, _, _ = run("drag", answers, retrieval_debate="query", max_query_debate_rounds=1)
    assert (result.queries == [QUESTION]) is ends
    assert all(turn.ok for turn in result.transcript)


@pytest.mark.parametrize("winner", ["", "The Proponent failed", "proponent or opponent", "neither"])
def test_no_winner_changes_nothing(winner):
    answers = {"query_opponent": {"action": "add", "new_query": "more"}, "query_judge": {"winner": winner}}
    result, _, _ = run("drag", answers, retrieval_debate="query", max_query_debate_rounds=1)
    assert result.queries == [QUESTION]
    judge = next(turn for turn in result.transcript if turn.role == "query_judge")
    assert judge.failure is not None and judge.failure.kind == "unparsed"


@pytest.mark.parametrize(
    "change",
    [
        {"action": "rewrite", "old_query": "no such query", "new_query": ""},
        {"action": "add", "new_query": "  "},
        {"action": "add", "new_query": QUESTION.upper()},
        {"action": "optimise [a -> b]"},
    ],
)
def test_a_change_that_cannot_be_made_leaves_the_queries_and_stands_in_the_transcript(change):
    result, _, retriever = run("drag", {"query_opponent": change}, retrieval_debate="query")
    assert result.queries == [QUESTION] and retriever.queries == [QUESTION]
    assert any(turn.role == "query_opponent" for turn in result.transcript)
    assert result.outcome == "consensus"


def test_iter_retgen_searches_with_what_it_answered():
    _, _, retriever = run("iter-retgen")
    assert retriever.queries == [QUESTION, f"{QUESTION} because it is so Sheffield"]


def test_ircot_searches_with_its_thoughts_and_reads_all_that_was_found():
    _, asked, retriever = run("ircot", {"thinker": NO_ANSWER_YET}, top_k=2, max_steps=2)
    assert retriever.queries == [QUESTION, *["Ada Brook was born somewhere."] * 2]
    assert json.loads(asked[-1].inputs["thoughts"]) == ["Ada Brook was born somewhere."] * 2


def test_flare_searches_only_where_it_is_unsure():
    _, _, retriever = run("flare")
    assert retriever.queries == []
    _, _, retriever = run("flare", {"writer": {"confidence": "not sure"}})
    assert retriever.queries == ["Ada Brook was born in Sheffield."]


def test_flare_that_needs_token_probabilities_says_so():
    result, asked, _ = run("flare", confidence="logprob")
    assert (result.failure.fatal, len(asked)) == (True, 1)
    assert "--confidence verbalised" in result.failure.reason


def test_self_rag_takes_the_best_criticised_answer():
    def critic(asked):
        return {"supported": "fully" if document_of(asked) == "Title 2" else "partly"}

    def read(asked):
        return {"answer": json.loads(asked.inputs["documents"])[0]["title"]}

    result, _, _ = run("self-rag", {"critic": critic, "read": read}, top_k=3)
    assert result.answer == "Title 2"
    assert [used.passage.id for used in result.documents if used.kept] == ["d2"]


@pytest.mark.parametrize("name", ["naive-rag", "flare", "iter-retgen", "ircot", "self-rag", "text-debate", "drag"])
def test_a_search_that_fails_is_the_failure_of_the_case(name):
    result, _, _ = run(name, {"writer": {"confidence": "0"}}, ListRetriever(fails=True))
    assert result.answer is None
    assert (result.failure.kind, result.failure.reason) == (
        "provider error",
        "search.example: the search server cannot be reached",
    )


@pytest.mark.parametrize("name", ["naive-rag", "flare", "iter-retgen", "ircot", "self-rag", "text-debate", "drag"])
def test_without_a_retriever_it_says_what_to_do(name):
    with pytest.raises(InputError, match="--corpus FILE"):
        make_program(name).check()


def test_roles_may_have_models_of_their_own():
    judge, judged = scripted_lm(answering(response_judge={"answer": "York"}), model="judge")
    program = make_program("drag", {"retrieval_debate": "none"})
    program.use_retriever(ListRetriever())
    program.use_models({"response_judge": judge})
    lm, script = scripted_lm(answering(**DISAGREE))
    with dspy.context(lm=lm):
        result = program(question=QUESTION)
    assert (result.answer, len(script.asked), len(judged.asked)) == ("York", 2, 1)


def test_a_search_is_a_turn_that_is_replayed():
    from programs import Recording, Session, playing

    result, _, _ = run("drag", top_k=2)
    recording = Recording([("q", turn) for turn in result.transcript])
    program = make_program("drag", {"top_k": 2})
    with playing(Session("q", recording=recording, replay_only=True)):
        again = program(question=QUESTION)
    assert again.answer == result.answer
    assert again.documents == result.documents
    assert result.transcript[0].role == "retriever"


def test_a_debate_that_failed_is_no_ruling():
    broken = {"document_proponent": "no fields", "document_opponent": "no fields", "document_judge": "none"}
    result, _, _ = run("drag", broken, top_k=2)
    assert [(used.kept, used.ruling) for used in result.documents] == [(True, "no ruling")] * 2
    result, _, _ = run("drag", top_k=2)
    assert [used.ruling for used in result.documents] == ["consensus"] * 2


def test_a_judge_that_was_heard_in_one_order_is_contested():
    def one_order(asked):
        proponent_first = json.loads(asked.inputs["first_side"])["answer"] == "Sheffield"
        return {"answer": "York"} if proponent_first else "no fields"

    answers = DISAGREE | {"response_judge": one_order}
    result, _, _ = run("drag", answers, retrieval_debate="none", judge_order="both")
    assert (result.answer, result.contested, result.failure) == ("York", True, None)


def test_a_later_verdict_that_fails_takes_nothing_back():
    def judge(asked):
        first_round = json.loads(asked.inputs["first_side"])["answer"] == "Sheffield"
        return UNSETTLED | {"answer": "York"} if first_round else "no fields"

    answers = DISAGREE | {"response_judge": judge, "revise": {"answer": "Hull"}}
    result, _, _ = run("drag", answers, retrieval_debate="none")
    assert (result.answer, result.failure) == ("York", None)


def test_self_rag_does_not_take_failures_for_irrelevance():
    result, _, _ = run("self-rag", {"relevance": "no fields"}, top_k=2)
    assert (result.answer, result.failure.kind) == (None, "unparsed")
    result, _, _ = run("self-rag", {"read": "no fields"}, top_k=2)
    assert result.failure.kind == "unparsed"


def test_self_rag_and_flare_without_a_search_have_no_documents_alike():
    searched_nothing, _, _ = run("self-rag", {"retrieval": {"retrieve": "no"}})
    sure, _, _ = run("flare")
    assert (
        (searched_nothing.documents, searched_nothing.no_documents) == (sure.documents, sure.no_documents) == ([], True)
    )


def test_flare_drafts_without_documents_and_keeps_what_it_read_last():
    answers = {"writer": {"confidence": "0", "answer": ""}}
    result, asked, _ = run("flare", answers, max_sentences=2, top_k=2)
    drafts = [json.loads(request.inputs["documents"]) for request in asked if role_of(request) == "writer"][::2]
    assert drafts == [[], []]
    assert sum(used.kept for used in result.documents) == 2


def test_a_blank_answer_is_not_confident():
    blank = {"checker": {"confidence": "1.0", "answer": " "}}
    result, _, _ = run("drag", blank, adaptive="confidence", top_k=1)
    assert result.outcome == "consensus"


def test_ircot_does_not_search_for_what_it_cannot_read():
    _, _, retriever = run("ircot", {"thinker": NO_ANSWER_YET}, top_k=5, max_passages=5)
    assert len(retriever.queries) == 1
