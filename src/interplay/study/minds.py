"""Partners that are Python objects: each thinks in a thread of its own, so that none holds up anything but itself."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.agents.api import Agent, Move, TraceEvent, View, refuse_privileged
from interplay.errors import InterplayError
from interplay.games.api import Game

LOG = logging.getLogger("interplay.study")


class Choice(NamedTuple):
    """What a partner does, and what it remarks."""

    action: int
    remarks: Sequence[TraceEvent] = ()


class Mind:
    """A thread with an event loop, which does one piece of work after the other."""

    def __init__(self, name: str):
        self._loop = asyncio.new_event_loop()
        self._work: queue.SimpleQueue[tuple[Callable[[], Awaitable[Any]], Future] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"mind {name}", daemon=True)
        self._thread.start()

    def ask(self, work: Callable[[], Awaitable[Any]]) -> Future:
        """Do this after all that was asked before. One that is cancelled before its turn is passed over."""
        told: Future = Future()
        self._work.put((work, told))
        return told

    def close(self) -> None:
        """No more work. Whatever is under way ends by itself: nobody waits for a partner that hangs."""
        self._work.put(None)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while (held := self._work.get()) is not None:
            work, told = held
            if not told.set_running_or_notify_cancel():
                continue
            try:
                told.set_result(self._loop.run_until_complete(work()))
            except BaseException as error:
                told.set_exception(error)
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


class PlayerSeat:
    """A player in a seat of a compiled game. In its turn it is shown the newest state, whatever it has missed.

    `latched`: in real time, what was chosen late is done late, as with people; in turns it is done with."""

    def __init__(self, game: Game, agent: Agent, seat: int, seed: int, latched: bool = False):
        self.game, self.agent, self.seat = game, agent, seat
        self._player: Any = agent.policy
        self._seed = seed
        self._session: Any = None  # begun in the player's own thread: that may take long
        self._mind = Mind(f"{agent.name} in seat {seat}")
        self._latched = latched
        self._last: Future | None = None  # what it was last asked to choose

    def ask(self, state: Any, t: int, legal: np.ndarray, turn: bool) -> Future:
        """A `Choice`; off turn there is none, but one that watches is shown the state."""
        if not turn:
            return self._mind.ask(lambda: self._watch(state, t, legal))
        if self._last is not None and not self._last.done():
            if self._latched:
                return self._last
            self._last.cancel()  # has no effect on what is under way
        self._last = self._mind.ask(lambda: self._act(state, t, legal))
        return self._last

    def default(self, legal: np.ndarray) -> int:
        """What is done where it has not chosen in time."""
        wanted = self._player.default_action
        return int(wanted) if wanted is not None and legal[wanted] else int(np.argmax(legal))

    def close(self) -> None:
        self._mind.close()

    async def _act(self, state: Any, t: int, legal: np.ndarray) -> Choice:
        answer = await self._begun().act(self._view(state, t, legal))
        move = answer if isinstance(answer, Move) else Move(int(answer))
        if not (0 <= move.action < len(legal) and legal[move.action]):
            raise InterplayError(f"{self.agent.name!r} in seat {self.seat}, step {t}: action {move.action} is illegal")
        return Choice(move.action, tuple(move.events))

    async def _watch(self, state: Any, t: int, legal: np.ndarray) -> None:
        if hasattr(self._begun(), "watch"):
            self._session.watch(self._view(state, t, legal))

    def _begun(self) -> Any:
        if self._session is None:
            self._session = self._player.begin(self.game, self.seat, self._seed)
        return self._session

    def _view(self, state: Any, t: int, legal: np.ndarray) -> View:
        game, seat = self.game, self.seat

        def see(encoding: str) -> Any:
            if encoding != self._player.encoding:
                refuse_privileged(game, encoding)
            return jax.tree_util.tree_map(lambda x: np.asarray(x)[seat], game.observe(state, encoding))

        return View(game, seat, t, legal, see(self._player.encoding), lambda: game.render(state, seat), see)


def chosen(found: Future | None) -> Choice | None:
    """What was chosen by now, if anything was."""
    if found is None or not found.done() or found.cancelled() or found.exception() is not None:
        return None
    return found.result()


async def wait_for(told: Iterable[Future], timeout: float | None) -> None:
    """Until all of these are there, or the time is over."""
    held = [asyncio.wrap_future(found) for found in told if not found.done()]
    for one in held:
        one.add_done_callback(lambda one: one.cancelled() or one.exception())  # whoever needs it looks at the original
    if held:
        await asyncio.wait(held, timeout=timeout)
