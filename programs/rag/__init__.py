"""Debate-augmented RAG, and the seven systems that it is compared with."""

from programs.rag.drag import Drag
from programs.rag.flare import Flare
from programs.rag.ircot import IRCoT
from programs.rag.iter_retgen import IterRetGen
from programs.rag.naive import NaiveGeneration, NaiveRag
from programs.rag.self_rag import SelfRag
from programs.rag.text_debate import TextDebate

__all__ = ["Drag", "Flare", "IRCoT", "IterRetGen", "NaiveGeneration", "NaiveRag", "SelfRag", "TextDebate"]
