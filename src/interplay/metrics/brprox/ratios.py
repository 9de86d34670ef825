"""Best-response proximity: the share of a partner's best response's return that an ego agent gets with that partner.

A cell is one trained ego (algorithm, population, seed) with one partner of one skill in one seating. Its ratio is
J(ego, partner) / J(best response, partner), both with the partner in the same seats. Two columns come of it:

- `compatible`, as ZSC-Eval counts: at most 1, and 1 where the best response itself gets nothing;
- `honest`: the same, but null where the best response gets nothing, since the ratio is then undefined.

With n seats there is a best response for every set L of partner seats, 1 <= |L| < n; the ego fills the others. Several
partners may sit in L: such a set of partners is named a|b, in the order of the seats, and has a best response of its
own; intervals then draw the partners, not the sets.
Source: Wang et al., ZSC-Eval, NeurIPS 2024.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from interplay.errors import InterplayError
from interplay.metrics.brprox.rows import AT, Reduced, reduced, tidy
from interplay.table import Row, Table

BEST_RESPONSE_KEY = ("layout", "partner", "skill", "ego_seats")  # one best response each
EGO = ("layout", "algorithm", "population", "seed")
CELL = (*EGO, "partner", "skill", "ego_seats")
COLUMNS = (
    *CELL, "return", "return_se", "episodes", "best_response_return", "best_response_se", "self_play_return",
    "ratio", "compatible", "honest",
)  # fmt: skip


@dataclass(frozen=True)
class Cells:
    """Every ego with every partner, and the best responses that they are measured by."""

    table: Table  # COLUMNS, a row per cell
    best_responses: Mapping[tuple[Any, ...], Reduced]  # by BEST_RESPONSE_KEY
    notes: tuple[str, ...] = field(default=())


def partner_seat_sets(seats: int) -> list[tuple[int, ...]]:
    """Every set of seats that partners may fill while an ego fills the rest: none empty, none complete."""
    if isinstance(seats, bool) or not isinstance(seats, int) or seats < 2:
        raise InterplayError(
            f"seats must be a whole number of at least 2, not {seats!r}: somebody has to be the partner"
        )
    return [chosen for size in range(1, seats) for chosen in combinations(range(seats), size)]


def ego_seats_beside(partner_seats: Iterable[int], seats: int) -> tuple[int, ...]:
    """The seats that the ego fills."""
    taken = tuple(sorted(partner_seats))
    if taken not in partner_seat_sets(seats):
        raise InterplayError(
            f"partners in seats {list(taken)} of {seats}: give 1 to {seats - 1} different seats of the game"
        )
    return tuple(s for s in range(seats) if s not in taken)


def cells(
    returns: Table | Iterable[Mapping[str, Any]],
    best_responses: Table | Iterable[Mapping[str, Any]],
    *,
    seats: int | None = None,
) -> Cells:
    """The cells of tidy returns and the best responses' own returns.

    `returns`: algorithm, seed, partner, `ego_seat` (or `ego_seats` as "0+2", or `partner_seats` with `seats` given),
    return; and where there are such: layout, population, skill, episode (then a row per episode), return_se, and
    self_play_return, the partner's own. `best_responses`: partner, the same seats, return; and layout, skill, episode,
    return_se, or low and high (95 %).
    """
    egos = tidy(returns, what="returns", need=("algorithm", "seed", "partner", "return"), seats=seats)
    best_rows = tidy(best_responses, what="best responses", need=("partner", "return"), seats=seats)
    best = reduced(best_rows, BEST_RESPONSE_KEY, "return", "best responses")
    lost = [r for r in egos if _key(r, BEST_RESPONSE_KEY) not in best]
    if lost:
        described = _words(lost[0], BEST_RESPONSE_KEY)
        raise InterplayError(
            f"{len(lost)} of {len(egos)} returns have no best response, the first is {lost[0][AT]} ({described}); "
            "every partner, skill and seating needs one"
        )
    return joined(egos, best, seats=seats)


def joined(egos: Sequence[Row], best_by_key: Mapping[tuple[Any, ...], Reduced], *, seats: int | None = None) -> Cells:
    """Cells of checked rows and best responses that cover them."""
    own = _self_play(egos)
    rows = []
    for key, got in reduced(egos, CELL, "return", "returns").items():
        about = dict(zip(CELL, key, strict=True))
        best_key = tuple(about[name] for name in BEST_RESPONSE_KEY)
        best = best_by_key[best_key]
        ratio = got.mean / best.mean if best.mean > 0 else None
        rows.append(about | {
            "return": got.mean, "return_se": got.se, "episodes": got.n,
            "best_response_return": best.mean, "best_response_se": best.se,
            "self_play_return": own.get((about["layout"], about["partner"], about["skill"])),
            "ratio": ratio,
            "compatible": 1.0 if ratio is None else min(1.0, ratio),
            "honest": None if ratio is None else min(1.0, ratio),
        })  # fmt: skip
    table = Table.of(rows, "Best-response proximity, by cell", columns=COLUMNS)
    return Cells(table, best_by_key, tuple(_unequal(table)) + (tuple(_uncovered(table, seats)) if seats else ()))


def _self_play(egos: Sequence[Row]) -> dict[tuple[Any, ...], float]:
    """The partners' own self-play returns, where given: one number for each partner and skill."""
    by_partner: dict[tuple[Any, ...], tuple[float, str]] = {}
    for row in egos:
        value = row.get("self_play_return")
        key = _key(row, ("layout", "partner", "skill"))
        if value is None:
            continue
        known, where = by_partner.setdefault(key, (value, row[AT]))
        if not math.isclose(known, value, rel_tol=1e-9, abs_tol=1e-9):
            raise InterplayError(
                f"partner {row['partner']!r} has the self-play returns {known:g} ({where}) and {value:g} ({row[AT]}); "
                "a partner of one skill has one"
            )
    return {key: value for key, (value, _) in by_partner.items()}


def _unequal(table: Table) -> Iterable[str]:
    """IQMs over different partners do not compare: say who has fewer cells than the others."""
    for (layout,), part in table.groups("layout").items():
        sizes = {
            key: len({_key(r, BEST_RESPONSE_KEY) for r in rows})
            for key, rows in part.groups("algorithm", "population").items()
        }
        most = max(sizes.values())
        for (algorithm, population), size in sizes.items():
            if size < most:
                yield (
                    f"{_named(algorithm, population)}{f' in {layout}' if layout else ''} met {size} of {most} partners "
                    "and seatings; its numbers do not compare with the others"
                )


def _uncovered(table: Table, seats: int) -> Iterable[str]:
    """Seatings that the definition asks for and the table lacks."""
    wanted = {"+".join(map(str, ego_seats_beside(s, seats))) for s in partner_seat_sets(seats)}
    for (layout, partner, skill), part in table.groups("layout", "partner", "skill").items():
        if lacking := wanted - set(part.column("ego_seats")):
            words = ", ".join(str(v) for v in (layout, skill) if v is not None)
            who = f"partner {partner}{f' ({words})' if words else ''}"
            yield f"{who} has no cells with the ego in seats {', '.join(sorted(lacking))}"


def _named(algorithm: Any, population: Any) -> str:
    return str(algorithm) if population is None else f"{algorithm} {population}"


def _key(row: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in names)


def _words(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join(f"{n.replace('_', ' ')} {row[n]}" for n in names if row.get(n) is not None)
