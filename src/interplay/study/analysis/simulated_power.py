"""Power by simulation, for the very model and design of a study file: who meets whom, on which scale, analysed how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats import proportion_interval
from interplay.stats.models import rank_fit
from interplay.study.analysis.analysis_list import pages as all_pages
from interplay.study.analysis.data import Data
from interplay.study.analysis.mixed import partner_fit, slope_fit
from interplay.study.analysis.sample_size import MOST, Needed
from interplay.study.protocol.answer_subjects import PlayedGame, about
from interplay.study.protocol.design import count, places
from interplay.study.protocol.flow import pages
from interplay.study.protocol.model import Protocol
from interplay.table import Row, Table

KINDS = ("ratings", "regression", "ranks")
PERSON_SHARE, PARTNER_SHARE, NOISE_SHARE = 0.12, 0.08, 0.17  # of a scale's width, where nothing else is said
BETWEEN = 0.5  # the share of a measure's variance that lies between partners


@dataclass(frozen=True)
class ModelAim:
    """What is asked for. The effect and the standard deviations are in points of the rating.

    The effect of `ratings` is the difference between the best and the worst of evenly spread partners, of `regression`
    that of one standard deviation of the measure, and of `ranks` as of ratings, in standard deviations of one person's
    noise.
    """

    protocol: Protocol
    analysis: str  # the id of an analysis of the file
    effect: float
    power: float = 0.8
    level: float = 0.05
    person_sd: float | None = None
    partner_sd: float | None = None  # how much partners differ in liking for reasons that are not looked for
    noise_sd: float | None = None
    missing: float = 0.0  # share of the ratings
    simulations: int = 400
    seed: int = 0

    @cached_property
    def part(self) -> Any:
        """The analysis."""
        parts = {part.id: part for part in self.protocol.analysis}
        if self.analysis not in parts:
            known = ", ".join(name for name, part in parts.items() if part.kind in KINDS) or "none"
            raise InterplayError(f"--analysis {self.analysis}: the study file has no such analysis; it has {known}")
        if parts[self.analysis].kind not in KINDS:
            raise InterplayError(f"--analysis {self.analysis}: power is simulated for {', '.join(KINDS)}")
        return parts[self.analysis]

    @cached_property
    def _data(self) -> Data:
        sums = {part.id: part for part in self.protocol.analysis if part.kind == "scale"}
        empty = Table.of([])
        return Data(self.protocol, empty, empty, empty, empty, empty, None, sums=sums)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest rating; a width of 6 without a scale."""
        if self.part.kind == "ranks":
            return 0.0, 0.0
        return self._data.bounds(self.part.of[0]) or (0.0, 6.0)

    def schedule(self, people: int) -> list[Row]:
        """Return what the first people of the design rate or rank: person, partner and game, one row for each."""
        rows: list[Row] = []
        for number in range(people):
            slots = {}
            for place in places(self.protocol):
                size = count(self.protocol.designs[place.design])
                slots[place.key] = None if size is None else number % size
            rows += [{"person": number, **row} for row in self._met(slots, number)]
        return rows

    def _met(self, slots: dict[str, int | None], number: int) -> list[Row]:
        flow = pages(self.protocol, slots, number)
        played = [
            (number, PlayedGame(page.id, page.value(page.item.game), page.value(page.item.partner), page.practice))
            for number, page in enumerate(flow)
            if page.item.kind == "game"
        ]
        if self.part.kind == "ranks":
            forms = [page for page in flow if page.item.id == self.part.page]
            met = {p for page in forms for p in page.met} or {game.partner for _, game in played if not game.practice}
            return [{"partner": partner, "game": None} for partner in sorted(met)]
        asked = self._questions
        subjects = [
            about(page.id, [game for at, game in played if at < number])
            for number, page in enumerate(flow)
            if page.item.kind == "form" and any(question.id in asked for question in page.item.questions)
        ]
        return [{"partner": one.partner, "game": one.setting} for one in subjects if one.partner is not None]

    @cached_property
    def _questions(self) -> set[str]:
        name = self.part.of[0]
        sums = {part.id: part.of for part in self.protocol.analysis if part.kind == "scale"}
        return set(sums.get(name, (name,)))


def model_power(aim: ModelAim, people: int) -> tuple[float, float, float]:
    """Return the simulated power of a number of people, between the ends of its interval.

    Raises:
        InterplayError: The file has no such analysis, nobody rates a partner, or no simulated study can be analysed.
    """
    rows = aim.schedule(people)
    if not rows:
        raise InterplayError(f"nobody rates a partner in what the analysis {aim.analysis!r} is of")
    rng = np.random.default_rng([aim.seed, people])
    significant, failure = [], ""
    for _ in range(aim.simulations):
        try:
            significant.append(_p(aim, rows, rng) < aim.level)
        except InterplayError as error:
            significant.append(False)
            failure = str(error)
    if failure and not any(significant) and _always_fails(aim, rows, rng):
        raise InterplayError(f"studies of {people} people cannot be analysed: {failure}")
    made = proportion_interval(int(np.sum(significant)), len(significant))
    return made.low, made.estimate, made.high


