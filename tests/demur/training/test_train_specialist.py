"""Training end to end on tiny models: the loss falls, a killed training ends as one that was not, adapters load."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra [train], which has torch")

import torch
from peft import PeftModel
from PIL import Image
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

from demur.cli import run
from demur.training import TrainSettings, read_training_rows, train_specialist
from programs.errors import InputError

COLOURS = {"red": (255, 0, 0), "blue": (0, 0, 255), "green": (0, 255, 0)}
SETTINGS = TrainSettings(quantize="none", lr=0.05, epochs=5, dropout=0.1)


@pytest.fixture
def text_data(tmp_path: Path) -> Path:
    path = tmp_path / "text.jsonl"
    rows = [
        {"question": "what colour is the thing ?", "answer": "blue"},
        {"question": "is the thing red ?", "choices": ["yes", "no"], "answer": 1},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows * 5))
    return path


@pytest.fixture
def picture_data(tmp_path: Path) -> Path:
    path = tmp_path / "pictures.jsonl"
    rows = [{"question": "is blue a colour ?", "answer": "yes"}]
    for name, colour in COLOURS.items():
        Image.new("RGB", (20, 16), colour).save(tmp_path / f"{name}.png")
        rows.append({"question": "what colour is the thing ?", "image": f"{name}.png", "answer": name})
    path.write_text("\n".join(json.dumps(row) for row in rows * 3))
    return path


def weights(adapter: Path) -> dict[str, torch.Tensor]:
    return load_file(adapter / "adapter_model.safetensors")


def same(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("loss", ["aligncal+focal", "focal", "label-smoothing", "nll"])
def test_the_loss_falls(tiny_llama, text_data, tmp_path, loss):
    settings = SETTINGS.model_copy(update={"loss": loss, "epochs": 6})
    done = train_specialist(str(tiny_llama), read_training_rows([text_data]), tmp_path / "out", settings, device="cpu")
    assert [step for step, _ in done.losses] == [10, 20, 30]
    assert done.losses[-1][1] < 0.9 * done.losses[0][1]


def test_a_vision_language_model_learns_and_its_adapter_loads(tiny_llava, picture_data, tmp_path):
    rows = read_training_rows([picture_data])
    done = train_specialist(str(tiny_llava), rows, tmp_path / "out", SETTINGS, device="cpu")
    assert done.losses[-1][1] < done.losses[0][1]
    names = list(weights(done.adapter))
    assert names
    assert not [name for name in names if "vision" in name]
    model = PeftModel.from_pretrained(AutoModelForImageTextToText.from_pretrained(tiny_llava), done.adapter)
    tuned = {name: value for name, value in model.named_parameters() if "lora_B" in name}
    assert len(tuned) == 4
    assert all(value.abs().sum() > 0 for value in tuned.values())


def test_an_adapter_changes_what_the_text_model_says(tiny_llama, text_data, tmp_path):
    done = train_specialist(str(tiny_llama), read_training_rows([text_data]), tmp_path / "out", SETTINGS, device="cpu")
    base = AutoModelForCausalLM.from_pretrained(tiny_llama)
    ids = torch.tensor([[5, 7, 11]])
    before = base(ids).logits.detach()
    assert not torch.allclose(PeftModel.from_pretrained(base, done.adapter)(ids).logits, before)


SLOWED = """
import sys, time
from transformers import Trainer
import demur.training.fitting as fitting
step = Trainer.training_step
def slowly(self, *given, **named):
    time.sleep(0.1)
    return step(self, *given, **named)
Trainer.training_step = slowly
from demur.cli import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", ["text", "picture"])
def test_killed_and_continued_it_gives_the_same_weights(
    kind, tiny_llama, tiny_llava, text_data, picture_data, tmp_path
):
    model, data = (tiny_llama, text_data) if kind == "text" else (tiny_llava, picture_data)
    killed, whole = tmp_path / "killed", tmp_path / "whole"

    def command(out: Path) -> list[str]:
        given = ["--model", str(model), "--data", str(data), "--out", str(out), "--device", "cpu", "--quantize", "none"]
        return [
            "train-specialist",
            *given,
            "--lr",
            "0.05",
            "--epochs",
            "4",
            "--dropout",
            "0.1",
            "--checkpoint-every",
            "3",
        ]

    process = subprocess.Popen(
        [sys.executable, "-c", SLOWED, *command(killed)], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    deadline = time.monotonic() + 600  # on a busy machine importing torch alone takes a minute
    while not (killed / "checkpoints" / "checkpoint-6" / "whole.json").exists():
        assert time.monotonic() < deadline, "no checkpoint was written"
        assert process.poll() is None, "training ended before it could be killed"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "adapter").exists()
    half = killed / "checkpoints" / "checkpoint-999"
    half.mkdir()
    (half / "adapter_model.safetensors").write_bytes(b"half written")

    assert run(command(killed)) == 0
    assert run(command(whole)) == 0
    assert same(killed / "adapter", whole / "adapter")
    read = [json.loads((out / "adapter" / "losses.json").read_text()) for out in (killed, whole)]
    assert read[0] == read[1]


def test_a_finished_training_is_not_done_again(tiny_llama, text_data, tmp_path):
    rows = read_training_rows([text_data])
    settings = SETTINGS.model_copy(update={"epochs": 1})
    done = train_specialist(str(tiny_llama), rows, tmp_path / "out", settings, device="cpu")
    written = (done.adapter / "adapter_model.safetensors").stat().st_mtime_ns
    assert train_specialist(str(tiny_llama), rows, tmp_path / "out", settings, device="cpu") == done
    assert (done.adapter / "adapter_model.safetensors").stat().st_mtime_ns == written


def test_another_configuration_in_the_folder_is_refused(tiny_llama, text_data, tmp_path):
    rows = read_training_rows([text_data])
    settings = SETTINGS.model_copy(update={"epochs": 1})
    train_specialist(str(tiny_llama), rows, tmp_path / "out", settings, device="cpu")
    with pytest.raises(InputError, match=r"rank was 8 and is 4"):
        other = settings.model_copy(update={"rank": 4})
        train_specialist(str(tiny_llama), rows, tmp_path / "out", other, device="cpu")
    with pytest.raises(InputError, match="data was"):
        train_specialist(str(tiny_llama), rows[1:], tmp_path / "out", settings, device="cpu")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    with pytest.raises(InputError, match=r"notes\.txt"):
        train_specialist(str(tiny_llama), rows, tmp_path / "mine", settings, device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quantize", "4bit", "--device", "cpu"], "--quantize none"),
        (["--quantize", "none", "--targets", "qkv"], "--targets qkv"),
        (["--quantize", "none", "--model", "no/such-folder-here"], "cannot be loaded"),
        (["--quantize", "8bit"], "--quantize 8bit"),
        (["--loss", "hinge"], "--loss hinge"),
        (["--lr", "0"], "--lr 0"),
        (["--device", "tpu"], "--device tpu"),
    ],
)
def test_mistakes_are_one_line(tiny_llama, text_data, tmp_path, capsys, monkeypatch, options, message):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    given = ["--model", str(tiny_llama), "--data", str(text_data), "--out", str(tmp_path / "out"), *options]
    assert run(["train-specialist", *given]) == 2
    assert message in capsys.readouterr().err


def test_pictures_for_a_text_model_are_refused(tiny_llama, picture_data, tmp_path):
    with pytest.raises(InputError, match="takes text alone"):
        train_specialist(str(tiny_llama), read_training_rows([picture_data]), tmp_path / "out", SETTINGS, device="cpu")
