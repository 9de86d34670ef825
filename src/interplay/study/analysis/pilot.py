"""Effects and rankings in a pilot study, for the planning of a next one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.errors import InterplayError
from interplay.study.analysis.data import Data
from interplay.study.analysis.result import person_means
from interplay.study.protocol.design import count, places
from interplay.study.protocol.model import Protocol


def ratings_against(data: Data, rating: str, against: float | None, game: str | None = None) -> list[float]:
    """Return each participant's mean rating less a value; the middle of the scale for None.

    Raises:
        InterplayError: There is no such rating, or it has no scale and thus no middle.
    """
    _known(data, rating)
    value = against if against is not None else data.middle(rating)
    if value is None:
        raise InterplayError(f"{rating} has no scale, so it has no middle: say against what it is tested")
    rows = data.ratings(rating)
    rows = rows if game is None else rows.where(game=game)
    return [mean - value for mean in person_means(rows).get((), {}).values()]


def differences(data: Data, rating: str, levels: Sequence[str]) -> list[float]:
    """Return each participant's mean rating in one level less that in the other.

    Args:
        data: The pilot.
        rating: The question or scale.
        levels: Two games or two partners.

    Raises:
        InterplayError: There is no such rating, or these are not two games or two partners.
    """
    _known(data, rating)
    if len(levels) != 2:
        raise InterplayError(f"name two games or two partners to compare, not {len(levels)}")
    factor = next((f for f, known in (("game", data.protocol.games), ("partner", data.protocol.partners))
                   if set(levels) <= set(known)), None)  # fmt: skip
    if factor is None:
        raise InterplayError(f"{' and '.join(levels)} are neither two games nor two partners of this study")
    means = person_means(data.ratings(rating), factor)
    first, second = (means.get((level,), {}) for level in levels)
    return [first[who] - second[who] for who in first if who in second]


def rankings(data: Data, page: str, game: str | None = None) -> np.ndarray:
    """Return [person, partner] ranks on a page, of the participants who ranked all partners.

    Raises:
        InterplayError: Nobody ranked there, or people ranked in several games and none is named.
    """
    rows = [r for r in data.rankings if r["form"] == page and (game is None or r["game"] == game)]
    if not rows:
        known = ", ".join(dict.fromkeys(row["form"] for row in data.rankings)) or "none"
        raise InterplayError(f"nobody ranked on the page {page!r}{f' in {game}' if game else ''}; there is {known}")
    games = dict.fromkeys(row["game"] for row in rows)
    if len(games) > 1:
        raise InterplayError(f"people ranked in several games: name one of {', '.join(map(str, games))}")
    names = list(dict.fromkeys(name for row in rows for name in row["order"]))
    last = {row["person"]: row["order"] for row in rows}
    whole = [order for order in last.values() if len(order) == len(names)]
    return np.array([[order.index(name) + 1 for name in names] for order in whole], float)


def orders(protocol: Protocol) -> int:
    """Return how many participants get every sequence of a study's designs once."""
    counts = [count(protocol.designs[place.design]) or 1 for place in places(protocol)]
    return max([n for n in counts if n <= 1000], default=1)


def _known(data: Data, rating: str) -> None:
    if rating not in data.sums and rating not in data.questions:
        known = ", ".join([*data.sums, *(q for q, asked in data.questions.items() if asked.scale)])
        raise InterplayError(f"there is no rating {rating!r} in this study; there is {known}")
