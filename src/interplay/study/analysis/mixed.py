"""Mixed models of ratings: which random effects the data can tell, and rows of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats.models import Estimate, LinearMixedFit, OrdinalMixedFit, crossed, linear_mixed, ordinal_mixed
from interplay.table import Row

SLOPE_RATINGS = 3  # ratings a person, on average, from which on people's own slopes can be told from noise


def groupings(rows: Sequence[Row], *, partners: bool) -> dict[str, list[Any]]:
    """Return the groupings over which ratings vary: people, partners, and who rated whom where that was repeated.

    Args:
        rows: Ratings with person and partner.
        partners: Whether partners are a random effect; otherwise they are for the caller to put into the fixed ones.
    """
    person, partner = [row["person"] for row in rows], [row["partner"] for row in rows]
    groups: dict[str, list[Any]] = {}
    if 1 < len(set(person)) < len(rows):
        groups["person"] = person
    if partners:
        groups["partner"] = partner
    cells = crossed(person, partner)
    repeated = sum(count > 1 for count in Counter(cells).values())
    # With two cells or fewer of several ratings the cells' variance cannot be told from the residual's.
    if "person" in groups and repeated > 2 and len(set(cells)) > len(set(person)):
        groups["person and partner"] = cells
    return groups


def games_factor(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return the game as a fixed effect, if ratings are about several and all say about which."""
    games = [row["game"] for row in rows]
    return {"game": games} if None not in games and len(set(games)) > 1 else {}


def slope_fit(
    rows: Sequence[Row], measure: str, *, model: str, slopes: Sequence[str] = (), within: bool = False
) -> tuple[Estimate, LinearMixedFit | OrdinalMixedFit]:
    """Fit ratings on a measure, with people and partners drawn from their populations.

    Args:
        rows: Ratings with person, partner, game, value and the measure.
        measure: The column that explains.
        model: `mixed` or `ordinal`.
        slopes: Groupings over which the slope varies (mixed only), where there are enough ratings.
        within: Whether the slope is that within people: each person's mean is a second column.

    Raises:
        InterplayError: There are too few ratings, people or partners, or the measure does not vary.
    """
    y = [float(row["value"]) for row in rows]
    x = np.array([float(row[measure]) for row in rows])
    groups = groupings(rows, partners=True)
    fixed: dict[str, Any] = {"slope": x.tolist()}
    if within:
        codes = np.unique([row["person"] for row in rows], return_inverse=True)[1]
        means = (np.bincount(codes, weights=x) / np.bincount(codes))[codes]
        scale = 1e-12 * max(1.0, float(np.abs(x).max()))
        if np.ptp(x - means) <= scale:
            raise InterplayError("the measure does not change within any person")
        fixed = {"slope": (x - means).tolist()}
        if np.ptp(means) > scale:
            fixed["person's mean"] = means.tolist()
    fixed |= games_factor(rows)
    if model == "ordinal":
        made = ordinal_mixed(y, fixed, groups)
        return made.coefficient("slope"), made
    people = len(set(groups.get("person", ())))
    varying = {
        name: x for name in slopes if name in groups and (name != "person" or len(rows) >= SLOPE_RATINGS * people)
    }
    linear = linear_mixed(y, fixed, groups, slopes=varying)
    return linear.coefficient("slope"), linear


def partner_fit(rows: Sequence[Row], *, model: str) -> LinearMixedFit | OrdinalMixedFit:
    """Fit ratings on the partner rated, with people drawn from their population: do these partners differ?

    Raises:
        InterplayError: There are too few ratings or people, or one partner only.
    """
    y = [float(row["value"]) for row in rows]
    fixed = {"partner": [str(row["partner"]) for row in rows], **games_factor(rows)}
    groups = groupings(rows, partners=False)
    if not groups:
        raise InterplayError("nobody rated twice, so that people cannot be told from their ratings")
    fit = ordinal_mixed if model == "ordinal" else linear_mixed
    return fit(y, fixed, groups)


def estimate_row(made: Estimate, name: str, p: str = "p") -> Row:
    """Return an estimate with its interval, t, df and p."""
    row = {name: made.estimate, f"{name}_low": made.low, f"{name}_high": made.high}
    return {**row, "t": made.t, "df": made.df, p: made.p}


def margin_row(made: Estimate, margin: float | None) -> Row:
    """Return the tests of equivalence and of not being worse; nothing without a margin."""
    if margin is None:
        return {}
    test = made.equivalence(margin)
    return {"margin": margin, "p_equivalent": test.p, "p_not_worse": test.p_not_worse}


def variances_row(variances: Mapping[str, float]) -> Row:
    """Return the standard deviations of the random effects."""
    return {f"sd_{name.replace(' ', '_')}": float(np.sqrt(value)) for name, value in variances.items()}
