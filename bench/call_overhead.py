"""CPU time of a turn through a program, beside that of stock `dspy.Predict.acall` for the same request.

    python bench/call_overhead.py [--calls 400] [--model openai/gpt-4o]

A server in another process answers at once, so that what is left is the client: putting the request together,
sending it, reading the answer, keeping the record. Stock is `dspy.Predict` on `dspy.LM` with history and trace off,
and with a model whose price DSPy finds at once (`--model hosted_vllm/x` for one that it searches its table for).
Both are measured in turns within one run, and the medians of the rounds are compared; the exit code is 1 if a turn
takes more than 1.15 times as much as the stock call.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 10
MOST = 1.15
QUESTION = "Is there a dog in the image?"
ANSWER = "[[ ## answer ## ]]\nyes\n\n[[ ## reason ## ]]\nit is there\n\n[[ ## completed ## ]]\n"


Call = Callable[[], Awaitable[object]]


class InstantAnswers(asyncio.Protocol):
    """Says the same to every request that has come in whole."""

    def __init__(self) -> None:
        message = {"role": "assistant", "content": ANSWER}
        body = json.dumps(
            {
                "id": "bench",
                "object": "chat.completion",
                "created": 0,
                "model": "gpt-4o",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320},
            }
        ).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.said, self.received = head.encode() + body, bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        length = int(bytes(self.received[:end]).lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self.received) >= end + 4 + length:
            del self.received[: end + 4 + length]
            self.transport.write(self.said)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(InstantAnswers, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


@contextmanager
def server() -> Iterator[str]:
    """The address of a server in another process."""
    process = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def cpu_ms(call: Call, times: int) -> float:
    """CPU time of this process, all threads, per call in milliseconds."""
    started = time.process_time()
    for _ in range(times):
        await call()
    return (time.process_time() - started) / times * 1e3


async def compare(name: str, stock: Call, ours: Call, calls: int) -> float:
    """Measure both in turns, print what they take, and return the ratio."""
    for call in (stock, ours):
        await cpu_ms(call, 10)
    each = max(1, calls // ROUNDS)
    rounds = [(await cpu_ms(stock, each), await cpu_ms(ours, each)) for _ in range(ROUNDS)]
    stock_ms, ours_ms = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"{name:<18} stock {stock_ms:6.2f} ms   turn {ours_ms:6.2f} ms   ratio {ours_ms / stock_ms:.2f}")
    return ours_ms / stock_ms


async def measure(address: str, model: str, calls: int) -> float:
    """The worse of the two ratios."""
    import dspy
    import numpy as np
    from PIL import Image

    from demur.models import make_lm
    from programs import DebateProgram, Direct, load_image
    from signatures import AnswerQuestion

    class TextQuestion(DebateProgram):
        """One question without a picture."""

        def __init__(self) -> None:
            super().__init__()
            self.answerer = dspy.Predict(AnswerQuestion.delete("image"))

        async def debate(self, question: str) -> dspy.Prediction:
            turn = await self.turn("answerer", "answer", self.answerer, question=question)
            return dspy.Prediction(answer=turn.said.answer, reason=turn.said.reason)

    noise = np.random.default_rng(0).integers(0, 255, (400, 400, 3), dtype=np.uint8)
    jpeg = io.BytesIO()
    Image.fromarray(noise).save(jpeg, "JPEG", quality=87)
    picture = load_image(jpeg.getvalue())

    stock_lm = dspy.LM(model, api_base=address, api_key="none", cache=False)
    our_lm = make_lm(model, api_base=address, api_key="none", cache=False)
    ratios = []
    for name, program, inputs in (
        ("text", TextQuestion(), {"question": QUESTION}),
        (f"JPEG of {len(picture.url) * 3 // 4000} KB", Direct(), {"question": QUESTION, "image": picture}),
    ):
        predictor = program.predictors()[0]

        async def stock(predictor: dspy.Predict = predictor, inputs: dict = inputs) -> None:
            with dspy.context(lm=stock_lm):
                said = await predictor.acall(**inputs)
            if said.answer != "yes":
                raise RuntimeError(f"the stock call failed: {said}")

        async def ours(program: DebateProgram = program, inputs: dict = inputs) -> None:
            with dspy.context(lm=our_lm):
                said = await program.acall(**inputs)
            if said.answer != "yes":
                raise RuntimeError(f"the turn failed: {said.failure}")

        with dspy.context(trace=None, disable_history=True):
            ratios.append(await compare(name, stock, ours, calls))
    return max(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=400, help="calls of each kind")
    parser.add_argument(
        "--model", default="openai/gpt-4o", help="the name that the server goes by; it is in DSPy's price table or not"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # DSPy would fetch its price table first
    sys.path.insert(0, str(ROOT))
    with server() as address:
        worst = asyncio.run(measure(address, options.model, options.calls))
    return 1 if worst > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
