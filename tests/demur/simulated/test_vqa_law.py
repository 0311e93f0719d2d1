"""The law for AlignVQA as it is written in the package's docstring is the law that the code has."""

import re

import demur.simulated
from demur.simulated import law, vqa_law

WRITTEN = (demur.simulated.__doc__ or "").partition("Confidence about pictures, and AlignVQA")[2]
TEXT = " ".join(WRITTEN.split())


def test_strategies() -> None:
    rows = re.findall(r"^- ([a-z -]+): (-?[\d.]+), ([\d.]+) and ([\d.]+)$", WRITTEN, re.MULTILINE)
    assert {name: float(shift) for name, shift, _, _ in rows} == vqa_law.SHIFT
    written = {name: (float(temperature), float(offset)) for name, _, temperature, offset in rows}
    yes_no = re.search(r"and ([\d.]+) and ([\d.]+) for the yes or no of the visual role", TEXT)
    assert yes_no
    written["yes-no"] = float(yes_no[1]), float(yes_no[2])
    assert written == {name: (vqa_law.TEMPERATURE[name], vqa_law.OFFSET[name]) for name in vqa_law.TEMPERATURE}


def test_checks() -> None:
    rows = re.findall(r"^- (right|wrong), (in detail|vague): ([\d.]+), ([\d.]+)$", WRITTEN, re.MULTILINE)
    assert len(rows) == 4
    for standing, kind, fully, partly in rows:
        assert (float(fully), float(partly)) == vqa_law.BORNE_OUT[standing][kind]


def test_all_other_numbers() -> None:
    gives_up = [vqa_law.GIVES_UP[degrees] for degrees in (-2, -1, 0, 1, 2)]
    for sentence in (
        f"a normal noise of {vqa_law.NOISE}, so that",
        f"and {vqa_law.CLARITY} of the variance of its own chance",
        f"shift the error by {vqa_law.ON_POINT} if one names the object, else by +{vqa_law.BESIDE_THE_POINT}",
        f"with {vqa_law.QUERY_FITS} and a background passage names it with {vqa_law.BACKGROUND_FITS}",
        f"into detail with {vqa_law.IN_DETAIL['right']:.2f}, one for a wrong stance with {vqa_law.IN_DETAIL['wrong']}",
        "{:.2f}, {:.2f}, {:.2f}, {:.2f} and {:.2f} if the own argument".format(*gives_up),
        f"shifted by {vqa_law.TRUTH} towards the stance that is right",
        f"by {vqa_law.CONFORMITY} for the difference of the shares and by {vqa_law.TRUST} for that",
        f"right answer with {vqa_law.UNOPPOSED['right']} and a wrong one with {vqa_law.UNOPPOSED['wrong']}",
        f"are {vqa_law.COUNTS_CONFIDENCE} of those of the mean confidence",
        f"no more than {vqa_law.BELIEVED[1]} and no less than {vqa_law.BELIEVED[0]} is believed",
        f"{vqa_law.COUNTS_SHARE} for each unit of its share",
        f"{vqa_law.COUNTS_DEGREE} for each degree",
        f"better, {vqa_law.REVISED_OFFSET}, and a normal noise of {vqa_law.REVISED_NOISE}.",
    ):
        assert sentence in TEXT, sentence
    assert law.SHARED == 0.5 and "half that all share" in TEXT
