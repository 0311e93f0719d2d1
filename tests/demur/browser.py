"""A headless Chromium for tests, spoken to over its DevTools pipe; needs nothing but the browser itself.

Protocol: https://chromedevtools.github.io/devtools-protocol/, JSON messages that end in a NUL byte, on the browser's
file descriptors 3 (to it) and 4 (from it).
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TIMEOUT_S = 30.0

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def find_chromium() -> str | None:
    """The path of an installed Chromium; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of a browser of its own, with an empty profile. Use as a context manager.

    `problems` grows with every error and warning of the page's console, and every exception in its scripts.
    """

    def __init__(self, chromium: str, profile: Path) -> None:
        to_browser, commands = _pipe()
        events, from_browser = _pipe()

        def place() -> None:
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        self._process = subprocess.Popen(
            [chromium, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(3, 4), preexec_fn=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._commands, self._events = commands, events
        self._buffer, self._number, self._loaded = b"", 0, False
        self.problems: list[str] = []
        self.requests: list[str] = []
        """Addresses of everything that the page asked for."""
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        os.close(self._commands)
        os.close(self._events)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The browser's answer to one command. Raises `RuntimeError` if it refuses it."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        number = self._number
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def show(self, url: str, width: int = 1440, height: int = 900, *, dark: bool = False) -> None:
        """Open `url` in a window of this size and wait until it is loaded."""
        window = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **window)
        likes = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in likes.items()]
        self.call("Emulation.setEmulatedMedia", features=features)
        self._loaded = False
        self.call("Page.navigate", url="about:blank")
        self._until(lambda: self._loaded, "about:blank")
        self._loaded = False
        self.call("Page.navigate", url=url)
        self._until(lambda: self._loaded, url)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression. Raises `RuntimeError` if it throws."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait_for(self, script: str) -> Any:
        """The value of a JavaScript expression, as soon as it is true."""
        end = time.monotonic() + TIMEOUT_S
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {script}")
            time.sleep(0.05)
        return value

    def click(self, selector: str) -> None:
        """Click the middle of the first element that `selector` finds."""
        find = f"document.querySelector({json.dumps(selector)})"
        x, y = self.run(
            f"(() => {{ const e = {find}; e.scrollIntoViewIfNeeded(); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def choose(self, selector: str, value: str) -> None:
        """Choose `value` in a select box."""
        self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};"
            " e.dispatchEvent(new Event('change', { bubbles: true })) })()"
        )

    def press(self, key: str) -> None:
        """Press and release a key, as `j` or `ArrowDown`."""
        text = {"text": key} if len(key) == 1 else {"windowsVirtualKeyCode": {"Escape": 27, "Enter": 13}.get(key, 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Save what is in the window, or the whole page, as PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def _until(self, done: Callable[[], bool], what: str) -> None:
        while not done():
            self._read(what)

    def _read(self, what: str = "") -> dict[str, Any]:
        """The next message; events are noted on the way."""
        end = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._events], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(self._events, 1 << 20) if ready else b""
            if not chunk:
                state = "ended" if self._process.poll() is not None else f"was silent for {TIMEOUT_S:g} s"
                raise TimeoutError(f"the browser {state} {what}")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(str([argument.get("value") for argument in params["args"]]))


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are not among the descriptors that the browser's are put at."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 32))
        os.close(end)
    return ends[0], ends[1]
