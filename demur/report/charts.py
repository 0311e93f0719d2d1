"""The plots of a report, as SVG that follows the page's theme. Every number in them also stands in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from markupsafe import Markup

from demur.report.display import cost, interval, is_percent, metric, title_of
from demur.report.summary import RunSummary
from demur.report.svg import Drawing, scale, ticks
from evals.calibration import Bin
from evals.debate_stats import DEBATE, RIGHT, WRONG, DebateStats

WIDTH = 440.0
LEFT = 132.0
"""Room for the names of rows."""
RIGHT_EDGE = WIDTH - 64
"""Room for the numbers of rows."""


@dataclass(frozen=True)
class Chart:
    """A plot with what it shows."""

    title: str
    caption: str
    svg: Markup


def charts(runs: Sequence[RunSummary]) -> list[Chart]:
    """Every plot that the runs have the numbers for."""
    made = [metrics_chart(runs)]
    if len(runs) > 1:
        made.append(pareto_chart(runs))
    for run in runs:
        beside = f" · {run.label}" if len(runs) > 1 else ""
        if len(run.stats.rounds) > 1:
            made += [outcomes_chart(run.stats, beside), changes_chart(run.stats, beside)]
        for source, bins in run.reliability.items():
            made.append(reliability_chart(bins, f" · {source}{beside}" if len(run.reliability) > 1 else beside))
    return [chart for chart in made if chart is not None]


def metrics_chart(runs: Sequence[RunSummary]) -> Chart | None:
    """The headline metrics of all runs, each with its interval; None if no metric is defined."""
    names = [name for name in dict.fromkeys(name for run in runs for name in run.headline) if is_percent(name)]
    rows = [(name, number, run) for name in names for number, run in enumerate(runs) if name in run.metrics]
    ends = [end for name, _, run in rows for end in _ends(run, name)]
    if not ends:
        return None
    low, high = max(0.0, int((min(ends) - 0.02) * 10) / 10), int((max(ends) + 0.12) * 10) / 10
    high = min(1.0, high) if max(ends) <= 1 else high
    step = 18 if len(runs) > 1 else 26
    gap = 14 if len(runs) > 1 else 0
    height = 14 + len(rows) * step + (len(names) - 1) * gap + 26
    drawing = Drawing(WIDTH, height, "Headline metrics with 95 % intervals")
    x = scale(low, high, LEFT, RIGHT_EDGE)
    for tick in ticks(low, high):
        drawing.line(x(tick), 6, x(tick), height - 24, "grid")
        drawing.text(x(tick), height - 8, f"{100 * tick:.0f}", "tick", "middle")
    y, before = 14 + step / 2 - 9, ""
    for name, number, run in rows:
        y += gap if before and name != before and len(runs) > 1 else 0
        if name != before:
            drawing.text(0, y + 4, title_of(name), "name")
        before = name
        _whisker(drawing, run, name, number, x, y)
        y += step
    caption = "95 % intervals, in percent; the axis does not start at 0." if low > 0 else "95 % intervals, in percent."
    if len(runs) > 1:
        caption += " Colours as in the table above."
    return Chart("Metrics", caption, drawing.markup())


def _whisker(drawing: Drawing, run: RunSummary, name: str, number: int, x, y: float) -> None:
    estimate = run.metrics[name]
    if estimate.value is None:
        drawing.text(RIGHT_EDGE + 10, y + 4, "undefined", "number")
        return
    style = f"run-{number % 6}"
    shown = metric(name, estimate.value, run.cases)
    if estimate.interval is not None:
        drawing.line(x(estimate.interval.low), y, x(estimate.interval.high), y, f"whisker {style}")
    between = interval(name, estimate.interval, run.cases)
    drawing.dot(x(estimate.value), y, 4.5, f"dot {style}", f"{run.label}: {title_of(name)} {shown} ({between})")
    drawing.text(RIGHT_EDGE + 10, y + 4, shown, "number")


def _ends(run: RunSummary, name: str) -> list[float]:
    estimate = run.metrics[name]
    if estimate.value is None:
        return []
    return [estimate.interval.low, estimate.interval.high] if estimate.interval else [estimate.value]


def pareto_chart(runs: Sequence[RunSummary]) -> Chart | None:
    """The first headline metric against what a question costs; None if it is not known for two runs."""
    name = runs[0].headline[0] if runs[0].headline else None
    if name is None:
        return None
    paid = all((run.costs["cost_usd"].value or 0) > 0 for run in runs)
    unit = "cost_usd" if paid else "calls"
    points = [
        (price, value, number, run)
        for number, run in enumerate(runs)
        if (value := run.metrics[name].value if name in run.metrics else None) is not None
        and (price := run.costs[unit].value) is not None
    ]
    if len(points) < 2:
        return None
    height, bottom = 260.0, 260.0 - 40
    drawing = Drawing(WIDTH, height, f"{title_of(name)} against {unit} per question, with the Pareto front")
    most = max(price for price, *_ in points) * 1.15 or 1.0
    ends = [end for *_, run in points for end in _ends(run, name)]
    low, high = max(0.0, min(ends) - 0.03), min(1.0, max(ends) + 0.03) if is_percent(name) else max(ends) * 1.05 or 1.0
    x, y = scale(0.0, most, 44, WIDTH - 16), scale(low, high, bottom, 10)
    for tick in ticks(low, high):
        drawing.line(44, y(tick), WIDTH - 16, y(tick), "grid")
        drawing.text(36, y(tick) + 4, f"{100 * tick:.0f}" if is_percent(name) else f"{tick:g}", "tick", "end")
    for tick in ticks(0.0, most):
        drawing.text(x(tick), bottom + 18, f"${tick:g}" if paid else f"{tick:g}", "tick", "middle")
    drawing.text((44 + WIDTH - 16) / 2, height - 4, f"{'dollars' if paid else 'calls'} per question", "axis", "middle")
    front = pareto_front([(price, value) for price, value, *_ in points])
    steps = [(x(front[0][0]), y(front[0][1]))]
    for price, value in front[1:]:
        steps += [(x(price), steps[-1][1]), (x(price), y(value))]
    drawing.path([*steps, (WIDTH - 16, steps[-1][1])], "front")
    for price, value, number, run in points:
        between = run.metrics[name].interval
        if between is not None:
            drawing.line(x(price), y(between.low), x(price), y(between.high), f"whisker {_run(number)}")
        hint = f"{run.label}: {metric(name, value, run.cases)}, {cost(unit, price)} per question"
        drawing.dot(x(price), y(value), 5, f"dot {_run(number)}", hint)
        late = x(price) > WIDTH * 0.62
        drawing.text(x(price) + (-10 if late else 10), y(value) - 8, run.label, "name", "end" if late else "start")
    caption = "The dashed line is the Pareto front: no run beside it is both cheaper and better."
    return Chart(f"{title_of(name)} against cost", caption, drawing.markup())


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The (cost, value) pairs that no other pair beats: cheaper ones first, each better than those before.

    >>> pareto_front([(1, 0.8), (2, 0.7), (3, 0.9), (3, 0.85)])
    [(1, 0.8), (3, 0.9)]
    """
    front: list[tuple[float, float]] = []
    for price, value in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or value > front[-1][1]:
            front.append((price, value))
    return front


