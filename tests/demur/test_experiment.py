"""Experiments: every cell once, continued where they stopped, and a table that says what the runs say."""

import json
import shutil
from pathlib import Path

import pytest
from dspy.lm15 import AuthError

from demur.cli import run
from demur.experiment import build_table, forecast, plan_experiment, run_experiment
from demur.models import make_lm
from evals.benchmarks.registry import get_benchmark
from evals.metric_intervals import metric_intervals
from evals.paired import compare
from evals.run import Run
from evals.significance import holm
from programs import InputError
from tests.debates import answered
from tests.scripted import scripted_lm

SCENES = """
name = "small"
limit = 12
seeds = [0, 1]
baseline = "direct"

[[benchmark]]
benchmark = "scenes"

[[model]]
model = "simulated"

[[program]]
program = "direct"

[[program]]
program = "visual-debate"
label = "debate"
arguments = { self_reflection = false }
grid = { rounds = [0, 2], told = [["nothing"], ["attributes", "everything"]] }
"""
ROWS = [
    "direct",
    *(f"debate (rounds={n}, told={told})" for n in (0, 2) for told in ("nothing", "attributes,everything")),
]


@pytest.fixture
def demur(capsys):
    """Run `demur experiment`; returns exit code, stdout and stderr."""

    def call(*arguments):
        code = run(["experiment", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def write(folder: Path, text: str, name="small.toml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Each file below `folder`: when it was written, and what is in it."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A finished experiment of 5 rows and 2 seeds on the simulated model."""
    folder = tmp_path_factory.mktemp("experiment")
    plan = plan_experiment(write(folder, SCENES), folder / "out")
    outcome = run_experiment(plan)
    assert outcome.count("finished") == 10 and outcome.failed_cases == 0
    return plan


@pytest.fixture
def copied(done, tmp_path):
    """The finished experiment, to be changed: its file and its folder."""
    shutil.copytree(done.out, tmp_path / "out")
    return write(tmp_path, SCENES), tmp_path / "out"


@pytest.fixture
def scripted(monkeypatch):
    """Makes every model a scripted one; returns the scripts by model string. `simulated` stays as it is."""
    scripts = {}

    def install(answer, **settings):
        def make(model, **ignored):
            if model == "simulated":
                return make_lm(model, seed=ignored["seed"])
            lm, script = scripted_lm(lambda asked: answer(model, asked), model=model, **settings)
            scripts.setdefault(model, []).append(script)
            return lm

        monkeypatch.setattr("demur.experiment.parts.make_lm", make)
        return scripts

    return install


def asked(scripts) -> list[str]:
    """The questions that were put, over all models."""
    return [one.inputs["question"] for made in scripts.values() for script in made for one in script.asked]


def yes(model, asked):
    return {"answer": "yes", "reason": "it is there"}


# --- cells -----------------------------------------------------------------------------------------------------------


def test_each_cell_is_an_ordinary_run_folder_with_a_readable_name(done):
    folders = sorted(path.parent.relative_to(done.out).as_posix() for path in done.out.rglob("run.json"))
    names = ["debate-rounds=0,told=attributes,everything", "debate-rounds=0,told=nothing"]
    names += ["debate-rounds=2,told=attributes,everything", "debate-rounds=2,told=nothing", "direct"]
    assert folders == [f"runs/scenes/simulated/{name}/seed-{seed}" for name in names for seed in (0, 1)]
    spec = Run(done.out / "runs/scenes/simulated/debate-rounds=2,told=nothing/seed-1").spec
    assert (spec.arguments["rounds"], spec.arguments["told"], spec.arguments["self_reflection"]) == (
        2,
        ["nothing"],
        False,
    )
    assert (spec.seed, spec.cases, spec.simulated) == (1, 12, True)


def test_experiment_json_says_what_belongs_to_it(done):
    manifest = json.loads((done.out / "experiment.json").read_text())
    assert (manifest["name"], manifest["file"], manifest["seeds"]) == ("small", "small.toml", [0, 1])
    assert [cell["method"] for cell in manifest["cells"]] == ROWS * 2
    assert manifest["cells"][6] == {
        "folder": "runs/scenes/simulated/debate-rounds=0,told=nothing/seed-1",
        "benchmark": "scenes",
        "model": "simulated",
        "method": "debate (rounds=0, told=nothing)",
        "program": "visual-debate",
        "seed": 1,
    }


def test_the_table_says_what_the_runs_say(done):
    (block,) = build_table(done).blocks
    scenes = get_benchmark("scenes")
    assert [row.method.label for row in block.rows] == ROWS
    assert block.headline == ("accuracy", "precision", "recall", "f1", "yes_ratio")
    for row in block.rows:
        records = [list(Run(done.out / folder).records()) for folder in row.folders]
        scores = [scenes.score(own).metrics for own in records]
        assert (row.seeds, row.cases, row.simulated) == ((0, 1), 24, True)
        for name in block.headline:
            number = row.metrics[name]
            assert list(number.by_seed.values()) == [score[name] for score in scores]
            assert number.mean == sum(score[name] for score in scores) / 2
            assert number.interval is None or number.mean in number.interval
        assert row.metrics["accuracy"].interval is not None
        assert " 4 groups" in row.metrics["accuracy"].interval.method  # two pictures a seed
        calls = sum(record.usage.calls for own in records for record in own)
        assert row.costs["calls"].mean == pytest.approx(calls / 24) and row.costs["cost_usd"].mean == 0
    best = max(row.metrics["accuracy"].mean for row in block.rows)
    assert {row.method.label for row in block.rows if "accuracy" in row.best} == {
        row.method.label for row in block.rows if row.metrics["accuracy"].mean == best
    }
    assert not any("yes_ratio" in row.best for row in block.rows)


def test_p_values_are_those_of_compare_over_all_seeds_with_holms_correction(done):
    (block,) = build_table(done).blocks

    def pooled(row):
        return [
            record.model_copy(update={"case_id": f"{folder[-1]}/{record.case_id}"})
            for folder in row.folders
            for record in Run(done.out / folder).records()
        ]

    assert block.rows[0].against is None
    found = [compare(pooled(block.rows[0]), pooled(row), get_benchmark("scenes")) for row in block.rows[1:]]
    assert [row.against.p_value for row in block.rows[1:]] == [one.p_value for one in found]
    assert [row.against.difference for row in block.rows[1:]] == pytest.approx(
        [one.accuracy.difference for one in found]
    )
    assert [row.against.p_holm for row in block.rows[1:]] == holm([one.p_value for one in found])


def test_with_one_seed_the_intervals_are_the_runs_own(done, tmp_path):
    plan = plan_experiment(write(tmp_path, SCENES.replace("[0, 1]", "[1]")), done.out)
    row = build_table(plan).blocks[0].rows[2]
    own = metric_intervals(list(Run(done.out / row.folders[0]).records()), get_benchmark("scenes"))
    assert row.seeds == (1,) and {name: number.interval for name, number in row.metrics.items()} == own


# --- again -----------------------------------------------------------------------------------------------------------


def test_running_again_touches_no_run_and_prints_the_same(demur, copied):
    file, out = copied
    before = contents(out / "runs")
    code, first, err = demur(file, "--out", out)
    assert (code, err) == (0, "") and contents(out / "runs") == before
    assert demur(file, "--out", out)[1] == first
    for name in ("table.md", "table.tex", "table.csv", "table.json"):
        assert (out / name).exists()
    assert (out / "table.md").read_text() == first and demur(file, "--out", out, "--format", "csv")[1] == (
        out / "table.csv"
    ).read_text()


def test_a_deleted_cell_is_run_again_and_only_that(demur, copied):
    file, out = copied
    expected = demur(file, "--out", out, "--format", "csv")[1]
    gone = "scenes/simulated/direct/seed-1"
    shutil.rmtree(out / "runs" / gone)
    before = contents(out / "runs")
    assert demur(file, "--out", out, "--format", "csv")[:2] == (0, expected)
    after = contents(out / "runs")
    assert {name: after[name] for name in before} == before
    assert {name.rpartition("/")[0] for name in after.keys() - before.keys()} == {gone}


def test_new_rows_and_seeds_run_and_dropped_ones_are_named(demur, copied):
    file, out = copied
    before = contents(out / "runs")
    file.write_text(SCENES.replace("rounds = [0, 2]", "rounds = [0, 1]").replace("[0, 1]\nbase", "[0, 2]\nbase"))
    code, printed, err = demur(file, "--out", out)
    after = contents(out / "runs")
    assert code == 0 and {name: after[name] for name in before} == before
    new = {name.split("/")[2:4][0] + "/" + name.split("/")[3] for name in after.keys() - before.keys()}
    assert new == {
        "direct/seed-2",
        *(f"debate-rounds=0,told={told}/seed-2" for told in ("nothing", "attributes,everything")),
        *(f"debate-rounds=1,told={told}/seed-{n}" for told in ("nothing", "attributes,everything") for n in (0, 2)),
    }
    assert "not in" in err and "direct/seed-1" in err and "rounds=2" in err and "seed-2" not in err
    assert "rounds=2" not in printed and "rounds=1" in printed


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("limit = 12", "limit = 6", "cases: 12 there, 6 now"),
        ("self_reflection = false", "self_reflection = true", "'self_reflection': False"),
        (
            'model = "simulated"',
            'model = "simulated"\ntemperature = 0.5',
            "settings: {} there, {'*.temperature': 0.5} now",
        ),
    ],
)
def test_a_change_that_changes_runs_is_refused_with_what_differs(demur, copied, old, new, difference):
    file, out = copied
    before = contents(out)
    file.write_text(SCENES.replace(old, new))
    code, printed, err = demur(file, "--out", out)
    assert (code, printed) == (2, "") and "was changed" in err and difference in err
    assert len(err.splitlines()) == 1 and contents(out) == before


def test_another_experiments_folder_and_a_folder_of_something_else_are_left_alone(demur, copied, tmp_path):
    file, out = copied
    file.write_text(SCENES.replace('"small"', '"other"'))
    code, _, err = demur(file, "--out", out)
    assert code == 2 and "holds the experiment 'small', not 'other'" in err
    write(tmp_path / "mine", "", "thesis.tex")
    code, _, err = demur(file, "--out", tmp_path / "mine")
    assert code == 2 and "holds no experiment (found thesis.tex)" in err


# --- budgets and failures --------------------------------------------------------------------------------------------

SCRIPTED = SCENES.replace('"simulated"', '"some/model"').replace("limit = 12", "limit = 6\nconcurrency = 1")
"""60 cases: 12 of them with one call, the others with two where all say yes."""


def test_a_budget_is_of_all_cells_and_of_all_commands_and_nothing_is_asked_twice(demur, scripted, tmp_path):
    scripts = scripted(yes)
    file, out = write(tmp_path, SCRIPTED), tmp_path / "out"
    code, printed, err = demur(file, "--out", out, "--budget-calls", 20)
    assert (code, len(asked(scripts))) == (3, 20)
    assert "8 of 10 runs are not finished: the budget of 20 calls is spent" in err
    assert "Not finished, and not in the table" in printed and "| direct |" in printed

    code, printed, _ = demur(file, "--out", out, "--budget-calls", 20, "--json")
    assert (code, len(asked(scripts))) == (3, 20)
    told = json.loads(printed)
    assert told["spent"]["calls"] == 20 and [one["state"] for one in told["runs"]][:3] == ["finished"] * 2 + ["stopped"]

    assert demur(file, "--out", out)[0] == 0
    once = 12 + 48 * 2
    assert len(asked(scripts)) == once
    assert demur(file, "--out", out)[0] == 0 and len(asked(scripts)) == once


def test_the_files_budget_in_dollars_needs_a_price_before_the_first_call(demur, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    text = SCENES.replace('"simulated"', '"openai/model-of-nobody"') + "\n[budget]\nusd = 1.0\n"
    code, _, err = demur(write(tmp_path, text), "--out", tmp_path / "out")
    assert code == 2 and 'the price of openai/model-of-nobody is not known; say price = "IN,OUT"' in err
    assert not (tmp_path / "out").exists()


def test_a_budget_can_end_before_a_runs_first_case_does(demur, scripted, tmp_path):
    scripts = scripted(yes)
    file = write(tmp_path, SCRIPTED.replace("[0, 1]", "[0]"))
    code, printed, err = demur(file, "--out", tmp_path / "out", "--budget-calls", 7, "--json")
    states = [one["state"] for one in json.loads(printed)["runs"]]
    assert (code, states[:3]) == (3, ["finished", "stopped", "waiting"]) and "failed" not in err
    assert len(asked(scripts)) == json.loads(printed)["spent"]["calls"]


def test_a_budget_of_nothing_makes_an_empty_table(demur, scripted, tmp_path):
    scripts = scripted(yes)
    file = write(tmp_path, SCRIPTED + "\n[budget]\ncalls = 0\n")
    code, printed, _ = demur(file, "--out", tmp_path / "out")
    assert code == 3 and asked(scripts) == [] and printed.startswith("# small\n")


def test_a_cell_that_fails_does_not_lose_the_others(demur, scripted, tmp_path):
    scripts = scripted(
        lambda model, asked: AuthError("wrong key", status=401) if model == "bad/model" else yes(model, asked)
    )
    text = SCRIPTED.replace('model = "some/model"', 'model = "bad/model"\n[[model]]\nmodel = "some/model"')
    file, out = write(tmp_path, text.replace("[0, 1]", "[0]")), tmp_path / "out"
    code, printed, err = demur(file, "--out", out, "--json")
    told = json.loads(printed)
    assert code == 1 and "scenes, bad/model, direct, seed 0: failed: " in err and "wrong key" in err
    assert {(row["method"], block["model"]) for block in told["blocks"] for row in block["rows"]} == {
        (label, "some/model") for label in ROWS
    }
    assert [one["state"] for one in told["runs"]] == ["failed"] * 5 + ["finished"] * 5
    good = len(asked({"some/model": scripts["some/model"]}))
    scripted(yes)
    code, printed, _ = demur(file, "--out", out, "--json")
    assert code == 0 and {block["model"] for block in json.loads(printed)["blocks"]} == {"bad/model", "some/model"}
    assert len(asked({"some/model": scripts["some/model"]})) == good


def test_failed_cases_are_counted_and_end_with_code_4_until_they_are_asked_again(demur, scripted, tmp_path):
    def mumble(model, asked):
        return "mumble" if asked.inputs["question"] in broken else yes(model, asked)

    plan = plan_experiment(write(tmp_path, SCENES), tmp_path / "out")
    broken = {plan.cells[0].cases[0].question}
    scripted(mumble)
    file = write(tmp_path, SCRIPTED.replace("[0, 1]", "[0]"))
    code, printed, _ = demur(file, "--out", tmp_path / "out")
    assert code == 4 and "scenes, some/model, direct: 1 of 6 cases have no answer." in printed
    broken.clear()
    assert demur(file, "--out", tmp_path / "out")[0] == 4
    code, printed, _ = demur(file, "--out", tmp_path / "out", "--retry-failed")
    assert code == 0 and "no answer" not in printed


# --- models, seeds, roles --------------------------------------------------------------------------------------------


def test_seeds_are_samples_of_their_own_and_not_the_caches(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    text = SCENES.replace('"simulated"', '"openai/gpt-4o"').replace("[0, 1]", "[0, 1, 2]")
    cells = plan_experiment(write(tmp_path, text), tmp_path / "out").cells
    assert not any(cell.lm.cache for cell in cells)


def test_roles_take_models_by_label_with_their_settings(demur, scripted, tmp_path):
    scripts = scripted(lambda model, asked: answered(asked, "yes" if model == "some/model" else "no"))
    text = SCENES.replace('"simulated"', '"some/model"').replace(
        '[["nothing"], ["attributes", "everything"]]', '[["nothing"]]'
    )
    text = text.replace("[0, 1]", "[0]").replace("[0, 2]", "[0]").replace("limit = 12", "limit = 2")
    text += '\nmodel_for = { judge = "the judge", debater_b = "other/model" }\n'
    text += '\n[[model]]\nmodel = "judge/model"\nlabel = "the judge"\nfor_roles_only = true\n'
    code, printed, _ = demur(write(tmp_path, text), "--out", tmp_path / "out", "--json")
    (block,) = json.loads(printed)["blocks"]
    assert code == 0 and block["model"] == "some/model" and len(block["rows"]) == 2
    assert len(asked({"j": scripts["judge/model"]})) == 2 == len(asked({"o": scripts["other/model"]}))
    spec = Run(tmp_path / "out" / block["rows"][1]["runs"][0]).spec
    assert spec.models["judge"] == "judge/model" and spec.models["debater_b.open"] == "other/model"


# --- dry run ---------------------------------------------------------------------------------------------------------


def test_a_dry_run_lists_cells_and_costs_and_makes_nothing(demur, scripted, tmp_path):
    scripts = scripted(yes)
    file, out = write(tmp_path, SCRIPTED), tmp_path / "out"
    code, printed, _ = demur(file, "--out", out, "--dry-run", "--json")
    told = json.loads(printed)
    assert code == 0 and asked(scripts) == [] and not out.exists()
    assert [one["state"] for one in told["runs"]] == ["new"] * 10 and told["total"]["cost_usd"] is None
    assert told["runs"][0]["calls"] == {"least": 6, "likely": 6, "most": 6}
    assert (told["runs"][1]["calls"]["least"], told["runs"][1]["calls"]["most"]) == (12, 18)
    assert told["total"]["calls"]["least"] == 2 * (6 + 4 * 12)


def test_what_is_finished_costs_nothing_more(demur, copied):
    file, out = copied
    before = contents(out)
    code, printed, _ = demur(file, "--out", out, "--dry-run")
    assert code == 0 and printed.count(" finished ") == 10 and contents(out) == before
    shutil.rmtree(out / "runs/scenes/simulated/direct/seed-0")
    plan = plan_experiment(file, out)
    assert [own.calls.likely for own in forecast(plan)] == [12] + [0] * 9
    assert "simulated: " in printed


def test_dollars_of_roles_with_other_prices_are_bounds(demur, tmp_path):
    text = SCENES.replace('model = "simulated"', 'model = "simulated"\nprice = "1,1"').replace("[0, 1]", "[0]")
    text += 'model_for = { judge = "dear" }\n[[model]]\nmodel = "simulated"\nlabel = "dear"\nprice = "10,10"\n'
    text += "for_roles_only = true\n"
    plan = plan_experiment(write(tmp_path, text), tmp_path / "out")
    direct, debate, *_ = forecast(plan)
    assert direct.cost_usd.likely == pytest.approx(direct.tokens.likely / 1e6)
    assert debate.cost_usd.least == pytest.approx(debate.tokens.least / 1e6, rel=1e-3)
    assert debate.cost_usd.most == pytest.approx(debate.tokens.most / 1e5, rel=1e-3)


# --- recordings and settings -----------------------------------------------------------------------------------------

PUBLISHED = """
scoring = "compat"
concurrency = 64

[[benchmark]]
benchmark = "pope"
data = ["{pope}/coco_pope_random.json"]
replay = "{pope}/pope_random_gemini_multi.jsonl"
recorded_model = "Gemini-Pro-Vision"

[[benchmark]]
benchmark = "pope-c"
label = "POPE-C"
data = ["{pope}/coco_pope_random_revised.json"]
replay = "{pope}/pope_random_gemini_multi.jsonl"
recorded_model = "Gemini-Pro-Vision"

[[program]]
program = "visual-debate"
label = "Ours"
"""


def test_the_published_debates_give_the_papers_rows(demur, shared_data, tmp_path):
    file = write(tmp_path, PUBLISHED.format(pope=shared_data / "pope"), "papers.toml")
    code, printed, _ = demur(file, "--out", tmp_path / "out", "--json")
    told = json.loads(printed)
    pope, creative = told["blocks"]
    assert code == 4 and told["experiment"] == "papers" and not told["simulated"]  # the published errors stay failures
    assert (pope["benchmark"], pope["model"], pope["setting"]) == ("pope", "Gemini-Pro-Vision", "random")
    (row,) = pope["rows"]
    papers = {"accuracy": 0.8753, "precision": 0.9518, "recall": 0.7907, "f1": 0.8638, "yes_ratio": 0.4153}
    for name, value in papers.items():  # in 8 rows the authors' script scored what failed
        assert row["metrics"][name]["mean"] == pytest.approx(value, abs=0.005)
    assert row["costs"]["calls"]["mean"] is None  # a recording of somebody else's calls: not 0
    assert creative["rows"][0]["metrics"]["creativity_ratio"]["mean"] == 9 / 13
    assert "| Gemini-Pro-Vision | Random | Ours | 87." in (tmp_path / "out/table.md").read_text()


def pope_file(folder, setting, numbers=range(6)):
    rows = [
        {
            "question_id": n,
            "image": f"{n % 3}.jpg",
            "text": f"Is there a {setting} {n} in the image?",
            "label": "yes" if n % 2 else "no",
        }
        for n in numbers
    ]
    (folder / f"coco_pope_{setting}.json").write_text("\n".join(map(json.dumps, rows)))


POPE = """
baseline = "direct"
seeds = [3, 4]

[[benchmark]]
benchmark = "pope"
label = "POPE"
data = ["coco_pope_random.json", "setting=popular:coco_pope_popular.json"]
images = "pictures"

[[model]]
model = "some/model"

[[program]]
program = "direct"

[[program]]
program = "majority-vote"
"""


@pytest.fixture
def pope(tmp_path):
    from PIL import Image

    (tmp_path / "pictures").mkdir()
    for n in range(3):
        Image.new("RGB", (20, 20), (80 * n, 0, 0)).save(tmp_path / f"pictures/{n}.jpg")
    for setting in ("random", "popular"):
        pope_file(tmp_path, setting)
    return write(tmp_path, POPE, "pope.toml")


def test_settings_are_blocks_and_paths_are_relative_to_the_file(demur, scripted, pope, tmp_path, monkeypatch):
    scripted(lambda model, asked: {"answer": "yes" if "random" in asked.inputs["question"] else "no", "reason": "r"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    code, printed, _ = demur(pope, "--json")
    told = json.loads(printed)
    assert code == 0 and told["out"] == "runs/pope" and (elsewhere / "runs/pope/experiment.json").exists()
    assert [(block["benchmark"], block["setting"]) for block in told["blocks"]] == [
        ("POPE", "random"),
        ("POPE", "popular"),
    ]
    random, popular = (block["rows"][0] for block in told["blocks"])
    assert (random["cases"], random["metrics"]["recall"]["mean"], random["metrics"]["yes_ratio"]["mean"]) == (12, 1, 1)
    assert (popular["metrics"]["precision"]["mean"], popular["metrics"]["recall"]["mean"]) == (None, 0)
    tags = get_benchmark("pope").score(list(Run(elsewhere / "runs/pope" / random["runs"][0]).records())).by_tag
    assert tags["setting"]["random"]["accuracy"] == random["metrics"]["accuracy"]["by_seed"]["3"]
    page = (elsewhere / "runs/pope/table.md").read_text()
    assert "| some/model | Random | direct |" in page and "|  | Popular | direct |" in page


def test_split_by_makes_other_blocks_or_none(pope):
    pope.write_text(POPE.replace('label = "POPE"', "split_by = []").replace("some/model", "simulated"))
    assert plan_experiment(pope).benchmarks[0].split_by == ()
    pope.write_text(POPE.replace('label = "POPE"', 'split_by = ["colour"]').replace("some/model", "simulated"))
    with pytest.raises(
        InputError, match="number 1 \\(pope\\): split_by: not every case has a tag 'colour'; there are: setting, source"
    ):
        plan_experiment(pope)


def test_a_run_can_be_replayed_beside_a_model(demur, done, tmp_path):
    recorded = done.out / "runs/scenes/simulated/direct/seed-0"
    text = f"""
        limit = 12
        [[benchmark]]
        benchmark = "scenes"
        [[benchmark]]
        benchmark = "scenes"
        label = "again"
        replay = '{recorded}'
        [[model]]
        model = "simulated"
        [[program]]
        program = "direct"
    """
    code, printed, _ = demur(write(tmp_path, text), "--out", tmp_path / "out", "--json")
    first, again = json.loads(printed)["blocks"]
    assert code == 0 and (first["model"], again["model"]) == ("simulated", "recorded")
    assert first["rows"][0]["metrics"] == again["rows"][0]["metrics"] and again["rows"][0]["simulated"]
    assert "| recorded | direct, simulated |" in (tmp_path / "out/table.md").read_text()


def test_a_recording_that_does_not_fit_fails_its_cell_only(demur, done, tmp_path):
    recorded = done.out / "runs/scenes/simulated/direct/seed-0"
    text = f"""
        limit = 12
        [[benchmark]]
        benchmark = "scenes"
        replay = '{recorded}'
        [[program]]
        program = "visual-debate"
        [[program]]
        program = "direct"
    """
    code, printed, err = demur(write(tmp_path, text), "--out", tmp_path / "out", "--json")
    told = json.loads(printed)
    assert code == 1 and "is the run of another program" in err
    assert [one["state"] for one in told["runs"]] == ["failed", "finished"] and len(told["blocks"][0]["rows"]) == 1


# --- the example -----------------------------------------------------------------------------------------------------


def test_the_example_is_a_sound_experiment(tmp_path):
    file = Path(__file__).parents[2] / "examples/scenes.toml"
    plan = plan_experiment(file, tmp_path / "out")
    assert all(cell.spec.simulated for cell in plan.cells) and plan.baseline == "direct"
    assert len(plan.methods) == 7 and len(plan.cells) == 14
