"""The one piece of metadata that a normalised picture may keep: which generated scene it shows.

The simulated model cannot see. It knows the truth of a generated scene (`evals.scenes`) from a text chunk of
the PNG file: seed and index of the scene, and which part of it the picture shows.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from programs.regions import Box

SCENE_KEY = "demur-scene"
"""Keyword of the PNG text chunk."""

_Fraction = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]


class SceneChunk(BaseModel):
    """Seed and index of a generated scene, and the part of it that the picture shows."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    seed: _Count
    index: _Count
    crop: Annotated[tuple[_Fraction, _Fraction, _Fraction, _Fraction], Field(strict=False)]
    """Left, top, right, bottom as fractions of the full scene."""

    @model_validator(mode="after")
    def _has_area(self) -> SceneChunk:
        left, top, right, bottom = self.crop
        if not (left < right and top < bottom):
            raise ValueError("crop must have left < right and top < bottom")
        return self

    @classmethod
    def read(cls, text: object) -> SceneChunk | None:
        """Return the chunk that `text` holds, or None if it is no valid chunk."""
        if not isinstance(text, str):
            return None
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None

    def text(self) -> str:
        """Return the chunk as one line of JSON."""
        return self.model_dump_json()

    def within(self, box: Box) -> SceneChunk:
        """Return the chunk of the crop that takes `box` (fractions of this picture) out of this picture."""
        left, top, right, bottom = self.crop
        width, height = right - left, bottom - top
        crop = (
            max(left, left + box[0] * width),
            max(top, top + box[1] * height),
            min(right, left + box[2] * width),
            min(bottom, top + box[3] * height),
        )
        return SceneChunk(seed=self.seed, index=self.index, crop=crop)
