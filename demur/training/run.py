"""One training in one folder: refused if it is another one's, continued where it was stopped, done once.

OUT/training.json   what is trained on what, written first
OUT/checkpoints/    the newest two
OUT/adapter/        the result, there when training is done: a PEFT adapter and `losses.json`
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from demur.training.rows import TrainingRow, rows_hash
from demur.training.settings import TrainSettings
from programs.errors import InputError

INSTALL = "pip install 'demur[train]'"

Device = Literal["auto", "cpu", "cuda"]

OnStep = Callable[[int, int, float], None]
"""Told (step, steps in all, mean loss since it was told last)."""


@dataclass(frozen=True)
class Trained:
    """What came of a training."""

    adapter: Path
    """The folder that `peft.PeftModel.from_pretrained` and servers load."""
    losses: tuple[tuple[int, float], ...]
    """(step, mean loss of the ten steps up to it)."""


def train_specialist(
    model: str,
    rows: Sequence[TrainingRow],
    out: Path,
    settings: TrainSettings | None = None,
    *,
    device: Device = "auto",
    checkpoint_every: int = 100,
    on_step: OnStep | None = None,
) -> Trained:
    """Fine-tune a LoRA adapter of `model` on the answers of `rows`, in the folder `out`.

    A training that was stopped is continued from its last checkpoint; on the same machine it ends with the very weights
    that it would have had without the stop.

    Args:
        model: the name of a model on the Hugging Face hub, or the folder of one: vision-language or text.
        rows: what `read_training_rows` returns.
        settings: by default the published ones.
        device: `auto` is the GPU if there is one.
        checkpoint_every: steps.

    Raises:
        InputError: the extra is not installed, there is nothing to train on, `out` belongs to another training or is in
            use, 4-bit weights are asked for where they cannot be had, or the model or a target is not there.
    """
    settings = settings or TrainSettings()
    if not rows:
        raise InputError("no data to train on: there are no rows; expected at least one question with its answer")
    check_installed()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / ".lock", timeout=0):
            _claim(out, {"model": model, "data": rows_hash(rows), **settings.model_dump(mode="json")})
            adapter = out / "adapter"
            if not adapter.exists():
                from demur.training.fitting import fit  # here since it imports torch and transformers

                fit(model, rows, out, settings, device=device, checkpoint_every=checkpoint_every, on_step=on_step)
            losses = json.loads((adapter / "losses.json").read_text(encoding="utf-8"))
            return Trained(adapter, tuple((step, loss) for step, loss in losses))
    except Timeout as taken:
        raise InputError(
            f"{out}: another training is running in this folder; wait for it, or give another --out"
        ) from taken


def check_installed() -> None:
    """Raises `InputError` if a package of the extra is missing."""
    missing = [name for name in ("torch", "transformers", "peft", "accelerate") if find_spec(name) is None]
    if missing:
        raise InputError(f"training needs {', '.join(missing)}, which is not installed: {INSTALL}")


def _claim(out: Path, configuration: dict[str, Any]) -> None:
    """Write down what is trained here. Raises `InputError` if that is something else already."""
    path = out / "training.json"
    if not path.exists():
        others = [entry.name for entry in out.iterdir() if entry.name != ".lock"]
        if others:
            raise InputError(
                f"{out}: the folder has other files in it ({', '.join(sorted(others)[:3])}); give another --out"
            )
        write_json(path, configuration)
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: damaged: {error}; give another --out") from error
    other = [name for name in {**configuration, **found} if found.get(name) != configuration.get(name)]
    if other:
        told = "; ".join(f"{name} was {found.get(name)!r} and is {configuration.get(name)!r}" for name in other)
        raise InputError(f"{out}: a training with other settings is in this folder: {told}. Give another --out")


def write_json(path: Path, value: Any) -> None:
    """Write a file that is whole or not there at all."""
    unfinished = path.with_name(path.name + ".unfinished")
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
