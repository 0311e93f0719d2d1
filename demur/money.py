"""Dollars as people read them."""

UNKNOWN = "–"


def money(value: float | None) -> str:
    """Dollars: cents from a dollar on, else two significant digits.

    >>> money(1234.5), money(0.00123), money(0.0), money(None)
    ('$1,234.50', '$0.0012', '$0', '–')
    """
    if value is None:
        return UNKNOWN
    if value == 0:
        return "$0"
    if value >= 1:
        return f"${value:,.2f}"
    shown = f"{value:.2g}"
    return "$" + (f"{value:.10f}".rstrip("0") if "e" in shown else shown)
