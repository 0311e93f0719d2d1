"""The numbers of the simulated model's law for questions about texts, which the package's docstring states in words.

All are probabilities or shifts of log-odds, set by fiat as those of `law` are.
"""

from typing import Literal, get_args

FactKind = Literal["one-hop", "two-hop", "yes/no"]
"""What a question needs: one passage, several in a row, or a comparison that is answered yes or no."""

TextKind = Literal[
    "memory", "linking", "reading", "credulity", "invention", "keeps bad", "drops good", "search", "persuasion"
]
"""What goes wrong: not knowing, not finding what links two facts, misreading good documents, believing misleading ones,
answering from irrelevant ones, keeping a document that should go, dropping one that should stay, misjudging whether a
search suffices, being swayed by somebody who is wrong."""
TEXT_KINDS: tuple[TextKind, ...] = get_args(TextKind)

SHARED = {"memory": 0.5, "documents": 0.8}
"""Part of the variance that all speakers share for one question: of what is remembered, and of what is made of
documents. Who reads the same documents makes much the same mistakes; somebody who reads none does not."""

MEMORY_ERROR: dict[FactKind, float] = {"one-hop": 0.55, "two-hop": 0.70, "yes/no": 0.40}
"""How likely memory is wrong."""

READING_ERROR = 0.10
"""How likely an answer is wrong though all that it needs was shown."""
PARTIAL_ERROR: dict[FactKind, float] = {"one-hop": 0.40, "two-hop": 0.55, "yes/no": 0.32}
"""The same where some of it was shown."""
DISTRACTION = 0.08
DISTRACTIONS_COUNTED = 5
"""Shift of both by each irrelevant document beside the good ones, up to this number."""
THOUGHTS = -0.4
"""Shift of both where the thoughts so far name the link."""

CREDULITY = 0.75
"""How likely a misleading document is believed."""
INVENTION = 0.20
"""How likely somebody who is shown irrelevant documents only takes an answer from one of them."""

KNOWS_LINK = {"shown": 0.90, "memory": 0.45}
"""How likely a speaker can name what links the facts: with the passage that names it, and without."""

Standing = Literal["both right", "only I", "only other", "both wrong"]
Hearing = Literal["same documents", "memory", "again"]
"""Where the other's answer comes from: documents as one's own, or memory; `again` if one has reconsidered before."""

REVISION: dict[Standing, dict[Hearing, float]] = {
    "both right": {"same documents": 0.02, "memory": 0.02, "again": 0.02},
    "only I": {"same documents": 0.20, "memory": 0.15, "again": 0.05},
    "only other": {"same documents": 0.66, "memory": 0.45, "again": 0.88},
    "both wrong": {"same documents": 0.97, "memory": 0.90, "again": 0.98},
}
"""How likely the new answer of somebody with documents is wrong."""

CHALLENGE: dict[Standing, dict[Hearing, float]] = {
    "both right": {"same documents": 0.02, "memory": 0.02, "again": 0.02},
    "only I": {"same documents": 0.18, "memory": 0.18, "again": 0.05},
    "only other": {"same documents": 0.45, "memory": 0.60, "again": 0.88},
    "both wrong": {"same documents": 0.94, "memory": 0.97, "again": 0.98},
}
"""The same for somebody without documents."""

JUDGE_ERROR = {"one right": 0.30, "both right": 0.01, "both wrong": 0.94}
JUDGE_DOCUMENTS = {"complete": -0.6, "misleading": 0.6}
"""Shift of the judge's error where the kept documents hold all that is needed, and where one of them misleads."""
JUDGE_CHALLENGED = -0.6
"""Shift of the judge's error where the right side says what is wrong with the other's answer."""
JUDGE_FIRST = 0.35
JUDGE_LONGER = 0.20
"""Shift of a judge's log-odds towards the side that is named first, and towards the longer one."""
SETTLED = {"right": 0.45, "wrong": 0.30, "agreed": 0.95}
"""How likely a judge holds that more rounds would change nothing: ruling rightly or wrongly, or on sides that agree."""

DocumentStanding = Literal["supports", "misleads", "irrelevant"]

CONCEDES: dict[DocumentStanding, float] = {"supports": 0.03, "misleads": 0.55, "irrelevant": 0.70}
"""How likely the proponent of a document gives it up."""
ATTACKS: dict[DocumentStanding, float] = {"supports": 0.18, "misleads": 0.82, "irrelevant": 0.90}
"""How likely the opponent of a document holds that it should be dropped."""
ANSWERED = {"right": -0.7, "wrong": 0.3}
"""Shift of a side's error by the other's argument of the round before."""
RULING_ERROR: dict[DocumentStanding, float] = {"supports": 0.15, "misleads": 0.20, "irrelevant": 0.18}
"""How likely the judge of a document whose sides disagree rules wrongly."""
RULING_AGREED = {"right": 0.03, "wrong": 0.75}
"""The same where both sides are right, and where both are wrong."""
REPLIED = -0.7
"""Shift of the judge's error when the sides have replied to each other."""

PROPOSES_LINK = {"shown": 0.75, "memory": 0.55}
"""How likely the opponent of a search that lacks something proposes a query for it."""
REWRITES = 0.3
"""How likely it rewrites a query instead of adding one."""
NEEDLESS = 0.25
"""How likely it proposes a change though nothing is missing."""
SEARCH_ERROR = 0.22
SEARCH_NAMED = -0.8
"""How likely the judge of a search is wrong, and its shift where the opponent names what is missing."""

RETRIEVES = {"wrong": 0.85, "right": 0.35}
"""How likely somebody wants to look something up whose memory is wrong, or right."""
RELEVANT: dict[DocumentStanding, float] = {"supports": 0.92, "misleads": 0.85, "irrelevant": 0.20}
"""How likely a document is found relevant."""
SUPPORTED = {"stated": 0.85, "absent": 0.15}
"""How likely an answer that the document states, or does not, is found supported."""
USEFUL = {"right": 0.85, "wrong": 0.40}
"""How likely an answer is found useful."""

SIGNAL = 0.20
OVERCONFIDENCE = 0.15
CONFIDENCE_NOISE = 0.10
CONFIDENCE_RANGE = (0.05, 0.99)
"""Reported confidence: (1 - SIGNAL) p + SIGNAL [right] + OVERCONFIDENCE + noise of this standard deviation."""
