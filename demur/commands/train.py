"""`demur train-specialist`: fine-tune a model so that its confidence in answers is honest."""

from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from pydantic import ValidationError

from demur.commands import options as o
from demur.console import err, out, print_json
from demur.training import TrainSettings, read_training_rows, train_specialist
from demur.training.run import Device
from demur.training.settings import TrainLoss
from programs.errors import InputError

_DEFAULT = TrainSettings()


def train_specialist_command(
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME|DIR", help="A model of the Hugging Face hub.")],
    data: Annotated[
        list[str], typer.Option(metavar="FILE", help="Questions with answers: JSONL, JSON or CSV; may be repeated.")
    ],
    path: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for checkpoints and the adapter.")],
    images: o.Images = None,
    loss: Annotated[str, typer.Option(metavar="L", help=f"{', '.join(get_args(TrainLoss))}.")] = _DEFAULT.loss,
    lam: Annotated[float, typer.Option(help="Weight of AlignCal.")] = _DEFAULT.lam,
    gamma: Annotated[float, typer.Option(help="Exponent of the focal loss.")] = _DEFAULT.gamma,
    smoothing: Annotated[float, typer.Option(help="Share of label smoothing.")] = _DEFAULT.smoothing,
    rank: Annotated[int, typer.Option(help="Rank of LoRA.")] = _DEFAULT.rank,
    alpha: Annotated[int, typer.Option(help="Alpha of LoRA.")] = _DEFAULT.alpha,
    dropout: Annotated[float, typer.Option(help="Dropout of LoRA.")] = _DEFAULT.dropout,
    targets: Annotated[str, typer.Option(metavar="A,B", help="Layers to adapt.")] = ",".join(_DEFAULT.targets),
    lr: Annotated[float, typer.Option(help="Learning rate.")] = _DEFAULT.lr,
    batch_size: Annotated[int, typer.Option(help="Questions a step.")] = _DEFAULT.batch_size,
    epochs: Annotated[int, typer.Option(help="Times that each question is seen.")] = _DEFAULT.epochs,
    quantize: Annotated[str, typer.Option(metavar="Q", help="4bit (needs a GPU) or none.")] = _DEFAULT.quantize,
    checkpoint_every: Annotated[int, typer.Option(min=1, metavar="N", help="Steps between checkpoints.")] = 100,
    seed: o.Seed = 0,
    device: Annotated[str, typer.Option(metavar="D", help="auto, cpu or cuda.")] = "auto",
    as_json: o.AsJson = False,
) -> None:
    """Fine-tune a specialist with a loss for calibrated answers (LoRA); the same command continues a stopped one."""
    given: dict[str, Any] = {
        "loss": loss,
        "lam": lam,
        "gamma": gamma,
        "smoothing": smoothing,
        "rank": rank,
        "alpha": alpha,
        "dropout": dropout,
        "targets": tuple(name.strip() for name in targets.split(",") if name.strip()),
        "lr": lr,
        "batch_size": batch_size,
        "epochs": epochs,
        "quantize": quantize,
        "seed": seed,
    }
    done = train_specialist(
        model,
        read_training_rows(data, images),
        path,
        _settings(given),
        device=_device(device),
        checkpoint_every=checkpoint_every,
        on_step=lambda step, steps, value: err.print(f"step {step} of {steps}: loss {value:.4f}"),
    )
    if as_json:
        print_json({"adapter": str(done.adapter), "losses": [list(entry) for entry in done.losses]})
        return
    if done.losses:
        (first, before), (last, after) = done.losses[0], done.losses[-1]
        out.print(f"loss: {before:.4f} at step {first}, {after:.4f} at step {last}")
    out.print(f"adapter: {done.adapter}", markup=False)
    out.print(f"serve it with the model, as: vllm serve {model} --enable-lora --lora-modules specialist={done.adapter}")


def _settings(given: dict[str, Any]) -> TrainSettings:
    try:
        return TrainSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("_", "-")
        raise InputError(f"--{option} {first['input']}: {first['msg'].lower()}") from error


def _device(name: str) -> Device:
    if name not in get_args(Device):
        raise InputError(f"--device {name}: expected {', '.join(get_args(Device))}")
    return name  # type: ignore[return-value]
