"""Drafts of episodes: what a source says, replayed under our rules, compared, and given its checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from interplay.agents.api import Identity
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.rollout.episode import CHECK_EVERY, Episode, RecordedEvent
from interplay.table import plain
from interplay.traces.importers.registry import LeftOut
from interplay.traces.replay import Replay, game_key, game_of, replay_unchecked
from interplay.traces.replay_comparison import compare

CHUNK = 256  # games replayed at once


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A game as its source records it."""

    where: str  # in the source, for messages
    episode: Episode  # checksums, rewards and the end are still to come
    score: float | None = None  # what the source says, if it does


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A draft that replays as its source says."""

    draft: Draft
    episode: Episode
    replay: Replay


def draft_episode(
    game: Any, agents: tuple[Identity, ...], start: dict[str, Any], actions: Any, *, seed: int = 0, index: int = 0
) -> Episode:
    """An episode without what replay will tell: checksums, rewards, the end."""
    return Episode(
        game_id=game.id,
        options=dict(game.options),
        rules_version=game.rules_version,
        agents=agents,
        seed=seed,
        index=index,
        start={name: np.asarray(value) for name, value in start.items()},
        actions=np.asarray(actions, np.int16).reshape(-1, game.num_seats),
        check_steps=np.zeros(0, np.int32),
        checks=np.zeros(0, np.uint32),
        rewards=np.zeros(game.num_seats),
        terminated=False,
    )


def drafted(where: str, draft: Callable[..., Draft], *arguments: Any) -> Draft | LeftOut:
    """The draft that a function makes of a game, or why there is none."""
    try:
        return draft(*arguments)
    except InterplayError as error:
        return LeftOut(where, str(error))


def recorded(name: str, **config: Any) -> Identity:
    """Whoever sat in a seat of a recording. There is no program to hash, so the hash stands for what is known."""
    known = json.dumps([name, plain(config)], sort_keys=True)
    return Identity(name, hashlib.sha256(f"recorded {known}".encode()).hexdigest()[:16], False, config)


def remark(episode: Episode, *remarks: RecordedEvent) -> Episode:
    """The episode with these remarks, in order of time, numbered within each step."""
    ordered = sorted([*episode.events, *remarks], key=lambda e: e.t)
    seen: dict[int, int] = {}
    numbered = []
    for event in ordered:
        numbered.append(replace(event, seq=seen.get(event.t, 0)))
        seen[event.t] = numbered[-1].seq + 1
    return replace(episode, events=tuple(numbered))


def settle(drafts: Iterable[Draft | LeftOut]) -> Iterator[Settled | LeftOut]:
    """Play drafts again, in their order. One that our rules or its own score contradict is left out."""
    remaining = iter(drafts)
    while chunk := list(islice(remaining, CHUNK)):
        results: list[Settled | LeftOut | None] = [d if isinstance(d, LeftOut) else None for d in chunk]
        groups: dict[tuple[str, str], list[tuple[int, Draft]]] = {}
        for place, draft in enumerate(chunk):
            if isinstance(draft, Draft):
                groups.setdefault(game_key(draft.episode), []).append((place, draft))
        for group in groups.values():
            game = game_of(group[0][1].episode)
            replays = replay_unchecked(game, [draft.episode for _, draft in group], CHUNK)
            for (place, draft), (_, replayed) in zip(group, replays, strict=True):
                results[place] = _settle_one(game, draft, replayed)
        yield from (item for item in results if item is not None)


def _settle_one(game: Game, draft: Draft, replay: Replay) -> Settled | LeftOut:
    length = draft.episode.length
    at = np.unique([*range(0, length, CHECK_EVERY), length]).astype(np.int32)
    rewards = np.asarray(replay.steps.reward, np.float64).reshape(length, game.num_seats).sum(axis=0)
    episode = replace(
        draft.episode,
        check_steps=at,
        checks=np.asarray(replay.checks)[at],
        rewards=rewards,
        terminated=bool(np.asarray(replay.steps.terminated)[-1:].any()),
    )
    problems = compare(game, episode, replay)
    if problems:
        return LeftOut(draft.where, _why_illegal(game, episode, replay) or str(problems[0]))
    if draft.score is not None and episode.score != draft.score:
        return LeftOut(draft.where, f"the source says {draft.score:g} points, the replay gives {episode.score:g}")
    return Settled(draft=draft, episode=episode, replay=replay)


def _why_illegal(game: Game, episode: Episode, replay: Replay) -> str | None:
    """The game's own words on the first move that it forbids, where it has some."""
    illegal = np.argwhere(~replay.legal)
    if not illegal.size or not hasattr(game, "checked_step"):
        return None
    t = int(illegal[0, 0])
    try:
        game.checked_step(replay.state(t), np.asarray(episode.actions[t]))  # type: ignore[attr-defined]
    except InterplayError as error:
        return str(error)
    return None
