"""Scenes whose pictures hold nothing but their chunk, requests as DSPy's adapters write them, and asks by hand."""

import base64
import io
from collections.abc import Callable

import dspy
from dspy.adapters.baml_adapter import BAMLAdapter
from dspy.lm15 import ImagePart, Request, Response
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from demur.simulated import SimulatedEngine
from demur.simulated.parse import Ask, Field, Values
from evals.scenes import Scene, SceneQuestion
from programs.scene_chunk import SCENE_KEY, SceneChunk

WHOLE = (0.0, 0.0, 1.0, 1.0)

ADAPTERS = {
    "chat": dspy.ChatAdapter(use_json_adapter_fallback=False),
    "json": dspy.JSONAdapter(),
    "xml": dspy.XMLAdapter(use_json_adapter_fallback=False),
    "baml": BAMLAdapter(),
}


class Recorder(SimulatedEngine):
    """The engine, keeping every request."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.requests: list[Request] = []

    def answer(self, request: Request) -> Response:
        self.requests.append(request)
        return super().answer(request)


def encoded(scene: Scene, crop: tuple[float, float, float, float] = WHOLE) -> str:
    """A picture with the scene's chunk and 4 pixels, base64."""
    text = PngInfo()
    text.add_text(SCENE_KEY, SceneChunk(seed=scene.seed, index=scene.index, crop=crop).text())
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "PNG", pnginfo=text)
    return base64.b64encode(buffer.getvalue()).decode()


def picture_of(scene: Scene, crop: tuple[float, float, float, float] = WHOLE) -> dspy.Image:
    return dspy.Image(f"data:image/png;base64,{encoded(scene, crop)}")


def questions(kinds: Callable[[SceneQuestion], bool], scenes: int = 60) -> list[tuple[Scene, SceneQuestion]]:
    """The questions of some scenes that are of the wanted kind."""
    made = [Scene.make(7, index) for index in range(scenes)]
    return [(scene, question) for scene in made for question in scene.questions() if kinds(question)]


def ask_about(
    scene: Scene,
    question: str,
    outputs: tuple[str, ...] = ("answer", "reason"),
    instructions: str = "",
    demonstrations: tuple = (),
    crop: tuple[float, float, float, float] | None = None,
    **texts: str,
) -> Ask:
    """A request in a visual role, made without an adapter."""
    pictures = {"image": ImagePart(data=encoded(scene))}
    if crop is not None:
        pictures["crop"] = ImagePart(data=encoded(scene, crop))
    texts = {"question": question, **texts}
    return Ask(
        style="chat",
        inputs=tuple(Field(name, "str") for name in (*pictures, *texts)),
        outputs=tuple(Field(name, "str") for name in outputs),
        instructions=instructions,
        given=Values(texts, pictures),
        demonstrations=demonstrations,
        schemas={},
        skeletons={},
    )
