"""Intervals over tidy tables: one row of results per group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Seed
from interplay.stats.bootstrap import bootstrap
from interplay.stats.estimators import Estimator
from interplay.table import Table


def interval_table(
    table: Table,
    *,
    seed: Seed,
    by: Sequence[str] = (),
    value: str = "value",
    units: Sequence[str] = (),
    fixed: Sequence[str] = (),
    statistic: str | Estimator = "iqm",
    level: float = 0.95,
    method: str = "expanded",
    replicates: int = 2000,
    missing: Missing = "raise",
) -> Table:
    """A statistic with its interval for every group of rows.

    An integer seed serves every group anew, so a group's interval does not depend on which others are in the table.
    A group of missing values only has null results, and one of a single value has no interval: that would need more.
    """
    parts = {name for unit in units for step in unit.split("/") for name in step.split("+")}
    columns = [*dict.fromkeys([*sorted(parts), *fixed])]
    for name in (value, *by, *columns):
        if name not in table.columns:
            raise InterplayError(f"no column {name!r}; this table has {', '.join(table.columns)}")
    rows = []
    for key, part in table.groups(*by).items():
        values = part.column(value)
        result: dict[str, Any] = {"n": 0}
        present = [v for v in values if v is not None]
        if (len(present) == 1 and missing != "raise") or len(values) == 1:
            result = {"estimate": present[0] if present else None, "low": None, "high": None, "n": len(present)}
        elif present:
            interval = bootstrap(
                values,
                {name: part.column(name) for name in columns},
                seed=seed, units=units, fixed=fixed, statistic=statistic,
                level=level, method=method, replicates=replicates, missing=missing,
            )  # fmt: skip
            result = {
                "estimate": interval.estimate, "low": interval.low, "high": interval.high, "n": interval.n,
                "resampled": ", ".join(interval.resampled), "not_resampled": ", ".join(interval.not_resampled),
            }  # fmt: skip
        rows.append(dict(zip(by, key, strict=True)) | result)
    columns_out = [*by, "estimate", "low", "high", "n", "resampled", "not_resampled"]
    return Table.of(rows, table.title, columns=columns_out)
