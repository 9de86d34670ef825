"""Answers to `interplay study power`, in tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from interplay.errors import InterplayError
from interplay.study.analysis.sample_size import Aim, Needed, curve, from_pilot, from_rankings, needed, recruits
from interplay.table import Row, Table


@dataclass(frozen=True)
class PowerQuestion:
    """A test, and an effect or a pilot. The fields are the options of the command."""

    test: Literal["one_sample", "paired", "wilcoxon", "friedman", "model"]
    """The test that is planned; model: an analysis of the study file, with its design, by simulation."""
    effect: float | None = None
    """The effect to find, in standard deviations; for model in points of the rating."""
    pilot: str | None = None
    """A database or export of a pilot, in place of --effect."""
    rating: str | None = None
    """Of the pilot: the question or scale that is tested."""
    levels: tuple[str, ...] = ()
    """Of the pilot: the two games or partners that are compared (paired, wilcoxon)."""
    against: float | None = None
    """Of the pilot: what ratings are tested against (one_sample); by default the middle of the scale."""
    page: str | None = None
    """Of the pilot: the page of the rankings (friedman)."""
    game: str | None = None
    """Of the pilot: one game only (one_sample, friedman)."""
    power: float = 0.8
    """The chance to find the effect."""
    alpha: float = 0.05
    """The level of the test."""
    tests: int = 1
    """Tests that share the level."""
    one_sided: bool = False
    """Look in one direction only."""
    partners: int = 4
    """Partners that are ranked (friedman)."""
    points: float | None = None
    """One standard deviation of differences in points of the scale, to which they are rounded (wilcoxon)."""
    dropout: float = 0.0
    """The share of people who will not finish."""
    study: Path | None = None
    """The study file: numbers are rounded up to whole rounds of its orders, and model simulates its design."""
    analysis: str | None = None
    """The analysis of the study file that model simulates: of the kind ratings, regression or ranks."""
    people: tuple[int, ...] = ()
    """Numbers of people whose power is told (model), in place of a search for the fewest."""
    person_sd: float | None = None
    """How much people differ in their level (model), in points; by default 12 % of the scale's width."""
    partner_sd: float | None = None
    """How much partners differ in liking (model, regressions), in points; by default 8 % of the scale's width."""
    noise_sd: float | None = None
    """How much ratings of one person differ otherwise (model), in points; by default 17 % of the scale's width."""
    missing: float = 0.0
    """The share of ratings that will be missing (model)."""
    simulations: int = 2000
    """Simulated studies for each number of people; a fifth of them for model."""
    seed: int = 0
    """Seed of the simulations."""


def plan(ask: PowerQuestion) -> tuple[Table, Table, list[str]]:
    """Return the numbers of people, the power of numbers around them, and notes.

    Raises:
        InterplayError: The options do not fit each other, or the pilot does not have what they name.
    """
    if ask.test == "model":
        return _plan_model(ask)
    if (ask.effect is None) == (ask.pilot is None):
        raise InterplayError("give either --effect, the effect to find, or --pilot, a study to take it from")
    aim = Aim(
        ask.test, ask.power, ask.alpha, ask.tests, ask.one_sided, ask.partners, ask.points, ask.simulations, ask.seed
    )
    rounds = 1
    if ask.study is not None:
        from interplay.study.analysis.pilot import orders
        from interplay.study.protocol.reading import load

        rounds = orders(load(ask.study))
    recruits(1, ask.dropout, rounds)
    if ask.effect is not None:
        answer = needed(aim, ask.effect)
        row = {"test": ask.test, "effect": ask.effect, **_needed_row(answer, ask, rounds)}
        return _table([row], ask), _curve(aim, ask.effect, answer.n), _rounds(rounds)
    return _plan_from_pilot(ask, aim, rounds)


