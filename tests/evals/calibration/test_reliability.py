"""The bins of a reliability diagram, and the picture of it."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from evals.calibration import Judged, estimates, measures, reliability_bins, reliability_diagram, save_diagram
from evals.calibration import diagram as diagram_module
from programs.errors import InputError


def test_reliability_bins_worked_example() -> None:
    """0.3·10 is 3.0000000000000004 or 2.9999999999999996 in places: both are bin 3. 1.0 is in the last bin."""
    bins = reliability_bins([0.0, 0.3, 0.1 + 0.2, 0.39, 1.0], [False, True, False, True, True])
    assert [one.count for one in bins] == [1, 0, 0, 3, 0, 0, 0, 0, 0, 1]
    assert (bins[3].accuracy, bins[9].confidence, bins[1].accuracy) == (2 / 3, 1.0, None)
    assert bins[9].interval is not None and bins[9].interval.high == 1.0
    assert bins[3].confidence == pytest.approx(0.33)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_what_is_no_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match=r"a confidence is a number in \[0, 1\]"):
        reliability_bins([confidence], [True])
    with pytest.raises(InputError, match="1 confidences for 2 answers"):
        reliability_bins([0.5], [True, False])


def test_bins_are_those_of_ece() -> None:
    generator = np.random.default_rng(3)
    sure, right = generator.random(200).round(2), generator.integers(0, 2, 200)
    for binning in ("width", "quantile", "mass"):
        bins = reliability_bins(sure, right, 12, binning=binning)
        assert sum(one.count for one in bins) == 200
        gaps = [one.count * abs(one.accuracy - one.confidence) for one in bins if one.count]
        assert sum(gaps) / 200 == pytest.approx(measures(12, binning)["ece"](sure, right))


def test_intervals_know_groups() -> None:
    """Two pictures with ten questions each, all right for one and all wrong for the other, are two cases."""
    sure, right = [0.85] * 20, [1] * 10 + [0] * 10
    alone = reliability_bins(sure, right)[8].interval
    grouped = reliability_bins(sure, right, groups=["a"] * 10 + ["b"] * 10)[8].interval
    assert alone is not None and grouped is not None
    assert (grouped.low, grouped.high) == (0.0, 1.0)
    assert alone.low > 0.2 and alone.high < 0.8


def judged(source: str, count: int = 40) -> Judged:
    generator = np.random.default_rng(count)
    sure = generator.random(count)
    right = (generator.random(count) < sure).astype(float)
    names = tuple(str(number) for number in range(count))
    return Judged(source, names, names, sure, sure, right, None)


def panel(source: str) -> tuple:
    answers = judged(source)
    error = estimates(answers.confidence, answers.correct, answers.groups, {"ece": measures(10)["ece"]}, resamples=20)
    return answers, reliability_bins(answers.confidence, answers.correct), error["ece"]


def test_the_diagram_names_source_and_error_and_says_simulated(tmp_path: Path) -> None:
    figure = reliability_diagram([panel("logprob"), panel("verbalised")], simulated=True)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert [title.split(",")[0] for title in titles] == ["logprob confidence", "verbalised confidence"]
    error = panel("logprob")[2]
    assert f"ECE {error.value:.3f} ({error.interval.low:.3f} to {error.interval.high:.3f})" in titles[0]
    assert "simulated" in figure.get_suptitle()
    save_diagram(figure, tmp_path / "new" / "d.png")
    save_diagram(figure, tmp_path / "d.svg")
    with Image.open(tmp_path / "new" / "d.png") as picture:
        assert picture.width > picture.height * 0.9
    assert ElementTree.parse(tmp_path / "d.svg").getroot().tag.endswith("svg")


def test_the_counts_of_all_bins_are_drawn_below() -> None:
    answers, bins, error = panel("agreement")
    figure = reliability_diagram([(answers, bins, error)])
    drawn = sorted(bar.get_height() for bar in figure.axes[1].patches)
    assert drawn == sorted(one.count for one in bins if one.count)
    assert figure.get_suptitle() == ""


def test_what_cannot_be_drawn_is_said_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="there are none"):
        reliability_diagram([])
    with pytest.raises(InputError, match=r"expected a name that ends in \.png, \.svg, \.pdf"):
        diagram_module.check_plot(tmp_path / "d.txt")
    monkeypatch.setattr(diagram_module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"matplotlib is not installed; pip install 'demur\[plots\]'"):
        diagram_module.check_plot(tmp_path / "d.png")
    with pytest.raises(InputError, match=r"demur\[plots\]"):
        reliability_diagram([panel("logprob")])
