"""While an optimizer runs, a model that cannot be reached stops it."""

import dspy
import pytest
from dspy.lm15 import AuthError
from dspy.lm15 import TimeoutError as ModelTimeout

from programs import Direct, VisualDebate
from programs.compiling import Compiling, ModelStopped
from tests.debates import debating, stage_of
from tests.scripted import scripted_lm

QUESTION = "Is there a dog in the image?"
BROKEN = [AuthError("no such key"), ModelTimeout("timed out"), RuntimeError("the engine broke")]


@pytest.mark.parametrize("error", BROKEN, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("stage", ["open", "describe", "reconsider", "judge"])
def test_an_error_of_the_provider_in_any_turn_stops_all_that_follows(picture, stage, error):
    debate = debating("yes", "no")
    lm, script = scripted_lm(lambda asked: error if stage_of(asked) == stage else debate(asked))
    compiling = Compiling()
    with dspy.context(lm=lm), compiling.active():
        with pytest.raises(ModelStopped, match=f"failed at {stage}.*run the same command again to continue"):
            VisualDebate()(question=QUESTION, image=picture)
        calls = len(script.asked)
        for program in (VisualDebate(), Direct()):
            with pytest.raises(ModelStopped, match=f"failed at {stage}"):
                program(question=QUESTION, image=picture)
        with pytest.raises(ModelStopped, match=f"failed at {stage}"):
            compiling.check()
    assert len(script.asked) == calls == {"open": 2, "describe": 3, "reconsider": 4, "judge": 6}[stage]


def test_a_failed_description_alone_does_not_end_a_debate_outside_of_a_compile(picture):
    debate = debating("yes", "no")
    lm, _ = scripted_lm(lambda asked: RuntimeError("broke") if stage_of(asked) == "describe" else debate(asked))
    with dspy.context(lm=lm):
        result = VisualDebate()(question=QUESTION, image=picture)
    assert (result.answer, result.outcome) == ("no", "judge")


def test_what_cannot_be_parsed_does_not_stop_a_compile(picture):
    lm, script = scripted_lm(lambda asked: "?" if asked.number < 2 else {"answer": "yes", "reason": "r"})
    compiling = Compiling()
    with dspy.context(lm=lm), compiling.active():
        first, second = (Direct()(question=QUESTION, image=picture) for _ in range(2))
        compiling.check()
    assert (first.failure.kind, second.answer, len(script.asked)) == ("unparsed", "yes", 3)


def test_the_usage_of_all_turns_is_added_up_failed_ones_included(picture):
    """What cannot be read is asked for twice, the second time in another format."""
    debate = debating("yes", "no")
    lm, script = scripted_lm(lambda asked: "?" if stage_of(asked) == "describe" else debate(asked))
    compiling = Compiling()
    assert compiling.usage.calls == compiling.usage.turns == 0
    with dspy.context(lm=lm), compiling.active():
        VisualDebate()(question=QUESTION, image=picture)
        VisualDebate(rounds=0)(question=QUESTION, image=picture)
    with dspy.context(lm=lm):
        Direct()(question=QUESTION, image=picture)
    assert (compiling.usage.turns, compiling.usage.calls) == (9, 10) and len(script.asked) == 11
    assert (compiling.usage.prompt_tokens, compiling.usage.completion_tokens) == (100, 50)


def test_nothing_leaks_outside(picture):
    lm, script = scripted_lm(
        lambda asked: RuntimeError("broke") if asked.number == 0 else {"answer": "no", "reason": "r"}
    )
    with dspy.context(lm=lm):
        assert Compiling.current() is None
        with pytest.raises(ModelStopped), Compiling().active():
            Direct()(question=QUESTION, image=picture)
        assert Compiling.current() is None
        assert Direct()(question=QUESTION, image=picture).answer == "no"
        with Compiling().active():
            assert Direct()(question=QUESTION, image=picture).answer == "no"
    assert len(script.asked) == 3
