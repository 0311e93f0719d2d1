"""`search`: it finds the best structure, goes on where it was stopped, and its front can be used."""

from dataclasses import replace
from typing import ClassVar

import dspy
import pytest
from dspy.lm15 import AuthError

from evals.evaluate import evaluate
from optimizers import Objective, Settings, Tuning, compile_to, load_program, run_strategy
from optimizers.search import read_search
from programs import DebateProgram, Direct, InputError, MajorityVote
from programs.compiling import Compiling, ModelStopped
from programs.search_space import over
from signatures import AnswerQuestion
from tests.optimizers.test_strategies import BENCHMARK, case, label_of, number_in
from tests.scripted import scripted_lm

CASES = [replace(case(number), label=label_of(number // 2)) for number in range(36)]
SETTINGS = Settings(max_demos=2, candidates=2, trials=14, concurrency=2)


class Toy(DebateProgram):
    """Asks its role `rounds` times in a `mood`; only the calm one is right, and only if it is asked twice or more."""

    search_space: ClassVar = {"rounds": over("rounds", 1, 2, 3), "mood": over("mood", "hasty", "calm", "cross")}

    def __init__(self, rounds: int = 3, mood: str = "hasty") -> None:
        super().__init__()
        self.rounds, self.mood = rounds, mood
        self.answerer = dspy.Predict(AnswerQuestion)

    async def debate(self, image: object, question: str) -> dspy.Prediction:
        for number in range(self.rounds):
            asked = f"{question} {self.mood} {number}"
            turn = await self.turn("answerer", "answer", self.answerer, round=number, image=image, question=asked)
        return dspy.Prediction(answer=turn.said.answer, reason="")


def answer(asked):
    number = number_in(asked.inputs["question"])
    truth = label_of(number // 2)
    right = number % 3 == 0 or ("calm" in asked.inputs["question"] and not asked.inputs["question"].endswith("0"))
    return {"answer": truth if right else {"yes": "no", "no": "yes"}[truth], "reason": "r"}


def tune(folder, program, settings=SETTINGS, fails_at=None):
    """The tuned program, or None if it was stopped; and how many calls there were."""
    lm, script = scripted_lm(lambda asked: AuthError("no") if asked.number == fails_at else answer(asked))
    with dspy.context(lm=lm), Compiling().active():
        try:
            return run_strategy(program, "search", Tuning(Objective(BENCHMARK, CASES), settings, folder=folder)), script
        except ModelStopped:
            return None, script


def test_it_finds_the_best_structure_and_the_cheapest_of_equals(tmp_path):
    found, _ = tune(tmp_path, Toy())
    assert (found.rounds, found.mood) == (2, "calm")
    report = read_search(tmp_path / "1-search")
    assert report.trials == 14 and report.picked in {member.trial for member in report.front}
    assert report.given_up > 0 and report.start.quality < 0.5
    best = report.front[-1]
    assert best.quality == 1.0 and (best.calls, best.arguments["mood"]) == (2.0, "calm")
    assert max(report.importance, key=report.importance.get) == "mood"


def test_it_goes_on_where_it_was_stopped_and_pays_nothing_twice(tmp_path):
    whole, script = tune(tmp_path / "whole", Toy())
    expected = read_search(tmp_path / "whole/1-search")
    made = 12 * 3
    """Calls for the demonstrations, before the first trial; those go on by DSPy's cache, which is off here."""
    for fails_at in (made + 5, len(script.asked) // 2, len(script.asked) - 3):
        folder = tmp_path / str(fails_at)
        stopped, first = tune(folder, Toy(), fails_at=fails_at)
        assert stopped is None
        again, rest = tune(folder, Toy())
        assert again.arguments == whole.arguments and read_search(folder / "1-search") == expected
        assert len(first.asked) + len(rest.asked) <= len(script.asked) + 2 * SETTINGS.concurrency


@pytest.mark.parametrize("storage", ["shared.log", "sqlite:///{}/shared.db"])
def test_a_shared_storage_is_gone_on_with_elsewhere(tmp_path, storage):
    storage = storage.format(tmp_path) if "://" in storage else str(tmp_path / storage)
    tune(tmp_path / "one", Toy(), replace(SETTINGS, trials=6, storage=storage))
    _, script = tune(tmp_path / "two", Toy(), replace(SETTINGS, trials=6, storage=storage))
    assert read_search(tmp_path / "two/1-search").trials == 6
    # What the other process has tried is not tried again: only demonstrations are drawn anew.
    assert len(script.asked) <= 3 * len(CASES)


def test_what_cannot_be_searched_is_said(tmp_path):
    with pytest.raises(InputError, match="--storage nowhere://x cannot be opened.*sqlite:///search.db"):
        tune(tmp_path / "a", Toy(), replace(SETTINGS, storage="nowhere://x"))
    with pytest.raises(InputError, match="--pick best of all: expected best, knee, or cheapest-within P"):
        tune(tmp_path / "b", Toy(), replace(SETTINGS, pick="best of all"))


def test_the_front_is_kept_with_the_compiled_program(tmp_path):
    lm, _ = scripted_lm(answer, temperature=0.7)
    folder = tmp_path / "c"
    with dspy.context(lm=lm):
        train, validation = CASES[:24], [case(number) for number in range(40, 48)]
        done = compile_to(folder, MajorityVote(k=5), BENCHMARK, "search", train, validation, settings=SETTINGS)
        report = read_search(folder)
        assert not (folder / "search").exists() and (folder / "front.png").stat().st_size > 1000
        for member in report.front:
            program = load_program(folder / "front" / str(member.trial))
            assert {name: value for name, value in program.arguments.items()} == member.arguments
        again = load_program(folder)
        assert again.arguments == done.program.arguments
        scored = evaluate(again, BENCHMARK, validation, tmp_path / "again").score
    assert scored.metrics == done.after.score.metrics


def test_prompts_of_compiled_programs_are_among_the_choices(tmp_path):
    """The right prompt is in a compiled program of which nothing else is taken."""
    tuned = Direct()
    tuned.answerer.signature = tuned.answerer.signature.with_instructions("Look twice.")

    def twice(asked):
        truth = label_of(number_in(asked.inputs["question"]) // 2)
        return {"answer": truth if "Look twice." in asked.system else {"yes": "no", "no": "yes"}[truth], "reason": "r"}

    lm, _ = scripted_lm(twice)
    tuning = Tuning(Objective(BENCHMARK, CASES), SETTINGS, folder=tmp_path, prompts={"mine": tuned})
    with dspy.context(lm=lm):
        found = run_strategy(Direct(), "search", tuning)
    assert found.answerer.signature.instructions == "Look twice."
    with dspy.context(lm=lm), pytest.raises(InputError, match="--prompts mine holds a direct, and majority-vote is"):
        run_strategy(MajorityVote(k=3), "search", replace(tuning, folder=tmp_path / "b"))
