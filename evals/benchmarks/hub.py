"""Data sets of the Hugging Face hub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from programs.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset


def load_split(name: str, configuration: str | None, split: str, *, instead: str) -> Dataset:
    """One split of a data set; downloads what is not cached.

    Args:
        configuration: of the data set; None where it has only one.
        instead: what to do without access to the hub, for the message.

    Raises:
        InputError: the data set, the configuration or the split cannot be had.
    """
    import datasets  # takes a second, and only this function needs it
    from datasets.exceptions import DatasetsError

    which = [configuration] if configuration is not None else []
    try:
        return datasets.load_dataset(name, *which, split=split)
    except (OSError, ValueError, DatasetsError) as error:
        raise InputError(
            f"cannot load {name!r} ({', '.join([*which, split])}) from the Hugging Face hub: {error}; without "
            f"access to it, {instead}"
        ) from error
