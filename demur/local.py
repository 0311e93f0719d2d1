"""`local:PATH.gguf`: a real small model through llama.cpp, in a child process.

It answers one request at a time. Such a model cannot follow the chat adapter's markers, so its turns use DSPy's JSON
adapter, whose schema llama.cpp enforces.
"""

from __future__ import annotations

import atexit
import importlib.util
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import dspy
from dspy.clients.base_lm import LM_CLASS_STATE_KEY
from dspy.clients.capabilities import Capabilities

from demur.engines import AsyncServerEngine, Route, ServerEngine
from demur.lm import ServedLM
from demur.pricing import FREE, Pricing
from programs.errors import InputError

START_TIMEOUT_S = 300.0
SHORTEST_TIMEOUT_S = 600.0
"""A small machine writes a few words a second, and sends nothing before the last."""
MAX_TOKENS = 512
"""Of an answer if the user does not say: a small model may repeat itself until its context is full."""

_CAPABILITIES = Capabilities(
    response_schema=True,
    params=frozenset(
        {"temperature", "max_tokens", "top_p", "stop", "seed", "logprobs", "top_logprobs", "response_format"}
    ),
)


def local_lm(path: str, *, seed: int = 0, timeout_s: float = 0.0, price: Pricing = FREE, **settings: Any) -> dspy.LM:
    """The model in the file `path`; its server runs until this process ends.

    Args:
        path: a model in llama.cpp's GGUF format.
        seed: of its samples.
        timeout_s: longest wait for an answer, in seconds; ten minutes at least.
        price: of its answers.
        settings: further arguments of `dspy.LM`.

    Raises:
        InputError: if there is no such file, it is no such model, or llama.cpp is not installed.
    """
    server = LocalServer.of(Path(path))
    route = Route(
        provider="vllm",
        routed_as="vllm:local",
        api_base=f"{server.address}/v1",
        api_key="none",
        timeout_s=max(timeout_s, SHORTEST_TIMEOUT_S),
        connections=1,
        capabilities=_CAPABILITIES,
    )
    settings = {"seed": seed, "max_tokens": MAX_TOKENS} | settings
    return LocalLM(
        f"local:{path}",
        engine=ServerEngine(route),
        async_engine=AsyncServerEngine(route),
        price=price,
        adapter=dspy.JSONAdapter(),
        **settings,
    )


class LocalLM(ServedLM):
    """The LM of a model file. Saved as its path; loading it starts a server."""

    def dump_state(self) -> dict[str, Any]:
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        return super().dump_state() | {LM_CLASS_STATE_KEY: name}

    @classmethod
    def load_state(cls, state: dict[str, Any], *, allow_custom_lm_class: bool = False) -> dspy.LM:
        settings = dict(state)
        settings.pop(LM_CLASS_STATE_KEY, None)
        return local_lm(settings.pop("model").removeprefix("local:"), **settings)


class LocalServer:
    """A child process that serves one model file."""

    _running: dict[Path, LocalServer] = {}  # noqa: RUF012
    _lock = threading.Lock()

    @classmethod
    def of(cls, path: Path) -> LocalServer:
        """The server of the model file `path`, started if there is none. Raises as `local_lm` does."""
        if not path.is_file():
            raise InputError(f"--model local:{path}: there is no such file; expected a model in GGUF format")
        if importlib.util.find_spec("xllamacpp") is None:
            raise InputError(f"--model local:{path}: llama.cpp is not installed; pip install 'demur[local]'")
        path = path.resolve()
        with cls._lock:
            server = cls._running.get(path)
            if server is None or server.process.poll() is not None:
                server = cls._running[path] = cls(path)
            return server

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the child writes to it
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("local_server.py")), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            start_new_session=True,  # Ctrl-C is for us; the child ends when we do
        )
        atexit.register(self.stop)
        self.address = self._await_address()

    def _await_address(self) -> str:
        """What the child says when the model is loaded. Raises `InputError` if it ends or takes too long."""
        watchdog = threading.Timer(START_TIMEOUT_S, self.process.kill)
        watchdog.start()
        started = time.monotonic()
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode().strip()
        watchdog.cancel()
        if line:
            return line
        self.stop()
        if time.monotonic() - started >= START_TIMEOUT_S:
            raise InputError(f"--model local:{self.path}: not loaded in {START_TIMEOUT_S:.0f} s; use a smaller model")
        raise InputError(f"--model local:{self.path}: llama.cpp cannot load it ({self._last_words()})")

    def _last_words(self) -> str:
        self.log.seek(0)
        lines = [line.strip() for line in self.log.read().decode(errors="replace").splitlines()]
        telling = [line for line in lines if "error" in line.lower() or "fail" in line.lower()]
        return (telling or lines or ["no message"])[0][:300]

    def stop(self) -> None:
        """End the child."""
        atexit.unregister(self.stop)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
