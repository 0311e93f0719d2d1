"""The prompt writers of DSPy's optimizers get instructions that an optimizer can search among."""

from collections import Counter
from typing import Any

import dspy
import pytest
from dspy.propose.grounded_proposer import generate_instruction_class
from dspy.teleprompt.copro_optimizer import BasicGenerateInstruction, GenerateInstructionGivenAttempts
from dspy.teleprompt.gepa.instruction_proposal import InstructionProposer, SingleComponentMultiModalProposer
from dspy.teleprompt.infer_rules import RulesInductionProgram
from dspy.teleprompt.simba_utils import OfferFeedback
from gepa.strategies.instruction_proposal import InstructionProposalSignature

from demur.simulated import simulated_lm
from demur.simulated.proposer import improved
from demur.simulated.text_traits import TEXT_BY_NAME, TEXT_NEUTRAL_SENTENCES, TEXT_TRAITS
from demur.simulated.traits import BY_NAME, NEUTRAL_SENTENCES, TRAITS, traits_of
from signatures import CONSERVATIVE, AnswerFromDocuments, AnswerQuestion, rag
from tests.demur.simulated.asks import picture_of, questions

TEXT_ROLES = [role for role in vars(rag).values() if hasattr(role, "instructions")]
POOL = {*(trait.sentence for trait in TRAITS), *NEUTRAL_SENTENCES}
CURRENT = CONSERVATIVE.play(AnswerQuestion).instructions
WARM: dict[str, Any] = {"temperature": 1.0}


def _added(text: str, current: str = CURRENT) -> set[str]:
    """The sentences of the pool that `text` has more than `current`; everything else must be unchanged."""
    assert text.startswith(current)
    added = {sentence for sentence in POOL if sentence in text[len(current) :]}
    rest = text[len(current) :]
    for sentence in added:
        rest = rest.replace(sentence, "")
    assert not rest.strip() and 1 <= len(added) <= 2
    return added


def test_an_instruction_is_kept_and_one_or_two_sentences_are_added() -> None:
    proposals = [improved(CURRENT, "", seed) for seed in range(400)]
    drawn = Counter(sentence for text in proposals for sentence in _added(text))
    assert drawn.keys() == POOL
    assert max(drawn.values()) < 3 * min(drawn.values())
    assert len({len(_added(text)) for text in proposals}) == 2


def test_advice_is_not_repeated_and_sometimes_struck_out() -> None:
    has = BY_NAME["guess"].sentence
    proposals = [improved(f"{CURRENT}\n{has}", "", seed) for seed in range(200)]
    assert all(text.count(has) <= 1 for text in proposals)
    assert 20 < sum(has not in text for text in proposals) < 80


@pytest.mark.parametrize(
    ("feedback", "fitting"),
    [
        ("cause: misunderstood question", "literal words"),
        ("wrong, because of visual similarity", "look-alikes"),
        ("It is an unreasonable inference.", "no inference"),
        ("The object is there and was missed.", "small things"),
    ],
)
def test_feedback_makes_the_fitting_advice_likelier(feedback: str, fitting: str) -> None:
    def share(text: str) -> float:
        return sum(BY_NAME[fitting].sentence in improved(CURRENT, text, seed) for seed in range(200)) / 200

    assert share(feedback) > 2.5 * share("") > 0


def test_copro(lm: dspy.LM, adapter: dspy.Adapter) -> None:
    with dspy.context(lm=lm, adapter=adapter):
        first = dspy.Predict(BasicGenerateInstruction, n=5, **WARM)(basic_instruction=CURRENT)
        assert all(_added(text) for text in first.completions.proposed_instruction)
        assert len(set(first.completions.proposed_instruction)) > 2
        assert len(first.completions.proposed_prefix_for_output_field) == 5
        attempts = [
            *("Instruction #1: Worse.", "Prefix #1: Answer:", "Resulting Score #1: 40.0"),
            *(f"Instruction #2: {CURRENT}", "Prefix #2: Answer:", "Resulting Score #2: 75.5"),
            *("Instruction #3: Less good.", "Prefix #3: Answer:", "Resulting Score #3: 9.0"),
        ]
        next_ = dspy.Predict(GenerateInstructionGivenAttempts, n=3, **WARM)(attempted_instructions=attempts)
        assert all(_added(text) for text in next_.completions.proposed_instruction)


def test_mipro(lm: dspy.LM, adapter: dspy.Adapter) -> None:
    with dspy.context(lm=lm, adapter=adapter):
        names = ["dataset_description", "program_code", "program_description", "module", "module_description"]
        more = dict.fromkeys([*names, "task_demos", "previous_instructions", "tip"], "none")
        proposed = generate_instruction_class()(basic_instruction=CURRENT, **more).proposed_instruction
        described = dspy.Predict("program_code, program_example -> program_description")(
            program_code="x", program_example=""
        )
        summary = dspy.Predict("observations -> summary")(observations="x").summary
    assert _added(proposed) and described.program_description and summary


EXAMPLES = [{"Inputs": {"question": "?"}, "Generated Outputs": {"answer": "yes"}, "Feedback": "cause: perception"}]


