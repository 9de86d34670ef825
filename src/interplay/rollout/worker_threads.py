"""Threads in which agents that are Python objects think, so that none holds up anything but itself."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from typing import Any

import numpy as np

from interplay.agents.api import Agent, Move
from interplay.games.api import Game
from interplay.rollout.seat import Seat, view_of


class WorkerThread:
    """A thread with an event loop, which does one piece of work after the other."""

    def __init__(self, name: str):
        self._work: queue.SimpleQueue[tuple[Callable[[], Awaitable[Any]], Future] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def submit(self, work: Callable[[], Awaitable[Any]]) -> Future:
        """Do this after all that was submitted before. What is cancelled before its turn is passed over."""
        result: Future = Future()
        self._work.put((work, result))
        return result

    def close(self) -> None:
        """Take no more work. What is under way ends by itself: nobody waits for an agent that hangs."""
        self._work.put(None)

    def _run(self) -> None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        while (item := self._work.get()) is not None:
            work, result = item
            if not result.set_running_or_notify_cancel():
                continue
            try:
                result.set_result(loop.run_until_complete(work()))
            except BaseException as error:
                result.set_exception(error)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


class PlayerWorker:
    """A player in a seat of a live game, in a thread of its own. It is always shown the newest state."""

    def __init__(self, game: Game, agent: Agent, seat: int, key: Any, latched: bool):
        """Seat a player.

        Args:
            game: The game that is played.
            agent: The player.
            seat: The seat's number.
            key: The episode's key.
            latched: In real time, what was chosen late is done late, as with people; in turns it is dropped.
        """
        self._make = lambda: Seat(game, agent, seat, key)  # in the player's own thread: that may take long
        self._game, self._seat_number, self._latched = game, seat, latched
        self._seat: Seat | None = None
        self._thread = WorkerThread(f"{agent.name} in seat {seat}")
        self._last: Future | None = None  # what it was last asked to choose

    def ask(self, state: Any, t: int, legal: np.ndarray, on_turn: bool) -> Future:
        """Show the player a state; the future of its `Move` where it is to move."""
        if on_turn and self._last is not None and not self._last.done():
            if self._latched:
                return self._last
            self._last.cancel()  # has no effect on what is under way
        answer = self._thread.submit(lambda: self._act(state, t, legal, on_turn))
        if on_turn:
            self._last = answer
        return answer

    async def _act(self, state: Any, t: int, legal: np.ndarray, on_turn: bool) -> Move | None:
        if self._seat is None:
            self._seat = self._make()
        if not on_turn and not self._seat.watches:
            return None
        view = view_of(self._game, state, t, self._seat_number, legal, self._seat.encoding)
        return await self._seat.act(view, on_turn)

    def default_action(self, legal: np.ndarray) -> int:
        """What is done where it has not chosen in time."""
        return int(np.argmax(legal)) if self._seat is None else self._seat.default_action(legal)

    def close(self) -> None:
        """The game is over: let the session and the thread end."""
        self._thread.submit(self._close)
        self._thread.close()

    async def _close(self) -> None:
        if self._seat is not None:
            self._seat.close()


def result_now(choice: Move | Future | None) -> Move | None:
    """The move that was chosen by now; None if there is none, or an error in its place."""
    if not isinstance(choice, Future):
        return choice
    return choice.result() if choice.done() and not choice.cancelled() and choice.exception() is None else None


async def wait_for(choices: Iterable[Move | Future | None], timeout: float | None) -> None:
    """Wait until all that are still open are made, or the time is over."""
    waiting = [asyncio.wrap_future(one) for one in choices if isinstance(one, Future) and not one.done()]
    for one in waiting:
        one.add_done_callback(lambda one: one.cancelled() or one.exception())  # whoever needs it looks at the original
    if waiting:
        await asyncio.wait(waiting, timeout=timeout)
