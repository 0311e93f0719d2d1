"""Compiled folders: loaded back equal, without secrets and code, tampering refused."""

import io
import json
import random

import dspy
import pytest
from PIL import Image

from optimizers import load_program, save_program
from programs import ImitationLibrary, InputError, load_image, make_program
from programs.images import image_bytes
from programs.state import state_hash, state_of


@pytest.fixture
def program():
    program = make_program("visual-debate", {"zoom": True, "rounds": 4, "told": "attributes,attributes"})
    for number, colour in enumerate(("red", "blue")):
        picture = load_image(Image.new("RGB", (40, 30), colour))
        program.debater_a.open.demos.append(
            dspy.Example(image=picture, question=f"q{number}", answer="no", reason="你是裁判", augmented=True)
        )
    program.judge.demos.append(
        dspy.Example(
            image=load_image(Image.new("RGB", (40, 30), "red")), question="q", first_side=[{"answer": "yes"}],
            second_side=[{"answer": "no"}], actual_object="cup", answer="no", cause="none", reason="r",
        )
    )  # fmt: skip
    program.judge.signature = program.judge.signature.with_instructions("你是裁判。只回答 yes 或 no。")
    return program


def edit(folder, change):
    path = folder / "program.json"
    state = json.loads(path.read_text())
    change(state)
    path.write_text(json.dumps(state))


def test_it_loads_back_equal(program, tmp_path):
    save_program(program, tmp_path / "c")
    loaded = load_program(tmp_path / "c")
    assert state_of(loaded) == state_of(program)
    assert state_hash(loaded) == state_hash(program)
    assert loaded.arguments == program.arguments
    assert loaded.debater_a.open.demos[1].image == program.debater_a.open.demos[1].image


def test_saving_twice_gives_the_same_bytes(program, tmp_path):
    save_program(program, tmp_path / "a")
    save_program(load_program(tmp_path / "a"), tmp_path / "b")
    names = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(tmp_path / "b") for path in (tmp_path / "b").rglob("*") if path.is_file())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


def test_equal_pictures_are_stored_once_and_not_as_base64(program, tmp_path):
    save_program(program, tmp_path / "c")
    assert len(list((tmp_path / "c/images").iterdir())) == 2
    assert "base64" not in (tmp_path / "c/program.json").read_text()


def test_chinese_stays_readable(program, tmp_path):
    save_program(program, tmp_path / "c")
    assert "你是裁判。只回答 yes 或 no。" in (tmp_path / "c/program.json").read_text(encoding="utf-8")


def test_an_imitation_library_travels_with_the_program(tmp_path):
    library = ImitationLibrary.model_validate(
        {"examples": [{"scenario": "kitchen", "question": "Is there a cup?", "debate": "A said yes …"}]}
    )
    program = make_program("visual-debate", {"imitation": library})
    save_program(program, tmp_path / "c")
    assert load_program(tmp_path / "c").imitation == library


