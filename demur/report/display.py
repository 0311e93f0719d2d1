"""Numbers as people read them. Nothing is rounded before it gets here."""

from __future__ import annotations

from demur.money import UNKNOWN, money
from evals.intervals import Interval

NOTHING = UNKNOWN
"""Stands for a number that is undefined or not known."""

_DECIMAL = frozenset({"ece", "ace", "mce", "adaptive_ece", "brier", "nll", "aurc", "log_loss"})
"""Metrics that the literature gives as decimals; all others are shown in percent."""

_NAMES = {
    "f1": "F1",
    "em": "EM",
    "ece": "ECE",
    "ace": "ACE",
    "mce": "MCE",
    "nll": "NLL",
    "auroc": "AUROC",
    "aurc": "AURC",
    "cost_usd": "Cost",
    "latency_s": "Model time",
}


def title_of(name: str) -> str:
    """The name of a metric, role or outcome as a heading.

    >>> title_of("yes_ratio"), title_of("f1"), title_of("debater_a")
    ('Yes ratio', 'F1', 'Debater A')
    """
    spaced = name.replace("_", " ")
    if spaced[-2:-1] == " ":
        spaced = spaced[:-1] + spaced[-1].upper()
    return _NAMES.get(name) or spaced[:1].upper() + spaced[1:]


def is_percent(metric: str) -> bool:
    """Whether a metric is shown in percent; the others are errors and losses, of which less is better."""
    return metric not in _DECIMAL and metric.partition("_")[0] not in _DECIMAL  # as ece_logprob


def metric(name: str, value: float | None, cases: int = 0) -> str:
    """A metric, with as many digits as so many cases can carry.

    >>> metric("accuracy", 2614 / 3000, 3000), metric("accuracy", 0.5, 20), metric("ece", 0.0983)
    ('87.13 %', '50.0 %', '0.098')
    """
    if value is None:
        return NOTHING
    return f"{_digits(name, value, cases)} %" if is_percent(name) else _digits(name, value, cases)


def interval(name: str, between: Interval | None, cases: int = 0) -> str:
    """The ends of an interval, in the unit of its metric."""
    if between is None:
        return NOTHING
    return f"{_digits(name, between.low, cases)} – {_digits(name, between.high, cases)}"


def cost(name: str, value: float | None) -> str:
    """What a question costs: `calls`, `tokens`, `cost_usd` or `latency_s`.

    >>> cost("calls", 2.134), cost("tokens", 1840.5), cost("cost_usd", 0.00123), cost("latency_s", 1.5)
    ('2.13', '1,840', '$0.0012', '1.50 s')
    """
    if value is None:
        return NOTHING
    if name == "cost_usd":
        return money(value)
    if name == "tokens":
        return f"{value:,.0f}"
    return f"{value:,.2f}" if name == "calls" else f"{_seconds(value)} s"


def cost_interval(name: str, between: Interval | None) -> str:
    """The ends of the interval of a cost."""
    if between is None:
        return NOTHING
    if name == "latency_s":
        return f"{_seconds(between.low)} – {_seconds(between.high)}"
    return f"{cost(name, between.low)} – {cost(name, between.high)}"


def points(value: float | None) -> str:
    """A difference of two ratios in percentage points, with its sign.

    >>> points(0.0667), points(-0.02)
    ('+6.7', '−2.0')
    """
    return NOTHING if value is None else f"{100 * value:+.1f}".replace("-", "−")


def points_interval(between: Interval | None) -> str:
    """The ends of the interval of such a difference."""
    return NOTHING if between is None else f"{points(between.low)} to {points(between.high)}"


def p_value(value: float | None) -> str:
    """A p value.

    >>> p_value(0.0312), p_value(0.00002)
    ('0.031', '< 0.001')
    """
    if value is None:
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def count(value: int | None) -> str:
    """A whole number with separators.

    >>> count(2871)
    '2,871'
    """
    return NOTHING if value is None else f"{value:,}"


def _seconds(value: float) -> str:
    return f"{value:,.1f}" if value >= 10 else f"{value:.2f}"


def _digits(name: str, value: float, cases: int) -> str:
    if not is_percent(name):
        return f"{value:.3f}"
    return f"{100 * value:.{2 if cases >= 1000 else 1}f}"
