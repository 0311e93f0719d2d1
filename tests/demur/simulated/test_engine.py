"""The engine: the same answers for the same seed in any order, samples, usage, copies, refusals."""

import asyncio
import base64
import copy
import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest
from dspy.lm15 import Config, Message, Request
from dspy.utils.exceptions import LMInvalidRequestError, LMUnsupportedFeatureError
from PIL import Image

from demur.simulated import AsyncSimulatedEngine, SimulatedEngine, simulated_lm
from demur.simulated.engine import count_tokens
from evals.scenes import Scene
from programs.images import load_image
from signatures import AnswerQuestion
from tests.demur.simulated.asks import picture_of, questions

CASES = [(picture_of(scene), question.text) for scene, question in questions(lambda _: True, scenes=8)]
PROPOSE = dspy.Signature("basic_instruction -> proposed_instruction")
QUESTION = "Is there a cup in the image?"


def _answers(lm: dspy.LM, threads: int = 1) -> list[str]:
    def answer(case: tuple[dspy.Image, str]) -> str:
        with dspy.context(lm=lm):
            return dspy.Predict(AnswerQuestion)(image=case[0], question=case[1]).toDict()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(answer, CASES))


def test_a_seed_names_its_answers() -> None:
    first = _answers(simulated_lm(0))
    assert first == _answers(simulated_lm(0), threads=8)
    assert first != _answers(simulated_lm(1))


def test_the_async_engine_answers_alike() -> None:
    async def answer_all(lm: dspy.LM) -> list[dict]:
        with dspy.context(lm=lm):
            predict = dspy.Predict(AnswerQuestion)
            found = await asyncio.gather(*(predict.acall(image=image, question=text) for image, text in CASES))
        return [prediction.toDict() for prediction in found]

    assert asyncio.run(answer_all(simulated_lm(0))) == _answers(simulated_lm(0))


def test_identical_requests_at_a_temperature_get_different_samples() -> None:
    def propose(lm: dspy.LM, number: int, threads: int) -> list[str]:
        with ThreadPoolExecutor(threads) as pool:
            return [
                outputs[0]
                for outputs in pool.map(
                    lambda _: lm("Write it.\n\nProvide the new instructions within ``` blocks."), range(number)
                )
            ]

    warm = {"temperature": 1.0}
    one_by_one = propose(simulated_lm(0, **warm), 12, threads=1)
    assert len(set(one_by_one)) > 6
    assert sorted(one_by_one) == sorted(propose(simulated_lm(0, **warm), 12, threads=6))
    assert len(set(propose(simulated_lm(0), 12, threads=1))) == 1
    assert len(set(propose(simulated_lm(0, temperature=0.0), 12, threads=1))) == 1


def test_several_completions_differ() -> None:
    with dspy.context(lm=simulated_lm(0)):
        found = dspy.Predict(PROPOSE, n=6, temperature=1.4)(basic_instruction="Look.")
    assert len(set(found.completions.proposed_instruction)) > 3


def test_copies_are_the_same_engine_and_loaded_ones_count_anew() -> None:
    engine = SimulatedEngine(3, latency_s=0.5)
    assert copy.deepcopy(engine) is copy.copy(engine) is engine
    assert copy.deepcopy(AsyncSimulatedEngine(engine)).engine is engine
    for again in (pickle.loads(pickle.dumps(engine)), SimulatedEngine.load_state(engine.dump_state())):
        assert (again.seed, again.latency_s) == (3, 0.5)
    assert AsyncSimulatedEngine.load_state({"seed": 4, "latency_s": 0.0}).engine.seed == 4


def test_the_model_is_saved_and_loaded_with_a_program() -> None:
    lm = simulated_lm(5, temperature=0.7)
    loaded = dspy.BaseLM.load_state(lm.dump_state(), allow_custom_lm_class=True)
    assert loaded.model == "simulated" and loaded.kwargs["temperature"] == 0.7 and loaded.engine.seed == 5
    assert pickle.loads(pickle.dumps(lm)).engine.seed == 5
    assert copy.deepcopy(lm).engine is lm.engine


def test_usage_counts_characters_and_pictures() -> None:
    lm = simulated_lm(0)
    image, text = CASES[0]
    with dspy.context(lm=lm, track_usage=True):
        prediction = dspy.Predict(AnswerQuestion)(image=image, question=text)
    usage = prediction.get_lm_usage()["simulated"]
    messages = lm.history[-1]["messages"]
    characters = len(messages[0]["content"]) + sum(len(part.get("text", "")) for part in messages[1]["content"])
    assert usage["prompt_tokens"] == -(-characters // 4) + 255
    assert usage["completion_tokens"] == count_tokens(lm.history[-1]["outputs"][0])


def test_an_answer_is_cut_at_max_tokens() -> None:
    request = Request(model="simulated", messages=(Message.user("Hello"),), config=Config(max_tokens=3))
    response = SimulatedEngine().complete(request)
    assert (response.finish_reason, len(response.text or ""), response.usage.output_tokens) == ("length", 12, 3)


def test_a_stream_says_what_the_answer_is() -> None:
    request = Request(model="simulated", messages=(Message.user("Hello"),))
    events = list(SimulatedEngine().stream(request))
    assert [event.type for event in events] == ["start", "delta", "end"]
    assert events[1].delta.text == SimulatedEngine().complete(request).text


def test_a_picture_through_the_normalising_door_is_seen() -> None:
    scene = Scene.make(0, 3)
    with dspy.context(lm=simulated_lm(0)):
        answers = {
            dspy.Predict(AnswerQuestion)(image=image, question=QUESTION).reason
            for image in (load_image(scene.png()), picture_of(scene))
        }
    assert len(answers) == 1


def _photograph() -> dspy.Image:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, "PNG")
    return dspy.Image(f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}")


@pytest.mark.parametrize("inputs", [{"image": _photograph()}, {"image": dspy.Image("https://example.org/a.png")}, {}])
def test_other_pictures_are_refused_without_a_retry(recorder, lm: dspy.LM, inputs: dict) -> None:
    retrying = lm.copy(num_retries=3)
    with dspy.context(lm=retrying), pytest.raises(LMUnsupportedFeatureError, match="--model"):
        dspy.Predict(AnswerQuestion)(question=QUESTION, **inputs)
    assert len(recorder.requests) == 1


def test_other_questions_are_refused(lm: dspy.LM) -> None:
    with dspy.context(lm=lm), pytest.raises(LMInvalidRequestError, match="What color is it.*--model"):
        dspy.Predict(AnswerQuestion)(image=CASES[0][0], question="What color is it?")


def test_latency_is_waited_for_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def two_at_once(engine: AsyncSimulatedEngine) -> None:
        both = asyncio.Barrier(2)

        async def sleep(seconds: float) -> None:
            waited.append(seconds)
            await both.wait()  # for ever, if the second began after the first

        monkeypatch.setattr("demur.simulated.engine.asyncio.sleep", sleep)
        request = Request(model="simulated", messages=(Message.user("Hello"),))
        async with asyncio.timeout(60):
            await asyncio.gather(engine.complete(request), engine.complete(request))

    asyncio.run(two_at_once(AsyncSimulatedEngine(SimulatedEngine(latency_s=0.2))))
    assert waited == [0.2, 0.2]
