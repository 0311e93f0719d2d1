"""The experiment file: every mistake is one line that says where, what was found and what is expected."""

import json

import pytest

from demur.cli import run
from demur.experiment import plan_experiment
from demur.experiment.file import read_tables
from programs import InputError

GOOD = """
limit = 6

[[benchmark]]
benchmark = "scenes"

[[model]]
model = "simulated"

[[program]]
program = "visual-debate"
label = "debate"
"""


def write(folder, text):
    (folder / "e.toml").write_text(text, encoding="utf-8")
    return folder / "e.toml"


def test_what_is_left_out_has_a_default(tmp_path):
    plan = plan_experiment(write(tmp_path, GOOD))
    assert (plan.name, plan.out.as_posix(), plan.seeds, plan.scoring) == ("e", "runs/e", (0,), "strict")
    assert (plan.baseline, plan.budget.usd, plan.budget.calls, plan.models) == (None, None, None, ("simulated",))


def test_the_documented_file_is_a_file(tmp_path):
    from demur.experiment import file as documented

    example = documented.__doc__.split("```toml")[1].split("```")[0]
    tables = read_tables(write(tmp_path, example))
    assert (tables.name, tables.budget.calls, tables.benchmark[1].recorded_model) == (
        "pope-ablations", 50000, "Gemini-Pro-Vision",
    )  # fmt: skip
    assert tables.program[1].grid["told"] == [["nothing"], ["attributes", "everything"]]


def test_paths_are_relative_to_the_file_and_options_win(tmp_path):
    file = write(tmp_path, 'out = "results"\n' + GOOD + "[budget]\nusd = 2\ncalls = 5\n")
    assert plan_experiment(file).out == tmp_path / "results"
    assert plan_experiment(file, tmp_path / "other").out == tmp_path / "other"
    from evals import Budget

    budget = plan_experiment(file, budget=Budget(calls=9)).budget
    assert (budget.calls, budget.usd) == (9, 2.0)


