"""Episodes as columns of the four tables, and back again without loss."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from interplay.agents.api import Identity
from interplay.errors import InterplayError, TraceError
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.table import Row, plain
from interplay.traces.schema import SUMMARY, dump
from interplay.untrusted_files import array_from_json, parse_json

Columns = dict[str, np.ndarray]
MOST_SEATS = 1000  # of an episode
NOBODY = -1  # the seat of an event that belongs to no seat, only while in numpy: the table holds null


def arrays_to_json(arrays: Mapping[str, Any]) -> str:
    """Named arrays as JSON that gives back the same dtypes, shapes and values."""
    return json.dumps({name: _array_to_plain(name, np.asarray(value)) for name, value in arrays.items()})


def _array_to_plain(name: str, array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind not in "biufU":
        raise TraceError(
            f"start value {name!r} has dtype {array.dtype}; only booleans, numbers and strings are recorded"
        )
    data = array.reshape(-1).tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        data = [v if np.isfinite(v) else str(v) for v in data]  # JSON has no NaN and no infinity
    return {"dtype": array.dtype.str.lstrip("<>=|"), "shape": list(array.shape), "data": data}


def arrays_from_plain(values: Any, where: str) -> dict[str, np.ndarray]:
    """Named arrays from what `arrays_to_json` wrote."""
    if not isinstance(values, dict):
        raise TraceError(f"{where}: start values are an object of arrays by name")
    try:
        return {name: array_from_json(value, f"{where}, start value {name!r}") for name, value in values.items()}
    except InterplayError as error:
        raise TraceError(str(error)) from None


def arrays_to_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Named arrays of numbers as bytes (safetensors)."""
    from safetensors.numpy import save

    return save({name: np.asarray(value, order="C") for name, value in arrays.items()})


