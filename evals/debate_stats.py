"""What the debates of a run did to the answers: who changed which way, who persuaded whom, what each round cost.

Every answer on the way is judged as the benchmark would judge it if it were the final one, so that "wrong → right" in
a round means the same as right and wrong in the score. An answer that is none keeps the name of its failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evals.benchmarks.base import Benchmark
from evals.records import Record
from evals.score import Scoring
from evals.unanswered import UNREADABLE
from programs.transcript import Transcript, Turn, Usage

State = str
"""What an answer is worth: `right`, `wrong`, `not scored` (the benchmark leaves the case out), `split` (the debaters
disagree; only of the debate as a whole), or the name of a failure, as `unparsed` or `timeout`."""

RIGHT, WRONG, NOT_SCORED, SPLIT = "right", "wrong", "not scored", "split"
DEBATE = "debate"
"""The speaker that stands for the debate as a whole."""

Change = tuple[State | None, State]
"""What an answer was worth before and after; before is None for a first answer."""


class Grader:
    """Says what an answer to a case would be worth as the final one. Equal questions are asked once."""

    def __init__(self, benchmark: Benchmark, scoring: Scoring = "strict") -> None:
        self._benchmark = benchmark
        self._scoring: Scoring = scoring
        self._known: dict[tuple[str, str], State] = {}

    def answer(self, record: Record, answer: Any) -> State:
        """The state of `answer`, had it been the answer to the case of `record`."""
        key = (record.case_id, str(answer))
        if key not in self._known:
            self._known[key] = self._judge(record.model_copy(update={"answer": str(answer), "status": "ok"}))
        return self._known[key]

    def final(self, record: Record) -> State:
        """The state of the case itself."""
        return self.answer(record, record.answer) if record.status == "ok" else record.status

    def _judge(self, given: Record) -> State:
        right = self._benchmark.correct(given, self._scoring)
        if right is not False:
            return NOT_SCORED if right is None else RIGHT
        counts = self._benchmark.score([given], self._scoring).counts
        return next((name for name in UNREADABLE if counts.get(name.replace(" ", "_"))), WRONG)


@dataclass(frozen=True)
class Step:
    """One answer of one speaker, and what it was before."""

    turn: int | None
    """Place in the transcript; None for the debate as a whole."""
    round: int
    speaker: str
    before: State | None
    after: State
    persuaded_by: tuple[str, ...] | None = None
    """Of an answer that changed: the speakers who had held the new answer before; none if it was nobody's.
    None of an answer that did not change."""

    @property
    def change(self) -> Change:
        return self.before, self.after


def is_judge(role: str) -> bool:
    """Whether a role decides between others instead of holding a side."""
    return role.split("_")[-1] == "judge"


def speaker_of(turn: Turn) -> str:
    """Who speaks: the role, and which one of several side by side."""
    return f"{turn.role} ({turn.branch})" if turn.branch else turn.role


def case_steps(record: Record, transcript: Transcript, grader: Grader) -> list[Step]:
    """Every answer of a case in order, and after each round that has one the step of the debate as a whole.

    The debate stands where all debaters agree, at `split` where they do not, and where its judge puts it; at the end
    where the record says.
    """
    steps: list[Step] = []
    held: dict[str, str | None] = {}
    states: dict[str, State] = {}
    rounds = sorted({turn.round for turn in transcript if "answer" in turn.asked})
    before: State | None = None
    for round in rounds:
        verdict: State | None = None
        for index, turn in enumerate(transcript):
            if turn.round != round or "answer" not in turn.asked:
                continue
            speaker, judge = speaker_of(turn), is_judge(turn.role)
            answer = None if turn.failure else _folded((turn.output or {}).get("answer"))
            state = turn.failure.kind if turn.failure else grader.answer(record, (turn.output or {}).get("answer"))
            steps.append(Step(index, round, speaker, states.get(speaker), state, _persuaded_by(speaker, answer, held)))
            held[speaker], states[speaker] = answer, state
            if judge and verdict is None:
                verdict = state
        position = verdict or _position(held, states)
        if round == rounds[-1]:
            position = grader.final(record)
        steps.append(Step(None, round, DEBATE, before, position))
        before = position
    return steps


def _position(held: dict[str, str | None], states: dict[str, State]) -> State:
    sides = [speaker for speaker in held if not is_judge(_role(speaker))]
    failed = [states[speaker] for speaker in sides if held[speaker] is None]
    if failed:
        return failed[-1]
    return states[sides[-1]] if len({held[speaker] for speaker in sides}) == 1 else SPLIT


def _persuaded_by(speaker: str, answer: str | None, held: dict[str, str | None]) -> tuple[str, ...] | None:
    if is_judge(_role(speaker)) or answer is None or held.get(speaker) in (None, answer):
        return None
    return tuple(
        other for other, theirs in held.items() if other != speaker and theirs == answer and not is_judge(_role(other))
    )


def _role(speaker: str) -> str:
    return speaker.split(" (")[0]


def _folded(answer: Any) -> str:
    return " ".join(str(answer).casefold().split())


@dataclass
class RoundStats:
    """What happened in one round, over all cases that reached it."""

    round: int
    cases: int = 0
    changes: dict[str, Counter[Change]] = field(default_factory=dict)
    """Role, or `DEBATE` → change → how many answers."""
    usage: Usage = field(default_factory=Usage)
    """What the turns of this round cost, over all cases."""


@dataclass
class JudgeStats:
    """How often the judge had to decide, and how that went."""

    cases: int = 0
    """Cases in which a judge spoke."""
    verdicts: Counter[State] = field(default_factory=Counter)
    """State of the final answer of those cases."""
    asked_in_both_orders: int = 0
    contradicted_itself: int = 0
    """Of those asked in both orders: the answers differ."""
    unanswered_order: int = 0
    """Of those asked in both orders: one of the two turns failed."""


@dataclass
class DebateStats:
    """What the debates of a run did."""

    cases: int = 0
    without_turns: int = 0
    """Cases whose turns are not there, or that failed before the first one."""
    rounds: dict[int, RoundStats] = field(default_factory=dict)
    overall: dict[str, Counter[Change]] = field(default_factory=dict)
    """Role, or `DEBATE` → (first state, last state) → cases, for speakers who answered more than once."""
    persuasion: Counter[tuple[str, str, State, State]] = field(default_factory=Counter)
    """(who persuaded, who was persuaded, state before, state after) → answers. Who persuaded is the role of those who
    had held the new answer before, or `nobody` where nobody had."""
    outcomes: dict[str, Counter[State]] = field(default_factory=dict)
    """How the debate ended → state of the final answer → cases."""
    judge: JudgeStats = field(default_factory=JudgeStats)


def debate_stats(cases: Iterable[tuple[Record, Transcript]], grader: Grader) -> DebateStats:
    """Count over the cases of a run, given one by one with their transcripts.

    Returns:
        Counts only; empty ones for no cases. The rounds are in order.
    """
    stats = DebateStats()
    for record, transcript in cases:
        stats.cases += 1
        stats.without_turns += not len(transcript)
        final = grader.final(record)
        stats.outcomes.setdefault(record.outcome or record.status, Counter())[final] += 1
        _count_rounds(stats, transcript)
        steps = case_steps(record, transcript, grader)
        _count_changes(stats, steps)
        _count_judge(stats.judge, [turn for turn in transcript if is_judge(turn.role)], final)
    stats.rounds = dict(sorted(stats.rounds.items()))
    return stats


def _count_rounds(stats: DebateStats, transcript: Transcript) -> None:
    by_round: dict[int, list[Turn]] = {}
    for turn in transcript:
        by_round.setdefault(turn.round, []).append(turn)
    for round, turns in by_round.items():
        into = stats.rounds.setdefault(round, RoundStats(round))
        into.cases += 1
        into.usage = Usage.sum([into.usage, Usage.of(turns)])


def _count_changes(stats: DebateStats, steps: Sequence[Step]) -> None:
    by_speaker: dict[str, list[Step]] = {}
    for step in steps:
        by_speaker.setdefault(step.speaker, []).append(step)
        changes = stats.rounds[step.round].changes.setdefault(_role(step.speaker), Counter())
        changes[step.change] += 1
        if step.persuaded_by is not None and step.before is not None:
            for by in sorted({_role(speaker) for speaker in step.persuaded_by}) or ["nobody"]:
                stats.persuasion[by, _role(step.speaker), step.before, step.after] += 1
    for speaker, own in by_speaker.items():
        if len(own) > 1:
            stats.overall.setdefault(_role(speaker), Counter())[own[0].after, own[-1].after] += 1


def _count_judge(stats: JudgeStats, turns: Sequence[Turn], final: State) -> None:
    if not turns:
        return
    stats.cases += 1
    stats.verdicts[final] += 1
    orders = [turn for turn in turns if turn.branch.startswith("order=")]
    if len(orders) < 2:
        return
    stats.asked_in_both_orders += 1
    if any(turn.failure for turn in orders):
        stats.unanswered_order += 1
    elif len({_folded((turn.output or {}).get("answer")) for turn in orders}) > 1:
        stats.contradicted_itself += 1
