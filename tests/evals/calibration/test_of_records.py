"""From records to calibration: who takes part, sources apart, and what a score shows."""

import numpy as np
import pytest

from evals.benchmarks.registry import get_benchmark
from evals.calibration import (
    ace,
    auroc,
    brier,
    calibration_metrics,
    calibration_sheet,
    ece,
    is_calibration_metric,
    judgements,
    only_source,
    stage_names,
    stage_sheets,
)
from evals.metric_intervals import metric_intervals
from evals.paired import compare
from evals.qa import qa_score
from evals.records import StageAnswer
from programs.errors import InputError
from tests.calibration_runs import overconfident, sure, with_options

SCENES, TEXT = get_benchmark("scenes"), get_benchmark("text-file")


def test_each_case_is_counted_once() -> None:
    records = [
        sure(0, True, 0.9),
        sure(1, False, 0.6),
        sure(2, status="timeout", failure="too slow", answer=None, confidence=None),
        sure(3, label="uncertain"),
        sure(4, label=None),
        sure(5, confidence=None, source=None),
        sure(6, answer="maybe"),
    ]
    found = judgements(records, SCENES)
    assert (found.cases, found.failed, found.unjudged, found.without_confidence) == (7, 1, 2, 1)
    answers = only_source(found)
    assert answers.cases == ("case-0", "case-1", "case-6")
    assert answers.confidence.tolist() == [0.9, 0.6, 0.8]
    assert answers.correct.tolist() == [1, 0, 0]  # what is neither yes nor no was answered wrong
    assert answers.groups == ("picture-0", "picture-0", "picture-3")


def test_a_failed_case_counts_for_nothing_even_with_a_confidence() -> None:
    found = judgements([sure(0), sure(1, status="unparsed", failure="?", answer=None)], SCENES)
    assert (found.failed, only_source(found).cases) == (1, ("case-0",))


def test_sources_are_never_in_one_figure() -> None:
    records = [sure(0, True, 1.0, "verbalised"), sure(1, False, 0.5, "logprob"), sure(2, True, 0.25, None)]
    sheet = calibration_sheet(records, SCENES, resamples=10)
    errors = {source.source: source.estimates["ece"].value for source in sheet.sources}
    assert errors == {"logprob": 0.5, "unnamed": 0.75, "verbalised": 0.0}
    with pytest.raises(InputError, match=r"different sources \(1 logprob, 1 unnamed, 1 verbalised\)"):
        only_source(sheet.judged)


def test_a_mean_over_sources_is_no_source_to_calibrate() -> None:
    with pytest.raises(InputError, match="the 1 confidences are means over different sources"):
        only_source(judgements([sure(0, source="mixed")], SCENES))


def test_nothing_to_judge_is_explained() -> None:
    with pytest.raises(InputError, match=r"none of the 2 cases is an answer with a confidence \(1 failed, 0 are"):
        only_source(judgements([sure(0, confidence=None), sure(1, status="refused", failure="no")], SCENES))


def test_what_is_no_confidence_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"case case-1 has the confidence 90\.0; expected a number in \[0, 1\]"):
        judgements([sure(0), sure(1, confidence=90.0)], SCENES)
    with pytest.raises(InputError, match=r"a confidence is a number in \[0, 1\]"):
        SCENES.score([sure(0), sure(1, confidence=float("nan"))])


def test_a_score_has_the_calibration_of_its_answers() -> None:
    records = overconfident(120)
    answers = only_source(judgements(records, SCENES))
    score = SCENES.score(records)
    for name, measure in {"ece": ece, "ace": ace, "brier": brier, "auroc": auroc}.items():
        assert score.metrics[name] == pytest.approx(measure(answers.confidence, answers.correct)), name
        assert is_calibration_metric(name)
    intervals = metric_intervals(records, SCENES)
    methods = {name: interval.method for name, interval in intervals.items() if interval is not None}
    assert methods["brier"] == "cluster bootstrap, 2000 resamples of 60 groups"
    assert methods["ece"] == methods["ace"] == methods["auroc"] == "cluster bootstrap, 500 resamples of 60 groups"


def test_a_score_without_confidences_has_no_calibration() -> None:
    score = SCENES.score([sure(0, confidence=None, source=None)])
    assert not [name for name in score.metrics if is_calibration_metric(name)]