LIMIT, BENCHMARK, MODEL = "limit = 6", 'benchmark = "scenes"', 'model = "simulated"'
PROGRAM, LABEL = 'program = "visual-debate"', 'label = "debate"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (LIMIT, "limit = ", "is no TOML file: Invalid value (at line 2"),
        (LIMIT, "limits = 6", "unknown key 'limits'; the keys are: name, out, scoring, concurrency, limit"),
        (LIMIT, "limit = 0", "limit = 0: Input should be greater than or equal to 1"),
        (LIMIT, 'limit = "6"', "limit = '6': Input should be a valid integer"),
        (LIMIT, "seeds = []", "seeds = []: List should have at least 1 item"),
        (LIMIT, "seeds = [1, 1]", "seeds = [1, 1]: expected each value once"),
        (LIMIT, "seeds = 3", "seeds = 3: Input should be a valid list"),
        (LIMIT, "seeds = [-1]", "seeds.0 = -1: Input should be greater than or equal to 0"),
        (LIMIT, 'scoring = "lenient"', "scoring = 'lenient': Input should be 'strict' or 'compat'"),
        (LIMIT, 'name = "a\\nb"', "name = 'a\\nb': expected a text of one line"),
        (LIMIT, "budget = 5", "budget = 5: expected a table of keys"),
        (LIMIT, "budget = { dollars = 5 }", "[budget]: unknown key 'dollars'; the keys are: usd, calls"),
        (LIMIT, "budget = { usd = -1 }", "[budget]: usd = -1: Input should be greater than or equal to 0"),
        (LIMIT, 'baseline = "direct"', "baseline = 'direct': no row is called that; the rows are: debate"),
        (LIMIT, "out = 3", "out = 3: Input should be a valid string"),
        ('[[benchmark]]\nbenchmark = "scenes"', "", "no benchmark; give at least one [[benchmark]]"),
        ("[[benchmark]]", "[benchmark]", "benchmark = {'benchmark': 'scenes'}: expected [[benchmark]], with"),
        (BENCHMARK, 'name = "scenes"', "[[benchmark]] number 1 (without a name): unknown key 'name'"),
        (BENCHMARK, 'benchmark = "imagenet"', "number 1 (imagenet): unknown benchmark 'imagenet'; known: pope"),
        (BENCHMARK, BENCHMARK + '\nimages = "x"', "the benchmark scenes draws its own pictures"),
        (BENCHMARK, BENCHMARK + '\nreplay = "x"', "replay = 'x': found nothing at"),
        (BENCHMARK, BENCHMARK + '\nrecorded_model = "x"', "recorded_model names the model of a replay"),
        (BENCHMARK, 'benchmark = "pope"\ndata = ["none_pope_random.json"]', "none_pope_random.json"),
        (BENCHMARK, 'benchmark = "file:none.jsonl"', "none.jsonl"),
        ('[[model]]\nmodel = "simulated"', "", "no [[model]] that is not for_roles_only; give one, or a replay"),
        (MODEL, MODEL + "\nfor_roles_only = true", "no [[model]] that is not for_roles_only"),
        (MODEL, 'modle = "simulated"', "[[model]] number 1 (without a name): unknown key 'modle'; the keys are: model"),
        (MODEL, f"{MODEL}\n[[model]]\n{MODEL}", "two [[model]] are called 'simulated'; tell them apart"),
        (MODEL, 'model = "nonsense"', "[[model]] number 1 (nonsense): --model nonsense: nothing serves"),
        (MODEL, 'model = "openai/gpt-4o"', "(openai/gpt-4o): --model openai/gpt-4o: there is no API key; set OPENAI"),
        (MODEL, 'model = "local:none.gguf"', "none.gguf: there is no such file"),
        (MODEL, MODEL + "\ntemperature = -1.0", "temperature = -1.0: Input should be greater than or equal to 0"),
        (MODEL, MODEL + "\ntemperature = nan", "temperature = nan: Input should be"),
        (MODEL, MODEL + "\ntemperature = inf", "temperature = inf: Input should be a finite number"),
        (MODEL, MODEL + "\nmax_tokens = 0", "max_tokens = 0: Input should be greater than or equal to 1"),
        (MODEL, MODEL + "\ntimeout_s = nan", "timeout_s = nan: Input should be"),
        (MODEL, MODEL + "\nretries = -1", "retries = -1: Input should be greater than or equal to 0"),
        (LIMIT, "seeds = [4294967296]", "seeds.0 = 4294967296: Input should be less than or equal to 4294967295"),
        (MODEL, MODEL + '\nprice = "cheap"', "--price cheap: expected IN,OUT"),
        (PROGRAM, 'program = "vision"', "[[program]] number 1 (debate): no program is called 'vision'"),
        (PROGRAM, "", "number 1 (debate): expected either program or compiled"),
        (PROGRAM, 'compiled = "none"', "holds no compiled program: program.json"),
        (PROGRAM, 'compiled = "c"\narguments = { rounds = 1 }', "a compiled program has its own arguments"),
        (LABEL, "arguments = { round = 1 }", "visual-debate has no argument 'round'; its arguments are: rounds"),
        (LABEL, "arguments = { rounds = [1, 2] }", "rounds=[1, 2] does not fit"),
        (LABEL, 'arguments = { imitation = "none.jsonl" }', "none.jsonl: cannot be read"),
        (LABEL, "grid = { rounds = 2 }", "(visual-debate): grid.rounds = 2: Input should be a valid list"),
        (LABEL, "grid = { rounds = [] }", "grid.rounds = []: List should have at least 1 item"),
        (LABEL, "grid = { rounds = [2, 2] }", "grid.rounds = [2, 2]: expected each value once"),
        (LABEL, 'grid = { told = [["all"]] }', "told=['all'] does not fit"),
        (LABEL, "grid = { zoom = [true] }\narguments = { zoom = true }", "zoom is in arguments and in grid"),
        (
            LABEL,
            'model_for = { umpire = "simulated" }',
            "has no role 'umpire'; its roles are: debater_a, debater_b, judge",
        ),
        (
            LABEL,
            'model_for = { judge = "gpt" }',
            "model_for: there is no [[model]] 'gpt', so it is taken as a model string",
        ),
        (LABEL, 'label = "a"\n[[program]]\nprogram = "direct"\nlabel = "a"', "two [[program]] are called 'a'"),
        (
            LABEL,
            'label = "a (rounds=2)"\n[[program]]\nprogram = "visual-debate"\nlabel = "a"\ngrid = { rounds = [2] }',
            "a second row is called 'a (rounds=2)'",
        ),
        (
            LABEL,
            'label = "a/b"\n[[program]]\nprogram = "direct"\nlabel = "a b"',
            "would have the same folder, scenes/simulated/a-b/seed-0; give other labels",
        ),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_made(tmp_path, monkeypatch, capsys, old, new, message):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert GOOD.count(old) == 1
    file = write(tmp_path, GOOD.replace(old, new))
    code = run(["experiment", str(file)])
    printed, err = capsys.readouterr()
    assert (code, printed) == (2, "") and err.startswith(f"demur: {file}")
    assert message in err and len(err.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["e.toml"]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.toml cannot be read: No such file"):
        read_tables(tmp_path / "nowhere.toml")
    (tmp_path / "e.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_tables(tmp_path / "e.toml")


def test_lists_are_values_in_arguments_and_choices_in_the_grid(tmp_path):
    text = GOOD + (
        '[program.arguments]\ntold = ["nothing", "everything"]\n'
        '[program.grid]\nrounds = [1, 2]\npersonas = [true, false]\nimitation = ["none", "lib.jsonl"]\n'
    )
    (tmp_path / "lib.jsonl").write_text(json.dumps({"scenario": "s", "question": "q", "debate": "d"}))
    methods = plan_experiment(write(tmp_path, text)).methods
    assert len(methods) == 8
    assert methods[0].label == "debate (rounds=1, personas=true, imitation=none)"
    built = methods[-1].build().arguments
    assert (built["rounds"], built["told"], built["personas"]) == (2, ("nothing", "everything"), False)
    assert built["imitation"].examples[0].debate == "d" and methods[0].build().arguments["imitation"] is None


def test_a_compiled_program_is_a_row(tmp_path):
    from optimizers import save_program
    from programs import make_program

    save_program(make_program("visual-debate", {"rounds": 1}), tmp_path / "compiled")
    text = GOOD.replace('program = "visual-debate"', 'compiled = "compiled"')
    (cell,) = plan_experiment(write(tmp_path, text)).cells
    assert (cell.method.label, cell.method.program, cell.spec.arguments["rounds"]) == ("debate", "visual-debate", 1)


def test_a_program_that_takes_other_inputs_than_the_benchmark_gives_is_refused(tmp_path, monkeypatch):
    from evals.benchmarks.scenes import Scenes

    monkeypatch.setattr(Scenes, "task", "text")
    with pytest.raises(InputError, match="visual-debate answers visual questions, and those of scenes are text ones"):
        plan_experiment(write(tmp_path, GOOD))


def test_a_program_that_cannot_work_with_the_model_is_refused(tmp_path, monkeypatch):
    from programs import VisualDebate

    def check(self):
        raise InputError("needs a temperature")

    monkeypatch.setattr(VisualDebate, "check", check)
    with pytest.raises(InputError, match=r"\[\[program\]\] number 1 \(debate\), with simulated: needs a temperature"):
        plan_experiment(write(tmp_path, GOOD))


def test_long_labels_make_short_folder_names_that_differ(tmp_path):
    labels = [f"{'long ' * 30}{end}" for end in "ab"]
    text = GOOD.replace(
        'label = "debate"', f'label = "{labels[0]}"\n[[program]]\nprogram = "direct"\nlabel = "{labels[1]}"'
    )
    folders = [cell.folder.parent.name for cell in plan_experiment(write(tmp_path, text)).cells]
    assert len(set(folders)) == 2 and all(len(name) == 80 for name in folders)
