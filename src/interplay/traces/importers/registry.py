"""The importers by name, and what they give.

An importer is a function from a source (a file or a folder) to episodes, whose checksums come from replaying them. A
game of the source that cannot be one of ours stands among them as `LeftOut`, with its place and the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from interplay.errors import TraceError
from interplay.registry import Registry
from interplay.rollout.episode import Episode

IMPORTERS = Registry(
    "importer",
    entry_points="interplay.importers",
    table={
        "overcooked-ai": "interplay.traces.importers.overcooked_ai:import_overcooked_ai",
        "overcooked-web": "interplay.traces.importers.overcooked_web:import_overcooked_web",
        "hanabi-humans": "interplay.traces.importers.hanabi_data:import_hanabi_data",
        "hanab-live": "interplay.traces.importers.hanab_live:import_hanab_live",
        "ah2ac2": "interplay.traces.importers.ah2ac2:import_ah2ac2",
        "jsonl": "interplay.traces.export:read_jsonl",
    },
)
NAMED = 20  # games left out that one message names


class LeftOut(NamedTuple):
    """A game of the source that is not imported: where it stands and why."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


def sort_out(items: Iterable[Episode | LeftOut], *, partial: bool = False) -> tuple[list[Episode], list[LeftOut]]:
    """The episodes, and the games left out. Without `partial`, any game left out is an error that names them."""
    episodes: list[Episode] = []
    left: list[LeftOut] = []
    for item in items:
        if isinstance(item, LeftOut):
            left.append(item)
        else:
            episodes.append(item)
    if left and not (partial and episodes):
        listed = "\n".join(f"  {item}" for item in left[:NAMED])
        more = f"\n  and {len(left) - NAMED} more" if len(left) > NAMED else ""
        advice = "import the others with `partial` (--partial)" if episodes else "none is left to import"
        count = f"{len(left)} of {len(left) + len(episodes)} games"
        raise TraceError(f"{count} cannot be imported; {advice}:\n{listed}{more}")
    return episodes, left
