"""From traces to recorded games, the small form that training reads: starts, actions, and whose actions count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from interplay.errors import TraceError
from interplay.rollout.episode import Episode
from interplay.rollout.recorded_games import Recorded


def recorded_games(episodes: Iterable[Episode], learn: Sequence[str] | None = None) -> list[Recorded]:
    """Episodes with an agent to learn from. `learn` are names of agents; None: everybody is learnt from.

    Where the source tells which game the same person played before (`prev`), all games of a person get one number, so
    that they are held out together. All episodes have to be of one game; the options of their rules may differ. An
    episode in which a seat carries a mark, such as moves that are not its own, is left out.
    """
    chosen, sources, names = [], [], set()
    for number, episode in enumerate(episodes):
        names |= {agent.name for agent in episode.agents}
        seats = tuple(learn is None or agent.name in learn for agent in episode.agents)
        if not any(seats) or any(e.kind == "mark" and e.seat is not None for e in episode.events):
            continue
        source = next((dict(e.payload) for e in episode.events if e.kind == "source"), {})
        sources.append(source)
        chosen.append((number, episode, seats))
    if not chosen:
        known_names = ", ".join(sorted(names)[:12])
        raise TraceError(
            f"nobody in these episodes is called {' or '.join(learn or ())}; there are {known_names or 'none'}"
        )
    ids = sorted({episode.game_id for _, episode, _ in chosen})
    if len(ids) > 1:
        raise TraceError(f"recorded games are of one game; here are {', '.join(ids)}: export them one by one")
    persons = _persons(sources)
    return [
        Recorded(
            name=f"episode {number}",
            actions=np.asarray(episode.actions, np.int32),
            start=dict(episode.start),
            score=episode.score,
            game=episode.game_id,
            options=dict(episode.options),
            learn=seats,
            person=person,
        )
        for (number, episode, seats), person in zip(chosen, persons, strict=True)
    ]


def _persons(sources: Sequence[dict]) -> list[int | None]:
    """A number for every person, by the chains of earlier games; None where the source tells of none."""
    if not any("prev" in source for source in sources):
        return [None] * len(sources)
    place = {source["id"]: i for i, source in enumerate(sources) if "id" in source}
    first = list(range(len(sources)))

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i

    absent: dict[str, int] = {}  # an earlier game that is not here still joins those that name it
    for i, source in enumerate(sources):
        before = source.get("prev")
        if before is None:
            continue
        other = place.get(before, absent.setdefault(before, i))
        a, b = sorted((root(i), root(other)))
        first[b] = a
    return [root(i) for i in range(len(sources))]
