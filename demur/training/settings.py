"""What a specialist is trained with; the defaults are the published ones."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

TrainLoss = Literal["aligncal+focal", "focal", "label-smoothing", "nll"]
Quantize = Literal["4bit", "none"]

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class TrainSettings(BaseModel):
    """The settings of the AlignVQA paper: focal + 2 AlignCal; LoRA of rank 8, α 8, dropout 0.05 on the query and value
    projections; 4-bit weights; AdamW, 2e-4, batches of 2; 6 epochs on VQA-RAD (10 on ScienceQA).

    Not published, and so ours: γ = 2, the linear decay of the learning rate to 0, no weight decay, gradients clipped to
    a norm of 1 (the last three are those of transformers' `Trainer`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    loss: TrainLoss = "aligncal+focal"
    lam: Weight = 2.0
    """Weight of AlignCal."""
    gamma: Weight = 2.0
    """Of the focal loss."""
    smoothing: Share = 0.1
    """Of label smoothing."""
    rank: Count = 8
    alpha: Count = 8
    dropout: Share = 0.05
    targets: Annotated[tuple[str, ...], Field(min_length=1)] = ("q_proj", "v_proj")
    """Ends of the names of the linear layers that are adapted, in the language model alone: servers as vLLM load no
    adapter of a vision tower."""
    lr: Positive = 2e-4
    batch_size: Count = 2
    """Questions a step. They go through the model one after another, so memory is that of one question."""
    epochs: Count = 6
    quantize: Quantize = "4bit"
    seed: int = 0
