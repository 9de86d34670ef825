"""Live games in plain Python: rules run in one thread for each game, partners think and talk in threads of their own.

People speak whenever they like; a partner hears it at once and may answer. Otherwise a step goes as in `dialogue`: in
seat order, a partner that has nothing left to do thinks and may speak; when everyone else has chosen, it settles.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from interplay.agents.api import Agent, TraceEvent
from interplay.agents.dialogue import Dialogue, DialogueMessage, DialogueObservation
from interplay.games.api import Game
from interplay.rollout.dialogue_runner import DialogueSeats
from interplay.rollout.episode import EpisodeRecorder
from interplay.rollout.live import LiveEngine, LiveTable, PartnerRegistry
from interplay.rollout.python_runner import state_checksum, step_once
from interplay.rollout.seat import START, chance_key
from interplay.rollout.worker_threads import WorkerThread

LOG = logging.getLogger("interplay.live")
TEXT = "text"  # beside a game's encodings: the game as text for a seat


class PythonEngine(LiveEngine):
    """Plays the tables of one game in plain Python with partners who may talk."""

    def __init__(self, game: Game, partners: Mapping[str, Agent | Sequence[Agent]]):
        super().__init__(game, partners)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"live {game.id}")

    def begin(self, table: LiveTable, before: Sequence[Sequence[int]] = ()) -> Future:
        """Deal, and play again the joint actions that were played before."""
        return self._thread.submit(self._open, table, before)

    def step(self, table: LiveTable, actions: np.ndarray, *, until_asked: bool = False) -> Future:
        """Play one joint action; partners who talk begin to think."""
        return self._thread.submit(self._step, table, np.asarray(actions, np.int32))

    def resume(self, table: LiveTable) -> None:
        """Partners hear what was said before, and begin to think."""
        messages = [event for event in table.log.events if event.kind == "message"]
        table.partners.remember([message_of(e.t, e.seat or 0, e.payload) for e in messages])
        if not table.done:
            table.partners.open()

    def ask_partners(self, table: LiveTable) -> None:
        """Everyone else has chosen: partners settle on their actions."""
        table.pending = table.partners.settle()

    def say(self, table: LiveTable, message: DialogueMessage) -> None:
        """A person speaks."""
        table.partners.hear(message)

    def close(self) -> None:
        """Stop the thread; what waits is not played."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    # --- what follows runs in the engine's thread

    def _open(self, table: LiveTable, before: Sequence[Sequence[int]]) -> LiveTable:
        state = self.game.init(chance_key(table.key, START, self.game.num_seats))
        table.recorder = EpisodeRecorder(self.game, state, self.game.start(state), state_checksum(self.game, state))
        table.states = [state]
        self._look(table)
        table.partners = TablePartners(self.game, self.registry, table)
        for actions in before:
            self._advance(table, np.asarray(actions, np.int32))
        self._observe(table)
        return table

    def _step(self, table: LiveTable, actions: np.ndarray) -> LiveTable:
        self._advance(table, actions)
        self._observe(table)
        if not table.done:
            table.partners.open()
        return table

    def _advance(self, table: LiveTable, actions: np.ndarray) -> None:
        assert table.recorder is not None
        before = table.state
        step_once(self.game, table.states, actions, table.key, table.recorder)
        self._look(table)
        if table.watch is not None:
            table.watch(table, before, table.state, actions)

    def _look(self, table: LiveTable) -> None:
        state = table.state = table.states[-1]
        table.legal, table.turn = np.asarray(self.game.legal(state)), np.asarray(self.game.to_move(state))

    def _observe(self, table: LiveTable) -> None:
        if table.encoding is None:
            return
        if table.encoding == TEXT:
            table.observation = [self.game.render(table.state, seat) for seat in range(self.game.num_seats)]
        else:
            table.observation = self.game.observe(table.state, table.encoding)
        if table.observed is not None:
            table.observed(table)


class TablePartners:
    """The partners of one table, in one thread: they think one after the other, as they talk to each other."""

    def __init__(self, game: Game, registry: PartnerRegistry, table: LiveTable):
        self._game, self._table = game, table
        agents = {seat: registry.agent(registry.at(table, seat)) for seat in sorted(table.bots)}
        self._seats = DialogueSeats(game, agents, table.key)
        self._turns = (-1, 0)  # a step, and how many messages were said in it
        self._dialogue = Dialogue(self._seats.talkers, self._observe, lambda seat, event: table.emit(seat, event))
        self._thread = WorkerThread(f"partners at {game.id}")

    def remember(self, messages: Sequence[DialogueMessage]) -> None:
        """Take in what was said before: heard, not answered."""
        for message in messages:
            self._dialogue.deliver([message])

    def open(self) -> None:
        """Begin a step: partners think."""
        t = self._table.t
        if self._seats.talkers:
            self._submit(lambda: self._guarded(self._open(t), "thinking"))

    def hear(self, message: DialogueMessage) -> None:
        """Take in what a person said, and answer."""
        self._submit(lambda: self._guarded(self._converse([message]), "answering"))

    def settle(self) -> dict[int, Future]:
        """Everyone else has chosen: what each partner does, a `Move`."""
        t, futures = self._table.t, {seat: Future() for seat in (*self._seats.talkers, *self._seats.seats)}
        self._submit(lambda: self._settle(t, futures))
        return futures

    def close(self) -> None:
        """The game is over: let the sessions and the thread end."""
        self._submit(self._close)
        self._thread.close()

    async def _close(self) -> None:
        self._seats.close()

    def _submit(self, work: Any) -> None:
        self._thread.submit(work).add_done_callback(_log_error)

    # --- what follows runs in the partners' thread

    async def _guarded(self, work: Any, what: str) -> None:
        """A partner that fails says no more in this step; the game goes on."""
        try:
            await work
        except Exception as error:
            LOG.warning("%s: a partner failed while %s: %s", self._game.id, what, error)
            self._dialogue.take_events()
            payload = {"error": type(error).__name__, "message": str(error)[:500]}
            self._table.emit(None, TraceEvent("partner_error", payload))

    async def _open(self, t: int) -> None:
        for seat in self._seats.talkers:
            if self._table.t != t or self._table.done:
                return  # the game did not wait
            await self._converse(await self._dialogue.first_words(seat))

    async def _converse(self, messages: Sequence[DialogueMessage]) -> None:
        t = self._table.t
        turns = self._turns[1] if self._turns[0] == t else 0
        self._turns = (t, await self._dialogue.converse(messages, self._seats.turn_cap, turns))

    async def _settle(self, t: int, futures: dict[int, Future]) -> None:
        for seat, future in sorted(futures.items()):
            if self._table.t != t or self._table.done:
                future.cancel()
                continue
            try:
                future.set_result(await self._seats.move(self._dialogue, seat, self._table.states[t], t))
            except asyncio.CancelledError:
                raise
            except Exception as error:
                LOG.warning("%s: a partner failed while settling: %s", self._game.id, error)
                future.set_exception(error)

    def _observe(self, seat: int) -> DialogueObservation:
        t = self._table.t
        return self._seats.observation(seat, self._table.states[: t + 1], self._table.actions[:t])


def message_of(t: int, seat: int, payload: Mapping[str, Any]) -> DialogueMessage:
    """A message from the event that stands for it."""
    to, turn = payload.get("to"), payload.get("turn", 0)
    return DialogueMessage(t=t, sender=seat, to=to, text=payload["text"], units=payload.get("units", ()), turn=turn)


def _log_error(future: Future) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        LOG.error("partners failed", exc_info=error)
