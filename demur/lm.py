"""`ServedLM`: a `dspy.LM` that also knows what its answers cost and which adapter its turns use."""

from __future__ import annotations

from typing import Any

import dspy
from dspy.clients.base_lm import LM_CLASS_STATE_KEY

from demur.pricing import Pricing


class ServedLM(dspy.LM):
    """A `dspy.LM` whose engine was made by `demur.models`.

    Args:
        model: the model string.
        price: what an answer costs; None leaves it to DSPy.
        served_by: the provider whose way of counting tokens its responses follow.
        adapter: what its turns are written and read with unless the user configured an adapter; None for the default.
        connection: the settings of `dspy.LM` that reach the same server without our engine, no secrets among them.
        settings: everything else that `dspy.LM` takes.
    """

    def __init__(
        self,
        model: str,
        *,
        price: Pricing | None = None,
        served_by: str | None = None,
        adapter: dspy.Adapter | None = None,
        connection: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(model, **settings)
        self.price, self.served_by, self.adapter = price, served_by, adapter
        self.connection = connection or {}

    def dump_state(self) -> dict[str, Any]:
        """The state of the plain `dspy.LM` for the same model, so that a saved program needs no demur to be loaded.

        No key and no header is in it.
        """
        plain = self.copy(engine="auto")
        plain.kwargs = {name: value for name, value in self.kwargs.items() if name != "rollout_id"}
        state = super(ServedLM, plain).dump_state() | self.connection
        return state | {LM_CLASS_STATE_KEY: f"{dspy.LM.__module__}.{dspy.LM.__qualname__}"}

    def _warn_zero_temp_rollout(self, temperature: float | None, rollout_id: int | None) -> None:
        """Nothing: a rollout id tells servers and attempts apart in DSPy's cache here, at any temperature."""
