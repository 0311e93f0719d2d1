"""What the debaters and the judge of a visual debate are told, and what they must return.

Source: "Interpreting and Mitigating Hallucination in MLLMs through Multi-agent Debate", sections 3 and 4.
The docstring of each signature is the role's prompt.
"""

import dspy

from signatures.types import CauseOrNone, Region, Verdict


class AnswerQuestion(dspy.Signature):
    """Look at the image and answer the question about it."""

    image: dspy.Image = dspy.InputField(desc="the image")
    question: str = dspy.InputField(desc="a yes/no question about one object in the image")
    answer: Verdict = dspy.OutputField(desc="whether the object is in the image")
    reason: str = dspy.OutputField(desc="why, in one sentence")


class ReasonThenAnswer(dspy.Signature):
    """Look at the image and think the question through step by step. Then answer it."""

    image: dspy.Image = dspy.InputField(desc="the image")
    question: str = dspy.InputField(desc="a yes/no question about one object in the image")
    reason: str = dspy.OutputField(desc="what you see and what follows from it, step by step")
    answer: Verdict = dspy.OutputField(desc="whether the object is in the image")


class DescribeObject(dspy.Signature):
    """You said that the object in the question is in the image. Look again and describe that object:
    what it looks like, where it is, and what is next to it. Describe what you see, not what such an object
    usually looks like."""

    image: dspy.Image = dspy.InputField(desc="the image")
    question: str = dspy.InputField(desc="the question about the object")
    own_answer: dict[str, str] = dspy.InputField(desc="what you said about it so far")
    color: str = dspy.OutputField(desc="its color")
    shape: str = dspy.OutputField(desc="its shape")
    size: str = dspy.OutputField(desc="its size relative to the image")
    clothing: str = dspy.OutputField(desc="for a person, what they wear; else: none")
    region: Region = dspy.OutputField(desc="the part of the image that it is in")
    above: str = dspy.OutputField(desc="what is above it; nothing if there is nothing")
    below: str = dspy.OutputField(desc="what is below it; nothing if there is nothing")
    left: str = dspy.OutputField(desc="what is to its left; nothing if there is nothing")
    right: str = dspy.OutputField(desc="what is to its right; nothing if there is nothing")


class Reconsider(dspy.Signature):
    """You and another observer are settling the question together. Look at the image again with what you are
    told of their answer in mind. Say whether you find the thing in question, name what it really is, and answer
    the question anew. Change your mind if the image calls for it, and only then."""

    image: dspy.Image = dspy.InputField(desc="the image")
    question: str = dspy.InputField(desc="the question to be settled")
    own_answer: dict[str, str] = dspy.InputField(desc="what you said so far")
    told: dict[str, str] = dspy.InputField(desc="what you are told of the other observer's answer")
    found: Verdict = dspy.OutputField(desc="whether you find the thing in question")
    actual_object: str = dspy.OutputField(desc="what that thing really is, in a few words; nothing if not found")
    answer: Verdict = dspy.OutputField(desc="whether the object in the question is in the image")
    cause: CauseOrNone = dspy.OutputField(
        desc="if the object is not there: why somebody may believe that it is; else: none"
    )
    reason: str = dspy.OutputField(desc="why, in one sentence")


class ReflectOnAnswer(dspy.Signature):
    """You answered a question about the image and then looked at the details. Weigh them against your first
    answer: do they fit the object in the question, or something else? Answer the question anew."""

    image: dspy.Image = dspy.InputField(desc="the image")
    question: str = dspy.InputField(desc="the question")
    own_answer: dict[str, str] = dspy.InputField(desc="your first answer")
    details: dict[str, str] = dspy.InputField(desc="what you found when you looked again")
    actual_object: str = dspy.OutputField(desc="what the thing you looked at really is; nothing if there is none")
    answer: Verdict = dspy.OutputField(desc="whether the object in the question is in the image")
    cause: CauseOrNone = dspy.OutputField(
        desc="if the object is not there: why somebody may believe that it is; else: none"
    )
    reason: str = dspy.OutputField(desc="why, in one sentence")


class InspectScene(dspy.Signature):
    """Before you settle your answer, look for the place where the object in the question is, or where it would
    be expected, and describe what is there. Describe what you see, not what is usually there."""

    image: dspy.Image = dspy.InputField(desc="the image")
    question: str = dspy.InputField(desc="the question")
    own_answer: dict[str, str] = dspy.InputField(desc="your first answer")
    color: str = dspy.OutputField(desc="the color of the thing there")
    shape: str = dspy.OutputField(desc="its shape")
    size: str = dspy.OutputField(desc="its size relative to the image")
    region: Region = dspy.OutputField(desc="the part of the image that it is in")
    above: str = dspy.OutputField(desc="what is above it; nothing if there is nothing")
    below: str = dspy.OutputField(desc="what is below it; nothing if there is nothing")
    left: str = dspy.OutputField(desc="what is to its left; nothing if there is nothing")
    right: str = dspy.OutputField(desc="what is to its right; nothing if there is nothing")


class JudgeDebate(dspy.Signature):
    """Two observers still disagree about the question after debating it. Read everything that each said, look
    at the image yourself, and decide. Weigh what is visible; neither length, order nor confidence of a
    statement is evidence."""

    image: dspy.Image = dspy.InputField(desc="the image")
    question: str = dspy.InputField(desc="the question in dispute")
    first_side: list[dict[str, str]] = dspy.InputField(desc="all statements of one observer, in order")
    second_side: list[dict[str, str]] = dspy.InputField(desc="all statements of the other observer, in order")
    actual_object: str = dspy.OutputField(desc="what the thing in dispute really is, in a few words")
    answer: Verdict = dspy.OutputField(desc="whether the object in the question is in the image")
    cause: CauseOrNone = dspy.OutputField(
        desc="if the object is not there: why somebody may believe that it is; else: none"
    )
    reason: str = dspy.OutputField(desc="why, in one sentence")


class NameScenario(dspy.Signature):
    """Name the scenario that the image shows."""

    image: dspy.Image = dspy.InputField(desc="the image")
    scenarios: list[str] = dspy.InputField(desc="the scenarios to choose from")
    scenario: str = dspy.OutputField(desc="the one that fits best, exactly as written above")


class NameDebate(dspy.Signature):
    """Name the scenario that a debate about an image belongs to, as the place or the occasion, in one or two words."""

    debate: str = dspy.InputField(desc="the debate, in short")
    known: list[str] = dspy.InputField(desc="scenarios that other debates belong to; take one of these if it fits")
    scenario: str = dspy.OutputField(desc="the name, in one or two words")
