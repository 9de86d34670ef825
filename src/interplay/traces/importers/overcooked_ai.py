"""The human-human games of overcooked_ai as episodes.

The source is the package's source archive, a folder that holds its pickles, or one of these. Every game is replayed
under our rules, and one whose replay does not reach the recorded score is refused.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.agents.api import Identity
from interplay.errors import InterplayError, TraceError
from interplay.games.checksum import checksum
from interplay.games.overcooked import layouts
from interplay.games.overcooked.human import HumanGame, human_games
from interplay.games.overcooked.state import INTERACT, MOVES, STAY
from interplay.games.registry import make
from interplay.rollout.episode import CHECK_EVERY, Episode
from interplay.traces.importers.pickled_tables import find_pickles, read_frame

PICKLES = ("*trials*.pickle", "*trials*.pkl")
GROUP = ("workerid_num", "layout_name", "run", "round_num")  # these tell the games of a table apart
COLUMNS = (*GROUP, "cur_gameloop", "state", "joint_action", "layout", "score")
POINTS = 4  # a soup scored 5 in these files, and 20 by today's count
DIRECTIONS = {move: action for action, move in enumerate(MOVES[:STAY])}
SOURCE = "overcooked_ai, human-human, 2019"


class Row(NamedTuple):
    """Where something stands, for errors."""

    file: str
    index: Any

    def error(self, column: str, problem: str) -> TraceError:
        """Return an error that names this place."""
        return TraceError(f"{self.file}: row {self.index}, column {column!r}: {problem}")


def import_overcooked_ai(source: str | Path) -> list[Episode]:
    """Episodes of all games in a source: the .tar.gz of overcooked-ai, a folder with its pickles, or one pickle."""
    return to_episodes(read_games(source), str(source))


def human_episodes() -> list[Episode]:
    """The 76 human-human games that come with interplay, as episodes."""
    return to_episodes(human_games(), "the shipped human games")


def read_games(source: str | Path) -> list[HumanGame]:
    """All games in a source, by layout and pair, without repeats."""
    by_key: dict[tuple[Any, ...], tuple[str, HumanGame]] = {}
    for name, data in find_pickles(source, PICKLES):
        for key, game in _games_of(name, read_frame(name, data)):
            file, before = by_key.setdefault(key, (name, game))
            if before != game:
                where = ", ".join(f"{column} {value}" for column, value in zip(GROUP, key, strict=True))
                raise TraceError(f"{name}: the game of {where} is also in {file}, but differs there")
    return sorted((game for _, game in by_key.values()), key=lambda game: (game.layout, game.pair))


def _games_of(file: str, frame: Any) -> Iterable[tuple[tuple[Any, ...], HumanGame]]:
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise TraceError(
            f"{file}: no column {', '.join(map(repr, missing))}; a table of games has {', '.join(COLUMNS)}"
        )
    for key, rows in frame.groupby(list(GROUP), sort=True):
        yield key, _game(file, key, rows.sort_values("cur_gameloop"))


def _game(file: str, key: tuple[Any, ...], rows: Any) -> HumanGame:
    places = [Row(file, index) for index in rows.index]
    loops = rows["cur_gameloop"].to_numpy()
    broken = np.flatnonzero(loops != np.arange(len(loops)))
    if broken.size:
        at = int(broken[0])
        raise places[at].error("cur_gameloop", f"{loops[at]:g} where {at} should follow: steps are missing or repeated")
    positions, facing = _start(places[0], rows["state"].iloc[0])
    layout, grid = _layout(places[0], str(key[1]), rows["layout"].iloc[0])
    actions = [_joint(place, cell) for place, cell in zip(places, rows["joint_action"], strict=True)]
    score = rows["score"].iloc[-1]
    if not isinstance(score, int | float | np.number) or not np.isfinite(score):
        raise places[-1].error("score", f"{score!r} is not a number")
    return HumanGame(
        layout=layout,
        pair=hashlib.sha256(f"overcooked_ai worker {key[0]}".encode()).hexdigest()[:16],
        positions=positions,
        facing=facing,
        actions=np.array(actions, np.int8),
        score=float(score) * POINTS,
        grid=grid,
    )


def _literal(place: Row, column: str, cell: Any) -> Any:
    """A cell's value: these files keep Python values as text, which is parsed and never run."""
    if not isinstance(cell, str):
        return cell
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise place.error(column, f"cannot be read: {str(error).splitlines()[0]}") from error


def _joint(place: Row, cell: Any) -> tuple[int, int]:
    try:
        return _read_joint(cell) if isinstance(cell, str) else _actions(cell)
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as error:
        moves = ", ".join(str(list(move)) for move in MOVES[: STAY + 1])
        raise place.error("joint_action", f"{cell!r} is not two actions, each 'INTERACT' or one of {moves}") from error


@cache
def _read_joint(text: str) -> tuple[int, int]:
    return _actions(ast.literal_eval(text))


