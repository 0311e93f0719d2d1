"""Running async programs from synchronous code, also inside a notebook.

There is *one* background event loop for the whole process, so that connection pools live as long as it does and
are shared by all programs. A coroutine is run there in a copy of the caller's context, which is what makes
`dspy.context(...)`, traces and callbacks work as if it had run in place. `asyncio.run` would fail inside a
running loop and would open new connections for each call.
"""

import asyncio
import contextvars
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _forget_loop() -> None:
    global _loop
    _loop = None


if hasattr(os, "register_at_fork"):
    # A forked child has the loop but not the thread that runs it.
    os.register_at_fork(after_in_child=_forget_loop)


def background_loop() -> asyncio.AbstractEventLoop:
    """The process's background event loop, started when it is first needed."""
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="demur-loop", daemon=True).start()
        return _loop


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run `coroutine` on the background loop, in the caller's context, and return its result.

    Ctrl-C while waiting cancels the coroutine and waits until it has cleaned up.

    Raises:
        RuntimeError: if called on the background loop itself, where waiting would never end.
    """
    loop = background_loop()
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is loop:
        coroutine.close()
        raise RuntimeError("a program was called synchronously inside a program; use `await program.acall(...)` there")

    context = contextvars.copy_context()
    result: Future[T] = Future()
    task: asyncio.Task[T] | None = None

    def settle(task: asyncio.Task[T]) -> None:
        if task.cancelled():
            result.cancel()
            result.set_running_or_notify_cancel()  # or `wait` below would not take it for done
        elif error := task.exception():
            result.set_exception(error)
        else:
            result.set_result(task.result())

    def start() -> None:
        nonlocal task
        task = loop.create_task(coroutine, context=context)
        task.add_done_callback(settle)

    loop.call_soon_threadsafe(start)
    try:
        return result.result()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(lambda: task is not None and task.cancel())
        wait([result])
        raise
