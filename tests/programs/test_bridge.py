import asyncio
import contextvars
import os
import signal
import threading

import dspy
import pytest

from programs.bridge import background_loop, run_sync

COLOR: contextvars.ContextVar[str] = contextvars.ContextVar("color", default="none")


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_result_and_exception_come_back():
    assert run_sync(double(21)) == 42

    async def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        run_sync(fail())


def test_it_runs_in_the_callers_context_on_one_loop():
    async def look():
        return COLOR.get(), dspy.settings.get("mark"), asyncio.get_running_loop()

    token = COLOR.set("red")
    with dspy.context(mark=7):
        color, mark, loop = run_sync(look())
    COLOR.reset(token)
    assert (color, mark) == ("red", 7)
    assert loop is background_loop()


def test_it_works_inside_a_running_loop():
    async def notebook_cell():
        return run_sync(double(4))

    assert asyncio.run(notebook_cell()) == 8


def test_on_the_background_loop_itself_it_raises_instead_of_waiting_for_ever():
    async def inside():
        return run_sync(double(1))

    with pytest.raises(RuntimeError, match="use `await program.acall"):
        run_sync(inside())


def test_ctrl_c_cancels_and_waits_for_the_cleaning_up():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have switched off
    seen = []

    async def long():
        try:
            seen.append("started")
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            seen.append("cleaned up")

    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        run_sync(long())
    assert seen == ["started", "cleaned up"]


def test_many_threads_share_the_loop():
    results = {}

    def work(number: int) -> None:
        results[number] = run_sync(double(number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: 2 * number for number in range(20)}
