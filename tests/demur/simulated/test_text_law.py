"""The law for texts as it is written in the package's docstring is the law that the code has."""

import re

import demur.simulated
from demur.simulated import text_law
from demur.simulated.text_law import TEXT_KINDS
from demur.simulated.text_traits import TEXT_TRAITS

WRITTEN = (demur.simulated.__doc__ or "").partition("Questions about texts")[2]
TEXT = " ".join(WRITTEN.split())


def test_traits() -> None:
    written = dict(re.findall(r"^- ([a-z ]+): ((?:[a-z ]+ [+-][\d.]+(?:, )?)+)$", WRITTEN, re.MULTILINE))
    assert written.keys() == {trait.name for trait in TEXT_TRAITS}
    for trait in TEXT_TRAITS:
        shifts: dict[str, float] = {}
        for kind, shift in re.findall(r"([a-z ]+) ([+-][\d.]+)", written[trait.name]):
            named = TEXT_KINDS if kind.strip() == "all kinds" else (kind.strip(),)
            shifts |= dict.fromkeys(named, float(shift))
        assert shifts == trait.shifts, trait.name


def test_hearing_another_answer() -> None:
    rows = re.findall(r"^- (both right|only I|only other|both wrong): ([\d., ]+)$", WRITTEN, re.MULTILINE)
    tables = [text_law.REVISION, text_law.CHALLENGE]
    assert [name for name, _ in rows] == [*text_law.REVISION, *text_law.CHALLENGE]
    for number, (standing, rates) in enumerate(rows):
        assert [float(rate) for rate in rates.split(", ")] == list(tables[number // 4][standing].values())


def _three(rates: dict) -> str:
    first, second, third = rates.values()
    return f"{first:.2f}, {second:.2f} and {third:.2f}"


def test_all_other_numbers() -> None:
    law = text_law
    for sentence in (
        f"wrong with {law.MEMORY_ERROR['one-hop']:.2f} for a question that needs one passage (one-hop), "
        f"{law.MEMORY_ERROR['two-hop']:.2f} for one that needs several in a row (two-hop) and "
        f"{law.MEMORY_ERROR['yes/no']:.2f} for yes/no",
        f"{law.SHARED['memory']} of the variance of this chance is shared by all speakers, and "
        f"{law.SHARED['documents']} of that of what they make of documents",
        f"it is believed with {law.CREDULITY:.2f}",
        f"is wrong with {law.READING_ERROR:.2f}, and who is shown a part of it with {law.PARTIAL_ERROR['two-hop']:.2f} "
        f"(two-hop) or {law.PARTIAL_ERROR['yes/no']:.2f} (yes/no; {law.PARTIAL_ERROR['one-hop']:.2f} for any other)",
        f"shifted by {law.DISTRACTION} for each irrelevant document, of which {law.DISTRACTIONS_COUNTED} count, and by "
        f"{law.THOUGHTS} where",
        f"from a document with {law.INVENTION:.2f}",
        f"with {law.KNOWS_LINK['shown']:.2f} by who is shown the passage that leads to it, else with "
        f"{law.KNOWS_LINK['memory']:.2f}",
        f"wrong with {law.JUDGE_ERROR['one right']:.2f} if one of them is right "
        f"({law.JUDGE_ERROR['both right']:.2f} if both, {law.JUDGE_ERROR['both wrong']:.2f} if none), shifted by "
        f"{law.JUDGE_DOCUMENTS['complete']} where",
        f"by +{law.JUDGE_DOCUMENTS['misleading']} where one misleads, and by {law.JUDGE_CHALLENGED} where",
        f"lean by {law.JUDGE_FIRST} to the first side and by {law.JUDGE_LONGER:.2f} to the longer",
        f"with {law.SETTLED['right']} if it is right, {law.SETTLED['wrong']:.2f} if it is wrong and "
        f"{law.SETTLED['agreed']} if the sides agree",
        f"gives up with {_three(law.CONCEDES)}; the opponent attacks with {_three(law.ATTACKS)}.",
        f"by {law.ANSWERED['right']} if it is right, by +{law.ANSWERED['wrong']} if it is wrong",
        f"the judge is wrong with {_three(law.RULING_ERROR)}, shifted by {law.REPLIED} when",
        f"with {law.RULING_AGREED['right']} if they are right and {law.RULING_AGREED['wrong']} if they are wrong",
        f"with {law.PROPOSES_LINK['shown']} if another one was found, else with {law.PROPOSES_LINK['memory']}; with "
        f"{law.REWRITES} it rewrites",
        f"proposes a change with {law.NEEDLESS}. The judge is wrong with {law.SEARCH_ERROR}, shifted by "
        f"{law.SEARCH_NAMED}",
        f"with {law.RETRIEVES['wrong']} if its memory is wrong, {law.RETRIEVES['right']} if it is right",
        f"found relevant with {_three(law.RELEVANT)}",
        f"supported with {law.SUPPORTED['stated']} if the document states it, partly (else not) with "
        f"{law.SUPPORTED['absent']} if it does not; it is found useful with {law.USEFUL['right']} if it is right, "
        f"{law.USEFUL['wrong']:.2f} if it is wrong",
        f"is {1 - law.SIGNAL:.2f} of the probability of being right that the situation seems to have, "
        f"{law.SIGNAL:.2f} more if the speaker is right, {law.OVERCONFIDENCE} too much, and a normal noise of "
        f"{law.CONFIDENCE_NOISE:.2f}, within {law.CONFIDENCE_RANGE[0]} and {law.CONFIDENCE_RANGE[1]}",
    ):
        assert sentence in TEXT, sentence
