"""Fitting a calibrator on a dev run, and whether it helps: cross-validated figures before and after.

The calibrator that is kept is fitted on all answers. What is reported is of calibrators that had not seen the answers
they were tried on: the cases are split into folds by group (all questions about one picture are in one fold), and each
fold is calibrated by what was fitted on the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.benchmarks.base import Benchmark
from evals.calibration.calibrator import METHODS, Calibrator, FittedOn, Method
from evals.calibration.maps import CalibrationMap, Dirichlet
from evals.calibration.measures import RESAMPLES, Estimate, differences, estimates, measures
from evals.calibration.of_records import Judged, judgements, only_source
from evals.intervals import Array
from evals.run import Run
from evals.score import Scoring
from optimizers.calibrators import FITS, HISTOGRAM_BINS, fit_dirichlet
from programs.errors import InputError

MIN_CASES = 100
"""Fewer answers cannot tell whether a calibrator helps: of 100, the ECE of an honest confidence is still some 0.1."""
PER_PARAMETER = 10
"""So many right answers, and so many wrong ones, are needed for each parameter (Peduzzi et al. 1996,
doi:10.1016/S0895-4356(96)00236-3)."""
_PARAMETERS: Mapping[str, int] = {"temperature": 1, "platt": 2, "beta": 3, "isotonic": 10, "histogram": HISTOGRAM_BINS}
"""Isotonic regression has as many as it likes; ten are counted, as for a histogram."""

SHOWN = ("ece", "ace", "brier", "nll")


@dataclass(frozen=True)
class Calibration:
    """A fitted calibrator, and what it does to answers that it was not fitted on."""

    calibrator: Calibrator
    folds: int
    cases: int
    before: dict[str, Estimate]
    """`ece`, `ace`, `brier`, `nll` of the confidences as they are."""
    after: dict[str, Estimate]
    """The same, cross-validated."""
    change: dict[str, Estimate]
    """After minus before; below 0 is better."""

    @property
    def verdict(self) -> str:
        """What the Brier score, the one of the figures that is proper and bounded, says for a person."""
        change = self.change["brier"]
        if change.interval is None or change.interval.low <= 0 <= change.interval.high:
            return "these cases cannot tell whether the calibrator helps: the change of the Brier score may be 0"
        return "the calibrator helps" if change.interval.high < 0 else "the calibrator does harm: do not use it"


def calibrate_run(
    run: Run,
    benchmark: Benchmark,
    method: Method,
    scoring: Scoring = "strict",
    *,
    folds: int = 5,
    bins: int = 15,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Calibration:
    """Fit a calibrator on the answers of a run, and cross-validate it.

    If the run had a calibrator itself, the confidences are taken as they were before it.

    Args:
        folds: 2 or more; the groups of the cases are dealt out to them by `seed`.
        bins: of the ECE and ACE.

    Raises:
        InputError: the answers have no confidences, or some of different sources; there are too few of them to tell
            (the message says how many are needed); or the method needs probabilities of options that are not there.
    """
    if method not in METHODS:
        raise InputError(f"--method {method}: expected one of {', '.join(METHODS)}")
    answers = only_source(judgements(run.records(), benchmark, scoring))
    check_enough(answers, method)
    part = fold_of(answers.groups, folds, seed)
    fitted = _fitted(answers, method, np.ones(len(part), dtype=bool))
    after = np.full(len(part), np.nan)
    for fold in range(folds):
        held_out = part == fold
        after[held_out] = _applied(_fitted(answers, method, ~held_out), answers, held_out)
    known = ~np.isnan(after)  # a Dirichlet map says nothing of an answer that is no option
    right, groups = answers.correct[known], [answers.groups[case] for case in np.flatnonzero(known).tolist()]
    wanted = {name: measure for name, measure in measures(bins).items() if name in SHOWN}
    sampling: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    return Calibration(
        calibrator=Calibrator(
            map=fitted, source=answers.source, fitted_on=_fitted_on(run, benchmark, scoring, answers)
        ),
        folds=folds,
        cases=int(known.sum()),
        before=estimates(answers.raw[known], right, groups, wanted, **sampling),
        after=estimates(after[known], right, groups, wanted, **sampling),
        change=differences(answers.raw[known], after[known], right, groups, wanted, **sampling),
    )


def check_enough(answers: Judged, method: Method) -> None:
    """Raise `InputError` if there are too few answers for the method; the message says how many are needed.

    The rule: at least 100 answers; and for each parameter of the method at least 10 right and 10 wrong ones
    (temperature 1, Platt 2, beta 3, isotonic and histogram 10 parameters). For Dirichlet over K options each option
    must be the right one of at least 10 (K + 1) answers, since its row of the map has K + 1 parameters.
    """
    counts = {"answers": (len(answers.cases), MIN_CASES)}
    if method == "dirichlet":
        options = answers.options
        if options is None:
            raise InputError(
                "--method dirichlet needs the probabilities of all options of each question, which this run does not "
                "have; use temperature, platt, beta, isotonic or histogram"
            )
        needed = PER_PARAMETER * (options.probabilities.shape[1] + 1)
        for number in range(options.probabilities.shape[1]):
            counts[f"answers to questions whose right option is number {number + 1}"] = (
                int((options.right == number).sum()),
                needed,
            )
    else:
        needed = PER_PARAMETER * _PARAMETERS[method]
        right = int(answers.correct.sum())
        counts |= {"right answers": (right, needed), "wrong answers": (len(answers.cases) - right, needed)}
    short = [f"{found} {what}, of which {least} are needed" for what, (found, least) in counts.items() if found < least]
    if short:
        simpler = "" if method == "temperature" else "; --method temperature needs fewest"
        raise InputError(
            f"too few cases to tell what a {method} calibrator does: the run has {'; and '.join(short)}. Give a run "
            f"with more cases{simpler}"
        )


def fold_of(groups: tuple[str, ...], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each case, shape (cases,): all cases of a group are in one. Raises `InputError` if it cannot be."""
    names, index = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
    if folds < 2:
        raise InputError(f"--folds {folds}: expected 2 or more")
    if len(names) < folds:
        raise InputError(
            f"--folds {folds}: the cases belong to {len(names)} groups, which cannot be split into so many"
        )
    dealt = np.random.default_rng(seed).permutation(len(names)) % folds
    return dealt[index]


