# pyright: reportMissingImports=false
# The libraries are those of the extra [train].
"""Loading a Hugging Face model to be fine-tuned, and putting a LoRA adapter on its language model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    BitsAndBytesConfig,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

from demur.training.encoding import Encoder
from demur.training.settings import TrainSettings
from programs.errors import InputError

NOT_LANGUAGE = r".*(vision|visual|image|audio|speech).*"
"""Names of modules that are no part of the language model."""


@dataclass(frozen=True)
class Base:
    """A model to be trained, and what makes its inputs."""

    model: Any
    encoder: Encoder


def load_base(name: str, settings: TrainSettings, *, cpu: bool) -> Base:
    """The model `name` (on the hub, or a folder) with a fresh adapter.

    In float32 on the CPU, in bfloat16 on a GPU, or as 4-bit weights (NF4, double quantisation) as QLoRA has them. The
    adapter itself is in float32. It is drawn by torch's generator.

    Raises:
        InputError: see `train_specialist`.
    """
    if settings.quantize == "4bit":
        check_four_bit(cpu=cpu)
    try:
        config = AutoConfig.from_pretrained(name)
        sees = config.model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
        processor = (AutoProcessor if sees else AutoTokenizer).from_pretrained(name)
        model = (AutoModelForImageTextToText if sees else AutoModelForCausalLM).from_pretrained(
            name, dtype=torch.float32 if cpu else torch.bfloat16, **_quantization(settings)
        )
    except (OSError, ValueError, ImportError, KeyError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise InputError(
            f"--model {name}: cannot be loaded: {first}; expected the folder of a Hugging Face model or its hub name"
        ) from error
    if settings.quantize == "4bit":
        model = prepare_model_for_kbit_training(model)
    return Base(with_adapter(model, name, settings), Encoder(processor, sees=sees))


def with_adapter(model: Any, name: str, settings: TrainSettings) -> Any:
    """The model with LoRA on the targets of its language model. Raises `InputError` if it has none of them."""
    others = any(re.fullmatch(NOT_LANGUAGE, path) for path, _ in model.named_modules())
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(settings.targets),
        exclude_modules=NOT_LANGUAGE if others else None,
        task_type="CAUSAL_LM",
    )
    linear = {
        path.rpartition(".")[2]
        for path, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and path != "lm_head"
    }
    if unknown := [target for target in settings.targets if target not in linear]:
        raise InputError(
            f"--targets {', '.join(unknown)}: {name} has no such linear layer; it has {', '.join(sorted(linear))}"
        )
    return get_peft_model(model, config)


def check_four_bit(*, cpu: bool) -> None:
    """Raises `InputError` where weights of 4 bits cannot be trained on."""
    missing = []
    if cpu or not torch.cuda.is_available():
        missing.append("a CUDA GPU")
    if find_spec("bitsandbytes") is None:
        missing.append("the package bitsandbytes (pip install bitsandbytes)")
    if missing:
        raise InputError(
            f"4-bit weights, the published setting, need {' and '.join(missing)}; --quantize none trains with whole "
            "weights instead"
        )


def _quantization(settings: TrainSettings) -> dict[str, Any]:
    if settings.quantize == "none":
        return {}
    return {
        "quantization_config": BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
    }
