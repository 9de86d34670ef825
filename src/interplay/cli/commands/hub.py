"""`interplay hub list`, `get`, `add` and `verify`: trained agents and panels by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.table import Table


@dataclass(frozen=True)
class ListItems:
    """Trained agents and panels that are known: size, licence, how they were made, scores, and where they are.

    `where` is `package`, `interplay-agents` or `cache`; empty for what is not on this machine.

    Examples:
      interplay hub list
      interplay hub list --game overcooked/counter_circuit --json
    """

    game: str | None = None
    """Only what was made for this game, or for this family of games."""
    here: bool = False
    """Only what is on this machine."""
    json: bool = False
    """Print one JSON object, sha256 of every file included."""

    def run(self) -> None:
        """Print the names that match."""
        from interplay.hub.store import COMMAND, items, locate

        rows = []
        for item in items().values():
            located = locate(item)
            of_game = self.game is None or item.game == self.game or item.game.startswith(f"{self.game}/")
            if (located is None and self.here) or not of_game:
                continue
            scores = dict(item.scores) if self.json else ", ".join(f"{k} {v:g}" for k, v in item.scores.items())
            row = {"name": item.name, "kind": item.kind, "game": item.game, "bytes": item.bytes, "made": item.made}
            row |= {"scores": scores, "licence": item.licence, "where": located.place if located else None}
            if self.json:
                row |= {"path": str(located.path) if located else None}
                row |= {"files": [file._asdict() for file in item.files]}
            rows.append(row)
        show(Table.of(rows), json=self.json)
        if any(row["where"] is None for row in rows):
            note(f"what has no `where` is not on this machine: {COMMAND}")


@dataclass(frozen=True)
class Get(JsonOption):
    """Bring trained agents and panels into the cache, and check them. What is on this machine already stays there.

    Examples:
      interplay hub get trained/overcooked/coordination_ring/hsp-1 --source https://example.org/interplay
      interplay hub get overcooked/coordination_ring:generated --source /mnt/shared/hub
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Agents (trained/GAME/NAME) and panels (GAME:NAME)."""
    source: str | None = None
    """A folder of the hub or its https address: manifest.json, agents/ and panels/ lie there."""

    def run(self) -> None:
        """Fetch what is named, and print where it is."""
        from interplay.hub.fetch import get

        located = [get(name, self.source) for name in self.names]
        show(Table.of([{"name": f.item.name, "where": f.place, "path": str(f.path)} for f in located]), json=self.json)


@dataclass(frozen=True)
class Add(JsonOption):
    """Copy an agent's file or a panel's folder of your own into the cache, under a name that all commands know.

    Examples:
      interplay hub add runs/mine/policy0.safetensors --name trained/overcooked/counter_circuit/mine-1 --licence MIT
      interplay hub add panels/ring --name overcooked/coordination_ring:mine --licence CC-BY-4.0
    """

    path: Annotated[Path, tyro.conf.Positional]
    """A .safetensors file that training wrote, or the folder of a panel."""
    name: str
    """trained/GAME/NAME for an agent, GAME:NAME for a panel."""
    licence: str
    """Under which licence it may be used, such as MIT."""
    made: str = ""
    """How it was made; by default what the files say of it."""

    def run(self) -> None:
        """Check and store files under a name."""
        from interplay.hub.fetch import add

        located = add(self.path, self.name, licence=self.licence, made=self.made)
        row = {
            "name": located.item.name,
            "made": located.item.made,
            "bytes": located.item.bytes,
            "path": str(located.path),
        }
        show(Table.of([row]), json=self.json)


@dataclass(frozen=True)
class Verify(JsonOption):
    """Check size and sha256 of what is on this machine. Exit code 1 if something is damaged.

    Examples:
      interplay hub verify
      interplay hub verify trained/overcooked/counter_circuit/hsp-1
    """

    names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """What to check; by default everything on this machine."""

    def run(self) -> int:
        """Check files against the manifest; exit with 1 if one differs."""
        from interplay.errors import InterplayError, UnknownName
        from interplay.hub.store import MissingWeights, check, items, locate

        known, rows = items(), []
        for name in self.names or known:
            if name not in known:
                raise UnknownName("agent or panel", name, list(known))
            located = locate(known[name])
            if located is None:
                if self.names:
                    raise MissingWeights(known[name])
                continue
            try:
                check(located)
                problem = None
            except InterplayError as error:
                problem = str(error)
            rows.append({"name": name, "where": located.place, "sound": problem is None, "problem": problem})
        damaged = [row for row in rows if not row["sound"]]
        table = Table.of(rows if self.json or self.names else damaged, columns=["name", "where", "sound", "problem"])
        if self.json or len(table):
            show(table, json=self.json)
        note(f"{len(rows)} checked, {len(damaged)} damaged")
        return int(bool(damaged))
