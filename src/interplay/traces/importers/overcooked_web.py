"""Rounds of web studies of the overcooked-demo family as episodes: one JSON file a round.

A file is named `D_M_YYYY_h_m_s_human=SEAT.json`. Read are the layout (`mdp_params`), the first state, all joint
actions, the rewards, and where the chefs stood; every other field of a file, and so whatever a study stored of its
people, is dropped unread. Times of day are used to order rounds and are not kept.

Who the partner was is not in the files. A table `partners.csv` in the folder (or the one given) says it: columns `file`
and `partner`, and `person` if one took part in several rounds. Persons are kept as a hash. Without a table the partner
is called `partner`, and the files of one folder are taken for one person's.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.errors import InterplayError, TraceError
from interplay.games.overcooked import layouts
from interplay.games.overcooked.state import ACTIONS, MOVES, STAY
from interplay.games.registry import make
from interplay.rollout.episode import Episode
from interplay.traces.importers.episode_drafts import Draft, Settled, draft_episode, drafted, recorded, settle
from interplay.traces.importers.registry import LeftOut
from interplay.untrusted_files import MiB, read_json, read_text

NAME = re.compile(r"(\d+)_(\d+)_(\d+)_(\d+)_(\d+)_(\d+)_human=(\d)\.json")
TABLE = "partners.csv"
COLUMNS = ("file", "partner", "person")
SIZE = 64 * MiB  # of one round
MOST_STEPS = 100_000
NUM_ACTIONS = len(ACTIONS)  # theirs have our order: north, south, east, west, stay, interact
HORIZON, ROUND_UP = 400, 400  # longer rounds get a horizon that is a multiple of this, so that few games are made
SOURCE = "overcooked-demo, human-agent"


class RoundError(InterplayError):
    """A file is no round of this format, or one that our rules do not know."""


class WebRound(NamedTuple):
    """A round as its file records it.

    Attributes:
        file: The path within the folder.
        when: Time of its beginning, to order rounds by.
        layout: Our name of the kitchen.
        options: The game's options.
        seat: The person's seat.
        positions: [step + 1, chef, 2] where the chefs stood.
        facing: [chef] of the first state.
        actions: [step, chef] in our numbers.
        score: The points of the round.
    """

    file: str
    when: tuple[int, ...]
    layout: str
    options: dict[str, Any]
    seat: int
    positions: np.ndarray
    facing: np.ndarray
    actions: np.ndarray
    score: float


def import_overcooked_web(source: str | Path, *, partners: str | Path | None = None) -> Iterator[Episode | LeftOut]:
    """Yield an episode for every round in a folder (with its subfolders), or in one file.

    Args:
        source: The folder, or one file.
        partners: The table of partners; by default `partners.csv` in the folder, if there is one.

    Raises:
        TraceError: There are no such files, or the table is wrong.
    """
    folder, files = _files(Path(source))
    table = _table(folder, partners)
    rounds: list[WebRound | LeftOut] = []
    for path in files:
        file = path.relative_to(folder).as_posix()
        try:
            rounds.append(read_round(path, file))
        except InterplayError as error:
            rounds.append(LeftOut(file, str(error)))
    yield from _episodes(rounds, table)


def _files(source: Path) -> tuple[Path, list[Path]]:
    if source.is_file():
        return source.parent, [source]
    if not source.is_dir():
        raise TraceError(f"{source}: no such file or folder")
    files = sorted(p for p in source.rglob("*.json") if p.is_file() and not p.is_symlink())
    if not files:
        raise TraceError(f"{source}: holds no round; they are called D_M_YYYY_h_m_s_human=SEAT.json")
    return source, files


def _table(folder: Path, partners: str | Path | None) -> dict[str, Mapping[str, str]]:
    """Return the rows of the table of partners by file."""
    path = Path(partners) if partners is not None else folder / TABLE
    if partners is None and not path.is_file():
        return {}
    rows = list(csv.DictReader(read_text(path).splitlines()))
    if not rows or not {"file", "partner"} <= set(rows[0]):
        raise TraceError(f"{path}: a table of partners has the columns {', '.join(COLUMNS[:2])}, and person if known")
    table: dict[str, Mapping[str, str]] = {}
    for number, row in enumerate(rows, 2):
        file, partner = (row.get("file") or "").strip(), (row.get("partner") or "").strip()
        if not file or not partner or len(partner) > 80:
            raise TraceError(f"{path}, line {number}: a row has a file and its partner (a name of up to 80 letters)")
        if file in table:
            raise TraceError(f"{path}, line {number}: {file} stands here twice")
        table[file] = {"partner": partner, "person": (row.get("person") or "").strip()}
    return table


def read_round(path: Path, file: str) -> WebRound:
    """Return one file's round.

    Raises:
        RoundError: It is none; the message says what is wrong.
    """
    name = NAME.fullmatch(path.name)
    if name is None:
        raise RoundError("the name is not D_M_YYYY_h_m_s_human=SEAT.json")
    day, month, year, *clock = (int(n) for n in name.groups()[:6])
    content = read_json(path, limit=SIZE, within=path.parent)
    if not isinstance(content, dict):
        raise RoundError("the file holds no JSON object")
    states, joint, rewards = (_only(content, key) for key in ("ep_states", "ep_actions", "ep_rewards"))
    layout, options = _kitchen(_only(content, "mdp_params", dict))
    actions = _actions(joint)
    if len(states) != len(actions) + 1 or len(rewards) != len(actions):
        counts = f"{len(states)} states, {len(actions)} actions, {len(rewards)} rewards"
        raise RoundError(f"{counts}; a round has one state more than actions, and a reward for each action")
    seat = int(name[7])
    if seat not in (0, 1):
        raise RoundError(f"human={seat}; the seats are 0 and 1")
    positions, facing = _places(states)
    steps = max(len(actions), 1)
    if steps > HORIZON:
        options["horizon"] = -(-steps // ROUND_UP) * ROUND_UP
    when = (year, month, day, *clock)
    return WebRound(file, when, layout, options, seat, positions, facing, actions, _score(rewards))


def _only(content: dict[str, Any], key: str, kind: type = list) -> Any:
    """Return the one round of a field, which these files wrap in a list."""
    value = content.get(key)
    if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], kind):
        raise RoundError(f"{key}: a list with one round is expected")
    return value[0]


def _kitchen(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    name = params.get("layout_name")
    layout = layouts.ALIASES.get(name, name) if isinstance(name, str) else None
    if layout not in layouts.ONE_RECIPE:
        raise RoundError(f"layout_name: {name!r:.60} is no kitchen that we know by this name")
    if params.get("num_items_for_soup", 3) != 3:
        raise RoundError("num_items_for_soup: only soups of three are known")
    cook_time = params.get("cook_time", 20)
    if not isinstance(cook_time, int) or isinstance(cook_time, bool) or not 1 <= cook_time <= 10_000:
        raise RoundError(f"cook_time: {cook_time!r:.40} is no number of steps")
    return layout, {} if cook_time == 20 else {"cook_time": cook_time}


def _actions(joint: list[Any]) -> np.ndarray:
    if not 1 <= len(joint) <= MOST_STEPS:
        raise RoundError(f"ep_actions: {len(joint)} steps; a round has 1 to {MOST_STEPS}")
    for t, pair in enumerate(joint):
        whole = isinstance(pair, list) and len(pair) == 2 and all(type(a) is int and 0 <= a < NUM_ACTIONS for a in pair)
        if not whole:
            raise RoundError(f"ep_actions, step {t}: {pair!r:.60} is no pair of numbers 0 to 5")
    return np.array(joint, np.int16)


def _places(states: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    try:
        places = np.array([[p["position"] for p in state["players"]] for state in states], np.float64)
        facing = [MOVES.index(tuple(p["orientation"])) for p in states[0]["players"]]
        full = bool(states[0].get("objects")) or any(p.get("held_object") for p in states[0]["players"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RoundError(f"ep_states: players with position and orientation are expected ({error!r:.60})") from None
    whole = bool(np.all(places == np.round(places)) and np.all(np.abs(places) < MOST_STEPS))
    if places.shape[1:] != (2, 2) or not whole or max(facing) >= STAY:
        raise RoundError("ep_states: two chefs, each with a position [x, y] and an orientation, are expected")
    if full:
        raise RoundError("ep_states: the round does not begin with an empty kitchen and empty hands")
    return places.astype(np.int64), np.array(facing, np.int32)


def _score(rewards: list[Any]) -> float:
    if not all(type(reward) in (int, float) for reward in rewards):
        raise RoundError("ep_rewards: a number for each step is expected")
    try:
        total = float(sum(rewards))
    except OverflowError:
        total = np.inf
    if not np.isfinite(total):
        raise RoundError("ep_rewards: a reward is not finite")
    return total


def _episodes(rounds: list[WebRound | LeftOut], table: Mapping[str, Mapping[str, str]]) -> Iterator[Episode | LeftOut]:
    by_file = {r.file: r for r in rounds if isinstance(r, WebRound)}
    seen: dict[str, int] = {}
    drafts: list[Draft | LeftOut] = []
    for item in sorted(rounds, key=lambda r: r.when if isinstance(r, WebRound) else ()):
        if isinstance(item, LeftOut):
            drafts.append(item)
            continue
        about = table.get(item.file, table.get(Path(item.file).name, {}))
        person = _hashed(about.get("person") or str(Path(item.file).parent))
        number = seen[person] = seen.get(person, -1) + 1
        drafts.append(drafted(item.file, _draft, item, about.get("partner") or "partner", person, number))
    for result in settle(drafts):
        yield _as_it_was(result, by_file) if isinstance(result, Settled) else result


def _hashed(person: str) -> str:
    return hashlib.sha256(f"overcooked-web person {person}".encode()).hexdigest()[:12]


def _draft(one: WebRound, partner: str, person: str, number: int) -> Draft:
    game = make(f"overcooked/{one.layout}", **one.options)
    names = {one.seat: recorded("human", person=person, source=SOURCE), 1 - one.seat: recorded(partner, source=SOURCE)}
    start = {"positions": one.positions[0].astype(np.int32), "facing": one.facing}
    episode = draft_episode(game, (names[0], names[1]), start, one.actions, index=number)
    game.init(jax.random.key(0), **start)  # start places that are no floor are refused here
    return Draft(where=one.file, episode=episode, score=one.score)


def _as_it_was(result: Settled, by_file: Mapping[str, WebRound]) -> Episode | LeftOut:
    """Return the episode if the chefs stood where the file says at every step."""
    one = by_file[result.draft.where]
    cells = np.asarray(result.replay.states.cell)[: len(one.positions)]
    height = make(f"overcooked/{one.layout}").layout.height  # type: ignore[attr-defined]
    played = np.stack(np.divmod(cells, height), axis=-1)
    wrong = np.argwhere((played != one.positions).any(axis=-1))
    if len(wrong):
        t, seat = (int(n) for n in wrong[0])
        recorded, ours = one.positions[t, seat].tolist(), played[t, seat].tolist()
        return LeftOut(one.file, f"step {t}: chef {seat} stood at {recorded}, our rules put it at {ours}: other rules")
    return result.episode
