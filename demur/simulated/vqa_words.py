"""What speakers in AlignVQA's roles say beside their answers. It follows from what they believe."""

from __future__ import annotations

from demur.simulated.truth import Truth, object_of

OPENING = "The answer is {}: "
"""How an argument begins, with the stance that it is for."""
IN_DETAIL = "in detail, "
_VAGUE = "that is the impression that one gets."


def reason(truth: Truth, answer: str) -> str:
    """Why somebody gives an answer about a scene, in one sentence."""
    seen = _seen(truth, answer)
    return f"{seen[0].upper()}{seen[1:]}."


def argument(truth: Truth | None, stance: str, in_detail: bool) -> str:
    """A case for a stance; without a truth about a scene it is about a fact."""
    if not in_detail:
        return f"{OPENING.format(stance)}{_VAGUE}"
    said = "this is what one reads about it wherever one looks it up" if truth is None else _seen(truth, stance)
    return f"{OPENING.format(stance)}{IN_DETAIL}{said}."


def read_argument(text: str) -> tuple[str, bool]:
    """The stance that an argument is for, and whether it goes into detail; no stance where it does not say.

    >>> read_argument(argument(None, "a kite", True)), read_argument("So it is.")
    (('a kite', True), ('', False))
    """
    before, after = OPENING.split("{}")
    stance, colon, case = text.removeprefix(before).partition(after)
    if not text.startswith(before) or not colon:
        return "", False
    return stance, case.startswith(IN_DETAIL)


def follow_ups(question: str, truth: Truth | None, answer: str) -> list[dict[str, str]]:
    """Simpler questions that somebody asks themselves, with the answers that lead to `answer`."""
    if truth is None:
        return [{"question": f"What is known about this: {question}", "answer": f"It points to {answer}."}]
    things = ", ".join(thing.name for thing in truth.view.scene.things if truth.view.visible(thing))
    return [
        {"question": "Which things does the image show?", "answer": f"{things or 'nothing'}."},
        {"question": f"Is one of them what is called {truth.object}?", "answer": reason(truth, answer)},
    ]


def query(truth: Truth | None, question: str, fits: bool) -> str:
    """A search query; one that does not fit is about the kind of scene, or about two words of the question."""
    if truth is None:
        return question if fits else " ".join(question.split()[:2])
    if fits:
        return f"{truth.object}: shape, colors, and what is taken for it"
    return f"what is common in scenes of {truth.view.scene.scenario}"


def background(truth: Truth, fits: bool) -> str:
    """A passage about the object, or one that is about its surroundings and does not name it."""
    if fits:
        real = truth.real
        alike = f" It is easily confused with what is called {real.name}." if real and real.name != truth.object else ""
        return f"One knows what is called {truth.object} by its shape and its color.{alike}"
    return f"Pictures of the kind {truth.view.scene.scenario} show many things, some of them far away."


def checks(question: str) -> list[str]:
    """The questions that decide whether an argument about `question` holds."""
    asked = object_of(question)
    if asked is None:
        return [question]
    return [f"What are shape and colors of a thing called {asked}?", f"What is taken for {asked}?"]


def weighing(mine: str, answer: str, theirs: str) -> str:
    """What decides for somebody who revises a stance."""
    if not theirs:
        return f"Nobody speaks against {mine}." if mine == answer else f"Nobody says so, but I now find {answer}."
    return f"The case for {answer} is the better one, against {theirs if answer == mine else mine}."


def _seen(truth: Truth, answer: str) -> str:
    real = truth.real
    if answer.strip().lower() == "yes":
        if real is None:
            return f"something in it may pass for what is called {truth.object}"
        return f"the {real.region} of the image shows something {real.color} that fits what is called {truth.object}"
    if real is not None and not truth.present:
        return f"what looks like it, in the {real.region} of the image, is what is called {real.name}"
    return f"nothing in the image has the shape and the color of what is called {truth.object}"
