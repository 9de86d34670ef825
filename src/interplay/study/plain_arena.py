"""Where games that are plain Python are played, in turns: a table steps when everyone at it has chosen.

The rules run in one thread for each game, partners think in threads of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from interplay.agents.api import Agent, Identity
from interplay.agents.dialogue import Message
from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.games.checksum import checksum
from interplay.rollout.episode import CHECK_EVERY
from interplay.study.parlour import Parlour
from interplay.study.seats import Cast, Table, key_of


class PlainArena:
    """Plays one game of plain Python with some partners, who may talk. As `Arena` is used, so is this."""

    def __init__(self, game: Game, partners: Mapping[str, str | Agent | Sequence[Agent]]):
        if is_jax(game) or not game.replayable:
            raise InterplayError(f"{game.id} cannot be played here: its rules are compiled, or cannot be replayed")
        self.game, self.cast = game, Cast(game, partners)
        self.cast.try_out(game)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"arena {game.id}")

    def begin(self, table: Table, before: Sequence[Sequence[int]] = ()) -> Future:
        return self._thread.submit(self._open, table, before)

    def awake(self, table: Table) -> None:
        """All that happened before is known: partners hear what was said, and begin to think."""
        said = [remark for remark in table.remarks if remark.kind == "message"]
        table.talk.remember([message_of(r.t, r.seat or 0, r.payload) for r in said])
        if not table.done:
            table.talk.open()

    def step(self, table: Table, joint: np.ndarray) -> Future:
        return self._thread.submit(self._step, table, np.asarray(joint, np.int32))

    def settle(self, table: Table) -> None:
        table.pending = table.talk.settle()

    def say(self, table: Table, message: Message) -> None:
        """A person speaks."""
        table.talk.hear(message)

    def identity(self, table: Table, seat: int) -> Identity:
        return self.cast.identities[self.cast.who(table, seat)]

    def in_time(self, table: Table, seat: int) -> bool:
        return False

    def default(self, table: Table, seat: int) -> int:
        return int(np.argmax(table.legal[seat]))

    def warm(self) -> None:
        """Nothing here is compiled."""

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _open(self, table: Table, before: Sequence[Sequence[int]]) -> Table:
        state = self.game.init(key_of(table.chance, 0))
        table.start = {name: np.array(value) for name, value in self.game.start(state).items()}
        table.states, table.rewards = [state], np.zeros(self.game.num_seats)
        self._look(table)
        table.check_steps, table.checks = [0], [table.check]
        table.talk = Parlour(self.game, self.cast, table)
        for joint in before:
            self._advance(table, np.asarray(joint, np.int32))
        return table

    def _step(self, table: Table, joint: np.ndarray) -> Table:
        self._advance(table, joint)
        if not table.done:
            table.talk.open()
        return table

    def _advance(self, table: Table, joint: np.ndarray) -> None:
        before = table.state
        after, told = self.game.step(before, joint, key_of(table.chance, table.t + 1))  # pyright: ignore[reportArgumentType]
        table.states.append(after)  # before the action: partners take the state of as many actions as there are
        table.actions.append(joint.astype(np.int16))
        table.rewards = table.rewards + np.asarray(told.reward, np.float64)
        table.terminated = bool(told.terminated)
        table.done = table.terminated or bool(told.truncated) or table.t >= self.game.horizon
        self._look(table)
        table.checked(CHECK_EVERY)
        if table.watch is not None:
            table.watch(table, before, after, joint)

    def _look(self, table: Table) -> None:
        state = table.state = table.states[-1]
        table.legal, table.turn = np.asarray(self.game.legal(state)), np.asarray(self.game.to_move(state))
        own: Any = getattr(self.game, "checksum", None)
        table.check = int(own(state) if own else checksum(state))


def message_of(t: int, seat: int, payload: Mapping[str, Any]) -> Message:
    """A message from the remark that stands for it."""
    to, turn = payload.get("to"), payload.get("turn", 0)
    return Message(t=t, sender=seat, to=to, text=payload["text"], units=payload.get("units", ()), turn=turn)
