"""The simulated model in the roles of the visual programs.

Every role's answer follows from what the speaker believes, not from the truth: the truth only decides, by the
package's law, which mistakes the speaker makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from demur.simulated import law
from demur.simulated.hearing import (
    ATTRIBUTES,
    NOTHING,
    PLACE,
    fits_real,
    last_answer,
    level_of,
    names_real,
    read_statement,
    read_statements,
    stance,
    standing_of,
)
from demur.simulated.noise import choose, logit, shifted, uniform
from demur.simulated.parse import Ask, Values
from demur.simulated.speaker import Speaker, scenarios_named
from demur.simulated.truth import Truth, truth_of, view_of
from evals.scenes import SCENARIOS, SceneView, Thing
from evals.scenes.things import Size
from signatures import CAUSES, REGIONS, Verdict

Answer = dict[str, Any]


def answer_visual(ask: Ask, seed: int, sample: int) -> Answer | None:
    """What a visual role says, or None if `ask` is none of theirs.

    A role is known by its output fields; the judge and somebody who reflects by their inputs as well. Raises lm15's
    errors for a picture or a question that the model cannot deal with.
    """
    inputs = {field.name for field in ask.inputs}
    if ask.wanted == {"scenario"} and "debate" in inputs:
        return {"scenario": next(iter(scenarios_named(ask.given.texts.get("debate", ""))), "a room")}
    if "image" not in inputs:
        return None
    if ask.wanted == {"scenario"}:
        return _name_scenario(ask, seed, sample)
    role = _judge if ask.wanted == _VERDICT and "first_side" in inputs else _ROLES.get(ask.wanted)
    if role is None or "question" not in inputs:
        return None
    answer = role(Speaker(ask, truth_of(ask.given), seed, sample))
    return {"reasoning": answer.get("reason", "I looked at the image and describe what I see."), **answer}


def _open(speaker: Speaker) -> Answer:
    verdict = _verdict(speaker.truth, wrong=speaker.misjudges_at_first_sight())
    return {"answer": verdict, "reason": _reason(speaker, verdict, NOTHING)}


def _describe(speaker: Speaker) -> Answer:
    """The claimed object: where it is absent, the thing that is taken for it, or else any thing."""
    truth = speaker.truth
    seen = truth.real or _some_thing(speaker, "describe")
    return _description(speaker, seen, "describe", clothing=True)


def _inspect(speaker: Speaker) -> Answer:
    """The place where the object is or would be expected; nothing there where nothing could be taken for it."""
    truth = speaker.truth
    attentive = speaker.gets(law.INSPECT, "inspect")
    seen = truth.real if attentive else _some_thing(speaker, "inspect")
    return _description(speaker, seen, "inspect", clothing=False)


def _reconsider(speaker: Speaker) -> Answer:
    truth, given = speaker.truth, speaker.ask.given
    own, told = read_statement(given, "own_answer"), read_statement(given, "told")
    mine: Verdict = "yes" if own.get("answer") == "yes" else "no"
    theirs, level = stance(told, mine), level_of(told)
    standing = standing_of(mine == _verdict(truth), theirs == _verdict(truth))
    table = law.RECONSIDER_PRESENT if truth.present else law.RECONSIDER_ABSENT
    again = "actual_object" in own
    convinced = not again and level == "everything" and standing == "only I" and not truth.present
    probability = law.CONVINCED_EARLY if convinced else table[standing][level]
    misnamed = standing == "only other" and not truth.present and not names_real(told, truth)
    wrong = speaker.errs(probability, "reconsider", mine, theirs, level, again, shift=law.MISNAMED if misnamed else 0.0)
    verdict = _verdict(truth, wrong=wrong)
    gives_in = mine == "yes" and verdict == "no" and told.get("actual_object") != truth.object
    heard = told.get("actual_object", NOTHING) if gives_in else NOTHING
    fits = fits_real(told, truth) or fits_real(own, truth)
    hint = law.NAMED_EVERYTHING if level == "everything" else law.NAMED_ATTRIBUTES if fits else 0.0
    return _finding(speaker, verdict, "reconsider", hint, heard)


def _reflect(speaker: Speaker) -> Answer:
    truth, given = speaker.truth, speaker.ask.given
    own, details = read_statement(given, "own_answer"), read_statement(given, "details")
    mine: Verdict = "yes" if own.get("answer") == "yes" else "no"
    if mine == _verdict(truth):
        probability = law.REFLECT["right turns"]
    else:
        probability = law.REFLECT["wrong stays" if fits_real(details, truth) else "unseen stays"]
    answer = _finding(speaker, _verdict(truth, wrong=speaker.errs(probability, "reflect", mine)), "reflect")
    del answer["found"]
    return answer


def _judge(speaker: Speaker) -> Answer:
    truth, given = speaker.truth, speaker.ask.given
    first, second = read_statements(given, "first_side"), read_statements(given, "second_side")
    named = any(names_real(statement, truth) for statement in first + second)
    error = shifted(law.JUDGE_ERROR, speaker.shift + (law.JUDGE_NAMED if named else 0.0))
    towards_yes = -logit(error) if truth.present else logit(error)
    towards_yes += _leaning(given, last_answer(first), last_answer(second))
    verdict: Verdict = "yes" if speaker.chance("judge") < shifted(0.5, towards_yes) else "no"
    answer = _finding(speaker, verdict, "judge")
    del answer["found"]
    return answer


def _leaning(given: Values, first: str | None, second: str | None) -> float:
    """How far the order and the lengths of two sides that disagree move the judge's log-odds towards yes."""
    if {first, second} != {"yes", "no"}:
        return 0.0
    lengths = [len(given.texts[name]) for name in ("first_side", "second_side")]
    longer = (lengths[0] > lengths[1]) - (lengths[0] < lengths[1])
    towards_first = law.JUDGE_FIRST + longer * law.JUDGE_LONGER
    return towards_first if first == "yes" else -towards_first


