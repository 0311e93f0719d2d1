"""Reading a yes or a no out of an English answer, as a person would.

In this order: a leading verdict ("No, ..."), a declared one ("Answer: no"), what the clauses assert ("There is no dog
in the image."), a refusal. Whatever contradicts itself or takes no stand is unparsed.
"""

from __future__ import annotations

import re
import unicodedata

from evals.reading.types import NO, REFUSED, UNPARSED, YES, Reading
from signatures import Verdict

_YES = r"(?:yes|yeah|yea|yep|yup|true)"
_NO = r"(?:no|nope|nah|false)"
_PICTURE = r"(?:image|picture|photo|photograph|scene|frame|attachment)s?"
_NO_PICTURE = rf"{_PICTURE} (?:(?:was|were|is|has been) )?(?:provided|attached|uploaded|given|found|available|received)"
_ANSWER = r"(?:answer|verdict|conclusion|response)"

_LABEL = re.compile(
    rf"^\W*(?:(?:(?:the|my|your|final|correct|short|direct)\s+)*{_ANSWER}(?:\s+to\s+(?:the|this|your)\s+question)?"
    r"|output|assistant|question\s*\d*|[aq]\s*\d*)\s*(?:is\b|would be\b|[:=\-])\W*"
)
"""What stands before a verdict and is none: "The final answer is", "Question1:"."""

_LEADING = re.compile(
    r"^\W*(?:(?:well|okay|ok|sure|so|oh|hmm|um|thus|therefore|hence|overall|certainly|definitely|absolutely|indeed"
    rf"|actually|of course)\b\W+)*(?P<word>{_YES}|{_NO})\b(?!-\w)"
)
_NOT_A_VERDICT = re.compile(
    r"\s+(?:(?:doubt|question|idea|clue|problem|wonder|fewer|less|other|way|comment|answer|opinion|information)\b"
    rf"|{_NO_PICTURE})"
)
"""After a leading "no": words that make it something other than an answer."""

_JOINED = r"\W*(?:(?:and|or|wait|actually|sorry|rather|i mean)\b\W*)*"
_TURNED_TO_NO = re.compile(rf"{_JOINED}{_NO}\b(?!\s+\w)")
_TURNED_TO_YES = re.compile(rf"{_JOINED}{_YES}\b")
"""After a leading verdict: the opposite one, at once ("Yes and no")."""

_DECLARED = re.compile(
    rf"(?:\b{_ANSWER}\b(?:\s+to\s+(?:the|this|your)\s+question)?[\W_]*?(?:\bis\b|\bwould be\b|[:=])|\\boxed)"
    rf"[\W_]*(?P<word>{_YES}|{_NO})\b(?!\s+\w)"
)

_CLAUSE_END = re.compile(r"[.!?;:,\n\u2013\u2014]|\s-+\s|\b(?:but|however|although|though|while|whereas)\b")
_OPEN = re.compile(
    r"\b(?:might|may|maybe|perhaps|possibly|could be|unclear|uncertain|unsure|unknown|ambiguous|insufficient|depends"
    r"|not (?:sure|certain|clear|possible|enough|applicable)|hard to|difficult to|impossible to|whether|if|asks?|asked"
    r"|question|(?:unable|not able) to (?:tell|determine|say|confirm)|(?:don't|do not) know|no (?:doubt|idea|clue|way)"
    r"|(?:cannot|can't|can not) (?:be )?(?:tell|determined?|say|confirm(?:ed)?|know|judge|make out|sure|certain)"
    rf"|check|look(?:ing)? for|to determine|no {_NO_PICTURE})\b"
)
"""A clause with one of these takes no stand."""

