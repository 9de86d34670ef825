"""Trace sets: a folder of Parquet, or the same in memory while no folder is needed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any, overload

import numpy as np

from interplay.errors import TraceError
from interplay.rollout.episode import Episode
from interplay.table import Row, Table
from interplay.traces.columns import check, json_column, summary
from interplay.traces.parquet_parts import ParquetPart, connect, find_parts, read_part, write_part
from interplay.traces.schema import MANIFEST, SUMMARY, Manifest, dump, read_manifest, write_manifest

PART_EPISODES = 8192  # a part is what a reader holds in memory at once
PART_ACTIONS = 4_000_000


class MemoryStore:
    """Episodes in a list; the number is the place in it."""

    def __init__(self, episodes: Iterable[Episode] = ()):
        self.episodes = list(episodes)
        for n, episode in enumerate(self.episodes):
            check(episode, f"episode {n}")

    def numbers(self) -> np.ndarray:
        """Return the numbers of all episodes, in order."""
        return np.arange(len(self.episodes), dtype=np.int64)

    def read(self, numbers: np.ndarray) -> Iterator[Episode]:
        """Return the episodes of these numbers, in this order."""
        return (self.episodes[n] for n in numbers)

    def summary(self) -> list[Row]:
        """Return the small facts of every episode."""
        return [summary(n, episode) for n, episode in enumerate(self.episodes)]

    def append(self, episodes: Sequence[Episode]) -> None:
        """Add episodes, which a `Writer` has checked, after the last."""
        self.episodes.extend(episodes)


class FolderStore:
    """Episodes in the parts of a folder, as of the last `refresh`."""

    def __init__(self, root: Path):
        self.root = root
        self.parts: list[ParquetPart] = find_parts(root)

    def numbers(self) -> np.ndarray:
        """Return the numbers of all episodes, in order."""
        spans = [np.arange(p.first, p.last + 1, dtype=np.int64) for p in self.parts]
        return np.concatenate([np.zeros(0, np.int64), *spans])

    def read(self, numbers: np.ndarray) -> Iterator[Episode]:
        """Yield the episodes of these numbers, in this order, part by part."""
        firsts = np.array([p.first for p in self.parts], dtype=np.int64)
        part_of = np.searchsorted(firsts, numbers, "right") - 1
        for at, run in groupby(range(len(numbers)), key=lambda i: part_of[i]):
            wanted = numbers[list(run)]
            ascending = np.unique(wanted)
            episodes = read_part(self.parts[at], ascending)
            if np.array_equal(ascending, wanted):
                yield from episodes
            else:
                by_number = dict(zip(ascending.tolist(), episodes, strict=True))
                yield from (by_number[n] for n in wanted.tolist())

    def summary(self) -> list[Row]:
        """Return the small facts of every episode, read from the parts."""
        if not self.parts:
            return []
        columns = ", ".join(f'"{c}"' for c in SUMMARY)
        files = [str(p.file("episodes")) for p in self.parts]
        query = f"SELECT {columns} FROM read_parquet($files) ORDER BY episode"
        with connect() as con:
            rows = [dict(zip(SUMMARY, row, strict=True)) for row in con.execute(query, {"files": files}).fetchall()]
        kinds = {"options": dict, "configs": list}
        shared: dict[tuple[str, Any], Any] = {}  # what is alike in millions of rows is kept once
        for row in rows:
            for column in ("options", "configs", "agents", "privileged"):
                value = row[column]
                key = (column, tuple(value) if isinstance(value, list) else value)
                if key not in shared:
                    kind = kinds.get(column)
                    shared[key] = value if kind is None else json_column(value, kind, f"{self.root}, {column}")
                row[column] = shared[key]
        return rows

    def append(self, episodes: Sequence[Episode]) -> None:
        """Write episodes as a new part."""
        part = write_part(self.root, episodes)
        alone = part.first == (self.parts[-1].last + 1 if self.parts else 0)
        self.parts = [*self.parts, part] if alone else find_parts(self.root)  # others may have written too


Store = MemoryStore | FolderStore


class TraceSet(Sequence[Episode]):
    """Episodes with a manifest. Read it like a list: `len(traces)`, `traces[3]`, `for episode in traces`.

    `TraceSet.create(folder)`, `TraceSet.open(folder)` and `TraceSet.in_memory(episodes)` make one. A folder is read
    part by part while it is looped over, so a set may be larger than memory. What others append after `open`
    is seen after `refresh()`.
    """

    def __init__(self, store: Store, manifest: Manifest, path: Path | None, numbers: np.ndarray | None = None):
        self._store = store
        self._chosen = numbers  # None: all
        self.manifest = manifest
        self.path = path

    @classmethod
    def create(cls, path: str | os.PathLike[str], meta: Mapping[str, Any] | None = None) -> TraceSet:
        """A new, empty set in a folder that is new or empty."""
        folder = Path(path)
        if folder.exists() and not folder.is_dir():
            raise TraceError(f"cannot make a trace set at {folder}: a file is there. Choose another folder")
        if (folder / MANIFEST).exists():
            raise TraceError(
                f"{folder} already holds a trace set: choose another folder, or add to it by TraceSet.open"
            )
        if folder.exists() and any(folder.iterdir()):
            raise TraceError(f"{folder} is not empty and not a trace set: choose another folder")
        manifest = Manifest(meta=json.loads(dump(meta or {}, "the description of a trace set")))
        folder.mkdir(parents=True, exist_ok=True)
        write_manifest(folder, manifest)
        return cls(FolderStore(folder), manifest, folder)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> TraceSet:
        """The set in this folder; an error says what is wrong with it."""
        folder = Path(path)
        manifest = read_manifest(folder)
        return cls(FolderStore(folder), manifest, folder)

    @classmethod
    def in_memory(cls, episodes: Iterable[Episode] = (), meta: Mapping[str, Any] | None = None) -> TraceSet:
        """A set that lives as long as the program; `save` writes it to a folder."""
        manifest = Manifest(meta=json.loads(dump(meta or {}, "the description of a trace set")))
        return cls(MemoryStore(episodes), manifest, None)

    @property
    def numbers(self) -> np.ndarray:
        """The number of each episode here, as in the column `episode` of every table made from the whole set."""
        return self._store.numbers() if self._chosen is None else self._chosen

    @property
    def name(self) -> str:
        """How messages call this set."""
        return str(self.path) if self.path else "the trace set in memory"

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Episode]:
        return self._store.read(self.numbers)

    def items(self) -> Iterator[tuple[int, Episode]]:
        """Every episode with its number in the whole set."""
        numbers = self.numbers
        return zip(numbers.tolist(), self._store.read(numbers), strict=True)

    @overload
    def __getitem__(self, at: int) -> Episode: ...

    @overload
    def __getitem__(self, at: slice) -> TraceSet: ...

    def __getitem__(self, at: int | slice) -> Episode | TraceSet:
        numbers = self.numbers
        if isinstance(at, slice):
            return self._choose(numbers[at])
        if not -len(numbers) <= at < len(numbers):
            raise IndexError(f"no episode at {at}: {self.name} has {len(numbers)} here")
        return next(iter(self._store.read(numbers[[at]])))

    def _choose(self, numbers: np.ndarray) -> TraceSet:
        return TraceSet(self._store, self.manifest, self.path, numbers)

    def _repr_html_(self) -> str:
        """The set as a notebook shows it: who played how many episodes of what, and their mean score."""
        rows = []
        for (game, agents), part in self.summary().groups_of(lambda r: (r["game"], " | ".join(r["agents"]))).items():
            scores = part.column("score")
            mean = sum(scores) / len(scores)
            rows.append({"game": game, "agents": agents, "episodes": len(part), "mean score": mean})
        return Table.of(rows, f"{len(self)} episodes in {self.name}")._repr_html_()

    def summary(self) -> Table:
        """One row per episode: who played what, how long, and the score."""
        rows = self._store.summary()
        if self._chosen is not None:
            by_number = {row["episode"]: row for row in rows}
            rows = [by_number[n] for n in self._chosen.tolist()]
        return Table(SUMMARY, rows, "episodes")

    def select(
        self,
        *,
        game: str | None = None,
        agents: str | Sequence[str] | None = None,
        where: Callable[[Row], bool] | None = None,
    ) -> TraceSet:
        """Return the episodes that fit all conditions.

        Args:
            game: A game, or a pattern such as `overcooked/*`.
            agents: An agent in any seat, or exactly this team.
            where: A condition on the row of `summary()`.
        """

        def fits(row: Row) -> bool:
            if game is not None and not fnmatchcase(row["game"], game):
                return False
            if isinstance(agents, str) and agents not in row["agents"]:
                return False
            if agents is not None and not isinstance(agents, str) and list(agents) != row["agents"]:
                return False
            return where is None or where(row)

        numbers = [row["episode"] for row in self.summary() if fits(row)]
        return self._choose(np.array(numbers, dtype=np.int64))

    def append(self, episodes: Iterable[Episode]) -> int:
        """Add episodes and say how many. What is written stays, whatever happens to the program later."""
        with self.writer() as writer:
            return sum(1 for episode in episodes if writer.add(episode))

    def writer(self, episodes: int = PART_EPISODES, seconds: float = 60.0) -> Writer:
        """A writer that commits whenever so many episodes or seconds have gathered, and when it is closed."""
        if self._chosen is not None:
            raise TraceError(f"cannot add to a selection of {self.name}: add to the whole set")
        return Writer(self._store, episodes, seconds)

    def files(self, table: str) -> list[Path]:
        """The Parquet files of a table, for any program that reads Parquet; none of a set in memory or a selection."""
        if self._chosen is not None or not isinstance(self._store, FolderStore):
            return []
        return [part.file(table) for part in self._store.parts]

    def refresh(self) -> TraceSet:
        """The set as it is on disk now."""
        return TraceSet.open(self.path) if self.path else self

    def save(self, path: str | os.PathLike[str], meta: Mapping[str, Any] | None = None) -> TraceSet:
        """Write these episodes to a new folder, numbered anew; also the way to join many small parts."""
        saved = TraceSet.create(path, meta if meta is not None else self.manifest.meta)
        saved.append(self)
        return saved

    def __repr__(self) -> str:
        return f"TraceSet({str(self.path) if self.path else 'in memory'!r}, episodes={len(self)})"


class Writer:
    """Gathers episodes and commits them a part at a time. Use it in a `with` block."""

    def __init__(self, store: Store, episodes: int, seconds: float):
        self._store = store
        self._most = max(1, min(episodes, PART_EPISODES))
        self._seconds = seconds
        self._waiting: list[Episode] = []
        self._actions = 0
        self._since = time.monotonic()

    def add(self, episode: Episode) -> bool:
        """Take an episode; it is on disk after the next commit. True, so that it can be counted."""
        check(episode, "the episode to be added")
        self._waiting.append(episode)
        self._actions += np.size(episode.actions)
        late = time.monotonic() - self._since > self._seconds
        if len(self._waiting) >= self._most or self._actions >= PART_ACTIONS or late:
            self.commit()
        return True

    def commit(self) -> None:
        """Write what has gathered."""
        if self._waiting:
            self._store.append(self._waiting)
        self._waiting, self._actions, self._since = [], 0, time.monotonic()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *exception: object) -> None:
        # Also when the block failed: episodes that were played are facts.
        self.commit()