def test_gepa(lm: dspy.LM) -> None:
    scene, _ = questions(lambda _: True, scenes=1)[0]
    examples = [{**EXAMPLES[0], "Inputs": {"image": picture_of(scene)}}]
    with dspy.context(lm=lm):
        proposer = InstructionProposer()
        assert _added(proposer({"judge": CURRENT}, {"judge": examples}, ["judge"])["judge"])
        short = InstructionProposer(max_chars=120)({"judge": CURRENT}, {"judge": EXAMPLES}, ["judge"])["judge"]
        assert len(short) <= 120 and short.endswith(".")
        assert _added(SingleComponentMultiModalProposer()(CURRENT, examples))


def test_gepas_own_prompt_is_answered_in_fences(lm: dspy.LM) -> None:
    prompt = InstructionProposalSignature.prompt_renderer(
        {"current_instruction_doc": CURRENT, "dataset_with_feedback": EXAMPLES, "prompt_template": None}
    )
    answer = lm(prompt)[0]
    assert _added(InstructionProposalSignature.output_extractor(answer)["new_instruction"])


def test_simba(lm: dspy.LM, adapter: dspy.Adapter) -> None:
    fields = {name: "[]" for name in OfferFeedback.input_fields} | {"module_names": '[\n  "a.open",\n  "judge"\n]'}
    fields |= {"worse_reward_value": "0.0", "better_reward_value": "1.0"}
    with dspy.context(lm=lm, adapter=adapter):
        advice = dspy.Predict(OfferFeedback)(**fields).module_advice
    assert advice.keys() == {"a.open", "judge"} and set(advice.values()) <= POOL


def test_infer_rules(lm: dspy.LM, adapter: dspy.Adapter) -> None:
    with dspy.context(lm=lm, adapter=adapter):
        rules = RulesInductionProgram(num_rules=3)("Input Fields: …")
    assert [line.partition(". ")[0] for line in rules.splitlines()] == ["1", "2", "3"]
    assert {line.partition(". ")[2] for line in rules.splitlines()} <= POOL


class Twice(dspy.Module):
    """Two predictors, each asked; the answer is yes if both say so."""

    def __init__(self) -> None:
        super().__init__()
        self.first = dspy.Predict(AnswerQuestion)
        self.second = dspy.Predict(CONSERVATIVE.play(AnswerQuestion))

    def forward(self, image: dspy.Image, question: str) -> dspy.Prediction:
        answers = [ask(image=image, question=question).answer for ask in (self.first, self.second)]
        return dspy.Prediction(answer="yes" if answers == ["yes", "yes"] else "no")


def test_an_optimizer_finds_better_prompts() -> None:
    examples = [
        dspy.Example(image=picture_of(scene), question=question.text, label=question.label).with_inputs(
            "image", "question"
        )
        for scene, question in questions(lambda _: True, scenes=4)
    ]

    def metric(example: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> float:
        return float(prediction.answer == example.label)

    quiet: dict[str, Any] = {"num_threads": 2, "display_progress": False}
    with dspy.context(lm=simulated_lm(2)):
        tuned = dspy.COPRO(metric=metric, breadth=4, depth=2).compile(Twice(), trainset=examples, eval_kwargs=quiet)
        evaluate = dspy.Evaluate(devset=examples, metric=metric, **quiet)
        assert evaluate(tuned).score > evaluate(Twice()).score + 2
    assert any(
        trait.helpful for predictor in tuned.predictors() for trait in traits_of(predictor.signature.instructions)
    )


TEXT_POOL = {*(trait.sentence for trait in TEXT_TRAITS), *TEXT_NEUTRAL_SENTENCES}


@pytest.mark.parametrize("role", TEXT_ROLES, ids=lambda role: role.__name__)
def test_text_roles_get_advice_about_texts(role) -> None:
    proposals = [improved(role.instructions, "", seed) for seed in range(100)]
    added = {sentence for text in proposals for sentence in TEXT_POOL if sentence in text}
    assert added == TEXT_POOL
    visual = {trait.sentence for trait in TRAITS} - TEXT_POOL
    assert not any(sentence in text for text in proposals for sentence in visual)


def test_feedback_about_documents_makes_the_fitting_advice_likelier() -> None:
    def share(feedback: str) -> float:
        fitting = TEXT_BY_NAME["against knowledge"].sentence
        return sum(fitting in improved(AnswerFromDocuments.instructions, feedback, seed) for seed in range(200)) / 200

    assert share("The document was misleading: it contradicts the others.") > 2 * share("") > 0


def test_simba_and_infer_rules_advise_text_roles(lm: dspy.LM) -> None:
    fields = {name: "[]" for name in OfferFeedback.input_fields} | {"module_names": '["judge"]'}
    fields |= {"worse_reward_value": "0.0", "better_reward_value": "1.0", "program_inputs": "documents: []"}
    with dspy.context(lm=lm):
        said = dspy.Predict(OfferFeedback)(**fields)
        rules = RulesInductionProgram(num_rules=3)("documents: …")
    assert set(said.module_advice.values()) <= TEXT_POOL and "image" not in said.discussion
    assert {line.partition(". ")[2] for line in rules.splitlines()} <= TEXT_POOL