_NEGATION = re.compile(r"\b(?:no|not|cannot|never|none|nothing|nobody|neither|nor|without|\w+n't)\b")
_THERE_IS = r"\bthere(?:'s|\s+(?:is|are|was|were|appears? to be|seems? to be))\b"
_ADVERB = r"(?:\s+(?:\w+ly|indeed|also|just|really))?"
_CLAIM = re.compile(_THERE_IS)
"""How every claim begins. A pattern with an object's name takes long to make, so it is made only after this."""
_DENIED_THERE = re.compile(
    rf"{_THERE_IS}{_ADVERB}\s+(?:no|not|none|nothing|nobody|neither|zero)\b"
    r"|\bthere\s+(?:isn't|aren't|wasn't|weren't|(?:does not|do not|doesn't|don't) (?:appear|seem))"
)
_CAN_BE_SEEN = (
    rf"(?:present|visible|shown|depicted|pictured|seen|found|there|any|included|featured|evident|detected"
    rf"|in (?:the|this|that) {_PICTURE})"
)
_I_SAY = r"(?:i (?:would |'d )?(?:say|think|believe|guess)|i'd say|it's a|so|therefore|thus)"
_DENIALS = (
    _DENIED_THERE,
    re.compile(r"^(?:so |and |then |that |therefore )?no\b.*\b(?:is|are|was|were|can|present|visible|seen|shown|in)\b"),
    re.compile(r"\b(?:contains?|shows?|has|have|see|features?|depicts?|includes?|displays?)\s+no\b"),
    re.compile(
        rf"\b(?:{_PICTURE}|it|this)\s+(?:do not|don't|does not|doesn't|did not|didn't)(?: \w+ly)?\s+(?:show|contain"
        r"|include|depict|feature|have|display|appear)"
    ),
    re.compile(
        rf"\b(?:is|are|was|were|does|do|can|could)(?:\s+not|n't|not)(?:\s+\w+ly)?(?:\s+(?:be|appear|appear to be))?\s+"
        rf"{_CAN_BE_SEEN}\b|\bcannot be (?:seen|found|detected)\b"
    ),
    re.compile(r"^(?:it|that|this)(?:'s| is)?(?: not|n't) (?:an?|the)\b|^(?:it|that|this) isn't (?:an?|the)\b"),
    re.compile(r"^(?:none|nothing|nobody|no one|no-one|neither)\b|\b(?:is|are) (?:absent|missing)\b"),
    re.compile(rf"^(?:{_I_SAY}\s+)?{_NO}$"),
    re.compile(
        r"^(?:it |there |that |they )?(?:is not|isn't|are not|aren't|does not|doesn't|do not|don't)$"
        r"|^(?:absolutely |definitely |certainly |of course |probably |clearly )?not(?: really| at all"
        rf"| that i can see| {_CAN_BE_SEEN}.*)?$"
    ),
)
_SEE = r"(?:see|find|spot|detect|observe|notice|locate|identify)"
_DO_NOT = r"(?:do not|don't|did not|didn't|cannot|can't|can not|could not|couldn't|am unable to|am not able to)"
_I_DO_NOT_SEE = rf"\b(?:i|we|you)\s+{_DO_NOT}(?:\s+\w+ly)?\s+{_SEE}\s+"
_NOT_SEEING = re.compile(_I_DO_NOT_SEE)
_UNSEEN = rf"{_I_DO_NOT_SEE}(?:an?|any|one|such|(?:the )?(?:{{objects}}))\b"
_CLAIM_YES = re.compile(rf"^(?:{_I_SAY}\s+)?{_YES}$")
_PRESENCE = re.compile(
    rf"{_THERE_IS}|\b(?:see|spot|notice|observe|shows?|contains?|includes?|depicts?|features?|displays?|has|have"
    rf"|visible|present|in (?:the|this) {_PICTURE})\b"
)
_PLAIN_YES = re.compile(r"^\W*(?:y|correct|absolutely|definitely|certainly|of course|indeed|affirmative)\W*$")
_PLAIN_NO = re.compile(r"^\W*(?:n|incorrect|negative)\W*$")
_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|as an ai|against (?:my|the) (?:policy|guidelines)"
    r"|i\s*(?:am |'m )?(?:can't|cannot|can not|won't|will not|unable to|not able to|not allowed to)\s+"
    r"(?!see|find|spot|detect|observe|notice|locate|tell|determine|say|confirm|know|judge|make|be)"
    r"|(?:can't|cannot|can not|unable to|not able to) (?:see|view|access|open) (?:(?:the|an|any|this|your) )?"
    rf"{_PICTURE})"
)
_ASKED_FOR = re.compile(r"\b(?:is|are) there (?:(?:an?|any|the|some) )?(?P<object>.+?) (?:in|on|at) th(?:e|is|at)\b")
_IRREGULAR = {"person": "people|man|men|woman|women", "knife": "knives", "mouse": "mice", "child": "children"}
"""Other words for an object that people use without thinking of them as other words."""


