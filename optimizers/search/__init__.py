"""The search over structure and prompts together: its space, its trials, its front, and what is picked from that."""

from optimizers.search.front import DEFAULT_PICK, PICKS, Member, Pick, pareto_front
from optimizers.search.report import SearchReport, front_summary, read_search

__all__ = ["DEFAULT_PICK", "PICKS", "Member", "Pick", "SearchReport", "front_summary", "pareto_front", "read_search"]
