"""Scores of answers to questions with golden answers, and of the documents that they were made from."""

from evals.qa.answer_scores import contained, exact_match, token_f1
from evals.qa.documents import Distractors
from evals.qa.metrics import qa_correct, qa_score

__all__ = ["Distractors", "contained", "exact_match", "qa_correct", "qa_score", "token_f1"]