def _name_scenario(ask: Ask, seed: int, sample: int) -> Answer:
    scene = view_of(ask.given.pictures.get("image")).scene
    offered = ask.given.data("scenarios")
    options = [str(option) for option in offered] if isinstance(offered, list) and offered else list(SCENARIOS)
    others = [option for option in options if option != scene.scenario]
    key = (seed, scene.seed, scene.index, "scenario", sample)
    known = scene.scenario in options and (not others or uniform(*key) < law.SCENARIO_RIGHT)
    return {"scenario": scene.scenario if known else choose(others, *key, "other")}


_VERDICT = frozenset({"actual_object", "answer", "cause", "reason"})
_ROLES: dict[frozenset[str], Callable[[Speaker], Answer]] = {
    frozenset({"answer", "reason"}): _open,
    frozenset({*ATTRIBUTES, *PLACE}): _describe,
    frozenset({"color", "shape", "size", *PLACE}): _inspect,
    frozenset({"found", *_VERDICT}): _reconsider,
    _VERDICT: _reflect,
}


def _verdict(truth: Truth, *, wrong: bool = False) -> Verdict:
    return "yes" if truth.present != wrong else "no"


def _finding(speaker: Speaker, verdict: Verdict, stage: str, hint: float = 0.0, heard: str = NOTHING) -> Answer:
    """Verdict, what is really there and why somebody may see something else, as far as the speaker found out.

    `hint` shifts how likely the speaker finds out; `heard` is what it takes over from somebody it gives in to.
    """
    truth, lure = speaker.truth, speaker.truth.lure
    named, cause = NOTHING, "none"
    if verdict == "yes":
        named = truth.object
    elif heard != NOTHING:
        named = heard
    elif lure is not None and speaker.gets(law.NAMED[stage], stage, "named", shift=hint):
        named = lure.thing.name
    elif speaker.chance(stage, "misnames") < law.MISNAMES and (other := _some_thing(speaker, stage, "misnamed")):
        named = other.name
    if verdict == "no" and named != NOTHING:
        knows = lure is not None and named == lure.thing.name and speaker.gets(law.CAUSE_RIGHT, stage, "cause")
        cause = lure.cause if lure is not None and knows else choose(CAUSES, speaker.chance(stage, "other cause"))
    return {
        "found": "no" if named == NOTHING else "yes",
        "actual_object": named,
        "answer": verdict,
        "cause": cause,
        "reason": _reason(speaker, verdict, named),
    }


def _description(speaker: Speaker, thing: Thing | None, stage: str, *, clothing: bool) -> Answer:
    if thing is None:
        parts: Answer = dict.fromkeys(("color", "shape", "size", "clothing", *PLACE), NOTHING)
        parts["region"] = choose(REGIONS, speaker.chance(stage, "region"))
    else:
        view = speaker.truth.view
        shown = [other for other in view.scene.things if view.visible(other)]
        parts = {
            "color": _part(speaker, stage, "color", thing.color, [other.color for other in shown]),
            "shape": _part(speaker, stage, "shape", thing.shape, [other.shape for other in shown]),
            "size": _part(speaker, stage, "size", thing.size, get_args(Size)),
            "clothing": thing.clothing,
            "region": _part(speaker, stage, "region", thing.region, REGIONS),
        }
        for side, neighbour in view.scene.neighbours(thing).items():
            fits = speaker.gets(law.DESCRIBE["neighbour"], stage, side)
            parts[side] = (
                neighbour if fits else choose([NOTHING, *(o.name for o in shown)], speaker.chance(stage, side, 2))
            )
    if not clothing:
        del parts["clothing"]
    return parts


def _part(speaker: Speaker, stage: str, name: str, fitting: str, options: Any) -> str:
    """`fitting` with the law's probability, else another of the options, if there is one."""
    others = [option for option in options if option != fitting]
    if not others or speaker.gets(law.DESCRIBE[name], stage, name):
        return fitting
    return choose(others, speaker.chance(stage, name, "other"))


def _some_thing(speaker: Speaker, *what: object) -> Thing | None:
    """Any thing in view but the real one."""
    view: SceneView = speaker.truth.view
    others = [thing for thing in view.scene.things if view.visible(thing) and thing != speaker.truth.real]
    return choose(others, speaker.chance(*what, "some thing")) if others else None


_YES = (
    "I see {object} in the image.",
    "There is {object} among the things in the image.",
    "I can make out {object}.",
)
_NO = (
    "I do not see {object} in the image.",
    "Nothing in the image is {object}.",
    "I looked for {object} and did not find it.",
)
_INSTEAD = (
    "What may look like {object} is {other}.",
    "The thing in dispute is {other}, not {object}.",
)


def _reason(speaker: Speaker, verdict: Verdict, named: str) -> str:
    """One sentence that says what the speaker believes."""
    templates = _YES if verdict == "yes" else _NO if named == NOTHING else _INSTEAD
    template = choose(templates, *speaker.truth.key, speaker.chance("words"))
    return template.format(object=_article(speaker.truth.object), other=_article(named))


def _article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"