def _actions(value: Any) -> tuple[int, int]:
    one, two = value
    return _action(one), _action(two)


def _action(value: Any) -> int:
    if isinstance(value, str):
        return {"INTERACT": INTERACT}[value.upper()]
    return STAY if tuple(value) == (0, 0) else DIRECTIONS[tuple(value)]


def _start(place: Row, cell: Any) -> tuple[np.ndarray, np.ndarray]:
    """Where the chefs stand and face in the first state, which must be an empty kitchen."""
    state = _literal(place, "state", cell)
    try:
        players, objects = state["players"], state["objects"]
        positions = np.array([player["position"] for player in players], np.int8)
        facing = np.array([DIRECTIONS[tuple(player["orientation"])] for player in players], np.int8)
        objects_held = [player.get("held_object") for player in players]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise place.error("state", f"has no players with a position and an orientation ({error})") from error
    if positions.shape != (2, 2):
        raise place.error("state", f"{len(positions)} chefs with positions {positions.tolist()}; two are expected")
    if objects or any(objects_held):
        raise place.error("state", "the game does not begin with an empty kitchen and empty hands")
    return positions, facing


def _layout(place: Row, name: str, cell: Any) -> tuple[str, str | None]:
    """Our name of the kitchen; if its grid is not the one that we know under this name, the grid too."""
    rows = _literal(place, "layout", cell)
    text = rows if isinstance(rows, str) else "/".join(map(str, rows)) if isinstance(rows, list | tuple) else None
    if text is None:
        raise place.error("layout", f"{cell!r} is not a list of rows")
    try:
        drawn = layouts.parse(text, f"the layout {name}")
    except InterplayError as error:
        raise place.error("layout", str(error)) from error
    ours = layouts.ALIASES.get(name, name)
    if ours in layouts.ONE_RECIPE and layouts.parse(layouts.ONE_RECIPE[ours]).rows == drawn.rows:
        return ours, None  # start places may differ: they are taken from the first state
    return "custom", drawn.text


def to_episodes(games: Sequence[HumanGame], source: str) -> list[Episode]:
    """Games as episodes, with checksums and credited points from their replay."""
    groups: dict[tuple[str, str | None], list[int]] = {}
    for i, game in enumerate(games):
        groups.setdefault((game.layout, game.grid), []).append(i)
    episodes: dict[int, Episode] = {}
    for members in groups.values():
        replayed = _replay([games[i] for i in members], source)
        episodes |= {i: _episode(games[i], index, *replayed[index]) for index, i in enumerate(members)}
    return [episodes[i] for i in range(len(games))]


def _replay(games: list[HumanGame], source: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """(checksums [step + 1], rewards [step, seat]) of games in one kitchen, played side by side."""
    longest = max(game.length for game in games)
    options = {"layout": games[0].grid} if games[0].grid else {}
    kitchen = make(games[0].game_id, horizon=longest, **options)
    actions = np.full((len(games), longest, 2), STAY, np.int32)
    for row, game in zip(actions, games, strict=True):
        row[: game.length] = game.actions
    key = jax.random.key(0)

    def play(start: dict[str, Any], moves: Any) -> Any:
        def advance(state: Any, joint: Any) -> Any:
            after, step = kitchen.step(state, joint, key)
            return after, (checksum(after), step.reward)

        first = kitchen.init(key, **start)
        return checksum(first), jax.lax.scan(advance, first, moves)[1]

    for game in games:
        kitchen.init(key, **game.start)  # concrete start places are checked, traced ones are not
    starts = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *[game.start for game in games])
    first, (checks, rewards) = jax.tree_util.tree_map(np.asarray, jax.jit(jax.vmap(play))(starts, actions))
    replayed = []
    for i, game in enumerate(games):
        points = rewards[i, : game.length].astype(np.float64)
        if points.sum() != game.score:
            raise TraceError(
                f"{source}: a game on {game.layout} by the pair {game.pair} is recorded with {game.score:g} points, "
                f"its replay gives {points.sum():g}; it was played under other rules"
            )
        replayed.append((np.concatenate([first[i : i + 1], checks[i, : game.length]]), points))
    return replayed


def _episode(game: HumanGame, index: int, checks: np.ndarray, points: np.ndarray) -> Episode:
    steps = np.array(sorted({*range(0, game.length, CHECK_EVERY), game.length}), np.int32)
    people = {"pair": game.pair, "source": SOURCE}
    return Episode(
        game_id=game.game_id,
        options=game.options,
        rules_version=make(game.game_id, **game.options).rules_version,
        agents=tuple(Identity("human", game.pair, False, people) for _ in range(2)),
        seed=0,
        index=index,
        start=game.start,
        actions=game.actions.astype(np.int16),
        check_steps=steps,
        checks=checks[steps].astype(np.uint32),
        rewards=points.sum(axis=0),
        terminated=False,
    )
