"""The table "what the debates did": counts of `evals.debate_stats`, laid out for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from demur.report.display import NOTHING, count, money, title_of
from evals.debate_stats import DEBATE, RIGHT, WRONG, Change, DebateStats, is_judge
from programs.transcript import Usage


@dataclass(frozen=True)
class ChangeRow:
    """What the answers of one speaker did, in one round or from first to last. Counts as text, none for 0."""

    speaker: str
    answers: str
    right: str
    """Right answers of this round, changed or not."""
    wrong: str
    corrected: str
    misled: str
    unchanged: str
    """Right and still right, or wrong and still wrong."""
    other: str
    """Every other state and change by name, so that nothing is left uncounted."""


@dataclass(frozen=True)
class RoundRows:
    """One round: what happened, and what it cost over all cases."""

    title: str
    cases: str
    rows: list[ChangeRow]
    cost: dict[str, str]
    """Of the turns of this round; see `usage_cells`."""


def round_rows(stats: DebateStats) -> list[RoundRows]:
    """One block a round, and last one from first to last answers."""
    blocks = [
        RoundRows(
            f"Round {one.round}",
            count(one.cases),
            [_row(speaker, changes) for speaker, changes in _in_order(one.changes)],
            usage_cells(one.usage),
        )
        for one in stats.rounds.values()
    ]
    if stats.overall:
        rows = [_row(speaker, changes) for speaker, changes in _in_order(stats.overall)]
        blocks.append(RoundRows("First answer to last", "", rows, {}))
    return blocks


def usage_cells(usage: Usage) -> dict[str, str]:
    """What turns cost, as unit → number; what is not known is left out. Money brings its own unit."""
    if not usage.calls and not usage.cache_hits:
        return {}
    cells = {"calls": count(usage.calls), "tokens": count(usage.tokens), "": money(usage.cost_usd)}
    return {unit: number for unit, number in cells.items() if number != NOTHING}


def persuasion_rows(stats: DebateStats) -> list[tuple[str, str, str, str, str]]:
    """Who, whom, how often, of these to the right answer, and to a wrong one; the most frequent first."""
    pairs: dict[tuple[str, str], Counter[str]] = {}
    for (by, whom, _, after), number in stats.persuasion.items():
        pairs.setdefault((by, whom), Counter())[after] += number
    return [
        (
            "By itself" if by == "nobody" else title_of(by),
            title_of(whom),
            count(after.total()),
            count(after[RIGHT]),
            count(after[WRONG]),
        )
        for (by, whom), after in sorted(pairs.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    ]


def judge_sentences(stats: DebateStats) -> list[str]:
    """What there is to say about the judge; nothing where there was none."""
    judge = stats.judge
    if not judge.cases:
        return []
    share = f"{100 * judge.cases / stats.cases:.1f} %"
    verdicts = ", ".join(f"{number:,} {state}" for state, number in judge.verdicts.most_common())
    sentences = [f"A judge spoke in {judge.cases:,} of {stats.cases:,} cases ({share}); these ended {verdicts}."]
    if judge.asked_in_both_orders:
        unanswered = f"; in {judge.unanswered_order:,} one of its two answers failed" if judge.unanswered_order else ""
        sentences.append(
            f"Of {judge.asked_in_both_orders:,} that it was asked in both orders, it contradicted itself in "
            f"{judge.contradicted_itself:,}{unanswered}."
        )
    return sentences


def _in_order(changes: dict[str, Counter[Change]]) -> list[tuple[str, Counter[Change]]]:
    """The debaters by name, then the judge, the debate as a whole last; who is alone is the debate."""
    if len(changes) == 2 and len({frozenset(counts.items()) for counts in changes.values()}) == 1:
        changes = {speaker: counts for speaker, counts in changes.items() if speaker != DEBATE}
    return sorted(changes.items(), key=lambda item: (item[0] == DEBATE, is_judge(item[0]), item[0]))


def _row(speaker: str, changes: Counter[Change]) -> ChangeRow:
    named = {(before, after) for before in (None, RIGHT, WRONG) for after in (RIGHT, WRONG)}
    other = [
        f"{number:,} {_change(change)}" for change, number in sorted(changes.items(), key=str) if change not in named
    ]
    return ChangeRow(
        "The debate" if speaker == DEBATE else title_of(speaker),
        count(changes.total()),
        _some(sum(number for (_, after), number in changes.items() if after == RIGHT)),
        _some(sum(number for (_, after), number in changes.items() if after == WRONG)),
        _some(changes[WRONG, RIGHT]),
        _some(changes[RIGHT, WRONG]),
        _some(changes[RIGHT, RIGHT] + changes[WRONG, WRONG]),
        ", ".join(other) or NOTHING,
    )


def _change(change: Change) -> str:
    before, after = change
    if before is None:
        return after
    return f"still {after}" if before == after else f"{before} → {after}"


def _some(number: int) -> str:
    return count(number) if number else NOTHING
