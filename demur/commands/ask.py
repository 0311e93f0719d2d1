"""`demur ask`: one question, with the debate shown as it happens."""

import inspect
import re
from pathlib import Path
from typing import Annotated, Any

import dspy
import typer

from demur.commands import options as o
from demur.console import SIMULATED, err, out, print_json
from demur.setup import ModelOptions, SearchOptions, build_program, load_cases
from evals.benchmarks.facts import MAX_LIMIT
from programs import DebateProgram, InputError, Session, Turn, name_of, playing
from programs.interpretation import Interpretation
from programs.searching import RETRIEVER

_IS_THERE = re.compile(r"\W*(is|are) there\b", re.IGNORECASE)
"""How questions begin that ask for an object, as those of POPE."""


def ask(
    question: Annotated[str, typer.Option("--question", "-q", metavar="TEXT", help="The question.")],
    program: o.ProgramName = None,
    image: Annotated[Path | None, typer.Option(metavar="FILE", help="The picture that it is about.")] = None,
    choice: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A choice of a multiple-choice question; repeated.")
    ] = None,
    corpus: o.Corpus = None,
    index: o.Index = None,
    top_k: o.TopK = None,
    confidence: o.ConfidenceOption = None,
    compiled: o.Compiled = None,
    set_: o.Set = None,
    imitation: o.Imitation = None,
    model: o.Model = None,
    model_for: o.ModelFor = None,
    api_base: o.ApiBase = None,
    temperature: o.Temperature = None,
    max_tokens: o.MaxTokens = None,
    timeout_s: o.TimeoutS = 120.0,
    retries: o.Retries = 3,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Ask PROGRAM one question; prints the debate turn by turn, then the verdict and the interpretation."""
    options = {"top_k": top_k, "confidence": confidence, "questions": "any" if choice else None}
    debate = build_program(program, set_ or (), imitation=imitation, compiled=compiled, options=options)
    inputs = _inputs(debate, question=question, image=image, choices=choice)
    simulated = model == "simulated"
    # The simulated model knows the generated world, and searches it where nothing else is named.
    known = load_cases("facts", limit=MAX_LIMIT, seed=seed)[0] if simulated and image is None else None
    SearchOptions(corpus, tuple(index or ())).given_to(debate, known, seed, simulated=simulated)
    models = ModelOptions(
        model, tuple(model_for or ()), api_base, temperature, max_tokens, timeout_s, retries, seed=seed
    )

    async def show(case_id: str, turn: Turn) -> None:
        if not as_json:
            print_turn(turn)

    with models.used_by(debate), playing(Session("ask", on_turn=show)):
        debate.check()
        result = debate(**inputs)
    failure, interpretation = result.failure, result.get("interpretation")
    if as_json:
        print_json(
            {
                "answer": result.answer,
                "reason": result.reason,
                "outcome": result.get("outcome"),
                "contested": result.get("contested", False),
                "confidence": result.get("confidence"),
                "confidence_source": result.get("confidence_source"),
                "documents": _documents(result),
                "failure": failure.model_dump() if failure else None,
                "interpretation": interpretation.model_dump() if interpretation else None,
                "transcript": result.transcript.to_list(),
                "usage": result.transcript.usage.model_dump(),
                "simulated": any(turn.model == "simulated" for turn in result.transcript),
            }
        )
    elif failure is None:
        ending = " (contested: the judge contradicts itself)" if result.get("contested") else ""
        sure = result.get("confidence")
        how_sure = "" if sure is None else f", confidence {sure:.2f} ({result.confidence_source})"
        out.print(f"\nverdict: {result.answer}, by {result.outcome}{ending}{how_sure}\n{result.reason}", markup=False)
        for document in _documents(result) or []:
            out.print(f"{'kept' if document['kept'] else 'dropped'}: {document['title']}", markup=False)
        if interpretation is not None:
            out.print(interpretation_line(interpretation, question), markup=False)
        if any(turn.model == "simulated" for turn in result.transcript):
            out.print(SIMULATED, style="yellow")
    if failure is not None:
        err.print(f"demur: no answer: {failure.kind}: {failure.reason}", markup=False)
        raise typer.Exit(1)


def _inputs(debate: DebateProgram, **given: Any) -> dict[str, Any]:
    """The inputs that are given. Raises `InputError` for one that the program does not take."""
    taken = inspect.signature(debate.debate).parameters
    inputs = {name: value for name, value in given.items() if value}
    for name in inputs:
        if name not in taken:
            option = {"choices": "choice"}.get(name, name)
            kinds = " and ".join(debate.tasks)
            raise InputError(f"{name_of(debate)} takes no --{option}; it answers {kinds} questions")
    return inputs


def _documents(result: dspy.Prediction) -> list[dict[str, Any]] | None:
    """What was retrieved, and whether the answer was made from it; None for programs that search nothing."""
    found = result.get("documents")
    return found and [
        {"id": each.passage.id, "title": each.passage.title, "text": each.passage.text, "kept": each.kept}
        for each in found
    ]


def print_turn(turn: Turn) -> None:
    """One turn as text: who, when, and what was said."""
    out.print(f"[bold]{turn.role}[/bold] {turn.stage}, round {turn.round}", end="")
    out.print(f", {turn.branch}" if turn.branch else "", markup=False)
    if turn.failure is not None:
        out.print(f"  failed: {turn.failure.kind}: {turn.failure.reason}", markup=False)
    for name, value in (turn.output or {}).items():
        if turn.role == RETRIEVER:
            value = "; ".join(passage["title"] for found in value for passage in found)
        out.print(f"  {name}: {value}", markup=False)


def interpretation_line(found: Interpretation, question: str) -> str:
    """The interpretation in one line. Of an object one can say that it was seen or hallucinated, of nothing else."""
    object_in_question = _IS_THERE.match(question) is not None
    claimants = " and ".join(found.claimed_by)
    if not found.hallucinated:
        where = f" ({found.region})" if found.region else ""
        stands = "no hallucination; {} saw the object" if object_in_question else "the yes of {} stands"
        return f"interpretation: {stands.format(claimants)}{where}"
    fell = "hallucinated by {}" if object_in_question else "the yes of {} did not stand"
    parts = [f"interpretation: {fell.format(claimants)}"]
    parts += [f"region: {found.region}"] if found.region else []
    parts += [f"really there: {found.actual_object}"] if found.actual_object else []
    parts += [f"cause: {found.cause}"] if found.cause else []
    return "; ".join(parts)