def _plan_model(ask: PowerQuestion) -> tuple[Table, Table, list[str]]:
    from interplay.study.analysis.pilot import orders
    from interplay.study.analysis.simulated_power import ModelAim, default_analysis, model_needed, model_power
    from interplay.study.protocol.reading import load

    if ask.study is None or ask.effect is None:
        raise InterplayError("--test model: give --study, the file whose design is simulated, and --effect, in points")
    protocol = load(ask.study)
    if not 0 <= ask.missing < 1:
        raise InterplayError(f"missing {ask.missing}: from 0 to below 1")
    aim = ModelAim(
        protocol, ask.analysis or default_analysis(protocol), ask.effect, ask.power, ask.alpha / ask.tests,
        ask.person_sd, ask.partner_sd, ask.noise_sd, ask.missing, max(50, ask.simulations // 5), ask.seed,
    )  # fmt: skip
    rounds = orders(protocol)
    base: Row = {"analysis": aim.analysis, "kind": aim.part.kind, "model": aim.part.model, "effect": ask.effect}
    notes = [*_rounds(rounds), f"simulated with the design of {protocol.name}, {aim.simulations} studies each"]
    if ask.people:
        rows = []
        for n in ask.people:
            low, got, high = model_power(aim, n)
            rows.append({**base, "people": n, "recruit": recruits(n, ask.dropout, rounds)}
                        | {"power": got, "power_low": low, "power_high": high})  # fmt: skip
        return Table.of(rows, "Simulated power by number of people"), Table.of([]), notes
    return _table([{**base, **_needed_row(model_needed(aim, rounds), ask, rounds)}], ask), Table.of([]), notes


def _plan_from_pilot(ask: PowerQuestion, aim: Aim, rounds: int) -> tuple[Table, Table, list[str]]:
    from interplay.study.analysis.data import gather
    from interplay.study.analysis.exclusion import sort_people
    from interplay.study.analysis.pilot import differences, rankings, ratings_against
    from interplay.study.analysis.sources import read_records

    records = read_records(str(ask.pilot), traces=False)
    parts = records.protocol.analysis
    data = sort_people(gather(records), next((part for part in parts if part.kind == "exclude"), None))
    data = replace(data, sums={part.id: part for part in parts if part.kind == "scale"})
    if ask.test == "friedman":
        if ask.page is None:
            raise InterplayError("--page: name the page of the pilot on which people ranked")
        about, _, spread = from_rankings(aim, rankings(data, ask.page, ask.game))
        row = {"test": ask.test, **about, **_needed_row(spread, ask, rounds)} if spread else {}
        more = ["the interval is of pilots of this size: this one drawn again and again"]
        return _table([row], ask), Table.of([]), [*_rounds(rounds), *more]
    if ask.rating is None:
        raise InterplayError("--rating: name the question or scale of the pilot that is tested")
    if ask.test == "one_sample":
        values = ratings_against(data, ask.rating, ask.against, ask.game)
    else:
        values = differences(data, ask.rating, ask.levels)
    about, numbers = from_pilot(aim, values)
    rows: list[Row] = []
    for what, name, size in (
        ("as in the pilot", "effect", abs(about["effect"])),
        ("careful (60 % interval, lower end)", "careful", about["careful"]),
        ("95 % interval, upper end", "fewest", max(abs(about["effect_low"]), abs(about["effect_high"]))),
        ("95 % interval, lower end", "most", None),
    ):
        got = numbers[name]
        if name == "most":
            ends = about["effect_low"], about["effect_high"]
            size = min(map(abs, ends)) if ends[0] * ends[1] > 0 else 0.0
        rows.append({"test": ask.test, "effect_is": what, "effect": size, **_needed_row(got, ask, rounds)})
    first = numbers["effect"]
    if first is not None:  # what the pilot leaves open, in place of the simulation's error
        fewest, most = numbers["fewest"], numbers["most"]
        rows[0] |= {"people_low": fewest.n if fewest else None, "people_high": most.n if most else None}
    effect = f"pilot: effect {about['effect']:.2f} [{about['effect_low']:.2f}, {about['effect_high']:.2f}]"
    notes = [*_rounds(rounds), f"{effect} of {about['pilot']} people"]
    if numbers["most"] is None:
        notes.append("the pilot leaves open whether there is an effect at all, so no number of people is surely enough")
    return _table(rows, ask), _curve(aim, about["effect"], first.n) if first else Table.of([]), notes


def _needed_row(answer: Needed | None, ask: PowerQuestion, rounds: int) -> Row:
    if answer is None:
        return {"people": None, "people_low": None, "people_high": None, "recruit": None, "power": None}
    row: Row = {"people": answer.n, "people_low": answer.low, "people_high": answer.high}
    row["recruit"] = recruits(answer.n, ask.dropout, rounds)
    return row | {"power": answer.power, "power_low": answer.power_low, "power_high": answer.power_high}


def _table(rows: list[Row], ask: PowerQuestion) -> Table:
    level = f"{ask.alpha:g}" if ask.tests == 1 else f"{ask.alpha:g} / {ask.tests}"
    sides = "one-sided" if ask.one_sided else "two-sided"
    return Table.of(rows, f"People for a power of {ask.power:g} at the level {level}, {sides}")


def _curve(aim: Aim, effect: float, n: int) -> Table:
    around = sorted({max(2, round(n * share)) for share in (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)})
    return Table.of(curve(aim, effect, around), "Power by number of people")


def _rounds(rounds: int) -> list[str]:
    return [f"recruit: whole rounds of {rounds} orders"] if rounds > 1 else []
