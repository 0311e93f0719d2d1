"""What of a question the loss is applied to."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra [train], which has torch")

import torch
from PIL import Image
from transformers import AutoProcessor, AutoTokenizer

from demur.training.encoding import Encoder
from demur.training.fitting import answer_loss
from demur.training.rows import TrainingRow
from demur.training.settings import TrainSettings
from optimizers.losses import IGNORED, FocalAlignCal
from programs.errors import InputError


def answered(tokenizer, inputs):
    labels = inputs["labels"][0]
    return tokenizer.decode(labels[labels != IGNORED])


def test_without_a_template_the_answer_and_the_end_are_learnt(tiny_llama):
    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    inputs = Encoder(tokenizer, sees=False)(TrainingRow("here", "is the thing red ?", "no", ("yes", "no")))
    assert answered(tokenizer, inputs).split() == ["no", "</s>"]
    assert inputs["labels"].shape == inputs["input_ids"].shape == inputs["attention_mask"].shape
    assert (inputs["labels"][0, :-2] == IGNORED).all()


def test_with_a_template_and_a_picture(tiny_llava, tmp_path: Path):
    Image.new("RGB", (30, 20), "red").save(tmp_path / "red.png")
    processor = AutoProcessor.from_pretrained(tiny_llava)
    encode = Encoder(processor, sees=True)
    inputs = encode(TrainingRow("here", "what colour is the thing ?", "red", image=tmp_path / "red.png"))
    assert answered(processor.tokenizer, inputs).split() == ["red", "</s>"]
    assert inputs["pixel_values"].shape == (1, 3, 16, 16)
    assert (inputs["input_ids"] == processor.tokenizer.convert_tokens_to_ids("<image>")).sum() == 4
    without = encode(TrainingRow("here", "is blue a colour ?", "yes"))
    assert "pixel_values" not in without


def test_a_picture_that_cannot_be_read_is_named(tiny_llava, tmp_path: Path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    encode = Encoder(AutoProcessor.from_pretrained(tiny_llava), sees=True)
    with pytest.raises(InputError, match=r"broken\.png"):
        encode(TrainingRow("here", "what colour ?", "red", image=tmp_path / "broken.png"))


def test_the_loss_is_the_mean_over_the_answers_of_a_step():
    torch.manual_seed(0)
    logits, labels = torch.randn(1, 6, 9), torch.tensor([[IGNORED, IGNORED, IGNORED, 4, 5, 2]])
    mean = FocalAlignCal()(logits[:, 2:5], labels[:, 3:])
    of = answer_loss(TrainSettings())
    assert of({"logits": logits}, labels).item() == pytest.approx(mean.item())
    assert of({"logits": logits}, labels, torch.tensor(6)).item() == pytest.approx(mean.item() / 2)