def outcomes_chart(stats: DebateStats, beside: str = "") -> Chart:
    """How the debates ended, and how many of each kind were right."""
    rows = sorted(stats.outcomes.items(), key=lambda row: -row[1].total())
    height = 12 + len(rows) * 30 + 8
    drawing = Drawing(WIDTH, height, "How the debates ended: right and wrong answers of each kind")
    # A square root, since a few judged debates are as interesting as a thousand consensuses.
    most = max(counts.total() for _, counts in rows)
    for number, (outcome, counts) in enumerate(rows):
        y, total = 12 + number * 30, counts.total()
        drawing.text(0, y + 14, title_of(outcome), "name")
        length = (RIGHT_EDGE - 40 - LEFT) * sqrt(total / most)
        start = LEFT
        for state, style in ((RIGHT, "right"), (WRONG, "wrong"), (None, "other")):
            part = counts[state] if state else total - counts[RIGHT] - counts[WRONG]
            width = length * part / total
            hint = f"{title_of(outcome)}: {part:,} {state or 'not scored or without an answer'}"
            drawing.bar(start, y, width, 20, f"bar {style}", hint)
            start += width
        drawing.text(start + 8, y + 14, f"{counts[RIGHT]:,} of {total:,}", "number")
    caption = "Filled: right; outlined: wrong; grey: not scored or no answer. Lengths are square roots of the counts."
    return Chart(f"How debates ended{beside}", caption, drawing.markup())


