from programs.interpretation import Interpretation, interpret
from programs.transcript import Failure, Turn


def said(role: str, **output) -> Turn:
    return Turn(role=role, stage="open", inputs={}, output=output)


CLAIM = said("debater_a", answer="yes", reason="a tail")
DESCRIBE = said("debater_a", color="brown", region="top-left")
DENIAL = said("debater_b", answer="no", reason="a broom", actual_object="a broom", cause="visual similarity")
JUDGE = said("judge", answer="no", reason="bristles", actual_object="a mop", cause="perception")


def test_a_claim_that_was_given_up():
    assert interpret([CLAIM, DESCRIBE, DENIAL], "no") == Interpretation(
        hallucinated=True, claimed_by=("debater_a",), region="top-left", actual_object="a broom",
        cause="visual similarity", reason="a broom",
    )  # fmt: skip


def test_the_last_word_that_agrees_with_the_answer_counts():
    interpreted = interpret([CLAIM, DESCRIBE, DENIAL, JUDGE], "no")
    assert interpreted is not None
    assert (interpreted.actual_object, interpreted.cause, interpreted.reason) == ("a mop", "perception", "bristles")


def test_a_claim_that_holds_has_no_cause():
    judge = said("judge", answer="yes", reason="a tail after all", actual_object="a dog", cause="perception")
    interpreted = interpret([CLAIM, DESCRIBE, DENIAL, judge], "yes")
    assert interpreted == Interpretation(
        hallucinated=False, claimed_by=("debater_a",), region="top-left", actual_object="a dog",
        reason="a tail after all",
    )  # fmt: skip


def test_nothing_to_interpret_where_nobody_claimed_or_nobody_answered():
    assert interpret([DENIAL, JUDGE], "no") is None
    assert interpret([CLAIM, DENIAL], None) is None
    assert interpret([], "no") is None


def test_what_nobody_said_is_absent_and_failed_turns_say_nothing():
    failed = Turn(role="judge", stage="judge", inputs={}, failure=Failure(kind="refused", reason="?"))
    interpreted = interpret([CLAIM, said("debater_b", answer="no", cause="none", reason="r"), failed], "no")
    assert interpreted is not None
    assert (interpreted.region, interpreted.actual_object, interpreted.cause) == (None, None, None)