def test_a_score_names_the_sources_where_there_are_several() -> None:
    score = SCENES.score([sure(0, True, 1.0, "verbalised"), sure(1, False, 0.5, "logprob")])
    assert (score.metrics["ece_verbalised"], score.metrics["ece_logprob"]) == (0.0, 0.5)
    assert score.metrics["brier_logprob"] == 0.25
    assert score.metrics["auroc_logprob"] is None
    assert "ece" not in score.metrics


def test_questions_with_golden_answers_have_it_too() -> None:
    records = [sure(0, confidence=0.75, label=["a cup"], answer="cup"), sure(1, confidence=0.75, label=["a cup"])]
    assert qa_score(records).metrics["ece"] == 0.25


def test_runs_are_compared_by_it() -> None:
    records = overconfident(120)
    honest = [record.model_copy(update={"confidence": 0.66}) for record in records]
    difference = compare(records, honest, SCENES).metrics["ece"]
    assert difference.difference is not None and difference.interval is not None
    assert difference.difference == pytest.approx(difference.b - difference.a)
    assert difference.interval.high < 0
    assert difference.interval.method == "cluster bootstrap, 500 resamples of 60 groups"


def test_metrics_take_any_cases_any_number_of_times() -> None:
    found = calibration_metrics([0.9, None, 0.4], ["logprob"] * 3, [True, True, False])
    assert found.over_cases["ece"]([0, 0, 2, 1]) == pytest.approx((0.1 * 2 + 0.4) / 3)
    assert found.over_cases["auroc"]([0, 2]) == 1.0
    assert found.over_cases["ece"]([1]) is None


def test_options_are_found_by_their_texts() -> None:
    records = with_options(30)
    answers = only_source(judgements(records, TEXT))
    assert answers.options is not None
    assert answers.options.probabilities.shape == (30, 3)
    for row, record in enumerate(records):
        assert "abc"[answers.options.right[row]] == record.label[0]
        assert "abc"[answers.options.chosen[row]] == record.answer
    assert (answers.correct == (answers.options.right == answers.options.chosen)).all()
    sheet = calibration_sheet(records, TEXT, resamples=10)
    assert sheet.sources[0].estimates["classwise_ece"].value is not None


def test_fewer_options_are_filled_up() -> None:
    records = [
        sure(0, label="x", answer="x", option_probabilities={"x": 0.75, "y": 0.25}),
        sure(1, label="z", answer="?", option_probabilities={"x": 0.5, "y": 0.25, "z": 0.25}),
    ]
    from evals.calibration.of_records import _options

    options = _options(records)
    assert options is not None
    assert np.array_equal(options.probabilities, [[0.75, 0.25, 0.0], [0.5, 0.25, 0.25]])
    assert options.there.tolist() == [[True, True, False], [True, True, True]]
    assert (options.right.tolist(), options.chosen.tolist()) == ([0, 2], [0, -1])
    assert _options([*records, sure(2)]) is None


def test_each_stage_is_judged_by_what_it_said() -> None:
    def said(answer: str, confidence: float | None, source: str | None = "logprob") -> StageAnswer:
        return StageAnswer(answer=answer, confidence=confidence, confidence_source=source)

    late = {"status": "timeout", "failure": "late", "answer": None, "confidence": None}
    records = [
        sure(0, True, 1.0, "mixed", stages={"cot": said("yes", 0.75), "search": said("no", 0.5, "verbalised")}),
        sure(1, True, 0.5, "mixed", stages={"cot": said("no", 0.75)}),
        sure(2, stages={"cot": said("yes", None, None)}, **late),
    ]
    assert stage_names(records) == ["cot", "search"]
    sheets = stage_sheets(records, SCENES, resamples=5)
    errors = {
        (stage, source.source): source.estimates["ece"].value
        for stage, sheet in sheets.items()
        for source in sheet.sources
    }
    assert errors == {("cot", "logprob"): 0.25, ("search", "verbalised"): 0.5, ("final", "mixed"): 0.25}
    judged = {stage: sheet.judged for stage, sheet in sheets.items()}
    assert (judged["cot"].failed, judged["cot"].without_confidence) == (0, 1)
    assert (judged["search"].failed, judged["final"].failed) == (2, 1)
    assert stage_sheets([sure(0)], SCENES) == {}
