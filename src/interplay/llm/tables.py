"""The summary of a run's traces: success, steps, calls, tokens and cost by pairing and level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from interplay.agents.llm.chat import total
from interplay.games.collab_kitchen.dishes import Dish, dish, dish_of
from interplay.games.collab_kitchen.game import DEFAULT_DISH
from interplay.llm.game_tables import usage_row
from interplay.rollout.episode import Episode
from interplay.table import Row, Table, mean


def summary(traces: Iterable[Episode]) -> Table:
    """One row per pairing, kitchen and level."""
    groups: dict[tuple, list[tuple[Row, Episode]]] = {}
    for episode in traces:
        row = episode_row(episode)
        key = (row["chef"], row["assistant"], row["game"], row["level"])
        groups.setdefault(key, []).append((row, episode))
    rows = [
        dict(zip(("chef", "assistant", "game", "level"), key, strict=True))
        | _summary_row([row for row, _ in group])
        | usage_row([episode for _, episode in group])
        for key, group in groups.items()
    ]
    return Table.of(rows, "Teams by pairing and level; steps are those of episodes that delivered the dish")


def episode_row(episode: Episode) -> Row:
    """One episode in numbers."""
    calls = [e.payload for e in episode.events if e.kind == "call"]
    names = [i.name.removeprefix("llm:") for i in episode.agents]
    ends = [e.payload["reason"] for e in episode.events if e.kind == "end"]
    return {
        "chef": names[0],
        "assistant": ", ".join(dict.fromkeys(names[1:])) or None,
        "game": episode.game_id,
        "level": level_of(episode.options),
        "dish": dish_name(episode.options),
        "index": episode.index,
        "success": float(episode.terminated and episode.score > 0),
        "steps": episode.length,
        "messages": sum(e.kind == "message" for e in episode.events),
        "refused": sum(e.kind == "verdict" and not e.payload["ok"] for e in episode.events),
        "calls": len(calls),
        "tokens": total([c[n] for c in calls for n in ("tokens_in", "tokens_out")]),
        "scaffold_tokens": total([c[n] for c in calls if c["scaffold"] for n in ("tokens_in", "tokens_out")]),
        "cost": None if any(c["cost"] is None for c in calls) else total([c["cost"] for c in calls]),
        "end": ends[-1] if ends else None,
    }


def level_of(options: Any) -> int:
    """Return the level of the dish that a kitchen's options name."""
    return _dish(options).level


def dish_name(options: Any) -> str:
    """Return the name of the dish that a kitchen's options name."""
    return _dish(options).name


def _dish(options: Any) -> Dish:
    """The dish that a kitchen's options name."""
    if "level" in options:
        return dish_of(options["level"], options.get("number", 1))
    return dish(options.get("dish", DEFAULT_DISH))


def _summary_row(group: Sequence[Row]) -> Row:
    solved = [r["steps"] for r in group if r["success"]]
    return {
        "episodes": len(group),
        "success": mean([r["success"] for r in group]),
        "steps": mean(solved),
        **{n: mean([r[n] for r in group]) for n in ("messages", "refused", "scaffold_tokens")},
        "limit": sum(r["end"] == "limit" for r in group),
    }
