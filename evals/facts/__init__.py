"""A generated world of invented people, towns, rivers, firms and novels, as passages and as questions about them."""

from evals.facts.questions import FactQuestion, Kind, questions
from evals.facts.world import CLUSTERS, Cluster, Entity, world

__all__ = ["CLUSTERS", "Cluster", "Entity", "FactQuestion", "Kind", "questions", "world"]
