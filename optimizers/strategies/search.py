"""`search`: structure and prompts together, by quality and by cost (and by calibration), with Optuna's TPE sampler.

Each trial is a choice of arguments, of the prompts of each role, and of how many demonstrations it is shown. It is
played on growing parts of the cases, and given up where it is surely worse than a program of the front and not surely
cheaper.
"""

from __future__ import annotations

import hashlib
import json
import random
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dspy
import numpy as np
import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from evals.intervals import cluster_bootstrap
from optimizers.compiled import load_program, save_program
from optimizers.imitation import collect_imitation
from optimizers.search.front import Member, Pick, pareto_front
from optimizers.search.report import SearchReport, write_search
from optimizers.search.space import Choices, Demos, Space, make_space
from optimizers.search.trials import Row, Trials, calibration_error, surely_less
from optimizers.strategies.base import Tuning, adopted, blank, check_stopped
from optimizers.strategies.few_shot import bootstrapped, by_turns
from optimizers.strategies.playing import play
from programs import DebateProgram, ImitationLibrary, InputError
from programs.state import state_hash

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


def search(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """The program that `pick` takes from the Pareto front of `trials` programs.

    The first trial is the program as it is, the second has as many demonstrations as may be. What each one scored is
    kept in the storage, so that a search that was stopped goes on as it would have, and several processes may share
    one.

    Raises:
        InputError: if the program leaves nothing to choose, or the storage cannot be opened.
    """
    pick = Pick.parse(tuning.settings.pick)
    with TemporaryDirectory() as temporary:
        folder = tuning.folder or Path(temporary)
        learn, choose = tuning.objective.parts(tuning.seed)
        demos = _demonstrations(program, tuning, learn, folder / "source")
        library = _library(program, tuning, learn, folder / "debates")
        space = make_space(program, tuning.prompts, demos, max_demos=tuning.settings.max_demos, library=library)
        found = _Search(space, Trials(tuning, choose, folder / "trials"), tuning, folder)
        found.run()
        report = found.report(pick)
        programs = {member.trial: space.program_of(member.choices) for member in report.front}
        write_search(folder, report, programs)
    return programs[report.picked]


class _Search:
    """A study and what its trials are."""

    def __init__(self, space: Space, trials: Trials, tuning: Tuning, folder: Path) -> None:
        self.space, self.trials, self.tuning = space, trials, tuning
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.shared = tuning.settings.storage is not None
        self.study = _study(tuning, folder, _name(space, trials))

    def run(self) -> None:
        """Try programs until there are as many as there may be."""
        while (number := len(self.finished())) < self.tuning.settings.trials:
            drawn = len(self.study.get_trials(deepcopy=False)) if self.shared else number
            with warnings.catch_warnings(action="ignore", category=optuna.exceptions.ExperimentalWarning):
                self.study.sampler = optuna.samplers.TPESampler(
                    seed=random.Random(f"{self.tuning.seed}/{drawn}").getrandbits(32),
                    multivariate=True,
                    n_startup_trials=max(8, self.tuning.settings.trials // 4),
                    constant_liar=self.shared,
                )
            if drawn < 2:
                self.study.enqueue_trial(self.space.shown if drawn else self.space.start)
            trial = self.study.ask()
            choices = {name: trial.suggest_categorical(name, labels) for name, labels in self.space.parameters.items()}
            self.tell(trial, choices)

    def tell(self, trial: optuna.Trial, choices: Choices) -> None:
        """Play the trial's program and keep what came of it."""
        try:
            program = self.space.program_of(choices)
        except InputError:  # arguments that do not go together
            self.study.tell(trial, state=TrialState.FAIL)
            return
        rows: list[Row] = []
        scored: list[Any] = []
        for part in range(len(self.trials.parts)):
            more, also = self.trials.measure(program, part)
            rows, scored = rows + more, scored + also
            if part + 1 < len(self.trials.parts) and self.hopeless(rows):
                self.study.tell(trial, state=TrialState.PRUNED)
                return
        quality = self.tuning.objective.of_all(scored)
        paid = all(row.usd for row in rows)
        cost = float(np.mean([(row.usd or 0.0) if paid else row.calls for row in rows]))
        error = calibration_error(rows)
        trial.set_user_attr("rows", [list(row) for row in rows])
        trial.set_user_attr("cost", cost)
        trial.set_user_attr("quality", quality)
        trial.set_user_attr("ece", error)
        trial.set_user_attr("arguments", json.loads(json.dumps(_shown(program))))
        self.study.tell(trial, [quality, cost, 1.0 if error is None else error])

    def hopeless(self, rows: Sequence[Row]) -> bool:
        """Whether a program of the front is surely better on these cases, and this one not surely cheaper."""
        groups = self.trials.groups[: len(rows)]
        for member in pareto_front(self.members()):
            theirs = self.rows_of(member)[: len(rows)]
            seed = self.tuning.seed
            worse = surely_less([row.score for row in rows], [row.score for row in theirs], groups, seed=seed)
            cheaper = surely_less([row.calls for row in rows], [row.calls for row in theirs], groups, seed=seed)
            if worse and not cheaper:
                return True
        return False

    def finished(self) -> list[FrozenTrial]:
        return self.study.get_trials(deepcopy=False, states=FINISHED)

    def members(self) -> list[Member]:
        """Of each program that was tried on all cases the first trial, numbered in the order in which they ended."""
        members: dict[str, Member] = {}
        confident = any(trial.user_attrs.get("ece") is not None for trial in self.finished())
        for number, trial in enumerate(self.finished()):
            if trial.state is not TrialState.COMPLETE:
                continue
            rows = [Row(*row) for row in trial.user_attrs["rows"]]
            table = np.column_stack([[row.score for row in rows], np.ones(len(rows))])
            interval = cluster_bootstrap(table, self.trials.groups, seed=self.tuning.seed)
            usd = [row.usd for row in rows]
            error = trial.user_attrs["ece"]
            members.setdefault(
                json.dumps(trial.params, sort_keys=True),
                Member(
                    trial=number,
                    quality=trial.user_attrs["quality"],
                    low=interval and interval.low,
                    high=interval and interval.high,
                    cost=trial.user_attrs["cost"],
                    calls=float(np.mean([row.calls for row in rows])),
                    usd=None if None in usd else float(np.mean(usd)),  # type: ignore[arg-type]
                    ece=(1.0 if error is None else error) if confident else None,
                    choices=dict(trial.params),
                    arguments=trial.user_attrs["arguments"],
                ),
            )
        return list(members.values())

    def rows_of(self, member: Member) -> list[Row]:
        return [Row(*row) for row in self.finished()[member.trial].user_attrs["rows"]]

    def report(self, pick: Pick) -> SearchReport:
        members, finished = self.members(), self.finished()
        front = pareto_front(members)
        picked = pick.of(front)
        front = [member.model_copy(update={"folder": f"front/{member.trial}"}) for member in front]
        start = next((member for member in members if member.choices == self.space.start), members[0])
        objectives = ["quality", "cost", *(["ece"] if picked.ece is not None else [])]
        return SearchReport(
            objectives=objectives,
            unit="dollars" if all(member.usd for member in members) else "calls",
            cases=len(self.trials.groups),
            trials=len(finished),
            given_up=sum(trial.state is TrialState.PRUNED for trial in finished),
            pick=str(pick),
            picked=picked.trial,
            start=start,
            front=front,
            importance=_importance(self.study),
        )


def _demonstrations(
    program: DebateProgram, tuning: Tuning, learn: Sequence[dspy.Example], source: Path
) -> dict[str, Demos]:
    """Orders in which the program's own right turns may be taken, one of each draw."""
    if (source / "program.json").exists():
        made = load_program(source, blank(program))
    else:
        made = adopted(program, bootstrapped(program, tuning, list(learn)))
        check_stopped()
        save_program(made, source)
    turns = {name: list(predictor.demos) for name, predictor in made.named_predictors() if predictor.demos}
    return {
        f"draw {draw + 1}": {
            name: by_turns(random.Random(f"{tuning.seed}/{name}/{draw}").sample(demos, len(demos)), tuning.objective)
            for name, demos in turns.items()
        }
        for draw in range(tuning.settings.candidates if turns else 0)
    }


def _library(
    program: DebateProgram, tuning: Tuning, learn: Sequence[dspy.Example], folder: Path
) -> ImitationLibrary | None:
    """Condensed debates for programs that show them; None if the program has a library, or none succeeded."""
    if program.arguments.get("imitation", program) is not None:
        return None
    run = play(program, tuning, learn, folder)
    try:
        return collect_imitation(
            run.records(),
            run.transcripts(),
            tuning.objective.benchmark,
            per_scenario=tuning.settings.per_scenario,
            tokens=tuning.settings.library_tokens,
        ).library
    except InputError:
        return None


def _study(tuning: Tuning, folder: Path, name: str) -> optuna.Study:
    """The study `name`, with quality, cost and calibration error as its objectives."""
    directions = [StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE, StudyDirection.MINIMIZE]
    try:
        storage = _storage(tuning.settings.storage, folder)
        return optuna.create_study(study_name=name, storage=storage, directions=directions, load_if_exists=True)
    except Exception as error:
        if tuning.settings.storage is None:
            raise
        raise InputError(
            f"--storage {tuning.settings.storage} cannot be opened: {error}; expected a journal file (`FILE.log`) or a "
            "database URL as `sqlite:///search.db`"
        ) from error


def _storage(url: str | None, folder: Path) -> BaseStorage:
    if url is not None and "://" in url:
        return RDBStorage(url)
    path = folder / "search.log" if url is None else Path(url)
    path.parent.mkdir(parents=True, exist_ok=True)
    return JournalStorage(JournalFileBackend(str(path)))


def _name(space: Space, trials: Trials) -> str:
    """Of the study: the same for processes that search the same programs on the same cases."""
    cases = [example.case_id for part in trials.parts for example in part]
    parts = [state_hash(space.program), space.parameters, cases, trials.tuning.objective.metric]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
    return f"{type(space.program).__name__}-{digest}"


def _shown(program: DebateProgram) -> Mapping[str, Any]:
    """The arguments of a program, a library by its size."""
    return {
        name: f"{len(value.examples)} examples" if isinstance(value, ImitationLibrary) else value
        for name, value in program.arguments.items()
    }


def _importance(study: optuna.Study) -> dict[str, float]:
    """What is chosen → its share in what makes quality high; empty if there are too few trials to tell."""
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances  # would import scikit-learn

    with warnings.catch_warnings(action="ignore"):
        try:
            found = get_param_importances(
                study, evaluator=PedAnovaImportanceEvaluator(), target=lambda trial: -trial.values[0]
            )
        except (ValueError, RuntimeError):
            return {}
    return {name: float(share) for name, share in found.items() if np.isfinite(share)}
