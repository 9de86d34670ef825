"""The data sets of the ad-hoc human-AI coordination challenge (AH2AC2): games of people on hanab.live.

A safetensors file with `game_ids` [game], `scores` [game], `decks` [game, 50, 2] of (colour, rank - 1) with the top
card first, `actions` [game, step, seat] padded with the no-op, `num_actions` [game] and `num_players`. Moves are
numbered as ours are, and every seat that is not to move holds the no-op.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from interplay.errors import InterplayError, TraceError
from interplay.games.hanabi.game import Hanabi
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.traces.importers.episode_drafts import Draft, Settled, draft_episode, drafted, recorded, remark, settle
from interplay.traces.importers.hanabi_games import deck_array, hanabi
from interplay.traces.importers.registry import LeftOut
from interplay.untrusted_files import read_safetensors

ARRAYS = ("game_ids", "scores", "decks", "actions", "num_actions", "num_players")
HUMAN = "human"


def import_ah2ac2(source: str | os.PathLike[str]) -> Iterator[Episode | LeftOut]:
    """The games of a file. One whose team kept its points after the third bomb carries the option that says so."""
    path = Path(source)
    arrays = _load(path)
    game = hanabi(int(arrays["num_players"].reshape(-1)[0]))
    keeping_points = hanabi(game.num_seats, bomb="keep")
    for item in settle(_drafts(game, arrays, path.name)):
        if isinstance(item, Settled):
            draft, score = item.draft, item.episode.events[0].payload["score"]
            if item.episode.score != score:
                kept = replace(draft.episode, options=dict(keeping_points.options))
                (item,) = settle([replace(draft, episode=kept, score=score)])
        yield item.episode if isinstance(item, Settled) else item


def _load(path: Path) -> dict[str, np.ndarray]:
    try:
        arrays = read_safetensors(path).arrays
    except InterplayError as error:
        raise TraceError(f"{error}; it may be cut short: fetch it again") from None
    missing = [name for name in ARRAYS if name not in arrays]
    if missing:
        raise TraceError(f"{path} has no {' and no '.join(missing)}; it has {', '.join(sorted(arrays))}")
    for name in ARRAYS:
        numbers = arrays[name].dtype.kind in "iuf" and np.isfinite(arrays[name]).all()
        if not numbers or not np.array_equal(arrays[name], np.round(arrays[name])):
            raise TraceError(f"{path}: {name} holds {arrays[name].dtype}, not whole numbers")
        if arrays[name].dtype.kind == "f":
            arrays[name] = arrays[name].astype(np.int64)
    _check_shapes(path, arrays)
    return arrays


def _check_shapes(path: Path, arrays: dict[str, np.ndarray]) -> None:
    if arrays["num_players"].size != 1:
        raise TraceError(f"{path}: num_players is one number; here its shape is {arrays['num_players'].shape}")
    players, games = int(arrays["num_players"].reshape(-1)[0]), len(np.atleast_1d(arrays["game_ids"]))
    steps = arrays["actions"].shape[1] if arrays["actions"].ndim == 3 else "step"
    wanted = {
        "game_ids": (games,), "scores": (games,), "num_actions": (games,),
        "decks": (games, 50, 2), "actions": (games, steps, players),
    }  # fmt: skip
    for name, shape in wanted.items():
        if arrays[name].shape != shape:
            expected = f"[{', '.join(map(str, shape))}]"
            raise TraceError(
                f"{path}: {name} has the shape {list(arrays[name].shape)}; with {games} games of {players} players it "
                f"must be {expected}"
            )


def _drafts(game: Hanabi, arrays: dict[str, np.ndarray], file: str) -> Iterator[Draft | LeftOut]:
    for index, number in enumerate(arrays["game_ids"].tolist()):
        where = f"{file}, game {index} (id {number})"
        yield drafted(where, _draft, game, arrays, where, index)


def _draft(game: Hanabi, arrays: dict[str, np.ndarray], where: str, index: int) -> Draft:
    rules, length, moves = game.rules, int(arrays["num_actions"][index]), arrays["actions"][index]
    if not 0 <= length <= len(moves):
        raise InterplayError(f"num_actions is {length}, but there is room for 0 to {len(moves)}")
    deck = deck_array(rules, arrays["decks"][index])
    played, rest = moves[:length], moves[length:]
    noop, turns = rules.moves.noop, np.arange(length)
    if rest.size and not (rest == noop).all():
        raise InterplayError(f"num_actions is {length}, but step {length + _first(rest != noop)} holds a move")
    if played.size and (played.min() < 0 or played.max() > noop):
        at = _first((played < 0) | (played > noop))
        raise InterplayError(f"step {at} holds the moves {played[at].tolist()}; they run from 0 to {noop}")
    on_turn = np.zeros(played.shape, bool)
    on_turn[turns, turns % rules.players] = True
    wrong = (played == noop) == on_turn
    if wrong.any():
        at = _first(wrong)
        raise InterplayError(
            f"step {at} holds the moves {played[at].tolist()}; it is seat {at % rules.players}'s turn, and the others "
            f"hold the no-op, {noop}"
        )
    agents = (recorded(HUMAN, data="AH2AC2"),) * rules.players
    episode = draft_episode(game, agents, {"deck": deck}, played, index=index)
    source = {"game": int(arrays["game_ids"][index]), "score": int(arrays["scores"][index])}
    return Draft(
        where=where, episode=remark(episode, RecordedEvent(t=0, seq=0, seat=None, kind="source", payload=source))
    )


def _first(wrong: np.ndarray) -> int:
    return int(np.argmax(wrong.reshape(len(wrong), -1).any(axis=1)))
