# pyright: reportMissingImports=false
# The libraries are those of the extra [train].
"""Losses for calibrated answers, as torch modules: AlignCal, focal, label smoothing, and focal + λ AlignCal.

All take logits of shape (..., classes) and targets of shape (...), and work on log-softmax. This module needs torch
(`pip install 'demur[train]'`), so nothing else in demur imports it before a model is trained.

AlignCal is `L = p_y (1 - p_m) + (1 - p_y) p_m`, with y the true class and m the likeliest. What it bounds and does not:

- The mean of `|right - confidence|` (UBCE, `evals.calibration.ubce`) is at least ECE, whatever the bins: the triangle
  inequality holds within each bin, and ECE is the mean over the bins. In expectation over the answer it is
  `q (1 - p_m) + (1 - q) p_m`, with q the probability that the answer is right. AlignCal puts p_y, the model's own
  figure, in the place of q, which is not known. So the loss bounds ECE as far as p_y is right, and no further.
- It is an absolute error and no proper score: it is least where p_m and p_y are 0 or 1, and not where they are honest.
  Of an answer that is right with probability q, the best confidence under UBCE is 1 if q > ½ and 0 if q < ½. By itself
  it therefore rewards over-confidence; it is meant to be added to a focal loss, which pulls the other way.
- Descent can go the wrong way. `dL/dz_k = (1 - 2 p_m) p_y (δ_ky - p_k) + (1 - 2 p_y) p_m (δ_km - p_k)`, so for a right
  answer (m = y) with p_m < ½ the derivative by the true class's logit, `2 (1 - 2 p) p (1 - p)`, is positive: descent
  *lowers* the true class's logit. With m ≠ y it does so where `1 - p_y - 3 p_m + 4 p_y p_m > 0`, as at p_y = 0.25 and
  p_m = 0.3. With two classes p_m is never below ½; with a vocabulary, early in training, it mostly is.

Sources: "Refine and Align: Confidence Calibration through Multi-Agent Interaction in VQA" (AAAI 2026), section on
AlignCal; focal loss: Lin et al. 2017, arXiv:1708.02002, equation 4, for calibration Mukhoti et al. 2020,
arXiv:2002.09437; label smoothing: Szegedy et al. 2016, arXiv:1512.00567, section 7.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from programs.errors import InputError

Reduction = Literal["mean", "sum", "none"]

LossName = Literal["aligncal+focal", "aligncal", "focal", "label-smoothing", "nll"]

IGNORED = -100
"""The target that stands for none, as in torch."""


class AnswerLoss(nn.Module):
    """What the losses share: shapes, targets that are left out, and what is made of the losses of all targets."""

    def __init__(self, reduction: Reduction = "mean", ignore_index: int = IGNORED) -> None:
        """`reduction` and `ignore_index` are those of `torch.nn.CrossEntropyLoss`."""
        super().__init__()
        if reduction not in get_args(Reduction):
            raise InputError(f"reduction is one of {', '.join(get_args(Reduction))}; got {reduction!r}")
        self.reduction: Reduction = reduction
        self.ignore_index = ignore_index

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        """The loss; the shape of `target` with reduction `none` (0 where it is ignored), else a scalar.

        Half-precision logits are computed with in float32. The mean is over the targets that are not ignored, and NaN,
        as in torch, if that is none.

        Args:
            logits: shape (..., classes); the classes come last.
            target: the number of the true class, or `ignore_index`; shape (...).

        Raises:
            InputError: the shapes do not fit, or a target is no class.
        """
        if logits.ndim < 1 or logits.shape[:-1] != target.shape or target.is_floating_point():
            raise InputError(
                f"logits have the shape {tuple(logits.shape)} and targets {tuple(target.shape)} ({target.dtype}); "
                "expected (..., classes) and whole numbers of the shape (...)"
            )
        kept = target != self.ignore_index
        rows, classes = logits[kept], target[kept]
        if rows.dtype in (torch.float16, torch.bfloat16):
            rows = rows.float()
        if ((classes < 0) | (classes >= logits.shape[-1])).any():
            raise InputError(
                f"targets are numbers of classes, 0 to {logits.shape[-1] - 1}, or {self.ignore_index}; found "
                f"{int(classes.min())} to {int(classes.max())}"
            )
        losses = self.of(torch.log_softmax(rows, dim=-1), classes)
        if self.reduction == "none":
            return losses.new_zeros(target.shape).masked_scatter(kept, losses)
        return losses.sum() if self.reduction == "sum" else losses.mean()

    def of(self, log_p: Tensor, target: Tensor) -> Tensor:
        """The loss of each row: (rows, classes) of log probabilities, (rows,) of classes → (rows,)."""
        raise NotImplementedError


class AlignCal(AnswerLoss):
    """`p_y (1 - p_m) + (1 - p_y) p_m`, in [0, 1); read at the top of this module where it goes wrong.

    The likeliest class m is the first one of several; the gradient flows through both p_y and p_m.

    >>> AlignCal()(torch.tensor([[0.0, 0.0]]), torch.tensor([0])).item()
    0.5
    """

    def of(self, log_p: Tensor, target: Tensor) -> Tensor:
        # A maximum by `amax` would share the gradient among equal classes.
        of_true, of_top = _at(log_p, target), _at(log_p, log_p.argmax(dim=-1))
        return of_true.exp() * -of_top.expm1() - of_true.expm1() * of_top.exp()


class Focal(AnswerLoss):
    """`-(1 - p_y)^γ ln p_y`; with γ = 0 it is the negative log likelihood."""

    def __init__(self, gamma: float = 2.0, reduction: Reduction = "mean", ignore_index: int = IGNORED) -> None:
        """Raises `InputError` if `gamma` is negative."""
        super().__init__(reduction, ignore_index)
        if not 0 <= gamma < float("inf"):
            raise InputError(f"gamma of the focal loss is a number, at least 0; got {gamma}")
        self.gamma = gamma

    def of(self, log_p: Tensor, target: Tensor) -> Tensor:
        of_true = _at(log_p, target)
        # At p_y = 1 the derivative of a power below 1 is infinite, and times 0 it would be NaN.
        rest = (-of_true.expm1()).clamp_min(torch.finfo(log_p.dtype).tiny)
        return -(rest**self.gamma) * of_true


class LabelSmoothing(AnswerLoss):
    """`-(1 - s) ln p_y - s · mean_k ln p_k`: cross entropy with a share s of the target spread over all classes."""

    def __init__(self, smoothing: float = 0.1, reduction: Reduction = "mean", ignore_index: int = IGNORED) -> None:
        """Raises `InputError` if `smoothing` is not in [0, 1)."""
        super().__init__(reduction, ignore_index)
        if not 0 <= smoothing < 1:
            raise InputError(f"smoothing is a share, in [0, 1); got {smoothing}")
        self.smoothing = smoothing

    def of(self, log_p: Tensor, target: Tensor) -> Tensor:
        return -(1 - self.smoothing) * _at(log_p, target) - self.smoothing * log_p.mean(dim=-1)


class FocalAlignCal(AnswerLoss):
    """Focal + λ AlignCal: the loss that the AlignVQA paper trains its specialists with (λ = 2)."""

    def __init__(
        self, lam: float = 2.0, gamma: float = 2.0, reduction: Reduction = "mean", ignore_index: int = IGNORED
    ) -> None:
        """The paper does not give γ; 2 is Lin et al.'s. Raises `InputError` if `lam` or `gamma` is negative."""
        super().__init__(reduction, ignore_index)
        if not 0 <= lam < float("inf"):
            raise InputError(f"lam, the weight of AlignCal, is a number, at least 0; got {lam}")
        self.lam = lam
        self.focal, self.aligncal = Focal(gamma), AlignCal()

    def of(self, log_p: Tensor, target: Tensor) -> Tensor:
        return self.focal.of(log_p, target) + self.lam * self.aligncal.of(log_p, target)


def make_loss(
    name: LossName,
    *,
    lam: float = 2.0,
    gamma: float = 2.0,
    smoothing: float = 0.1,
    reduction: Reduction = "mean",
    ignore_index: int = IGNORED,
) -> AnswerLoss:
    """The loss called `name`; it takes of the other arguments what it has. Raises `InputError` if there is none."""
    match name:
        case "aligncal+focal":
            return FocalAlignCal(lam, gamma, reduction, ignore_index)
        case "aligncal":
            return AlignCal(reduction, ignore_index)
        case "focal":
            return Focal(gamma, reduction, ignore_index)
        case "label-smoothing":
            return LabelSmoothing(smoothing, reduction, ignore_index)
        case "nll":
            return Focal(0.0, reduction, ignore_index)
    raise InputError(f"unknown loss {name!r}; known: {', '.join(get_args(LossName))}")


def _at(log_p: Tensor, classes: Tensor) -> Tensor:
    return log_p.gather(-1, classes[:, None]).squeeze(-1)
