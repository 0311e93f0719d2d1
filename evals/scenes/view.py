"""What a picture shows of a generated scene, told from the chunk in its file."""

from __future__ import annotations

from dataclasses import dataclass

from evals.scenes.scene import Scene
from evals.scenes.things import Thing
from programs.errors import InputError
from programs.images import read_chunk
from programs.regions import Box
from programs.scene_chunk import SCENE_KEY


@dataclass(frozen=True)
class SceneView:
    """A scene, and the part of it that a picture shows."""

    scene: Scene
    crop: Box
    """Left, top, right, bottom as fractions of the full scene."""

    def visible(self, thing: Thing) -> bool:
        """Return whether the thing's center is in the picture (its edges included)."""
        left, top, right, bottom = self.crop
        return left <= thing.x <= right and top <= thing.y <= bottom

    @property
    def gain(self) -> float:
        """How many times longer a thing is, relative to the picture, than in the full scene; at least 1."""
        left, top, right, bottom = self.crop
        return ((right - left) * (bottom - top)) ** -0.5


def scene_of(png: bytes) -> SceneView:
    """Return what the picture shows of which scene.

    Raises `InputError` for every picture without a valid `demur-scene` chunk.
    """
    chunk = read_chunk(png)
    if chunk is None:
        raise InputError(
            f"the picture is no generated scene: found no valid {SCENE_KEY!r} text in it, which the pictures of the "
            "benchmark `scenes` have; for other pictures choose a model that can see them with --model"
        )
    return SceneView(Scene.make(chunk.seed, chunk.index), chunk.crop)