def _fitted(answers: Judged, method: Method, among: NDArray[np.bool_]) -> CalibrationMap:
    if method != "dirichlet":
        return FITS[method](answers.raw[among], answers.correct[among])
    assert answers.options is not None  # by check_enough
    options = answers.options
    return fit_dirichlet(options.probabilities[among], options.right[among], there=options.there[among])


def _applied(fitted: CalibrationMap, answers: Judged, among: NDArray[np.bool_]) -> Array:
    if not isinstance(fitted, Dirichlet):
        return fitted.of(answers.raw[among])
    assert answers.options is not None
    options = answers.options
    table = fitted.of_options(options.probabilities[among], options.there[among])
    chosen = options.chosen[among]
    return np.where(chosen < 0, np.nan, table[np.arange(len(table)), chosen])


def _fitted_on(run: Run, benchmark: Benchmark, scoring: Scoring, answers: Judged) -> FittedOn:
    cases = json.dumps(list(zip(answers.cases, answers.raw.tolist(), answers.correct.tolist(), strict=True)))
    return FittedOn(
        run=hashlib.sha256((run.folder / "run.json").read_bytes()).hexdigest(),
        program=run.spec.program,
        benchmark=benchmark.name,
        scoring=scoring,
        cases=len(answers.cases),
        right=int(answers.correct.sum()),
        cases_hash=hashlib.sha256(cases.encode()).hexdigest()[:16],
        simulated=run.spec.simulated,
        versions={name: version(name) for name in ("demur", "numpy", "scipy")},
    )