def _always_fails(aim: ModelAim, rows: list[Row], rng: np.random.Generator) -> bool:
    for _ in range(5):
        try:
            _p(aim, rows, rng)
        except InterplayError:
            continue
        return False
    return True


def _p(aim: ModelAim, rows: list[Row], rng: np.random.Generator) -> float:
    """The p value of one simulated study."""
    person = np.array([row["person"] for row in rows])
    names = sorted({row["partner"] for row in rows})
    partner = np.array([names.index(row["partner"]) for row in rows])
    order = rng.permutation(len(names))  # which partner is best must not depend on how they are met
    if aim.part.kind == "ranks":
        liked = np.linspace(0, aim.effect, len(names))[order][partner] + rng.normal(size=len(rows))
        by_person: dict[int, dict[str, float]] = {}
        for row, value in zip(rows, liked, strict=True):
            by_person.setdefault(row["person"], {})[row["partner"]] = value
        rankings = [sorted(liking, key=lambda name: -liking[str(name)]) for liking in by_person.values()]
        return rank_fit(rankings).test.p
    low, high = aim.bounds
    wide = high - low
    sds = [
        share * wide if given is None else given
        for given, share in (
            (aim.person_sd, PERSON_SHARE), (aim.partner_sd, PARTNER_SHARE), (aim.noise_sd, NOISE_SHARE),
        )
    ]  # fmt: skip
    value = (low + high) / 2 + rng.normal(0, sds[0], int(person.max()) + 1)[person] + rng.normal(0, sds[2], len(rows))
    x = np.zeros(len(rows))
    if aim.part.kind == "ratings":
        value += (np.linspace(-0.5, 0.5, len(names)) * aim.effect)[order][partner]
    else:
        x = BETWEEN**0.5 * rng.normal(size=len(names))[partner] + (1 - BETWEEN) ** 0.5 * rng.normal(size=len(rows))
        value += rng.normal(0, sds[1], len(names))[partner] + aim.effect * x
    value = np.clip(np.round(value), low, high)
    kept = rng.random(len(rows)) >= aim.missing
    rated = [
        {**row, "value": float(v), "x": float(at)}
        for row, v, at, stays in zip(rows, value, x, kept, strict=True)
        if stays
    ]
    if aim.part.kind == "ratings":
        return partner_fit(rated, model="ordinal" if aim.part.model == "ordinal" else "mixed").factor("partner").p
    if aim.part.model == "clustered":
        from interplay.stats import clustered_fit

        return clustered_fit([r["value"] for r in rated], [r["x"] for r in rated], [r["person"] for r in rated])[0].p
    return slope_fit(rated, "x", model=aim.part.model, slopes=aim.part.slopes)[0].p


def model_needed(aim: ModelAim, rounds: int = 1) -> Needed:
    """Return the fewest people, in whole rounds of the design's orders, with which the simulated power is reached.

    Raises:
        InterplayError: The effect is 0, or no number of people up to the most that is tried is enough.
    """
    if not aim.effect:
        raise InterplayError("effect 0: a number that is not 0; no study finds an effect that is not there")
    step = rounds if rounds <= 60 else 4
    known: dict[int, tuple[float, float, float]] = {}

    def power(steps: int) -> tuple[float, float, float]:
        if steps not in known:
            known[steps] = model_power(aim, steps * step)
        return known[steps]

    high = max(1, -(-8 // step))
    quick = replace(aim, simulations=max(100, aim.simulations // 4))
    while model_power(quick, high * step)[1] < aim.power:
        high *= 2
        if high * step > MOST // 4:
            limit = "more partners may be needed, or" if aim.part.kind == "regression" else ""
            raise InterplayError(f"{MOST // 4} people are not enough; {limit} the effect is too small to plan for")
    low = high // 2
    while power(high)[1] < aim.power:
        low, high = high, high * 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle)[1] >= aim.power else (middle, high)
    got = power(high)
    return Needed(high * step, None, None, got[1], got[0], got[2])


def default_analysis(protocol: Protocol) -> str:
    """Return the id of the first analysis of a file whose power can be simulated.

    Raises:
        InterplayError: There is none.
    """
    for part in protocol.analysis:
        if part.kind in KINDS:
            return part.id
    ranked = any(page.kind == "ranking" for page in all_pages(protocol))
    more = "; name one under `analysis:`" + (" of the kind ranks" if ranked else "")
    raise InterplayError(f"the study file names no analysis of the kinds {', '.join(KINDS)}{more}")
