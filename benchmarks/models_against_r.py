"""Ours against R (lme4, lmerTest, pbkrtest, emmeans, ordinal) on three generated data sets.

    python benchmarks/models_against_r.py

prints the table of docs/results/models_against_r.md. Needs Rscript with those packages (`make test-r` installs them).
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from interplay.stats import holm
from interplay.stats.models import linear_mixed, ordinal_mixed

SCRIPT = Path(__file__).with_suffix(".R")
SETS = ("balanced", "unbalanced", "missing cells")


def data_set(name: str) -> tuple[dict[str, list], list[str]]:
    """Return columns and the names of the groupings: y, o (a scale of 5), x (of the partner), z (of the game)."""
    rng = np.random.default_rng([7, SETS.index(name)])
    if name == "balanced":  # everyone rates every partner once
        person, partner, item = np.indices((40, 8, 1)).reshape(3, -1)
        groups = ["person", "partner"]
    elif name == "unbalanced":  # people meet 2 to 6 of 6 partners, most of them several times
        person = np.repeat(np.arange(48), rng.integers(4, 16, 48))
        favourite = rng.dirichlet(np.ones(6), 48)
        partner = np.array([rng.choice(6, p=favourite[p]) for p in person])
        item = np.zeros(len(person), int)
        groups = ["person", "partner", "cell"]
    else:  # three items crossed with people and partners, 40 % of the answers missing
        person, partner, item = np.indices((30, 7, 3)).reshape(3, -1)
        kept = rng.random(len(person)) < 0.6
        person, partner, item = person[kept], partner[kept], item[kept]
        groups = ["person", "partner", "item"]
    x = rng.normal(size=8)[partner]
    z = rng.normal(size=len(person)) + 0.5 * x
    latent = 3 + 0.2 * x + 0.3 * z + rng.normal(0, 0.7, 60)[person] + rng.normal(0, 0.6, 8)[partner]
    latent = (
        latent + rng.normal(0, 0.5, 3)[item] * (name == "missing cells") + rng.normal(0, 0.4, (60, 8))[person, partner]
    )
    y = latent + rng.normal(0, 0.8, len(person))
    columns = {"y": y, "o": np.clip(np.round(y), 1, 5), "x": x, "z": z}
    labels = {
        "person": [f"p{k}" for k in person], "partner": [f"a{k}" for k in partner], "item": [f"i{k}" for k in item],
        "cell": [f"p{k}a{j}" for k, j in zip(person, partner, strict=True)],
    }  # fmt: skip
    return {**{k: v.tolist() for k, v in columns.items()}, **labels}, groups


def in_r(columns: dict[str, list], groups: list[str]) -> dict[str, Any]:
    """Return what R's packages say."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        with file.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        command = ["Rscript", str(SCRIPT), str(file), ",".join(groups)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def in_ours(columns: dict[str, list], groups: list[str]) -> dict[str, Any]:
    """Return the same numbers by this package."""
    random = {name: columns[name] for name in groups}
    both = {"x": columns["x"], "z": columns["z"]}
    fit = linear_mixed(columns["y"], both, random)
    named = [fit.coefficient(name) for name in fit.fixed.names]
    factor = linear_mixed(
        columns["y"],
        {"partner": columns["partner"], "z": columns["z"]},
        {name: levels for name, levels in random.items() if name != "partner"},
    )
    test, means, pairs = factor.factor("partner"), factor.means("partner"), factor.pairs("partner")
    ordinal = ordinal_mixed(columns["o"], both, random, reml=False)
    return {
        "linear": {
            "estimate": fit.coefficients.tolist(),
            "se": np.sqrt(np.diag(fit.covariance)).tolist(),
            "se_kr": [e.se for e in named],
            "df_kr": [e.df for e in named],
            "p_kr": [e.p for e in named],
            "deviance": fit.deviance,
            "variances": [*fit.variances.values()],
        },
        "factor": {"f": test.f, "df1": test.df1, "df2": test.df2, "p": test.p},
        "means": {"estimate": [e.estimate for e in means.values()], "se": [e.se for e in means.values()]},
        "pairs": {
            "estimate": [e.estimate for e in pairs.values()],
            "se": [e.se for e in pairs.values()],
            "df": [e.df for e in pairs.values()],
            "p_holm": holm([e.p for e in pairs.values()]).tolist(),
        },
        "ordinal": {
            "thresholds": ordinal.thresholds.tolist(),
            "estimate": ordinal.coefficients[1:].tolist(),
            "se": np.sqrt(np.diag(ordinal.covariance))[1:].tolist(),
            "log_likelihood": ordinal.log_likelihood,
            "sds": [v**0.5 for v in ordinal.variances.values()],
        },
    }


def compare(name: str) -> list[dict[str, Any]]:
    """Return rows of quantity, R's value, ours and the largest difference, relative where values are above 1."""
    columns, groups = data_set(name)
    theirs, ours = in_r(columns, groups), in_ours(columns, groups)
    kept = theirs["linear"]["variances"]
    theirs["linear"]["variances"] = [kept[g] for g in groups] + [kept["Residual"]]
    rows = []
    for part, values in ours.items():
        for quantity, value in values.items():
            mine, other = np.atleast_1d(value), np.atleast_1d(theirs[part][quantity])
            gap = float(np.max(np.abs(mine - other) / np.maximum(1.0, np.abs(other))))
            rows.append(
                {"data": name, "model": part, "quantity": quantity, "r": other, "ours": mine, "difference": gap}
            )
    return rows


def _show(values: np.ndarray) -> str:
    kept = ", ".join(f"{v:.4g}" for v in values[:4])
    return kept + (", ..." if len(values) > 4 else "")


def main() -> None:
    """Print the table in Markdown."""
    print("| data | model | quantity | R | ours | largest difference |\n|---|---|---|---|---|---|")
    for name in SETS:
        for row in compare(name):
            cells = [row["data"], row["model"], row["quantity"], _show(row["r"]), _show(row["ours"])]
            print(f"| {' | '.join(cells)} | {row['difference']:.1e} |")


if __name__ == "__main__":
    main()
