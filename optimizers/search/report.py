"""What a search found, as `search.json` in the compiled folder keeps it."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.run import write_json
from optimizers.compiled import save_program
from optimizers.search.front import Member
from programs import DebateProgram, InputError

FILE, FRONT, PLOT = "search.json", "front", "front.png"


class SearchReport(BaseModel):
    """The front of a search, which of its programs was picked, and what mattered."""

    model_config = ConfigDict(frozen=True)

    objectives: list[str]
    """What was searched by: `quality` to be high, `cost` and perhaps `ece` to be low."""
    unit: str
    """What cost is: `dollars` or `calls`, per question."""
    cases: int
    """Cases that it chose on."""
    trials: int
    """Programs that were tried, those included that were given up."""
    given_up: int
    """Those that were surely worse than a cheaper one on a part of the cases."""
    pick: str
    picked: int
    """The trial that is the compiled program."""
    start: Member
    """The program as it was."""
    front: list[Member]
    """Cheaper ones first."""
    importance: dict[str, float] = {}
    """What is chosen → its share in what explains quality (PED-ANOVA, Watanabe et al. 2023, arXiv:2304.10255), in
    [0, 1]; empty where there were too few trials to tell."""


def write_search(folder: Path, report: SearchReport, programs: dict[int, DebateProgram]) -> None:
    """Write `search.json`, the programs of the front as compiled folders, and the plot if matplotlib is installed.

    Args:
        programs: trial → program, of the front.
    """
    for member in report.front:
        save_program(programs[member.trial], folder / FRONT / str(member.trial))
    if find_spec("matplotlib") is not None:
        plot_front(report, folder / PLOT)
    write_json(folder / FILE, report.model_dump(mode="json"))


def keep_search(steps: Path, compiled: Path) -> None:
    """Move what the last search of a compile left in the folder of its steps into the compiled one."""
    for found in sorted(steps.glob(f"*/{FILE}"))[-1:]:
        for name in (FRONT, PLOT, FILE):  # the report last: where it is, all is
            if (found.parent / name).exists():
                shutil.rmtree(compiled / name, ignore_errors=True)
                (found.parent / name).replace(compiled / name)


def read_search(compiled: Path) -> SearchReport | None:
    """What the search found that made the compiled program; None if none did. Raises `InputError` for a broken file."""
    path = compiled / FILE
    if not path.exists():
        return None
    try:
        return SearchReport.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(f"{path} is not what a search writes: {error.errors()[0]['msg']}") from error


def front_summary(report: SearchReport) -> str:
    """The front, what was picked and what mattered, for a person."""
    money = report.unit == "dollars"
    lines = [f"{report.trials} programs tried on {report.cases} cases, {report.given_up} given up early; the front:"]
    for member in report.front:
        between = "" if member.low is None else f" ({100 * member.low:.1f} to {100 * (member.high or 0):.1f})"
        cost = f"${member.cost:.4f}" if money else f"{member.cost:.1f} calls"
        ece = "" if member.ece is None else f", ECE {member.ece:.3f}"
        mark = f"  <- picked ({report.pick})" if member.trial == report.picked else ""
        changed = {name: label for name, label in member.choices.items() if report.start.choices.get(name) != label}
        what = ", ".join(f"{name} {label}" for name, label in changed.items()) or "the program as it was"
        quality = f"{100 * member.quality:.1f}{between}"
        lines.append(f"  {FRONT}/{member.trial}: quality {quality}, {cost} a question{ece}: {what}{mark}")
    told = sorted(report.importance.items(), key=lambda item: -item[1])[:5]
    if told:
        lines.append("what mattered for quality: " + ", ".join(f"{name} {share:.0%}" for name, share in told))
    return "\n".join(lines)


def plot_front(report: SearchReport, path: Path) -> None:
    """Draw quality against cost, with intervals, as a picture. Needs matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    costs, qualities = [one.cost for one in report.front], [100 * one.quality for one in report.front]
    axes.step(costs, qualities, where="post", linestyle="--", color="0.6", zorder=1)
    for member in [*report.front, report.start]:
        on_front = member in report.front
        color = "tab:red" if member.trial == report.picked else "tab:blue" if on_front else "0.4"
        around = None if member.low is None or member.high is None else [
            [max(0.0, 100 * (member.quality - member.low))], [max(0.0, 100 * (member.high - member.quality))]
        ]  # fmt: skip
        axes.errorbar([member.cost], [100 * member.quality], yerr=around, fmt="o" if on_front else "x", color=color)
        name = "as it was" if member.trial == report.start.trial else str(member.trial)
        axes.annotate(name, (member.cost, 100 * member.quality), xytext=(5, 5), textcoords="offset points")
    axes.set_xlabel(f"{report.unit} a question")
    axes.set_ylabel("quality, percent")
    axes.set_title(f"front of {report.trials} programs; picked: {report.pick} (red)")
    axes.set_xlim(left=0)
    figure.savefig(path, dpi=150, metadata={"Software": None})
