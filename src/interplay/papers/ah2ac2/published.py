"""What the papers print of learning in Hanabi, for the page of results. The figures stand in published.toml."""

from __future__ import annotations

from typing import NamedTuple

from interplay.config import toml_beside


class Published(NamedTuple):
    """What a paper reports of a method of this name."""

    method: str
    steps: str  # of training, as the paper has them
    score: str  # with itself
    proxies: dict[str, str]  # players -> mean score with the hidden human proxies
    source: str
    number: float | None = None  # the steps as a number, where they are environment steps


class Ablated(NamedTuple):
    """A row of the challenge's ablation over the weight of the clone (two players, 2e10 steps)."""

    loss: float  # on the test set, a mean over all steps: half of ours per decision
    accuracy: float
    perfect: int | None = None  # of 5,000 games of self-play
    zero: int | None = None
    least: int | None = None


class Proxy(NamedTuple):
    """A human proxy of the challenge: its Tables 2, 3 and 4."""

    self_play: float
    accuracy: float
    accuracy_change: float  # against its clone
    loss: float
    loss_change: float
    top_10: float
    top_20: float
    ipp: float
    communicativeness: float


class PublishedPoint(NamedTuple):
    """A published return at a number of steps."""

    steps: float
    score: float
    what: str


_PRINTED = toml_beside(__file__)
METHODS = {stage: Published(**row) for stage, row in _PRINTED["methods"].items()}
INTRA_XP: dict[str, str] = _PRINTED["intra_xp"]
PUBLISHED_TABLE5: dict[int, dict[str, tuple[str, ...]]] = {
    int(players): {method: tuple(row) for method, row in table.items()} for players, table in _PRINTED["table5"].items()
}
ABLATION_STEPS = 2e10
ABLATION: dict[float | None, Ablated] = {  # by the clone's weight; None: the clone
    None if weight == "clone" else float(weight): Ablated(**row) for weight, row in _PRINTED["ablation"].items()
}
ABLATION_SELF_PLAY = {None: "19.53", 0.13: "23.42"}  # those of its Figure 5 that the text prints
PROXIES = {int(players): [Proxy(**row) for row in rows] for players, rows in _PRINTED["proxies"].items()}
PEOPLE: dict[int, tuple[float, float]] = {int(players): tuple(row) for players, row in _PRINTED["people"].items()}
POINTS = {int(players): [PublishedPoint(**row) for row in rows] for players, rows in _PRINTED["points"].items()}
