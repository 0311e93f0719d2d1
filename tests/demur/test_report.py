"""The report: its structure, its numbers, and that nothing in it can do anything."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from demur.report import write_report
from demur.report.page import dumps
from evals.benchmarks.registry import get_benchmark
from evals.metric_intervals import cost_parts, metric_intervals
from evals.run import Run, RunSpec, write_json
from programs.errors import InputError
from tests.demur.report_runs import IMAGE, KINDS, SCRIPT, case_id, make_run

VOID = {"meta", "link", "input", "img", "br"}


class Page(HTMLParser):
    """A report, taken apart."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, Any] = {}
        self.scripts: list[str] = []
        self.style = ""
        self.text = ""
        self.unclosed: list[str] = []
        self._inside: tuple[str, dict[str, str | None]] = ("", {})
        self.html = path.read_text(encoding="utf-8")
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = self.tags[-1]
        self.text += " "
        if tag not in VOID:
            self.unclosed.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed.pop() == tag
        self._inside = ("", {})
        self.text += " "

    def handle_data(self, data: str) -> None:
        tag, attributes = self._inside
        if tag == "script" and attributes.get("type") == "application/json":
            self.blocks[str(attributes["id"])] = json.loads(data)
        elif tag == "script":
            self.scripts.append(data)
        elif tag == "style":
            self.style += data
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def values(self) -> list[str | None]:
        return [attributes["data-value"] for attributes in self.all("span") if "data-value" in attributes]

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    def debates(self, run: int = 0) -> dict[str, Any]:
        return {debate["case_id"]: debate for debate in self.blocks[f"debates-{run}-0"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("run") / "debate")


@pytest.fixture(scope="module")
def page(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(write_report([run], tmp_path_factory.mktemp("report") / "deep" / "report.html"))


def test_it_is_one_file_that_needs_nothing_else(page: Page) -> None:
    assert page.unclosed == []
    assert [attributes for attributes in page.all("link")] == [{"rel": "icon", "href": "data:,"}]
    assert [attributes for attributes in page.all("script") if "src" in attributes] == []
    assert {attributes["href"] for attributes in page.all("a")} == {
        "#results", "#plots", "#debate", "#cases", "#about"
    }  # fmt: skip
    assert "@import" not in page.style and "url(" not in page.style
    assert [one["id"] for one in page.all("section")] == ["results", "plots", "debate", "cases", "about"]


def test_its_policy_allows_its_own_script_and_style_only(page: Page) -> None:
    policy = next(str(meta["content"]) for meta in page.all("meta") if meta.get("http-equiv"))
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    [script] = page.scripts
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert rules["script-src"] == f"'sha256-{_sha256(script)}'"
    assert rules["style-src"] == f"'sha256-{_sha256(page.style)}'"
    assert not any(name.startswith("on") or name == "style" for _, attributes in page.tags for name in attributes)


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_its_numbers_are_those_of_the_score(run: Run, page: Page) -> None:
    records = list(run.records())
    benchmark = get_benchmark("scenes")
    metrics = benchmark.score(records).metrics
    costs = [None if parts is None else parts.value for parts in cost_parts(records).values()]
    shown = page.values()
    headline = [metrics[name] for name in benchmark.headline]
    assert shown[: len(headline) + 4] == [str(value) for value in [*headline, *costs]]
    assert shown[len(headline) + 4 :] == [str(value) for value in metrics.values()]
    interval = metric_intervals(records, benchmark)["accuracy"]
    assert interval is not None
    # 4 of the 7 cases that are scored: agreed, corrected, attack, no-picture.
    assert metrics["accuracy"] == 4 / 7
    assert f"57.1 % {100 * interval.low:.1f} – {100 * interval.high:.1f}" in page.words
    assert "7 of 8 answered: 1 unparsed" in page.words


def test_what_the_debates_did_is_counted(page: Page) -> None:
    for row in (
        "Round 0 8 cases · 18 calls · 270 tokens",
        "Debater A 8 3 3 – – – 1 not scored, 1 unparsed",
        "Round 2 3 cases · 3 calls · 45 tokens Debater B 3 2 1 – 1 2 –",
        "Round 3 2 cases · 2 calls · 30 tokens Debater A 2 1 1 1 – 1 –",
        "Debater A Debater B 1 0 1",
        "A judge spoke in 1 of 8 cases (12.5 %); these ended 1 wrong.",
        "Of 1 that it was asked in both orders, it contradicted itself in 1.",
    ):
        assert row in page.words


def test_texts_of_models_and_data_sets_are_data(page: Page) -> None:
    assert SCRIPT not in page.html and IMAGE not in page.html
    assert page.all("img") == []
    assert len(page.scripts) == 1
    debate = page.debates()[case_id("attack")]
    assert debate["question"] == f"Is there a {IMAGE} in the image?"
    assert [turn["output"]["reason"] for turn in debate["turns"]] == [SCRIPT, SCRIPT]


def test_names_of_runs_and_models_are_escaped(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    spec = run.spec.model_copy(
        update={"models": {"*": SCRIPT}, "program": IMAGE, "settings": {IMAGE: SCRIPT}, "data": {SCRIPT: IMAGE}}
    )
    write_json(run.folder / "run.json", spec.model_dump(mode="json"))
    page = Page(write_report([Run(run.folder), make_run(tmp_path / IMAGE.replace("/", "_"))], tmp_path / "r.html"))
    assert SCRIPT not in page.html and IMAGE not in page.html
    assert page.all("img") == [] and len(page.scripts) == 1
    assert SCRIPT in page.text and IMAGE in page.text


def test_a_debate_holds_what_a_reader_needs(page: Page) -> None:
    debate = page.debates()[case_id("corrected")]
    assert debate["state"] == "right"
    assert debate["interpretation"]["region"] == "top-left"
    assert debate["boxes"] == {
        "blamed": {"region": "top-left", "box": [0.0, 0.0, 0.5, 0.5]},
        "true": {"region": "bottom-right", "box": [0.5, 0.5, 1.0, 1.0]},
    }
    assert [(turn["role"], turn["event"], turn.get("state")) for turn in debate["turns"]] == [
        ("debater_a", "spoke", "wrong"), ("debater_b", "spoke", "right"), ("debater_a", "spoke", None),
        ("debater_b", "kept", "right"), ("debater_a", "corrected", "right"),
    ]  # fmt: skip
    reconsidered = debate["turns"][3]
    assert reconsidered["told"]["told"] == {"color": "brown", "shape": "long", "size": "small", "clothing": "none"}
    assert "question" not in reconsidered["told"] and "image" not in reconsidered["told"]
    assert reconsidered["attempts"][0]["prompt_tokens"] == 10 and "text" not in reconsidered["attempts"][0]


def test_rows_say_what_can_be_filtered_by(page: Page) -> None:
    block = page.blocks["rows-0"]
    rows = {row["id"]: row for row in block["rows"]}
    assert list(rows) == [case_id(kind) for kind in KINDS]
    assert {row["state"] for row in rows.values()} == {"right", "wrong", "unparsed", "not scored"}
    judged = rows[case_id("judged")]
    assert (judged["outcome"], judged["contested"], judged["tags"]) == ("judge", True, {"setting": "random"})
    misled = rows[case_id("misled")]
    assert [2, block["roles"].index("debater_b"), 2] in misled["events"]  # 2: right → wrong
    assert rows[case_id("corrected")]["cause"] == "visual similarity"


def test_pictures_are_there_once_and_missing_ones_are_named(page: Page) -> None:
    debates = page.debates()
    pictures = [name for name in page.blocks if name.startswith("picture-")]
    assert len(pictures) == 7
    uri = page.blocks[debates[case_id("corrected")]["picture"]["block"]]
    assert uri.startswith("data:image/jpeg;base64,")
    with Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))) as picture:
        assert (picture.format, picture.size) == ("JPEG", (384, 288))
    assert debates[case_id("no-picture")]["picture"] == {
        "missing": "The picture somewhere/else.jpg is not here: make the report with --images and its folder."
    }


