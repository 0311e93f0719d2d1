"""Generated pictures whose truth is known: what is there, and what may be hallucinated and why."""

from evals.scenes.catalogue import SCENARIOS
from evals.scenes.scene import Scene, SceneQuestion, question_about
from evals.scenes.things import Lure, Thing
from evals.scenes.view import SceneView, scene_of

__all__ = ["SCENARIOS", "Lure", "Scene", "SceneQuestion", "SceneView", "Thing", "question_about", "scene_of"]