def changes_chart(stats: DebateStats, beside: str = "") -> Chart | None:
    """Answers that went wrong → right and right → wrong in each round; None if none ever did."""
    rows = [
        (f"Round {round.round}, {title_of(role)}", changes[WRONG, RIGHT], changes[RIGHT, WRONG])
        for round in stats.rounds.values()
        for role, changes in sorted(round.changes.items())
        if role != DEBATE and any(before is not None for before, _ in changes)
    ]
    most = max((number for _, *both in rows for number in both), default=0)
    if not most:
        return None
    height = 34 + len(rows) * 28
    drawing = Drawing(WIDTH, height, "Answers that changed in each round, to right and to wrong")
    middle, reach = (LEFT + 20 + WIDTH) / 2, (WIDTH - LEFT - 20) / 2 - 30
    drawing.text(middle - 8, 12, "right → wrong", "axis", "end")
    drawing.text(middle + 8, 12, "wrong → right", "axis")
    drawing.line(middle, 20, middle, height - 2, "zero")
    for number, (name, corrected, misled) in enumerate(rows):
        y = 26 + number * 28
        drawing.text(0, y + 13, name, "name")
        left, right = reach * misled / most, reach * corrected / most
        drawing.bar(middle - left, y, left, 18, "bar wrong", f"{name}: {misled} right → wrong")
        drawing.bar(middle, y, right, 18, "bar right", f"{name}: {corrected} wrong → right")
        drawing.text(middle - left - 6, y + 13, f"{misled:,}", "number", "end")
        drawing.text(middle + right + 6, y + 13, f"{corrected:,}", "number")
    caption = "Only answers that changed in that round; the table below also has those that did not."
    return Chart(f"Changed answers by round{beside}", caption, drawing.markup())


def reliability_chart(bins: Sequence[Bin], beside: str = "") -> Chart:
    """How often answers of each confidence are right, above how many there are."""
    height, bottom, top = 300.0, 208.0, 10.0
    drawing = Drawing(WIDTH, height, "Reliability diagram: accuracy against confidence")
    x, y = scale(0.0, 1.0, 60, WIDTH - 40), scale(0.0, 1.0, bottom, top)
    for tick in ticks(0.0, 1.0):
        drawing.line(x(0), y(tick), x(1), y(tick), "grid")
        drawing.text(x(0) - 8, y(tick) + 4, f"{100 * tick:.0f}", "tick", "end")
        drawing.text(x(tick), height - 20, f"{100 * tick:.0f}", "tick", "middle")
    drawing.text((x(0) + x(1)) / 2, height - 4, "confidence, %", "axis", "middle")
    drawing.path([(x(0), y(0)), (x(1), y(1))], "front")
    most = max(one.count for one in bins)
    for one in bins:
        if one.accuracy is None or one.confidence is None:
            continue
        tall = 44 * one.count / most
        hint = f"{one.count:,} answers with {100 * one.low:.0f} to {100 * one.high:.0f} % confidence"
        drawing.bar(x(one.low) + 1, bottom + 62 - tall, x(one.high) - x(one.low) - 2, tall, "bar count", hint)
        middle = x(one.confidence)
        if one.interval is not None:
            drawing.line(middle, y(one.interval.low), middle, y(one.interval.high), "whisker run-0")
        drawing.dot(middle, y(one.accuracy), 4.5, "dot run-0", f"{hint}: {100 * one.accuracy:.1f} % right")
    caption = (
        f"Accuracy of the answers in {len(bins)} bins of confidence, with 95 % intervals; on the dashed line a "
        "confidence means what it says. Bars: how many answers."
    )
    return Chart(f"Reliability{beside}", caption, drawing.markup())


def _run(number: int) -> str:
    return f"run-{number % 6}"
