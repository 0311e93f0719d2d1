"""Feedback on turns of question answering, with documents and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evals.benchmarks.base import Case
from evals.qa.documents import title_key
from optimizers.remark import Remark, Right, answer_of, followed, last_answer
from programs.transcript import Turn

Document = Mapping[str, str]
_QUOTED = 160
_DONE = {"keep": "kept", "drop": "dropped"}


def judge_text(case: Case, turn: Turn, before: Sequence[Turn], right: Right) -> Remark | None:
    """What is said of a turn of question answering, given those before it; None where nothing can be.

    Which documents should be used follows from the truth's `supporting_titles`, and from its `evidence` (title → what
    must stand in it) or the golden answers: a supporting passage in which that is missing is wrong.
    """
    output: dict[str, Any] = turn.output or {}
    document, ruling = turn.inputs.get("document"), output.get("ruling", output.get("holds"))
    if document is not None and ruling in ("keep", "drop"):
        return _ruled(case, turn, document, str(ruling))
    if document is not None and output.get("relevant") in ("yes", "no"):
        return _ruled(case, turn, document, "keep" if output["relevant"] == "yes" else "drop")
    if "winner" in output or "new_query" in output:
        return _searched(case, turn)
    if "supported" in output:
        return _assessed(case, turn, right)
    answer = answer_of(turn)
    verdict = None if answer is None else right(case, answer)
    if answer is None or verdict is None:
        return None
    return _answered(case, turn, before, answer, verdict, right)


def should_use(case: Case, document: Document) -> bool | None:
    """Whether the document should be used: True for one that supports the answer, False for a supporting one that is
    wrong, None for any other, which does not help and may not harm."""
    supporting = {title_key(title): title for title in case.truth.get("supporting_titles", ())}
    title = supporting.get(title_key(document.get("title", "")))
    if title is None:
        return None
    evidence = case.truth.get("evidence", {}).get(title)
    if evidence is None:
        return None if len(supporting) > 1 else any(_holds(document, answer) for answer in case.label or ())
    # What a passage tells is compared with what another one tells, as two years are, or is the answer itself.
    told = [evidence, *(case.label or ())] if evidence in (case.label or ()) else [evidence]
    return any(_holds(document, text) for text in told)


def _holds(document: Document, text: str) -> bool:
    return text.casefold() in document.get("text", "").casefold()


def _ruled(case: Case, turn: Turn, document: Document, ruling: str) -> Remark | None:
    should = should_use(case, document)
    if should is None:
        return None
    wanted, title = ("keep" if should else "drop"), document.get("title", "")
    you = f"You, the {turn.role.replace('_', ' ')}," if "judge" in turn.role else "You"
    acts = {"keep": "argued to keep", "drop": "argued to drop"} if "holds" in (turn.output or {}) else _DONE
    did = acts[ruling]
    if ruling == wanted:
        return Remark(1.0, f"{you} rightly {did} the passage {title}.")
    if should:
        return Remark(0.0, f"{you} {did} the passage {title}, which holds what the answer needs; it should be kept.")
    says = document.get("text", "")[:_QUOTED]
    return Remark(
        0.0, f"{you} {did} a passage that is wrong, it contradicts the truth and should be dropped: it says “{says}”."
    )


def _searched(case: Case, turn: Turn) -> Remark | None:
    """The debate over a search: it suffices if all supporting titles were found."""
    missing = _missing(case, turn.inputs.get("documents") or ())
    if missing is None:
        return None
    output = turn.output or {}
    content = not output.get("new_query") if "new_query" in output else output.get("winner") == "proponent"
    if content == (not missing):
        return Remark(1.0, "You judged the search rightly.")
    if missing:
        return Remark(
            0.0,
            f"You were content with a search that had not found the passages {', '.join(missing)}; they are missing.",
        )
    return Remark(0.0, "You found fault with a search that had found all that is needed.")


def _assessed(case: Case, turn: Turn, right: Right) -> Remark | None:
    answer = str(turn.inputs.get("answer", ""))
    verdict = right(case, answer)
    if verdict is None:
        return None
    approved = (turn.output or {})["supported"] in ("fully", "partly")
    if approved == verdict:
        return Remark(1.0, f"You rightly {'approved of' if verdict else 'rejected'} the answer {answer}.")
    if verdict:
        return Remark(0.0, f"You rejected the answer {answer}, which is right.")
    return Remark(0.0, f"You approved of the answer {answer}, which is unsupported and wrong.")


def _answered(case: Case, turn: Turn, before: Sequence[Turn], answer: str, verdict: bool, right: Right) -> Remark:
    golden, earlier = " or ".join(case.label or ()), last_answer(before, turn.role, turn.branch)
    if verdict:
        changed = earlier is not None and right(case, earlier) is False
        return Remark(
            1.0, f"You {'rightly changed your answer to' if changed else 'answered'} {answer}, which is right."
        )
    if "first_side" in turn.inputs:
        you, way = (
            f"You, the {turn.role.replace('_', ' ')}, ruled {answer}, which is wrong",
            followed(case, turn, answer, right),
        )
    elif earlier is not None and right(case, earlier) is True:
        you, way = f"You gave in in round {turn.round}: you changed a right answer to {answer}, which is wrong", ""
    else:
        you, way = f"You answered {answer}, which is wrong", ""
    return Remark(0.0, f"{you}; right is {golden}.{way}{_reading(case, turn)}")


def _reading(case: Case, turn: Turn) -> str:
    """What the documents that the role was shown had to do with its error."""
    if "documents" not in turn.inputs:
        return "" if turn.inputs.get("other_answer") else " You answered from memory, without documents."
    shown: Sequence[Document] = turn.inputs["documents"] or ()
    wrong = [document for document in shown if should_use(case, document) is False]
    if wrong:
        title, says = wrong[0].get("title"), wrong[0].get("text", "")[:_QUOTED]
        return f" The passage {title} misled you: it contradicts the truth, saying “{says}”."
    missing = _missing(case, shown)
    if missing:
        return f" The passages {', '.join(missing)} were not found, so that you were not told what it takes."
    if missing is None:
        return ""
    titles = ", ".join(case.truth["supporting_titles"])
    return f" You misread or overlooked the supporting passages ({titles}), which hold the answer."


def _missing(case: Case, documents: Sequence[Document]) -> list[str] | None:
    """The supporting titles that are not among the documents; None where they are not known."""
    supporting = case.truth.get("supporting_titles")
    if supporting is None:
        return None
    found = {title_key(document.get("title", "")) for document in documents}
    return [title for title in supporting if title_key(title) not in found]
