"""Studies that never took place: records of any protocol, with answers from a model whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.rollout.episode import Episode
from interplay.study.db.records import Records
from interplay.study.export.columns import COLUMNS
from interplay.study.protocol.answer_subjects import PlayedGame, about
from interplay.study.protocol.design import count, places
from interplay.study.protocol.flow import pages
from interplay.study.protocol.model import Protocol
from interplay.table import Table
from interplay.traces import TraceSet


def likert(value: float, points: int, rng: np.random.Generator) -> int:
    """A latent value as a point of a scale. Rounding by chance keeps the mean where it is, inside the scale."""
    low = int(np.floor(value))
    return int(np.clip(low + (rng.random() < value - low), 1, points))


class Truth:
    """What people would answer: a rating for each partner (and game), a person's own level, noise."""

    def __init__(
        self,
        rating: Mapping[Any, float],
        *,
        person_sd: float = 0.5,
        noise_sd: float = 0.7,
        score: Callable[[str, str, np.random.Generator], float] | None = None,
        per_point: float = 0.0,
    ):
        self.rating, self.person_sd, self.noise_sd = rating, person_sd, noise_sd
        self.score = score or (lambda partner, game, rng: float(rng.integers(0, 10)))
        self.per_point = per_point  # what a point of the score adds to a rating

    def of(self, partner: str | None, game: str | None) -> float:
        return self.rating.get((partner, game), self.rating.get(partner, 3.0))


def synthetic(
    protocol: Protocol,
    people: int,
    truth: Truth,
    *,
    seed: int = 0,
    status: Mapping[int, str] = {},
    episodes: Callable[[Mapping[str, Any], int], Episode] | None = None,
    answers: Mapping[str, Callable[[np.random.Generator], Any]] = {},
    flags: Callable[[Mapping[str, Any], np.random.Generator], list[tuple[str, int]]] | None = None,
) -> Records:
    """Everyone goes through the protocol as the platform would lead them. `answers` gives those to some questions."""
    rng = np.random.default_rng(seed)
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in COLUMNS}
    traces: list[Episode] = []
    for number in range(people):
        who = f"p{number:04d}"
        slots = {}
        for place in places(protocol):
            size = count(protocol.designs[place.design])
            slots[place.key] = None if size is None else int((number * 7919) % size)
        tables["participants"].append(
            _row("participants", participant=who, status=status.get(number, "done"), language="en")
        )
        level = rng.normal(0, truth.person_sd)
        played: list[dict[str, Any]] = []
        for page in pages(protocol, slots, number):
            kind = page.item.kind
            if kind == "game":
                game = _game(len(tables["games"]), who, page, truth, rng)
                if episodes is not None:
                    episode = episodes(game, len(traces))
                    traces.append(episode)
                    game |= {"episode": len(traces) - 1, "score": episode.score, "length": episode.length}
                played.append(game)
                tables["games"].append(game)
                for flag, seen in flags(game, rng) if flags else ():
                    tables["flags"].append(_row("flags", participant=who, game=game["game"], flag=flag, seen=seen))
            elif kind in ("form", "ranking"):
                given = _answers(protocol, page, truth, level, played, rng, answers)
                games = [PlayedGame(g["page"], g["setting"], g["partner"], g["practice"]) for g in played]
                told = about(page.id, games, page.values.get("partner"))._asdict()
                for question, value in given.items():
                    tables["answers"].append(
                        _row("answers", participant=who, page=page.id, item=page.item.id, **told, question=question,
                             value=value, passed=True, attempt=1, seconds=float(rng.uniform(5, 30)))
                    )  # fmt: skip
    made = {name: Table(tuple(COLUMNS[name]), rows, name) for name, rows in tables.items()}
    return Records(protocol, **made, traces=TraceSet.in_memory(traces) if traces else None)


def _row(table: str, **given: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS[table]) | given


def _game(number: int, who: str, page: Any, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    partner, setting = page.value(page.item.partner), page.value(page.item.game)
    return _row(
        "games", game=number, participant=who, page=page.id, item=page.item.id, setting=setting, partner=partner,
        seat=0, practice=page.practice, status="done", score=truth.score(partner, setting, rng), length=100,
    )  # fmt: skip


def _answers(
    protocol: Protocol, page: Any, truth: Truth, level: float, played: list, rng, given: Mapping
) -> dict[str, Any]:
    within = page.id.rpartition(".")[0]
    around = page.loop if page.item.kind == "ranking" else within
    near = [g for g in played if not g["practice"] and (not around or g["page"].startswith(around + "."))]
    liked = {
        g["partner"]: truth.of(g["partner"], g["setting"])
        + truth.per_point * float(np.mean([h["score"] for h in near if h["partner"] == g["partner"]]))
        for g in near
    }
    if page.item.kind == "ranking":
        noisy = {name: value + rng.normal(0, truth.noise_sd) for name, value in liked.items()}
        return {"order": sorted(noisy, key=lambda n: -noisy[n])}
    found = {}
    for question in page.item.questions:
        points = protocol.scales[question.scale].points if question.scale else 0
        if question.id in given:
            value: Any = given[question.id](rng)
        elif question.type == "likert" and len(liked) == 1:
            value = likert(next(iter(liked.values())) + level + rng.normal(0, truth.noise_sd), points, rng)
        elif question.type == "two_sided" and len(liked) == 2:
            first, second = liked.values()
            value = likert((points + 1) / 2 + (second - first) + rng.normal(0, truth.noise_sd), points, rng)
        elif question.type == "likert":
            value = int(rng.integers(1, points + 1))
        elif question.type == "choice":
            value = question.options[int(rng.integers(len(question.options)))].value
        else:
            value = None
        found[question.id] = value
    return found
