"""Pictures of behaviour: where partners lie on the main axes of what they do, and what each of them does."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from interplay.errors import InterplayError
from interplay.reports import figures
from interplay.reports.document import Figure, Report, Section, TableSection, Text
from interplay.reports.figures import Point
from interplay.table import Table

SMOOTHING = 1e-3  # added to a feature's maximum before the feature is divided by it, as in selection


class Components(NamedTuple):
    """Principal components of features."""

    places: Float[np.ndarray, "item axis"]
    shares: Float[np.ndarray, " axis"]  # of the variance along each axis
    loadings: Float[np.ndarray, "axis feature"]


def components(values: Float[np.ndarray, "item feature"], axes: int = 2) -> Components:
    """The main axes of behaviour, features over their maximum. The largest loading of each axis is positive."""
    if values.ndim != 2 or len(values) < 2:
        raise InterplayError("main axes of behaviour need at least two items, a row each")
    scaled = values / (np.abs(values).max(axis=0) + SMOOTHING)
    centred = scaled - scaled.mean(axis=0)
    left, singular, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
    signs[signs == 0] = 1.0
    total = np.sum(singular**2)
    many = min(axes, len(singular))
    spread = total > 1e-20 * np.sum(scaled**2)  # what is left of equal rows is rounding
    shares = singular**2 / total if spread else np.zeros(len(singular))
    return Components((left * singular * signs)[:, :many], shares[:many], (right * signs[:, None])[:many])


def map_figure(
    ids: Sequence[Any],
    names: Sequence[str],
    values: Float[np.ndarray, "item feature"],
    chosen: Collection[Any],
    *,
    title: str,
) -> Figure:
    """All candidates on the two main axes of their features, the chosen ones apart."""
    axes_found = components(values)
    if axes_found.places.shape[1] < 2:
        raise InterplayError(f"{title}: one feature makes no map; give at least two")
    groups = ["selected" if i in chosen else "candidate" for i in ids]
    order = sorted(range(len(ids)), key=lambda i: groups[i] == "selected")  # the selected are drawn last, on top
    points = [
        Point(float(axes_found.places[i, 0]), float(axes_found.places[i, 1]), f"{groups[i]} {ids[i]}", groups[i])
        for i in order
    ]
    axes = [f"axis {a + 1} ({100 * axes_found.shares[a]:.0f} %)" for a in range(2)]
    drawing = figures.scatter(points, title=title, x_title=axes[0], y_title=axes[1])
    variance = f"{100 * axes_found.shares.sum():.0f} % of the variance of {len(names)} features lies in these two axes."
    along = "; ".join(f"axis {a + 1}: {_loaded(names, axes_found.loadings[a])}" for a in range(2))
    return Figure(drawing, title, f"{variance} What moves along them most: {along}.", title)


def _loaded(names: Sequence[str], loadings: Float[np.ndarray, " feature"]) -> str:
    strongest = np.abs(loadings).argsort()[::-1][:3].tolist()
    return ", ".join(f"{'+' if loadings[i] > 0 else '−'}{names[i]}" for i in strongest)


def heat_figure(
    labels: Sequence[str], names: Sequence[str], values: Float[np.ndarray, "item feature"], *, title: str
) -> Figure:
    """What each item does, each feature over its maximum; features that nobody shows are left out."""
    highest = values.max(axis=0)
    used = np.flatnonzero(highest > 0).tolist()
    if not used:
        raise InterplayError(f"{title}: every feature is 0 throughout, there is nothing to show")
    scaled = values[:, used] / (highest[used] + SMOOTHING)
    grid = [[round(float(v), 3) for v in row] for row in scaled]
    drawing = figures.heat_map(
        labels, [names[i] for i in used], grid, title=title, row_title="partner", column_title="feature", bounds=(0, 1)
    )
    left_out = len(names) - len(used)
    more = f" {left_out} features that nobody shows are left out." if left_out else ""
    return Figure(drawing, title, f"Mean counts per episode, each over the largest of its column.{more}", title)


def panel_report(
    name: str,
    members: Table,
    behaviour: Mapping[str, tuple[Sequence[Any], Sequence[str], np.ndarray]],
    selected: Collection[Any],
    diversity: Table | None,
    provenance: Mapping[str, Any],
) -> Report:
    """The page of a panel: its partners and their best responses, and how they differ.

    `behaviour` maps a heading to (ids, names of features, values), of best responses or of the partners.
    """
    sections: list[Section] = [Text(PANEL_INTRO), TableSection(members, "Partners and best responses", name="partners")]
    for heading, (ids, names, values) in behaviour.items():
        if len(ids) > 1 and len(names) > 1:
            sections.append(map_figure(ids, names, values, selected, title=f"{heading}: main axes"))
        rows = [i for i, one in enumerate(ids) if one in selected]
        if rows and np.any(values[rows] > 0):
            labels = [str(ids[i]) for i in rows]
            sections.append(heat_figure(labels, names, values[rows], title=f"{heading}: what they do"))
    if diversity is not None:
        sections.append(TableSection(diversity, "Diversity by size", caption=DIVERSITY, name="diversity"))
    return Report(name, sections, "Evaluation partners and the best responses that agents are measured by", provenance)


PANEL_INTRO = (
    "Each partner is frozen and known by the hash of its weights. *worth* is the mean score of the best response with "
    "the partner when the best response sits in *seat*, with its 95 % interval over episodes: what BR-Prox divides by."
)
DIVERSITY = (
    "*br div* is the largest log determinant that a set of this size reaches on the features of the best responses, "
    "*p div* that of the same set on the partners' own."
)
