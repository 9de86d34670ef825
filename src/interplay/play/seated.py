"""Players at the table: asked when they are to move, all at once, each with its deadline."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from interplay.agents.api import Move, Policy, Remark, View, refuse_privileged
from interplay.errors import IllegalAction
from interplay.games.api import Game
from interplay.play.episodes import Remarked
from interplay.play.lineups import LineUp


@functools.lru_cache(maxsize=64)
def _show(game: Game, encodings: tuple[str, ...]) -> Any:
    """Compiled: who is to move, what is legal, and what the seats see, for a batch of states."""

    def show(state: Any) -> tuple:
        return game.to_move(state), game.legal(state), {e: game.observe(state, e) for e in encodings}

    return jax.jit(jax.vmap(show))


@dataclass(frozen=True)
class Chair:
    """A player in a seat of one environment."""

    env: int
    seat: int
    name: str
    player: Any
    session: Any


@dataclass(frozen=True)
class Seated:
    """All players of a batch of environments, with what they remark."""

    game: Game
    chairs: list[Chair]
    remarks: list[list[Remarked]]  # by environment

    @classmethod
    def of(cls, game: Game, envs: Sequence[LineUp], seed: int, indices: Sequence[int]) -> Seated:
        chairs = []
        for env, line_up in enumerate(envs):
            for seat, agent in enumerate(line_up.agents):
                if not isinstance(agent.mind, Policy):
                    own_seed = int(
                        np.random.SeedSequence([seed, line_up.number, indices[env], seat]).generate_state(1)[0]
                    )
                    session = agent.mind.begin(game, seat, own_seed)
                    chairs.append(Chair(env, seat, agent.name, agent.mind, session))
        return cls(game, chairs, [[] for _ in envs])

    @property
    def anyone(self) -> bool:
        return bool(self.chairs)

    def ask(self, stage: Any, actions: np.ndarray) -> np.ndarray:
        """The joint actions with every player's own choice put in."""
        done, t = np.asarray(stage.done), int(stage.t)
        encodings = tuple(sorted({c.player.encoding for c in self.chairs}))
        shown = jax.tree_util.tree_map(np.asarray, _show(self.game, encodings)(stage.state))
        turn, legal, views = shown
        asked = [c for c in self.chairs if not done[c.env] and turn[c.env, c.seat]]
        for chair in self.chairs:
            if not done[chair.env] and not turn[chair.env, chair.seat] and hasattr(chair.session, "watch"):
                chair.session.watch(self._view(chair, stage.state, views, legal, t))
        moves = asyncio.run(self._gather(asked, stage.state, views, legal, t))
        for chair, move in zip(asked, moves, strict=True):
            if not (0 <= move.action < legal.shape[-1] and legal[chair.env, chair.seat, move.action]):
                raise self._illegal(chair, move.action, legal[chair.env, chair.seat], t)
            actions[chair.env, chair.seat] = move.action
            for remark in move.remarks:
                seq = sum(r.t == t for r in self.remarks[chair.env])
                told = Remarked(t=t, seq=seq, seat=chair.seat, kind=remark.kind, payload=dict(remark.payload))
                self.remarks[chair.env].append(told)
        return actions

    async def _gather(self, asked: Sequence[Chair], state: Any, views: dict, legal: np.ndarray, t: int) -> list[Move]:
        return await asyncio.gather(*(self._one(c, self._view(c, state, views, legal, t)) for c in asked))

    def _view(self, chair: Chair, state: Any, views: Any, legal: np.ndarray, t: int) -> View:
        observation = jax.tree_util.tree_map(lambda x: x[chair.env, chair.seat], views[chair.player.encoding])

        def own() -> Any:
            """The chair's state, taken out of the batch only for those who ask: it costs more than most decisions."""
            return jax.tree_util.tree_map(lambda x: x[chair.env], state)

        def see(encoding: str) -> Any:
            refuse_privileged(self.game, encoding)
            return jax.tree_util.tree_map(lambda x: np.asarray(x)[chair.seat], self.game.observe(own(), encoding))

        seat = chair.seat
        return View(self.game, seat, t, legal[chair.env, seat], observation, lambda: self.game.render(own(), seat), see)

    async def _one(self, chair: Chair, view: View) -> Move:
        legal = view.legal
        began = time.perf_counter()
        try:
            answer = await asyncio.wait_for(chair.session.act(view), chair.player.deadline_s)
        except TimeoutError:
            default = chair.player.default_action
            action = int(np.argmax(legal)) if default is None or not legal[default] else default
            waited = time.perf_counter() - began
            return Move(action, [Remark("timeout", {"seconds": round(waited, 3), "action": action})])
        return answer if isinstance(answer, Move) else Move(int(answer))

    def _illegal(self, chair: Chair, action: int, legal: np.ndarray, t: int) -> IllegalAction:
        names = [n for n, ok in zip(self.game.action_names, legal, strict=True) if ok]
        return IllegalAction(
            f"player {chair.name!r} in seat {chair.seat} of {self.game.id}, step {t}: action {action} is not legal; "
            f"legal were {', '.join(names)}"
        )
