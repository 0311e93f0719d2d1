"""The simulated model in the roles of the visual programs.

Every role's answer follows from what the speaker believes, not from the truth: the truth only decides, by the
package's law, which mistakes the speaker makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from demur.simulated import law
from demur.simulated.noise import choose, logit, shifted, uniform
from demur.simulated.parse import Ask, Values
from demur.simulated.speaker import Speaker
from demur.simulated.truth import Truth, truth_of, view_of
from evals.scenes import SCENARIOS, SceneView, Thing
from evals.scenes.things import Size
from signatures import CAUSES, REGIONS, Told, Verdict

ATTRIBUTES = ("color", "shape", "size", "clothing")
PLACE = ("region", "above", "below", "left", "right")
NOTHING = "nothing"

Answer = dict[str, Any]


def answer_visual(ask: Ask, seed: int, sample: int) -> Answer | None:
    """What a visual role says, or None if `ask` is none of theirs.

    A role is known by its output fields; the judge and somebody who reflects by their inputs as well. Raises lm15's
    errors for a picture or a question that the model cannot deal with.
    """
    inputs = {field.name for field in ask.inputs}
    if "image" not in inputs:
        return None
    if ask.wanted == {"scenario"}:
        return _name_scenario(ask, seed, sample)
    role = _JUDGE if ask.wanted == _VERDICT and "first_side" in inputs else _ROLES.get(ask.wanted)
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
    own, told = _texts(given, "own_answer"), _texts(given, "told")
    mine: Verdict = "yes" if own.get("answer") == "yes" else "no"
    theirs, level = _stance(told, mine), _level(told)
    standing = _standing(mine == _verdict(truth), theirs == _verdict(truth))
    table = law.RECONSIDER_PRESENT if truth.present else law.RECONSIDER_ABSENT
    misnamed = standing == "only other" and not truth.present and not _names(told, truth)
    wrong = speaker.errs(
        table[standing][level], "reconsider", mine, theirs, level, shift=law.MISNAMED if misnamed else 0.0
    )
    verdict = _verdict(truth, wrong=wrong)
    fits = _fits(told, truth) or _fits(own, truth)
    hint = law.NAMED_EVERYTHING if level == "everything" else law.NAMED_ATTRIBUTES if fits else 0.0
    return _finding(speaker, verdict, "reconsider", hint)


def _reflect(speaker: Speaker) -> Answer:
    truth, given = speaker.truth, speaker.ask.given
    own, details = _texts(given, "own_answer"), _texts(given, "details")
    mine: Verdict = "yes" if own.get("answer") == "yes" else "no"
    if mine == _verdict(truth):
        probability = law.REFLECT["right turns"]
    else:
        probability = law.REFLECT["wrong stays" if _fits(details, truth) else "unseen stays"]
    answer = _finding(speaker, _verdict(truth, wrong=speaker.errs(probability, "reflect", mine)), "reflect", 0.0)
    del answer["found"]
    return answer


def _judge(speaker: Speaker) -> Answer:
    truth, given = speaker.truth, speaker.ask.given
    first, second = _statements(given, "first_side"), _statements(given, "second_side")
    named = any(_names(statement, truth) for statement in first + second) and not truth.present
    error = law.error(law.JUDGE_ERROR, speaker.shift + (law.JUDGE_NAMED if named else 0.0))
    towards_yes = -logit(error) if truth.present else logit(error)
    answers = [_last_answer(first), _last_answer(second)]
    if set(answers) == {"yes", "no"}:
        longer = len(given.texts.get("first_side", "")) > len(given.texts.get("second_side", ""))
        towards_yes += law.JUDGE_FIRST if answers[0] == "yes" else -law.JUDGE_FIRST
        towards_yes += law.JUDGE_LONGER if (answers[0] == "yes") == longer else -law.JUDGE_LONGER
    verdict: Verdict = "yes" if speaker.chance("judge") < shifted(0.5, towards_yes) else "no"
    answer = _finding(speaker, verdict, "judge", 0.0)
    del answer["found"]
    return answer


def _name_scenario(ask: Ask, seed: int, sample: int) -> Answer:
    scene = view_of(ask.given.pictures.get("image")).scene
    offered = ask.given.data("scenarios")
    options = [str(option) for option in offered] if isinstance(offered, list) and offered else list(SCENARIOS)
    others = [option for option in options if option != scene.scenario]
    key = (seed, scene.seed, scene.index, "scenario", sample)
    known = scene.scenario in options and (not others or uniform(*key) < law.SCENARIO_RIGHT)
    return {"scenario": scene.scenario if known else choose(others, *key, "other")}


_VERDICT = frozenset({"actual_object", "answer", "cause", "reason"})
_JUDGE = _judge
_ROLES: dict[frozenset[str], Callable[[Speaker], Answer]] = {
    frozenset({"answer", "reason"}): _open,
    frozenset({*ATTRIBUTES, *PLACE}): _describe,
    frozenset({"color", "shape", "size", *PLACE}): _inspect,
    frozenset({"found", *_VERDICT}): _reconsider,
    _VERDICT: _reflect,
}


def _verdict(truth: Truth, *, wrong: bool = False) -> Verdict:
    return "yes" if truth.present != wrong else "no"


def _finding(speaker: Speaker, verdict: Verdict, stage: str, hint: float) -> Answer:
    """Verdict, what is really there and why somebody may see something else, as far as the speaker found out."""
    truth = speaker.truth
    named, cause = NOTHING, "none"
    if verdict == "yes":
        named = truth.object
    else:
        knows = truth.lure is not None and not truth.present and speaker.gets(law.NAMED[stage], stage, "named", shift=hint)
        if truth.lure is not None and knows:
            named = truth.lure.thing.name
        elif speaker.chance(stage, "misnames") < 0.5 and (other := _some_thing(speaker, stage, "misnamed")):
            named = other.name
        right = truth.lure is not None and knows and speaker.gets(law.CAUSE_RIGHT, stage, "cause")
        cause = truth.lure.cause if truth.lure and right else choose(CAUSES, speaker.chance(stage, "other cause"))
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
            parts[side] = neighbour if fits else choose([NOTHING, *(o.name for o in shown)], speaker.chance(stage, side, 2))
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


def _texts(given: Values, name: str) -> dict[str, str]:
    value = given.data(name)
    return {str(key): str(part) for key, part in value.items()} if isinstance(value, dict) else {}


def _statements(given: Values, name: str) -> list[dict[str, str]]:
    value = given.data(name)
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _last_answer(statements: list[dict[str, str]]) -> str | None:
    return next((said["answer"] for said in reversed(statements) if "answer" in said), None)


def _stance(told: dict[str, str], mine: Verdict) -> Verdict:
    """What the other holds: its answer if told, yes if it described the object, else the opposite of mine."""
    if told.get("answer") in ("yes", "no"):
        return "yes" if told["answer"] == "yes" else "no"
    return "yes" if mine == "no" or told.keys() & set(ATTRIBUTES) else "no"


def _level(told: dict[str, str]) -> Told:
    if told.keys() - set(ATTRIBUTES):
        return "everything"
    return "attributes" if told else "nothing"


def _standing(mine_right: bool, theirs_right: bool) -> law.Standing:
    if mine_right:
        return "both right" if theirs_right else "only I"
    return "only other" if theirs_right else "both wrong"


def _names(said: dict[str, str], truth: Truth) -> bool:
    """Whether a statement names the thing that is taken for the object."""
    return truth.lure is not None and said.get("actual_object") == truth.lure.thing.name


def _fits(said: dict[str, str], truth: Truth) -> bool:
    """Whether a description fits what the question is really about, or says nothing where there is nothing."""
    if truth.real is None:
        return said.get("color") == NOTHING
    return said.get("color") == truth.real.color and said.get("shape") == truth.real.shape


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
