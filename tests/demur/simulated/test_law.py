"""The law as it is written in the package's docstring is the law that the code has."""

import re

import demur.simulated
from demur.simulated import engine, law, proposer
from demur.simulated.kinds import MISSES
from demur.simulated.traits import CLAIMS, EVERY_KIND, TRAITS

WRITTEN = demur.simulated.__doc__ or ""
LEVELS = ("nothing", "attributes", "everything")


def test_error_rates() -> None:
    table = {kind: float(rate) for kind, rate in re.findall(r"^    ([a-z ]+?)  +(0\.\d\d)$", WRITTEN, re.MULTILINE)}
    assert table == law.ERROR
    assert list(law.ERROR) == list(EVERY_KIND)


def test_traits() -> None:
    written = dict(re.findall(r"^    ([a-z -]+): ((?:[a-z ]+ [+-][\d.]+(?:, )?)+)$", WRITTEN, re.MULTILINE))
    assert written.keys() == {trait.name for trait in TRAITS}
    for trait in TRAITS:
        shifts: dict[str, float] = {}
        for kinds, shift in re.findall(r"([a-z ]+) ([+-][\d.]+)", written[trait.name]):
            named = {"misses": MISSES, "claims": CLAIMS}.get(kinds.strip(), (kinds.strip(),))
            shifts |= dict.fromkeys(named, float(shift))
        assert shifts == trait.shifts, trait.name
    assert f"at most {law.TRAIT_CAP}" in WRITTEN


def test_reconsidering() -> None:
    rows = re.findall(r"^    (absent|present), ([a-z ]+?I?) +(0\.\d\d)  (0\.\d\d)  (0\.\d\d)$", WRITTEN, re.MULTILINE)
    tables = {"absent": law.RECONSIDER_ABSENT, "present": law.RECONSIDER_PRESENT}
    assert len(rows) == 8
    for truth, standing, *rates in rows:
        assert dict(zip(LEVELS, map(float, rates), strict=True)) == tables[truth][standing]


def test_all_other_numbers() -> None:
    text = " ".join(WRITTEN.split())
    for sentence in (
        f"shift claims by {law.PERSONA['claim']} and misses by +{law.PERSONA['miss']}",
        f"shifts by {law.DEMONSTRATION['relevant']:.2f} if its case",
        f"else by {law.DEMONSTRATION['right']:.2f}; one that cannot be judged by {law.DEMONSTRATION['unknown']}",
        f"the best {law.DEMONSTRATIONS_COUNTED} count. A wrong one shifts by +{law.DEMONSTRATION['wrong']:.2f}",
        f"same scenario shifts by {law.EXAMPLE['same scenario']:.2f}, any other by {law.EXAMPLE['other scenario']:.2f}",
        f"thing in question shifts by {law.CROP}",
        f"color {law.DESCRIBE['color']:.2f}, shape {law.DESCRIBE['shape']:.2f}, size {law.DESCRIBE['size']:.2f}, "
        f"region {law.DESCRIBE['region']:.2f} and each neighbour {law.DESCRIBE['neighbour']:.2f}",
        f"looks at the thing in question with {law.INSPECT:.2f}",
        f"gives in with {law.CONVINCED_EARLY}",
        f"shifted by +{law.MISNAMED}",
        f"stays wrong with {law.REFLECT['wrong stays']:.2f}",
        f"else with {law.REFLECT['unseen stays']}; a right answer turns wrong with {law.REFLECT['right turns']}",
        f"judge is wrong with {law.JUDGE_ERROR}, shifted by {law.JUDGE_NAMED}",
        f"lean by {law.JUDGE_FIRST} to the side that is named first, and by {law.JUDGE_LONGER:.2f}",
        f"really there with {law.NAMED['reconsider']} when it reconsiders (shifted up by {law.NAMED_ATTRIBUTES} if",
        f"by {law.NAMED_EVERYTHING} if it was told everything), with {law.NAMED['reflect']:.2f} when it reflects and "
        f"{law.NAMED['judge']:.2f} as the judge",
        f"names another thing with {law.MISNAMES}",
        f"right cause with {law.CAUSE_RIGHT}",
        f"named right with {law.SCENARIO_RIGHT}",
        f"{proposer.FITTING_WEIGHT:.0f} times as likely. With {proposer.STRIKES_OUT}",
    ):
        assert sentence in text, sentence
    assert law.SHARED == 0.5 and "Half of the variance" in text
    assert engine.TOKENS_PER_PICTURE == 255