def test_no_key_header_or_address_is_written(program, tmp_path):
    lm = dspy.LM(
        "openai/x", api_key="sk-SECRET", api_base="http://SECRET.example", extra_headers={"Authorization": "SECRET"}
    )
    program.use_models({"judge": lm})
    save_program(program, tmp_path / "c")
    text = (tmp_path / "c/program.json").read_text()
    assert "SECRET" not in text and '"judge": "openai/x"' in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state["predictors"].pop("judge"), "roles of visual-debate do not fit.*missing: judge"),
        (lambda state: state["predictors"].update(umpire=state["predictors"].pop("judge")), "not known: umpire"),
        (
            lambda state: state["predictors"]["judge"]["outputs"].update(answer="str"),
            "judge: the outputs.*another type: answer",
        ),
        (lambda state: state["predictors"]["judge"]["inputs"].pop("question"), "judge: the inputs.*missing: question"),
        (lambda state: state.update(program="chess"), "no program is called 'chess'"),
        (lambda state: state.update(format=99), "format 99"),
        (lambda state: state.update(code="import os"), "code"),
        (lambda state: state["arguments"].update(rounds=-1), "rounds must be 0 or more"),
        (
            lambda state: state["predictors"]["judge"]["demos"][0].update(answer="__import__('os')"),
            "a demonstration's answer",
        ),
        (
            lambda state: state["predictors"]["judge"]["demos"][0].update(image={"$image": "../../etc/passwd"}),
            "no picture of this folder",
        ),
        (lambda state: state["predictors"]["judge"]["demos"][0].update(extra=1), "the field 'extra'"),
        (
            lambda state: state["predictors"]["judge"].update(instructions="__import__('os').system('x')"),
            "judge: its instructions, fields or demonstrations were changed",
        ),
        (
            lambda state: state["predictors"]["judge"]["demos"][0].update(reason="{{ cycler.__init__ }}"),
            "judge: its instructions, fields or demonstrations were changed",
        ),
        (
            lambda state: state["predictors"]["debater_a.open"]["descriptions"].update(answer="eval('1')"),
            "debater_a.open: its instructions, fields or demonstrations were changed",
        ),
        (lambda state: state["predictors"]["judge"]["descriptions"].pop("answer"), "judge: the descriptions.*answer"),
        (lambda state: state["predictors"]["judge"]["prefixes"].update(x="y"), "judge: the prefixes.*not known: x"),
        (lambda state: state["predictors"]["judge"].update(hook="import os"), r"predictors\.judge\.hook: Extra inputs"),
        (
            lambda state: state["predictors"]["judge"]["inputs"].update(extra="str"),
            "judge: the inputs.*not known: extra",
        ),
        (lambda state: state["predictors"]["judge"].pop("fingerprint"), "judge: .*the fingerprint is missing"),
        (lambda state: state["arguments"].update(rounds=3), "its arguments, or the order of its roles were changed"),
        (lambda state: state["arguments"].update(imitation="/etc/passwd"), "arguments.imitation names a file"),
        (lambda state: state["arguments"].update(hook="import os"), "has no argument 'hook'"),
        (
            lambda state: state["predictors"]["judge"]["demos"][0].update(
                question=state["predictors"]["judge"]["demos"][0]["image"]
            ),
            "a demonstration's question is a picture",
        ),
    ],
)
def test_a_folder_that_was_changed_is_refused_with_the_reason(program, tmp_path, change, message):
    save_program(program, tmp_path / "c")
    edit(tmp_path / "c", change)
    with pytest.raises(InputError, match=message):
        load_program(tmp_path / "c")


def test_a_picture_that_was_changed_or_is_gone_is_refused(program, tmp_path):
    save_program(program, tmp_path / "c")
    first, second = sorted((tmp_path / "c/images").iterdir())
    original = first.read_bytes()
    first.write_bytes(original + b"x")
    with pytest.raises(InputError, match="the picture was changed"):
        load_program(tmp_path / "c")
    first.write_bytes(original)
    second.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        load_program(tmp_path / "c")


def test_a_prompt_is_changed_on_purpose_by_loading_and_saving(program, tmp_path):
    save_program(program, tmp_path / "c")
    loaded = load_program(tmp_path / "c")
    loaded.judge.signature = loaded.judge.signature.with_instructions("Decide.")
    save_program(loaded, tmp_path / "c")
    assert load_program(tmp_path / "c").judge.signature.instructions == "Decide."


def test_eight_demonstrations_take_little_more_than_their_pictures(tmp_path):
    """DSPy's own saving puts each picture into the JSON as base64, a third larger, and once for each role."""
    program, pictures = make_program("visual-debate"), random.Random(0)
    for number in range(8):
        buffer = io.BytesIO()
        Image.frombytes("RGB", (300, 300), pictures.randbytes(270_000)).save(buffer, "JPEG", quality=90)
        demo = dspy.Example(image=load_image(buffer.getvalue()), question=f"q{number}", answer="no", reason="r")
        program.debater_a.open.demos.append(demo)
        program.debater_b.open.demos.append(demo)
    save_program(program, tmp_path)
    files = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    of_pictures = sum(size for path, size in files.items() if path.parent.name == "images")
    assert of_pictures == sum(len(image_bytes(demo.image)) for demo in program.debater_a.open.demos)
    assert sum(files.values()) < 1.2 * of_pictures
    loaded = load_program(tmp_path)
    assert state_of(loaded) == state_of(program)
    assert [d.image for d in loaded.debater_b.open.demos] == [d.image for d in program.debater_b.open.demos]


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}"])
def test_a_folder_without_a_program_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "program.json").write_text(content)
    with pytest.raises(InputError, match=r"program\.json"):
        load_program(tmp_path)
