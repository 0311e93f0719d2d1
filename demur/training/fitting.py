# pyright: reportMissingImports=false
# The libraries are those of the extra [train].
"""The training itself: transformers' `Trainer` with our losses, and checkpoints of which only whole ones are used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed

from demur.training.encoding import Encoder
from demur.training.model import load_base
from demur.training.rows import TrainingRow
from demur.training.run import Device, OnStep, write_json
from demur.training.settings import TrainSettings
from optimizers.losses import make_loss
from programs.errors import DemurError, InputError

TOLD_STEPS = 10
"""Losses are told as the means of so many steps."""
KEPT = 2
"""Checkpoints: one may be half written when training is killed, and the other is whole."""

WHOLE = "whole.json"
"""The file that is written into a checkpoint last."""


class NotTrained(DemurError):
    """The loss is no number any more."""


class Rows(Dataset[dict[str, Any]]):
    """Rows as inputs of a model, made when they are needed."""

    def __init__(self, rows: Sequence[TrainingRow], encoder: Encoder) -> None:
        self.rows, self.encoder = rows, encoder

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self.encoder(self.rows[number])


def fit(
    model: str,
    rows: Sequence[TrainingRow],
    out: Path,
    settings: TrainSettings,
    *,
    device: Device,
    checkpoint_every: int,
    on_step: OnStep | None,
) -> None:
    """Train, or go on from the last whole checkpoint, until `out / "adapter"` is there; see `train_specialist`."""
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: torch finds no CUDA GPU; use --device cpu")
    cpu = device == "cpu" or not torch.cuda.is_available()
    set_seed(settings.seed)
    base = load_base(model, settings, cpu=cpu)
    data = Rows(rows, base.encoder)
    trainer = Trainer(
        model=base.model,
        args=_arguments(out / "checkpoints", settings, checkpoint_every, cpu=cpu),
        train_dataset=data,
        data_collator=_only_one,
        compute_loss_func=answer_loss(settings),
        callbacks=[_Watch(on_step)],
    )
    trainer.remove_callback(PrinterCallback)  # it writes to stdout, which is for results
    last = last_whole_checkpoint(out / "checkpoints")
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    losses = _means(trainer.state.log_history)
    unfinished = out / "adapter.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    base.model.save_pretrained(unfinished)
    base.encoder.processor.save_pretrained(unfinished)
    write_json(unfinished / "losses.json", losses)
    unfinished.rename(out / "adapter")


def answer_loss(settings: TrainSettings) -> Callable[..., torch.Tensor]:
    """What `Trainer` calls with the outputs, the labels and their number in the whole step: the mean loss over them."""
    loss = make_loss(
        settings.loss, lam=settings.lam, gamma=settings.gamma, smoothing=settings.smoothing, reduction="sum"
    )

    def of(outputs: Any, labels: torch.Tensor, num_items_in_batch: torch.Tensor | int | None = None) -> torch.Tensor:
        logits, told = outputs["logits"][:, :-1], labels[:, 1:]
        # Only the answer's positions: with a vocabulary of 200,000 the others would take gigabytes in float32.
        kept = told != loss.ignore_index
        total = loss(logits[kept], told[kept])
        return total / (kept.sum() if num_items_in_batch is None else num_items_in_batch)

    return of


def last_whole_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; those that were not are removed."""
    whole = []
    for checkpoint in folder.glob("checkpoint-*"):
        if (checkpoint / WHOLE).exists():
            whole.append((json.loads((checkpoint / WHOLE).read_text())["step"], checkpoint))
        else:
            shutil.rmtree(checkpoint)
    return max(whole)[1] if whole else None


class _Watch(TrainerCallback):
    """Marks checkpoints that are whole, tells of progress, and stops a training whose loss is no number."""

    def __init__(self, on_step: OnStep | None) -> None:
        self.on_step = on_step

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        write_json(Path(args.output_dir) / f"checkpoint-{state.global_step}" / WHOLE, {"step": state.global_step})

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if not logs or "loss" not in logs:
            return
        if not torch.isfinite(torch.tensor(logs["loss"])):
            raise NotTrained(f"the loss is {logs['loss']} at step {state.global_step}; try a smaller --lr")
        if self.on_step and state.global_step % TOLD_STEPS == 0:
            self.on_step(state.global_step, state.max_steps, _means(state.log_history)[-1][1])


def _means(log: Sequence[dict[str, Any]]) -> list[tuple[int, float]]:
    """(step, mean loss of the steps since the one before), every ten steps and at the end."""
    entries = [(entry["step"], entry["loss"]) for entry in log if "loss" in entry]
    parts = [entries[start : start + TOLD_STEPS] for start in range(0, len(entries), TOLD_STEPS)]
    return [(part[-1][0], sum(loss for _, loss in part) / len(part)) for part in parts]


def _only_one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return rows[0]


def _arguments(folder: Path, settings: TrainSettings, checkpoint_every: int, *, cpu: bool) -> TrainingArguments:
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        # Questions go through the model one after another: pictures of different sizes need no padding.
        per_device_train_batch_size=1,
        gradient_accumulation_steps=settings.batch_size,
        learning_rate=settings.lr,
        lr_scheduler_type="linear",
        weight_decay=0.0,
        max_grad_norm=1.0,
        seed=settings.seed,
        data_seed=settings.seed,
        use_cpu=cpu,
        save_strategy="steps",
        save_steps=checkpoint_every,
        save_total_limit=KEPT,
        logging_steps=1,  # a mean over steps would forget those before a stop
        logging_nan_inf_filter=False,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        disable_tqdm=True,
        report_to="none",
    )
