"""Episodes of a JAX game, many at a time: compiled where all seats are policies, stepwise where players sit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from interplay.errors import IllegalAction
from interplay.games.api import Game
from interplay.play.episodes import CHECK_EVERY, Episode, Remarked
from interplay.play.kinds import group
from interplay.play.lineups import LineUp
from interplay.play.seated import Seated
from interplay.play.stage import Functions, Stage, functions, keys_of

Progress = Callable[[int], None]  # told the number of episodes that have just ended


def rollout(
    game: Game, line_ups: Sequence[LineUp], episodes: int, seed: int, batch: int, progress: Progress | None = None
) -> Iterator[Episode]:
    """Each line-up plays its episodes. Line-ups come in order, and within each its episodes."""
    for part in _parts(line_ups, batch):
        chunks = max(1, -(-len(part) * episodes // batch))
        size = -(-episodes // chunks)  # episodes of every line-up in one chunk
        kept: list[list[Episode]] = [[] for _ in part]
        for first in range(0, episodes, size):
            envs = [line_up for line_up in part for _ in range(size)]
            # The last chunk may overrun: its spare episodes are played, so that shapes stay, and dropped.
            indices = [first + i for _ in part for i in range(size)]
            found = _play(game, envs, indices, seed)
            for number in range(len(part)):
                kept[number] += found[number * size : number * size + min(size, episodes - first)]
            if progress:
                progress(len(part) * min(size, episodes - first))
        for of_line_up in kept:
            yield from of_line_up


def _parts(line_ups: Sequence[LineUp], batch: int) -> Iterator[Sequence[LineUp]]:
    for first in range(0, len(line_ups), batch):
        yield line_ups[first : first + batch]


def _play(game: Game, envs: Sequence[LineUp], indices: Sequence[int], seed: int) -> list[Episode]:
    kinds = group(game, envs)
    compiled = functions(game, kinds)
    arrays, slots = [k.arrays for k in kinds], [k.slots for k in kinds]
    stage, start, check = compiled.begin(keys_of(seed, [e.number for e in envs], indices), arrays, slots)
    checks, actions = [np.asarray(check)], []
    seated = Seated.of(game, envs, seed, indices)
    while not bool(np.all(stage.done)):
        if seated.anyone:
            stage, taken, check = _stepwise(game, compiled, seated, stage, arrays, slots)
        else:
            stage, block = compiled.block(stage, arrays, slots)
            taken, check = np.asarray(block.actions), block.check
        actions.append(taken)
        checks.append(np.asarray(check))
        _refuse_faults(game, envs, indices, stage, taken)
    record = jax.tree_util.tree_map(np.asarray, (stage.length, stage.rewards, stage.terminated, start))
    return _episodes(game, envs, indices, seed, np.concatenate(actions), np.stack(checks), record, seated.remarks)


def _stepwise(game: Game, compiled: Functions, seated: Seated, stage: Stage, arrays: Any, slots: Any) -> tuple:
    """A block of turns, with players asked in each."""
    taken = np.zeros((CHECK_EVERY, stage.done.shape[0], game.num_seats), np.int16)
    for turn in range(CHECK_EVERY):
        if bool(np.all(stage.done)):
            break
        stage, actions = compiled.choose(stage, arrays, slots)
        actions = seated.ask(stage, np.asarray(actions).copy())
        taken[turn] = actions
        stage = compiled.advance(stage, actions)
    return stage, taken, compiled.check(stage.state)


def _refuse_faults(game: Game, envs: Sequence[LineUp], indices: Sequence[int], stage: Stage, taken: np.ndarray) -> None:
    faults = np.argwhere(np.asarray(stage.fault) >= 0)
    if not len(faults):
        return
    env, seat = faults[0]
    t = int(stage.fault[env, seat])
    action = int(taken[t % CHECK_EVERY, env, seat])
    name = game.action_names[action] if 0 <= action < len(game.action_names) else "no action of this game"
    raise IllegalAction(
        f"agent {envs[env].agents[seat].name!r} in seat {seat} of {game.id}, episode {indices[env]}, step {t}: "
        f"chose action {action} ({name}), which is not legal there, or its logits are not numbers; "
        f"a policy must respect the `legal` mask that `act` is given"
    )


def _episodes(
    game: Game,
    envs: Sequence[LineUp],
    indices: Sequence[int],
    seed: int,
    actions: np.ndarray,
    checks: np.ndarray,
    record: tuple,
    remarks: Sequence[Sequence[Remarked]],
) -> list[Episode]:
    lengths, rewards, terminated, start = record
    options = json.loads(json.dumps(dict(game.options)))
    found = []
    for env, line_up in enumerate(envs):
        length = int(lengths[env])
        steps = np.array([*range(0, length, CHECK_EVERY), length], np.int32)
        found.append(
            Episode(
                game_id=game.id,
                options=options,
                rules_version=game.rules_version,
                agents=line_up.identities,
                seed=seed,
                index=indices[env],
                start={name: np.array(value[env]) for name, value in start.items()},
                actions=actions[:length, env].copy(),
                check_steps=steps,
                checks=checks[: len(steps), env].astype(np.uint32),
                rewards=rewards[env].astype(np.float64),
                terminated=bool(terminated[env]),
                events=tuple(remarks[env]),
            )
        )
    return found