def arrays_from_bytes(data: bytes, where: str) -> dict[str, np.ndarray]:
    """Named arrays from what `arrays_to_bytes` wrote."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(bytes(data))
    except (SafetensorError, ValueError, TypeError) as error:
        raise TraceError(f"{where}: no arrays, or damaged: {error}") from None


def _same_arrays(a: Mapping[str, np.ndarray] | None, b: Mapping[str, np.ndarray] | None) -> bool:
    if a is None or b is None:
        return a is b
    return set(a) == set(b) and all(
        np.array_equal(a[name], b[name], equal_nan=np.asarray(a[name]).dtype.kind == "f") for name in a
    )


def check(episode: Episode, what: str) -> None:
    """Refuse an episode that cannot be recorded, before it holds up others that can."""
    _check_shapes(episode, what)
    arrays_to_json(episode.start)
    for name, values in (episode.states or {}).items():
        if np.asarray(values).dtype.kind not in "biuf":
            raise TraceError(f"{what} has the state {name!r} of dtype {np.asarray(values).dtype}; they must be numbers")
    dump([episode.options, [a.config for a in episode.agents]], f"the options or an agent's configuration of {what}")
    for name in ("seed", "index"):
        if not -(2**63) <= getattr(episode, name) < 2**63:
            raise TraceError(f"{what} has the {name} {getattr(episode, name)}, which does not fit into 64 bits")
    for event in episode.events:
        dump(event.payload, f"the event {event.kind!r} at t={event.t} of {what}")
        if event.seat is not None and not 0 <= event.seat < len(episode.agents):
            raise TraceError(
                f"{what} has an event {event.kind!r} of seat {event.seat}, but {len(episode.agents)} seats"
            )


def _check_shapes(episode: Episode, what: str) -> None:
    seats = len(episode.agents)
    actions = np.asarray(episode.actions)
    if actions.ndim != 2 or actions.shape[1] != seats:
        raise TraceError(
            f"{what} has {seats} agents but actions of shape {actions.shape}; they must be [step, {seats}]"
        )
    if actions.dtype.kind not in "iu":
        raise TraceError(f"{what} has actions of dtype {actions.dtype}; they must be integers")
    if actions.size and (actions.min() < -(2**15) or actions.max() >= 2**15):
        raise TraceError(f"{what} has an action outside of 16 bits: {actions.min()} to {actions.max()}")
    if np.shape(episode.rewards) != (seats,):
        raise TraceError(f"{what} has {seats} agents but rewards of shape {np.shape(episode.rewards)}")
    steps, values = np.asarray(episode.check_steps), np.asarray(episode.checks)
    if steps.shape != values.shape or steps.ndim != 1:
        raise TraceError(f"{what} has checksums of shape {values.shape} for steps of shape {steps.shape}")
    if steps.size and (steps.min() < 0 or steps.max() > len(actions)):
        raise TraceError(f"{what} has a checksum at step {steps.max()} but {len(actions)} steps")


def encode(episodes: Sequence[Episode], first: int = 0) -> dict[str, Columns]:
    """The four tables of these episodes, which passed `check`, numbered from `first`."""
    number = np.arange(first, first + len(episodes), dtype=np.int64)
    return {
        "episodes": _encode_episodes(episodes, number),
        "actions": _encode_actions(episodes, number),
        "checksums": _encode_checksums(episodes, number),
        "events": _encode_events(episodes, number),
    }


def _encode_episodes(episodes: Sequence[Episode], number: np.ndarray) -> Columns:
    rows = [summary(int(n), e) for n, e in zip(number, episodes, strict=True)]
    for row, episode in zip(rows, episodes, strict=True):
        what = f"episode {row['episode']}"
        row["options"] = dump(row["options"], f"the options of {what}")
        row["configs"] = dump(row["configs"], f"the agents' configuration of {what}")
        row["start"] = arrays_to_json(episode.start)
        row["states"] = None if episode.states is None else arrays_to_bytes(episode.states)
    return {name: _objects([row[name] for row in rows]) for name in (*SUMMARY, "start", "states")}


def summary(number: int, episode: Episode) -> Row:
    """The small facts of an episode: the columns of `SUMMARY`, as plain values."""
    return {
        "episode": number,
        "game": episode.game_id,
        "options": plain(episode.options),
        "rules_version": episode.rules_version,
        "agents": [a.name for a in episode.agents],
        "hashes": [a.hash for a in episode.agents],
        "privileged": [bool(a.privileged) for a in episode.agents],
        "configs": [plain(a.config) for a in episode.agents],
        "seed": int(episode.seed),
        "index": int(episode.index),
        "length": episode.length,
        "score": episode.score,
        "rewards": [float(r) for r in episode.rewards],
        "terminated": bool(episode.terminated),
    }


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _grid(number: np.ndarray, lengths: np.ndarray, seats: np.ndarray) -> Columns:
    """The keys (episode, t, seat) of every action of these episodes, in the order in which they are stored."""
    sizes = lengths * seats
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    within = np.arange(sizes.sum(), dtype=np.int64) - starts
    width = np.repeat(seats, sizes)
    return {
        "episode": np.repeat(number, sizes),
        "t": (within // width).astype(np.int32),
        "seat": (within % width).astype(np.int16),
    }


def _encode_actions(episodes: Sequence[Episode], number: np.ndarray) -> Columns:
    lengths = np.array([e.length for e in episodes], dtype=np.int64)
    seats = np.array([len(e.agents) for e in episodes], dtype=np.int64)
    flat = [np.asarray(e.actions, dtype=np.int16).reshape(-1) for e in episodes]
    return _grid(number, lengths, seats) | {"action": np.concatenate([np.zeros(0, np.int16), *flat])}


def _encode_checksums(episodes: Sequence[Episode], number: np.ndarray) -> Columns:
    counts = np.array([len(e.checks) for e in episodes], dtype=np.int64)
    steps = [np.asarray(e.check_steps, dtype=np.int32) for e in episodes]
    values = [np.asarray(e.checks, dtype=np.uint32) for e in episodes]
    return {
        "episode": np.repeat(number, counts),
        "t": np.concatenate([np.zeros(0, np.int32), *steps]),
        "value": np.concatenate([np.zeros(0, np.uint32), *values]),
    }


def _encode_events(episodes: Sequence[Episode], number: np.ndarray) -> Columns:
    pairs = [(int(n), event) for n, e in zip(number, episodes, strict=True) for event in e.events]
    return {
        "episode": np.array([n for n, _ in pairs], dtype=np.int64),
        "t": np.array([e.t for _, e in pairs], dtype=np.int32),
        "seq": np.array([e.seq for _, e in pairs], dtype=np.int32),
        "seat": np.array([NOBODY if e.seat is None else e.seat for _, e in pairs], dtype=np.int16),
        "kind": _objects([e.kind for _, e in pairs]),
        "payload": _objects([dump(e.payload, f"the event {e.kind!r} of episode {n} at t={e.t}") for n, e in pairs]),
    }


def decode(rows: Sequence[Row], actions: Columns, checksums: Columns, events: Columns, where: str) -> Iterator[Episode]:
    """The episodes of these rows; an error that names `where` if the other tables do not have what they need."""
    _check_rows(rows, where)
    number = np.array([r["episode"] for r in rows], dtype=np.int64)
    lengths = np.array([r["length"] for r in rows], dtype=np.int64)
    seats = np.array([len(r["agents"]) for r in rows], dtype=np.int64)
    _check_actions(actions, number, lengths, seats, where)
    action_at = np.concatenate([[0], np.cumsum(lengths * seats)])
    check_from, check_to = _spans(checksums["episode"], number)
    event_from, event_to = _spans(events["episode"], number)
    for i, row in enumerate(rows):
        checks = slice(check_from[i], check_to[i])
        of_row = range(event_from[i], event_to[i])
        place = f"{where}, episode {number[i]}"
        yield Episode(
            game_id=row["game"],
            options=json_column(row["options"], dict, f"{place}, options"),
            rules_version=row["rules_version"],
            agents=_identities(row, place),
            seed=row["seed"],
            index=row["index"],
            start=arrays_from_plain(json_column(row["start"], dict, f"{place}, start"), place),
            actions=actions["action"][action_at[i] : action_at[i + 1]].reshape(lengths[i], seats[i]).copy(),
            check_steps=checksums["t"][checks].copy(),
            checks=checksums["value"][checks].copy(),
            rewards=np.array(row["rewards"], dtype=np.float64),
            terminated=row["terminated"],
            events=tuple(_remark(events, at, place) for at in of_row),
            states=None if row["states"] is None else arrays_from_bytes(row["states"], f"{place}, states"),
        )


def json_column(text: Any, kind: type, where: str) -> Any:
    """What a JSON column holds, which has to be of this kind."""
    try:
        value = parse_json(text, where) if isinstance(text, str) else text
    except InterplayError as error:
        raise TraceError(str(error)) from None
    if not isinstance(value, kind):
        raise TraceError(f"{where}: {value!r:.100}; expected {'an object' if kind is dict else 'a list'}")
    return value


def _check_rows(rows: Sequence[Row], where: str) -> None:
    """Refuse rows with holes."""
    for row in rows:
        missing = [c for c in row if row[c] is None and c != "states"]
        lists = [c for c in ("agents", "hashes", "privileged", "rewards") if not missing and None in row[c]]
        if missing or lists or row["length"] < 0:
            what = f"no {(missing + lists)[0]}" if missing or lists else f"the length {row['length']}"
            raise TraceError(f"{where}: episode {row['episode']} has {what}; the part is damaged")
        if len(row["rewards"]) != len(row["agents"]) or not 1 <= len(row["agents"]) <= MOST_SEATS:
            raise TraceError(f"{where}: episode {row['episode']} does not name a reward for each of its agents")


def _check_actions(actions: Columns, number: np.ndarray, lengths: np.ndarray, seats: np.ndarray, where: str) -> None:
    """Every step of every seat has its action, in the order in which they are stored."""
    listed, counts = np.unique(actions["episode"], return_counts=True)
    count_of = dict(zip(listed.tolist(), counts.tolist(), strict=True))
    for episode, size in zip(number.tolist(), (lengths * seats).tolist(), strict=True):
        if count_of.get(episode, 0) != size:
            raise TraceError(
                f"{where}: episode {episode} should have {size} actions (steps times seats), it has "
                f"{count_of.get(episode, 0)}. The part is damaged: restore it, or remove it and lose its episodes"
            )
    expected = _grid(number, lengths, seats)
    if not all(np.array_equal(expected[c], actions[c]) for c in expected):
        raise TraceError(f"{where}: the actions are not in the order (episode, t, seat); another program rewrote them")


def _spans(keys: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.searchsorted(keys, number, "left"), np.searchsorted(keys, number, "right")


def _identities(row: Row, where: str) -> tuple[Identity, ...]:
    columns = (row["agents"], row["hashes"], row["privileged"], json_column(row["configs"], list, f"{where}, configs"))
    if len({len(column) for column in columns}) != 1 or not all(isinstance(c, dict) for c in columns[3]):
        raise TraceError(f"{where}: agents, hashes, privileged and configs do not name the same seats")
    return tuple(Identity(*seat) for seat in zip(*columns, strict=True))


def _remark(events: Columns, at: int, where: str) -> RecordedEvent:
    seat = int(events["seat"][at])
    return RecordedEvent(
        t=int(events["t"][at]),
        seq=int(events["seq"][at]),
        seat=None if seat == NOBODY else seat,
        kind=str(events["kind"][at]),
        payload=json_column(events["payload"][at], dict, f"{where}, an event"),
    )


def same(a: Episode, b: Episode) -> bool:
    """Whether two episodes record the same facts (arrays by value; mappings as JSON knows them)."""
    arrays = ("actions", "check_steps", "checks", "rewards")
    return (
        summary(0, a) == summary(0, b)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)
        and arrays_to_json(a.start) == arrays_to_json(b.start)
        and [_plain_remark(e) for e in a.events] == [_plain_remark(e) for e in b.events]
        and _same_arrays(a.states, b.states)
    )


def _plain_remark(event: RecordedEvent) -> Row:
    return {"t": event.t, "seq": event.seq, "seat": event.seat, "kind": event.kind, "payload": plain(event.payload)}
