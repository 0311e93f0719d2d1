"""The command line: results on stdout, mistakes as one line on stderr, exit codes that mean something."""

import json

import pytest
from PIL import Image

from demur.cli import run
from evals.scenes import Scene


@pytest.fixture
def demur(capsys):
    """Run a command; returns exit code, stdout and stderr."""

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.png"
    path.write_bytes(Scene.make(3, 1).png())
    return path


def own_questions(folder):
    Image.new("RGB", (30, 20), "red").save(folder / "a.png")
    rows = [
        {"id": n, "image": "a.png", "question": f"Is there a cup {n} in the image?", "label": "no"} for n in range(3)
    ]
    (folder / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "own.jsonl"


def test_ask_shows_the_debate_then_the_verdict_and_says_simulated(demur, scene):
    code, out, _ = demur(
        "ask", "visual-debate", "-q", "Is there a car in the image?", "--image", scene, "-m", "simulated"
    )
    assert code == 0
    assert out.index("debater_a open, round 0") < out.index("verdict: ") < out.index("simulated: ")


def test_ask_as_json_is_one_object(demur, scene):
    code, out, _ = demur(
        "ask", "direct", "-q", "Is there a car in the image?", "--image", scene, "-m", "simulated", "--json"
    )
    answered = json.loads(out)
    assert code == 0 and answered["answer"] in ("yes", "no") and answered["simulated"] is True
    assert answered["transcript"][0]["role"] == "answerer" and answered["usage"]["calls"] == 1


def test_evaluate_twice_continues_and_changes_nothing(demur, tmp_path):
    command = [
        "evaluate",
        "direct",
        "-b",
        "scenes",
        "--limit",
        24,
        "-m",
        "simulated",
        "--out",
        tmp_path / "r",
        "--json",
    ]
    code, first, _ = demur(*command)
    assert code == 0
    again = json.loads(demur(*command)[1])
    assert json.loads(first)["metrics"] == again["metrics"] and again["finished"]
    assert again["counts"]["cases"] == 24 and again["simulated"]
    assert again["intervals"]["accuracy"][0] <= again["metrics"]["accuracy"] <= again["intervals"]["accuracy"][1]


def test_a_budget_ends_with_code_3_and_can_be_continued(demur, tmp_path):
    command = ["evaluate", "direct", "--limit", 12, "-m", "simulated", "--out", tmp_path / "r", "--json"]
    code, out, err = demur(*command, "--budget-calls", 5, "--concurrency", 1)
    assert code == 3 and "the budget of 5 calls is spent; a larger one continues" in err
    assert json.loads(out)["counts"]["cases"] == 5
    assert demur(*command)[0] == 0


def test_failed_cases_end_with_code_4(demur, tmp_path):
    (tmp_path / "good.png").write_bytes(Scene.make(0, 1).png())
    (tmp_path / "bad.png").write_bytes(b"not a picture")
    rows = [
        {"image": f"{name}.png", "question": "Is there a cup in the image?", "label": "no"} for name in ("good", "bad")
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["evaluate", "direct", "-b", f"file:{tmp_path / 'own.jsonl'}", "-m", "simulated", "--out", tmp_path / "r"]
    code, out, err = demur(*command, "--json")
    result = json.loads(out)
    assert code == 4 and result["counts"]["bad_input"] == 1 and result["metrics"]["answered"] == 0.5
    assert "no answer: 1 bad input, as own/2: " in err and "bad.png" in err and "--retry-failed" in err


def test_a_model_that_can_answer_no_case_stops_the_run_with_code_1(demur, tmp_path):
    benchmark = f"file:{own_questions(tmp_path)}"
    code, out, err = demur("evaluate", "direct", "-b", benchmark, "-m", "simulated", "--out", tmp_path / "r", "--json")
    assert (code, out) == (1, "") and "give a model that sees pictures with --model" in err


def test_programs_show_arguments_with_defaults(demur):
    assert "visual-debate" in demur("programs")[1]
    described = json.loads(demur("programs", "visual-debate", "--json")[1])["visual-debate"]
    assert described["arguments"]["told"]["default"] == "attributes,everything"
    assert described["roles"] == ["debater_a", "debater_b", "judge"]


def test_benchmarks_are_listed(demur):
    listed = json.loads(demur("benchmarks", "--json")[1])
    assert {"pope", "pope-r", "pope-c", "scenes", "file"} <= set(listed)


def test_export_of_an_uncompiled_program_and_to_a_file(demur, tmp_path):
    code, out, _ = demur("export", "direct", "--format", "json")
    assert code == 0 and json.loads(out)["roles"][0]["name"] == "answerer"
    assert demur("export", "visual-debate", "--set", "zoom=true", "--out", tmp_path / "p.md")[0] == 0
    assert "## judge" in (tmp_path / "p.md").read_text() and "`crop`" in (tmp_path / "p.md").read_text()


@pytest.mark.parametrize("strategy", ["few-shot", "instructions"])
def test_compile_evaluate_compare_export(demur, tmp_path, strategy):
    small = ["--limit", 12, "-m", "simulated"]
    code, out, _ = demur(
        "compile",
        "direct",
        "--strategy",
        strategy,
        *small,
        "--breadth",
        2,
        "--depth",
        1,
        "--out",
        tmp_path / "c",
        "--json",
    )
    report = json.loads(out)["report"]
    assert code == 0 and report["strategy"] == strategy and report["simulated"] and report["usage"]["calls"] > 0
    assert json.loads((tmp_path / "c/compile.json").read_text())["train"]["cases"] == 12
    assert "## What compiling changed" in (tmp_path / "c/PROMPTS.md").read_text()
    assert demur("evaluate", "--compiled", tmp_path / "c", *small, "--out", tmp_path / "after")[0] == 0
    assert demur("evaluate", "direct", *small, "--out", tmp_path / "before")[0] == 0
    code, out, _ = demur("compare", tmp_path / "before", tmp_path / "after", "--json")
    assert code == 0 and json.loads(out)["comparisons"][0]["cases"] == 12
    assert demur("export", tmp_path / "c", "--format", "json")[0] == 0


def test_compiling_twice_gives_the_same_bytes(demur, tmp_path):
    for name in ("a", "b"):
        demur("compile", "direct", "--limit", 12, "-m", "simulated", "--seed", 5, "--out", tmp_path / name)
    assert (tmp_path / "a/program.json").read_bytes() == (tmp_path / "b/program.json").read_bytes()


def test_a_run_is_replayed_without_a_model(demur, tmp_path):
    small = ["visual-debate", "--limit", 12, "--json"]
    first = json.loads(demur("evaluate", *small, "-m", "simulated", "--out", tmp_path / "a")[1])
    code, out, _ = demur("evaluate", *small, "--replay", tmp_path / "a", "--out", tmp_path / "b")
    again = json.loads(out)
    assert code == 0 and again["metrics"] == first["metrics"] and again["outcomes"] == first["outcomes"]
    assert again["usage"]["calls"] == first["usage"]["calls"] and again["simulated"]


def test_estimate_calls_no_model(demur):
    code, out, _ = demur("estimate", "visual-debate", "--limit", 30, "--price", "2,10", "-m", "simulated", "--json")
    found = json.loads(out)
    assert code == 0 and found["calls"]["least"] == 60 and found["calls"]["most"] == 180
    assert found["cost_usd"]["least"] < found["cost_usd"]["likely"] < found["cost_usd"]["most"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nope"], "no program is called 'nope'; there are: direct"),
        (["evaluate"], "which program?"),
        (["evaluate", "direct", "--set", "rounds"], "expected NAME=VALUE"),
        (["evaluate", "direct", "--set", "rounds=2"], "direct has no argument 'rounds'; its arguments are: none"),
        (["evaluate", "visual-debate", "--set", "rounds=many"], "rounds='many' does not fit"),
        (["evaluate", "visual-debate", "--set", "told=all"], "told='all' does not fit"),
        (["evaluate", "visual-debate", "--set", "rounds=-1"], "rounds must be 0 or more, got -1"),
        (["evaluate", "direct", "-b", "imagenet"], "unknown benchmark 'imagenet'"),
        (["evaluate", "direct", "-b", "pope", "--data", "nowhere.json"], "nowhere.json"),
        (["evaluate", "direct", "-b", "scenes"], "no model: give one with --model"),
        (["evaluate", "direct", "--flag"], "No such option"),
        (["evaluate", "direct", "--limit", "0"], "--limit"),
        (
            ["evaluate", "direct", "-m", "simulated", "--model-for", "umpire=simulated"],
            "no role 'umpire'; its roles are: answerer",
        ),
        (
            ["evaluate", "majority-vote", "-m", "simulated", "--temperature", "0"],
            "k=5 samples at temperature 0 give the same answer",
        ),
        (["evaluate", "direct", "-m", "nonsense-model"], "nonsense-model"),
        (["ask", "direct", "-q", "Is there a cup in the image?", "-m", "simulated"], "no image for the question"),
        (["ask", "direct", "-q", "x", "--image", "missing.png", "-m", "simulated"], "missing.png: found nothing there"),
        (["export", "nowhere"], "no program is called 'nowhere'"),
        (
            ["compile", "direct", "--strategy", "magic", "-m", "simulated", "--limit", "4", "--out", "c"],
            "no strategy is called 'magic'",
        ),
        (["compare", "a"], "two or more runs"),
        (["compare", "a", "b"], "a is no run folder"),
        (["score", "--answers", "none.jsonl", "--data", "none.json"], "none.json"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(demur, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEMUR_MODEL", raising=False)
    code, out, err = demur(*arguments)
    assert (code, out) == (2, "") and err.startswith("demur: ")
    assert message in err and len(err.strip().splitlines()) == 1


def test_score_gives_the_published_table(demur, shared_data):
    pope = shared_data / "pope"
    answers = ["--answers", pope / "pope_random_gemini_multi.jsonl", "--json"]
    code, out, _ = demur(
        "score", "-b", "pope", "--data", pope / "coco_pope_random.json", *answers, "--scoring", "compat"
    )
    scored = json.loads(out)
    assert code == 0
    assert [scored["counts"][name] for name in ("tp", "fp", "tn", "fn")] == [1186, 60, 1440, 314]
    rounded = {name: round(value, 5) for name, value in scored["metrics"].items() if value is not None}
    assert (
        rounded | {"accuracy": 0.87533, "precision": 0.95185, "recall": 0.79067, "f1": 0.8638, "yes_ratio": 0.41533}
        == rounded
    )
    revised = ["score", "--data", pope / "coco_pope_random_revised.json", *answers]
    counts = json.loads(demur(*revised, "-b", "pope-r", "--scoring", "compat")[1])["counts"]
    assert [counts[name] for name in ("tp", "fp", "tn", "fn")] == [1095, 69, 1578, 99]
    creative = json.loads(demur(*revised, "-b", "pope-c")[1])["metrics"]
    assert creative["creativity_ratio_final"] == 5 / 13 and creative["creativity_ratio"] is None
    strict = json.loads(demur("score", "-b", "pope", "--data", pope / "coco_pope_random.json", *answers)[1])
    assert (strict["counts"]["failed"], strict["counts"]["unparsed"]) == (24, 1)
    assert round(strict["metrics"]["accuracy"], 5) == 0.87133


def test_pope_build_writes_three_settings(demur, tmp_path):
    rows = [{"image": f"{n}.jpg", "objects": [f"thing {(n + k) % 12}" for k in range(4)]} for n in range(8)]
    (tmp_path / "objects.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, _ = demur(
        "pope", "build", "--annotations", tmp_path / "objects.jsonl", "--out", tmp_path / "p", "--json"
    )
    built = json.loads(out)
    assert code == 0 and set(built["files"]) == {"random", "popular", "adversarial"} and built["images"] == 8