def test_a_turn_that_was_asked_again_shows_both(tmp_path: Path) -> None:
    page = Page(write_report([make_run(tmp_path / "run", retried=True)], tmp_path / "report.html"))
    debate = page.debates()[case_id("corrected")]
    [asked_again] = [turn for turn in debate["turns"] if "again" in turn]
    [earlier] = asked_again["again"]
    assert (earlier["failure"]["kind"], earlier["failure"]["raw"]) == ("unparsed", "Something is long and brown there.")
    assert asked_again["output"]["answer"] == "yes"
    assert debate["state"] == "right"


def test_simulated_and_unfinished_runs_say_so(page: Page, tmp_path: Path) -> None:
    assert "Simulated." not in page.text and "Not finished." not in page.text
    run = make_run(tmp_path / "run", simulated=True)
    (run.folder / "finished.json").unlink()
    lines = (run.folder / "records.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (run.folder / "records.jsonl").write_text("".join(lines[:5]), encoding="utf-8")
    warned = Page(write_report([run], tmp_path / "report.html"))
    assert "The answers come from the simulated model. The figures show that the machinery works" in warned.words
    assert "visual-debate has 5 of 8 cases so far" in warned.words


def test_several_runs_are_compared_case_by_case(run: Run, tmp_path: Path) -> None:
    direct = make_run(tmp_path / "direct", program="direct", simulated=True)
    page = Page(write_report([direct, run], tmp_path / "report.html"))
    assert "The answers of direct come from the simulated model." in page.words
    # The script lets `direct` answer as debater B does at first: no. So it is right where the debate is misled.
    assert "Against direct, case by case" in page.words
    assert "Accuracy against cost" in page.words and "no run beside it is both cheaper and better" in page.words
    assert [meta["label"] for meta in page.blocks["meta"]["runs"]] == ["direct", "visual-debate"]
    assert {"rows-0", "rows-1", "debates-0-0", "debates-1-0"} <= page.blocks.keys()
    row = re.search(r"visual-debate (\S+) (\S+ to \S+) (\S+) (\d+) (\d+) 8", page.words)
    assert row is not None and row.groups()[3:] == ("0", "2")


def test_runs_of_one_program_are_told_apart_by_their_folders(run: Run, tmp_path: Path) -> None:
    others = [make_run(tmp_path / parent / "debate") for parent in ("a", "b")]
    page = Page(write_report([run, *others], tmp_path / "report.html"))
    labels = [one["label"] for one in page.blocks["meta"]["runs"]]
    assert labels == ["visual-debate (debate)", "visual-debate (debate) 2", "visual-debate (debate) 3"]


def test_compat_scoring_is_named(run: Run, tmp_path: Path) -> None:
    page = Page(write_report([run], tmp_path / "report.html", scoring="compat"))
    assert "scored as the published script of the benchmark does" in page.words
    records = list(run.records())
    assert page.values()[0] == str(get_benchmark("scenes").score(records, "compat").metrics["accuracy"])


def test_max_cases_limits_the_debates_and_not_the_figures(run: Run, page: Page, tmp_path: Path) -> None:
    short = Page(write_report([run], tmp_path / "report.html", max_cases=3))
    assert list(short.debates()) == [case_id(kind) for kind in list(KINDS)[:3]]
    assert short.values() == page.values()
    assert "This file holds the first 3 of 8 cases of visual-debate" in short.words
    assert "This file holds" not in page.words


def test_what_cannot_be_reported_is_refused(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    write_json(empty / "run.json", run.spec.model_dump(mode="json"))
    other = tmp_path / "other"
    other.mkdir()
    write_json(other / "run.json", run.spec.model_copy(update={"benchmark": "pope"}).model_dump(mode="json"))
    with pytest.raises(InputError, match="no run to report"):
        write_report([], tmp_path / "r.html")
    with pytest.raises(InputError, match="has no finished case yet"):
        write_report([Run(empty)], tmp_path / "r.html")
    with pytest.raises(InputError, match="runs of one benchmark; found pope, scenes"):
        write_report([run, Run(other)], tmp_path / "r.html")
    with pytest.raises(InputError, match="max_cases must be 1 or more, got 0"):
        write_report([run], tmp_path / "r.html", max_cases=0)
    with pytest.raises(InputError, match="cannot write the report to"):
        write_report([run], run.folder / "run.json" / "r.html")
    assert not list(tmp_path.glob("r.html*"))


def test_a_run_without_turns_still_has_its_figures(run: Run, page: Page, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("run.json", "records.jsonl", "finished.json"):
        (copy / name).write_bytes((run.folder / name).read_bytes())
    bare = Page(write_report([Run(copy)], tmp_path / "report.html"))
    assert bare.values() == page.values()
    assert "Nothing was debated" in bare.words
    assert all("turns" not in debate for debate in bare.debates().values())


def test_numbers_that_json_does_not_have_become_texts() -> None:
    assert dumps({"a": [float("nan"), 1.5, (float("-inf"),)]}) == '{"a":["nan",1.5,["-inf"]]}'
    assert dumps({"é": None}) == '{"é":null}'


def test_the_spec_of_the_runs_is_told(page: Page) -> None:
    assert "judge_order=both" in page.words
    assert RunSpec.model_fields.keys() >= {"program", "models", "simulated"}
    assert "cluster bootstrap" in page.words or "Wilson" in page.words
