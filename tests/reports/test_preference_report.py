"""The report on ratings: every number of it is a number of a table."""

from __future__ import annotations

import numpy as np

from interplay.reports.preference import preference_report
from interplay.stats import predict_ratings, relations
from interplay.table import Table
from tests.glossary import all_columns_explained  # noqa: F401


def people() -> Table:
    rng = np.random.default_rng(0)
    rows = []
    for person in range(90):
        a, b = rng.normal(size=2)
        rows.append({"agent": f"<agent {person % 3}>", "person": person, "a": a, "b": b, "rating": a + rng.normal()})
    return Table.of(rows)


def test_the_report_shows_relations_and_predictions():
    table = people()
    made = predict_ratings(table, ["a", "b"], unit="person", shuffles=19)
    found = relations(table, ["a", "b"])
    html, again = (
        preference_report({"relations": found}, [("both", made)], title="Ratings", intro="Who likes whom?").html()
        for _ in range(2)
    )
    assert html == again
    assert "<agent" not in html  # names are escaped
    assert "Ratings that the model has not seen" in html
    assert f"{made.r_squared.estimate:.2f}" in html
    assert f"{found.rows[0]['slope']:.2f}" in html
    assert "Weights" in html
    assert "one agent left out" in html
    assert (
        html
        == preference_report({"relations": found}, [("both", made)], title="Ratings", intro="Who likes whom?").html()
    )


def test_a_report_without_predictions_or_weights():
    rng = np.random.default_rng(1)
    table = Table.of([row | {"rating": float(rng.normal())} for row in people()])
    useless = predict_ratings(Table.of([r | {"a": 1.0} for r in table]), ["a"], unit="person", shuffles=9)
    assert all(row["per_sd"] == 0 for row in useless.coefficients)
    html = preference_report({}, [("nothing", useless)], title="None").html()
    assert "Weights" not in html
    assert "not seen" not in preference_report({}, [], title="None").html()
