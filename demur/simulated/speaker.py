"""Who speaks: what a prompt, its demonstrations, an example and a crop do to a speaker's errors, and the speaker's
own chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from demur.simulated import law
from demur.simulated.kinds import MISSES, Kind
from demur.simulated.noise import mixed, shifted, uniform
from demur.simulated.parse import Ask, Demonstration
from demur.simulated.traits import persona_of, traits_of
from demur.simulated.truth import Truth, known_truth, known_view
from evals.scenes import SCENARIOS

WHOLE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class Speaker:
    """A role that answers one request about one object."""

    ask: Ask
    truth: Truth
    seed: int
    sample: int

    @cached_property
    def shift(self) -> float:
        """By how much the log-odds of this speaker's errors are shifted; below 0 is fewer errors."""
        kind = self.truth.kind
        return (
            _traits_shift(self.ask.instructions, kind)
            + _persona_shift(self.persona, kind)
            + _demonstrations_shift(self.ask.demonstrations, self.truth)
            + _example_shift(self.ask.given.texts.get("example", ""), self.truth.view.scene.scenario)
            + self._crop_shift
        )

    def errs(self, probability: float, *what: object, shift: float = 0.0) -> bool:
        """Whether the speaker makes an error of this probability, shifted by the speaker's shift and by `shift`."""
        return self.chance(*what) < shifted(probability, self.shift + shift)

    def gets(self, probability: float, *what: object, shift: float = 0.0) -> bool:
        """Whether the speaker gets a detail of this probability right: what makes errors likelier makes that rarer,
        and `shift` makes it likelier."""
        return self.chance(*what) < shifted(probability, shift - self.shift)

    def misjudges_at_first_sight(self) -> bool:
        """Whether the first answer is wrong. Part of this chance is shared by all speakers."""
        shared = uniform(self.seed, *self.truth.key, "shared")
        return mixed(shared, self.chance("first sight"), law.SHARED) < shifted(law.ERROR[self.truth.kind], self.shift)

    def chance(self, *what: object) -> float:
        """A number in (0, 1) for an event of this speaker: the same for the same model, scene, object, temperament,
        sample and event, whatever else the prompt says, so that prompts are compared with the same luck."""
        return uniform(self.seed, *self.truth.key, self._temperament, self.sample, *what)

    @cached_property
    def persona(self) -> float:
        """The temperament, from -1 (imaginative) to 1 (conservative)."""
        return persona_of(self.ask.instructions)

    @cached_property
    def _temperament(self) -> str:
        return "conservative" if self.persona > 0 else "imaginative" if self.persona < 0 else "plain"

    @cached_property
    def _crop_shift(self) -> float:
        view, real = known_view(self.ask.given.pictures.get("crop")), self.truth.real
        if view is None or real is None or view.scene != self.truth.view.scene or view.crop == WHOLE:
            return 0.0
        return law.CROP if view.visible(real) else 0.0


def prompt_shift(instructions: str, kind: Kind) -> float:
    """The shift by the traits of a prompt, at most the cap either way, and by its persona."""
    return _traits_shift(instructions, kind) + _persona_shift(persona_of(instructions), kind)


def _traits_shift(instructions: str, kind: Kind) -> float:
    traits = sum(trait.shifts.get(kind, 0.0) for trait in traits_of(instructions))
    return max(-law.TRAIT_CAP, min(law.TRAIT_CAP, traits))


def _persona_shift(persona: float, kind: Kind) -> float:
    return law.PERSONA["miss" if kind in MISSES else "claim"] * persona


def _demonstrations_shift(demonstrations: tuple[Demonstration, ...], truth: Truth) -> float:
    shifts = sorted(law.DEMONSTRATION[_worth(demonstration, truth)] for demonstration in demonstrations)
    helpful = [shift for shift in shifts if shift < 0]
    wrong = [shift for shift in shifts if shift > 0]
    return sum(helpful[: law.DEMONSTRATIONS_COUNTED]) + sum(wrong[: law.DEMONSTRATIONS_COUNTED])


def _worth(demonstration: Demonstration, truth: Truth) -> str:
    """What a demonstration teaches, judged by the scene of its own picture."""
    shown, said = known_truth(demonstration.inputs), demonstration.outputs.texts
    if shown is None or not (said.keys() & {"answer", "region"}):
        return "unknown"
    if "answer" in said:
        right = said["answer"] == ("yes" if shown.present else "no")
    else:
        right = shown.real is not None and said["region"] == shown.real.region
    if not right:
        return "wrong"
    alike = shown.kind == truth.kind or shown.view.scene.scenario == truth.view.scene.scenario
    return "relevant" if alike else "right"


def _example_shift(example: str, scenario: str) -> float:
    """The shift by an imitation example of this or of another scenario."""
    if example.strip().lower() in ("", "none"):
        return 0.0
    return law.EXAMPLE["same scenario" if scenario in scenarios_named(example) else "other scenario"]


def scenarios_named(debate: str) -> list[str]:
    """The scenarios that a condensed debate names, else those that most of the things that it names belong to."""
    text = f" {debate.lower()} "
    named = [name for name in SCENARIOS if name in text]
    if not named:
        mentions = {name: sum(f" {thing}" in text for thing in things) for name, things in SCENARIOS.items()}
        named = [name for name in SCENARIOS if mentions[name] and mentions[name] == max(mentions.values())]
    return named
