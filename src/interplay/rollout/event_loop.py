"""Run coroutines of players from plain Python, whether or not an event loop is running here (as in notebooks)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    All players of a process share one event loop in a thread of its own, so that connections that a player holds stay
    valid from call to call, and so that this works where an event loop is running already.
    """
    if threading.current_thread().name == _NAME:
        raise RuntimeError("run() was called from within a player; await the coroutine instead")
    future = asyncio.run_coroutine_threadsafe(work, _shared_loop())
    try:
        return future.result()
    except BaseException:  # an interrupt reaches the waiting thread: call the work off
        future.cancel()
        raise


_NAME = "interplay players"


def _shared_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name=_NAME, daemon=True).start()
        return _loop


def finish(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing; no event loop is needed."""
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value
    work.close()
    raise RuntimeError("this coroutine waits for something: run it in an event loop")
