"""The simulated model as the prompt writer of DSPy's optimizers.

It returns the instruction that it is shown with one or two sentences more, drawn from helpful, neutral and harmful
advice alike, so that an optimizer has to search. Feedback that names a cause of error makes the fitting advice
likelier, so that an optimizer that reads feedback searches better. Sometimes it strikes a sentence out that came
from it. The optimizers are recognised by the output fields that they ask for; GEPA's own prompt by its last line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from demur.simulated.advice import VISUAL, Advice, advice_for
from demur.simulated.noise import uniform, weighted
from demur.simulated.parse import Ask
from demur.simulated.traits import traits_in

FITTING_WEIGHT = 8.0
"""How many times likelier advice is that fits a cause which the feedback names."""
TWO_SENTENCES = 0.5
STRIKES_OUT = 0.25
RULES = 3

_GEPA = re.compile(r"Provide the new instructions within ``` blocks\.?\s*$")
_FENCED = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_ATTEMPT = re.compile(
    r"Instruction #(\d+): (.*?)(?:\n»»»|»)?\s*\[\d+\] (?:«««\n\s*|«)?Prefix #\1: .*?"
    r"Resulting Score #\1: (-?[\d.]+)",
    re.DOTALL,
)
_LIMIT = re.compile(r"at most (\d+) characters")

Inputs = Mapping[str, str]


def propose(ask: Ask, *key: object) -> dict[str, Any] | None:
    """What a proposer request of an optimizer is answered, or None if `ask` is no such request."""
    write = _PROPOSERS.get(ask.wanted)
    return write(ask.given.texts, *key) if write else None


def propose_in_fences(text: str, *key: object) -> str | None:
    """The answer to GEPA's own reflection prompt, in fences, or None for any other text."""
    if not _GEPA.search(text):
        return None
    current = _FENCED.search(text)
    return f"```\n{improved(current[1] if current else '', text, *key)}\n```"


def improved(instruction: str, feedback: str, *key: object) -> str:
    """`instruction` with new advice, in which what `feedback` complains about is likelier."""
    instruction = instruction.strip()
    advice = advice_for(instruction, feedback)
    ours = [sentence for sentence in advice.sentences if sentence in instruction]
    if ours and uniform(*key, "strikes out") < STRIKES_OUT:
        struck = ours[weighted([1.0] * len(ours), *key, "struck")]
        instruction = instruction.replace(struck, "")
    added = advise(advice, instruction, feedback, 2 if uniform(*key, "two") < TWO_SENTENCES else 1, *key)
    return "\n".join(part for part in (instruction.strip(), " ".join(added)) if part)


def advise(advice: Advice, instruction: str, feedback: str, number: int, *key: object) -> list[str]:
    """`number` sentences of advice that `instruction` does not give yet; fewer if nothing is left to say."""
    had = {trait.name for trait in traits_in(instruction, advice.traits)}
    pool: dict[str, float] = {
        trait.sentence: FITTING_WEIGHT if advice.fits(trait, feedback) else 1.0
        for trait in advice.traits
        if trait.name not in had
    } | {sentence: 1.0 for sentence in advice.neutral if sentence not in instruction}
    chosen: list[str] = []
    while pool and len(chosen) < number:
        sentence = list(pool)[weighted(list(pool.values()), *key, "advice", len(chosen))]
        chosen.append(sentence)
        del pool[sentence]
    return chosen


def _best_attempt(attempts: str) -> str:
    """The instruction with the highest score among COPRO's numbered attempts."""
    found = [(float(score), text) for _, text, score in _ATTEMPT.findall(attempts)]
    best = max(found, key=lambda attempt: attempt[0], default=(0.0, ""))[1]
    return "\n".join(line.removeprefix("    ") for line in best.splitlines())


def _basic(given: Inputs, *key: object) -> dict[str, Any]:
    attempts = given.get("attempted_instructions", "")
    current = given.get("basic_instruction") or _best_attempt(attempts)
    return {
        "proposed_instruction": improved(current, attempts, *key),
        "proposed_prefix_for_output_field": "Answer:",
    }


def _grounded(given: Inputs, *key: object) -> dict[str, Any]:
    instruction = improved(given.get("basic_instruction", ""), given.get("previous_instructions", ""), *key)
    return {"proposed_instruction": instruction}


def _reflected(field: str) -> Callable[..., dict[str, Any]]:
    def write(given: Inputs, *key: object) -> dict[str, Any]:
        feedback = given.get("examples_with_feedback", "")
        text = improved(given.get("current_instruction", ""), feedback, *key)
        return {field: _cut(text, given.get("length_limit", ""))}

    return write


def _shortened(given: Inputs, *key: object) -> dict[str, Any]:
    return {"shortened_instruction": _cut(given.get("instruction", ""), given.get("length_limit", ""))}


def _cut(text: str, limit: str) -> str:
    """`text` within the limit that is stated in words: whole sentences as long as there is one that fits."""
    stated = _LIMIT.search(limit)
    if not stated or len(text) <= int(stated[1]):
        return text
    longest = int(stated[1])
    end = text.rfind(".", 0, longest)
    return text[: end + 1 if end > 0 else longest]


def _offered(given: Inputs, *key: object) -> dict[str, Any]:
    """SIMBA's advice for each module."""
    modules = re.findall(r'"([^"]+)"', given.get("module_names", ""))
    feedback = " ".join(given.get(name, "") for name in ("worse_reward_info", "better_reward_info", "oracle_metadata"))
    advice = advice_for(feedback, " ".join(given.values()))
    looked = "looked at the image" if advice is VISUAL else "read"
    return {
        "discussion": f"The better trajectory {looked} more carefully than the worse one.",
        "module_advice": {name: " ".join(advise(advice, "", feedback, 1, *key, name)) for name in modules},
    }


def _rules(given: Inputs, *key: object) -> dict[str, Any]:
    examples = given.get("examples_text", "")
    rules = advise(advice_for(examples), "", examples, RULES, *key)
    return {"natural_language_rules": "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))}


def _described(field: str, visual: str, text: str) -> Callable[..., dict[str, Any]]:
    """What is said of the data, by what they are about."""
    return lambda given, *key: {field: visual if advice_for(*given.values()) is VISUAL else text}


def _said(**values: str) -> Callable[..., dict[str, Any]]:
    return lambda given, *key: dict(values)


_PROPOSERS: dict[frozenset[str], Callable[..., dict[str, Any]]] = {
    frozenset({"proposed_instruction", "proposed_prefix_for_output_field"}): _basic,
    frozenset({"proposed_instruction"}): _grounded,
    frozenset({"new_instruction"}): _reflected("new_instruction"),
    frozenset({"improved_instruction"}): _reflected("improved_instruction"),
    frozenset({"shortened_instruction"}): _shortened,
    frozenset({"discussion", "module_advice"}): _offered,
    frozenset({"natural_language_rules"}): _rules,
    frozenset({"program_description"}): _said(program_description="The program answers questions in several turns."),
    frozenset({"module_description"}): _said(module_description="The module plays one role of the program."),
    frozenset({"observations"}): _described(
        "observations",
        "Each sample asks about one object in one image.",
        "Each sample asks for one fact, which stands in documents.",
    ),
    frozenset({"summary"}): _described(
        "summary",
        "The samples ask whether an object is in an image.",
        "The samples ask for facts that stand in documents.",
    ),
}
"""DSPy's COPRO, MIPROv2, GEPA, SIMBA and InferRules, by the output fields of their requests."""
