"""`imitation`: debates of the training cases that succeeded, condensed, of which debaters are shown one like theirs."""

from pathlib import Path
from tempfile import TemporaryDirectory

from optimizers.imitation import collect_imitation
from optimizers.strategies.base import Tuning, take_prompt
from optimizers.strategies.playing import play
from programs import PROGRAMS, DebateProgram, ImitationLibrary, InputError, arguments_of, name_of, vary
from programs.nearest import nearest_of, set_nearest
from programs.predictors import signature_of


def imitation(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """The program with a library of its own debates of the training cases in which the one who was wrong at first gave
    way, or was overruled; with the prompts and demonstrations that it has.

    Raises:
        InputError: if the program shows no such examples, or none of its debates succeeded.
    """
    if "imitation" not in program.arguments:
        able = [name for name in PROGRAMS if "imitation" in {argument.name for argument in arguments_of(name)}]
        raise InputError(
            f"imitation: {name_of(program)} shows no condensed debates; programs that do: {', '.join(able)}"
        )
    with TemporaryDirectory() as temporary:
        library = _collected(program, tuning, Path(temporary) if tuning.folder is None else tuning.folder / "run")
    made = vary(program, {"imitation": library})
    before = dict(program.named_predictors())
    for name, predictor in made.named_predictors():
        if name in before:
            take_prompt(predictor, before[name])
            predictor.demos = [
                demo.copy(example="none") if _sees_one(predictor) else demo for demo in before[name].demos
            ]
            set_nearest(predictor, nearest_of(before[name]))
    return made


def _collected(program: DebateProgram, tuning: Tuning, folder: Path) -> ImitationLibrary:
    run = play(program, tuning, tuning.objective.examples(), folder)
    return collect_imitation(
        run.records(),
        run.transcripts(),
        tuning.objective.benchmark,
        per_scenario=tuning.settings.per_scenario,
        tokens=tuning.settings.library_tokens,
    ).library


def _sees_one(predictor: object) -> bool:
    return "example" in signature_of(predictor).input_fields  # type: ignore[arg-type]
