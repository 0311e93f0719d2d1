"""The command line: results on stdout, mistakes as one line on stderr, exit codes that mean something."""

import json
import socket

import pytest
from PIL import Image

from demur.cli import run
from demur.commands.ask import interpretation_line
from evals.scenes import Scene
from programs.interpretation import Interpretation


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


@pytest.mark.parametrize(
    ("question", "stands", "fell"),
    [
        (
            "Is there a cup in the image?",
            "interpretation: no hallucination; debater_a and debater_b saw the object (center)",
            "interpretation: hallucinated by debater_a; region: center; really there: bowl",
        ),
        (
            "Does the man wear a hat?",
            "interpretation: the yes of debater_a and debater_b stands (center)",
            "interpretation: the yes of debater_a did not stand; region: center; really there: bowl",
        ),
    ],
)
def test_ask_says_that_something_was_seen_only_where_an_object_was_asked_for(question, stands, fell):
    both = Interpretation(hallucinated=False, claimed_by=("debater_a", "debater_b"), region="center")
    one = Interpretation(hallucinated=True, claimed_by=("debater_a",), region="center", actual_object="bowl")
    assert interpretation_line(both, question) == stands
    assert interpretation_line(one, question) == fell


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


def test_a_server_that_is_not_there_ends_with_code_1_and_the_same_command_continues(demur, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        address = f"http://127.0.0.1:{closed_soon.getsockname()[1]}/v1"
    code, out, err = demur(
        "evaluate", "direct", "--limit", 60, "-m", "openai/gpt-4o", "--api-base", address, "--retries", 0, "--out",
        tmp_path / "r",
    )  # fmt: skip
    assert (code, out) == (1, "")
    assert "in 20 cases in a row the model could not be reached" in err
    assert err.endswith("; the same command continues\n")
    assert (tmp_path / "r/records.jsonl").read_bytes() == b""


def test_compare_of_an_unfinished_run_names_the_option_that_allows_it(demur, tmp_path):
    command = ["evaluate", "direct", "--limit", 12, "-m", "simulated", "--json"]
    assert demur(*command, "--out", tmp_path / "a")[0] == 0
    assert demur(*command, "--out", tmp_path / "b", "--budget-calls", 5, "--concurrency", 1)[0] == 3
    code, _, err = demur("compare", tmp_path / "a", tmp_path / "b")
    assert code == 2 and "finish both runs, or compare only the 5 that they share with --allow-partial" in err
    assert demur("compare", tmp_path / "a", tmp_path / "b", "--allow-partial")[0] == 0


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


def test_a_compile_has_a_budget_continues_and_says_what_it_gained_and_cost(demur, tmp_path):
    command = ["compile", "direct", "--limit", 12, "-m", "simulated", "--out", tmp_path / "c"]
    code, out, err = demur(*command, "--budget-calls", 18)
    assert (code, out) == (3, "") and err == "demur: stopped: the budget of 18 calls is spent; a larger one continues\n"
    code, out, _ = demur(*command)
    lines = out.splitlines()
    assert code == 0 and "12 cases to tune on, 12 to measure on" in lines
    assert any(line.startswith("after against before: ") and "noise (" in line for line in lines)
    assert any(line.startswith("cost: 42 calls, ") and "of which tuning took 18 calls, " in line for line in lines)


def test_measuring_a_compiled_program_on_what_it_was_tuned_on_is_warned_of(demur, tmp_path):
    small = ["--limit", 12, "-m", "simulated"]
    demur("compile", "direct", *small, "--out", tmp_path / "c")
    command = ["evaluate", "--compiled", tmp_path / "c", "--json"]
    _, out, err = demur(*command, *small, "--data", "train", "--out", tmp_path / "seen")
    assert "demur: warning: 12 of the 12 cases and 2 of the 2 pictures or documents are among those that" in err
    assert json.loads(out)["tuned_on"] == {"cases": 12, "of_cases": 12, "groups": 2, "of_groups": 2}
    _, out, err = demur(*command, *small, "--out", tmp_path / "unseen")
    assert "warning" not in err and json.loads(out)["tuned_on"]["cases"] == 0
    _, out, _ = demur("evaluate", "direct", *small, "--json", "--out", tmp_path / "plain")
    assert json.loads(out)["tuned_on"] is None
    _, _, err = demur("compile", "--compiled", tmp_path / "c", *small, "--train", "test", "--val", "train", "--out",
                      tmp_path / "again")  # fmt: skip
    assert "demur: warning: 12 of the 12 cases" in err


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
        (
            ["evaluate", "direct", "--set", "rounds=2"],
            "direct has no argument 'rounds'; its arguments are: questions, confidence",
        ),
        (["evaluate", "visual-debate", "--set", "rounds=many"], "rounds='many' does not fit"),
        (["evaluate", "visual-debate", "--set", "told=all"], "told='all' does not fit"),
        (["evaluate", "visual-debate", "--set", "rounds=-1"], "rounds must be 0 or more, got -1"),
        (["evaluate", "direct", "-b", "imagenet"], "unknown benchmark 'imagenet'"),
        (["evaluate", "direct", "-b", "pope", "--data", "nowhere.json"], "nowhere.json"),
        (["evaluate", "direct", "-b", "scenes"], "no model: give one with --model"),
        (["evaluate", "direct", "--flag"], "No such option"),
        (["evaluate", "direct", "--limit", "0"], "--limit"),
        (["evaluate", "direct", "--temperature", "inf"], "--temperature"),
        (["evaluate", "direct", "--temperature", "nan"], "--temperature"),
        (["evaluate", "direct", "--timeout-s", "inf"], "--timeout-s"),
        (["evaluate", "direct", "--budget-usd", "nan"], "--budget-usd"),
        (["evaluate", "direct", "--seed", str(10**22)], "--seed"),
        (["evaluate", "direct", "-b", "file:"], "no file with questions"),
        (
            ["evaluate", "direct", "-m", "simulated", "--model-for", "umpire=simulated"],
            "no role 'umpire'; its roles are: answerer",
        ),
        (
            ["evaluate", "majority-vote", "-m", "simulated", "--temperature", "0"],
            "k=5 samples at temperature 0 give the same answer",
        ),
        (["evaluate", "direct", "-m", "nonsense-model"], "nonsense-model"),
        (
            ["ask", "direct", "-q", "Is there a cup in the image?", "-m", "simulated"],
            "give the picture that it is about, with --image FILE",
        ),
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