def read_english(text: str, question: str | None = None) -> Reading:
    """What `text` answers to `question`. The rules are those of `evals.reading.read_verdict`, strict."""
    said = _plain(text)
    objects = _objects(question)
    leading, rest = _leading(said)
    if leading and _contradicted(leading, rest, objects):
        return UNPARSED
    verdicts = {_verdict(match["word"]) for match in _DECLARED.finditer(said)}
    if leading:
        verdicts.add(leading)
    if not verdicts:
        verdicts = _asserted(said, objects)
    if len(verdicts) == 1:
        return YES if "yes" in verdicts else NO
    if not verdicts and _PLAIN_YES.search(said):
        return YES
    if not verdicts and _PLAIN_NO.search(said):
        return NO
    return REFUSED if not verdicts and _REFUSAL.search(said) else UNPARSED


def _plain(text: str) -> str:
    """Lower case, straight apostrophes, without thoughts, tags and the marks of Markdown."""
    text = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("\u2018", "'")
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    return re.sub(r"[*_`#]+", "", re.sub(r"<[^<>]*>", " ", text)).strip()


def _verdict(word: str) -> Verdict:
    return "yes" if re.fullmatch(_YES, word) else "no"


def _leading(said: str) -> tuple[Verdict | None, str]:
    """The verdict that `said` opens with, and what comes after it."""
    said = _LABEL.sub("", said)
    match = _LEADING.match(said)
    if match is None:
        return None, said
    rest = said[match.end() :]
    verdict = _verdict(match["word"])
    if verdict == "no" and _NOT_A_VERDICT.match(rest):
        return None, rest
    return verdict, rest


def _contradicted(leading: Verdict, rest: str, objects: str | None) -> bool:
    """Whether what follows a leading verdict at once says the opposite."""
    clause = _CLAUSE_END.split(rest.lstrip(" \t\n,.:;!\u2013\u2014-"))[0].strip()
    if leading == "yes":
        return bool(_TURNED_TO_NO.match(rest) or _DENIED_THERE.match(clause))
    if _TURNED_TO_YES.match(rest):
        return True
    claim = rf"{_THERE_IS}(?: (?:an?|the|some))? (?:{objects})(?: in (?:the|this) {_PICTURE})?"
    return bool(objects and _CLAIM.match(clause) and re.fullmatch(claim, clause))


def _asserted(said: str, objects: str | None) -> set[Verdict]:
    """What the clauses of `said` say: those that name the object if any take a stand, else all. Questions do not."""
    statements = "".join(part for part in re.split(r"(?<=[.!?\n])", said) if not part.endswith("?"))
    named: set[Verdict] = set()
    unnamed: set[Verdict] = set()
    for clause in (part.strip(" \"'()[]{}") for part in _CLAUSE_END.split(statements)):
        verdict = _of_clause(clause, objects)
        if verdict is not None:
            (named if objects and re.search(rf"\b(?:{objects})\b", clause) else unnamed).add(verdict)
    return named or unnamed


def _of_clause(clause: str, objects: str | None) -> Verdict | None:
    """What one clause says about the object asked for; None if nothing.

    A claim must name the object where it is known: "there is a cup" says nothing about a dog. A denial need not
    ("there is no canine"), since few deny what was not asked for.
    """
    if _OPEN.search(clause):
        return None
    if any(denial.search(clause) for denial in _DENIALS):
        return "no"
    if _NOT_SEEING.search(clause) and re.search(_UNSEEN.format(objects=objects or "(?!)"), clause):
        return "no"
    if _CLAIM_YES.search(clause):
        return "yes"
    claimed = _NEGATION.split(clause)[0]
    if objects is None:
        return "yes" if re.search(_THERE_IS, claimed) else None
    return "yes" if _PRESENCE.search(claimed) and re.search(rf"\b(?:{objects})\b", claimed) else None


def _objects(question: str | None) -> str | None:
    """A pattern for the object that `question` asks for, singular or plural; None if it cannot be told."""
    match = _ASKED_FOR.search(_plain(question or ""))
    if match is None:
        return None
    name = match["object"]
    stem = name[:-1] if name.endswith("s") and not name.endswith("ss") else name
    forms = [rf"{re.escape(stem)}(?:s|es)?", re.escape(name)]
    return "|".join([*forms, *([_IRREGULAR[name]] if name in _IRREGULAR else [])])
