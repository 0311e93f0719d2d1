# pyright: reportMissingImports=false
# The libraries are those of the extra [train].
"""A question and its answer as what a Hugging Face model takes, with labels on the tokens of the answer alone.

The answer's tokens are those of the answer's text and of what ends a turn in the model's chat template; all else has
the label that losses ignore. Prompt and answer are tokenised apart, as they are when the model is asked.
"""

from __future__ import annotations

import io
from typing import Any

import torch
from PIL import Image

from demur.training.rows import TrainingRow
from optimizers.losses import IGNORED
from programs.errors import InputError
from programs.images import image_bytes, load_image


class Encoder:
    """Turns rows into inputs of one model."""

    def __init__(self, processor: Any, *, sees: bool) -> None:
        """`processor` is a model's processor, or its tokenizer; `sees`: whether the model takes pictures."""
        self.processor = processor
        self.tokenizer = getattr(processor, "tokenizer", processor)
        self.sees = sees

    def __call__(self, row: TrainingRow) -> dict[str, Any]:
        """Tensors for a batch of this one row, and `labels` of the shape of `input_ids`.

        Raises:
            InputError: the row has a picture and the model takes none, or the picture cannot be read, or the tokenizer
                makes nothing of the answer.
        """
        if row.image is not None and not self.sees:
            raise InputError(f"{row.where}: has a picture, but the model takes text alone; use a vision-language model")
        prompt, answer = self._texts(row)
        inputs = self._prompt(prompt, row)
        told = inputs["input_ids"]
        said = self.tokenizer(answer, add_special_tokens=False, return_tensors="pt")["input_ids"].to(told.dtype)
        if said.shape[1] == 0:
            raise InputError(f"{row.where}: the tokenizer makes no token of the answer {row.answer!r}")
        for name, value in inputs.items():
            # What has a value for each token goes on over the answer: attention 1, and the kind of token that text is.
            if name != "input_ids" and torch.is_tensor(value) and value.shape == told.shape:
                more = torch.full_like(said, 1 if name == "attention_mask" else 0).to(value.dtype)
                inputs[name] = torch.cat([value, more], dim=1)
        inputs["input_ids"] = torch.cat([told, said], dim=1)
        inputs["labels"] = torch.cat([torch.full_like(told, IGNORED), said], dim=1)
        return inputs

    def _texts(self, row: TrainingRow) -> tuple[str, str]:
        """The prompt, and what the model should say to it."""
        template_of = self.processor if getattr(self.processor, "chat_template", None) else self.tokenizer
        if not getattr(template_of, "chat_template", None):
            token = getattr(self.processor, "image_token", "<image>") + "\n" if row.image else ""
            return f"{token}Question: {row.prompt}\nAnswer:", f" {row.answer}{self.tokenizer.eos_token or ''}"
        if self.sees:
            parts = [{"type": "image"}] if row.image else []
            asked, said = [*parts, {"type": "text", "text": row.prompt}], [{"type": "text", "text": row.answer}]
        else:
            asked, said = row.prompt, row.answer
        turns = [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]
        prompt = template_of.apply_chat_template(turns[:1], tokenize=False, add_generation_prompt=True)
        whole = template_of.apply_chat_template(turns, tokenize=False)
        if whole.startswith(prompt):
            return prompt, whole[len(prompt) :].rstrip()
        return prompt, row.answer + (self.tokenizer.eos_token or "")

    def _prompt(self, prompt: str, row: TrainingRow) -> dict[str, Any]:
        begin = self.tokenizer.bos_token
        options = {"return_tensors": "pt", "add_special_tokens": not (begin and prompt.startswith(begin))}
        if not self.sees:
            return dict(self.tokenizer(prompt, **options))
        if row.image is None:
            return dict(self.processor(text=[prompt], **options))
        # Normalised as programs do it, so that a specialist is trained on what it will be shown.
        picture = Image.open(io.BytesIO(image_bytes(load_image(row.image))))
        return dict(self.processor(text=[prompt], images=[picture], **options))
