"""Pictures of behaviour: true axes, every partner and feature in them."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.reports.behaviour_figures import SMOOTHING, components, heat_figure, map_figure, panel_report
from interplay.table import Table


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).gamma(1.0, size=(9, 4))


NAMES = ["delivery@seat0", "delivery@seat1", "STAY@seat0", "never@seat0"]


def test_components_are_those_of_the_covariance(values):
    scaled = values / (values.max(axis=0) + SMOOTHING)
    spread, axes = np.linalg.eigh(np.cov(scaled.T))
    found = components(values, axes=4)
    np.testing.assert_allclose(found.shares, spread[::-1] / spread.sum())
    np.testing.assert_allclose(np.abs(found.loadings), np.abs(axes.T[::-1]), atol=1e-9)
    centred = scaled - scaled.mean(axis=0)
    np.testing.assert_allclose(found.places, centred @ found.loadings.T, atol=1e-9)
    assert all(row[np.abs(row).argmax()] > 0 for row in found.loadings)


def test_items_that_all_do_the_same_have_no_variance():
    found = components(np.ones((3, 2)))
    assert found.shares.tolist() == [0, 0]
    with pytest.raises(InterplayError, match="at least two items"):
        components(np.ones((1, 3)))


def test_the_map_tells_selected_from_candidates(values):
    figure = map_figure(range(9), NAMES, values, {2, 5}, title="Partners")
    assert figure.svg.count("<circle") == 9 + 2  # and two in the key
    assert "selected 5" in figure.svg
    assert "candidate 1" in figure.svg
    assert "of 4 features" in figure.caption
    with pytest.raises(InterplayError, match="one feature makes no map"):
        map_figure(range(9), NAMES[:1], values[:, :1], {2}, title="Partners")


def test_the_heat_map_leaves_out_what_nobody_does(values):
    shown = values * [1, 1, 1, 0]
    figure = heat_figure([f"c{i}" for i in range(9)], NAMES, shown, title="What they do")
    assert "STAY@seat0" in figure.svg
    assert "never@seat0" not in figure.svg
    assert "1 features that nobody shows are left out" in figure.caption
    with pytest.raises(InterplayError, match="nothing to show"):
        heat_figure(["a"], NAMES, np.zeros((1, 4)), title="What they do")


def test_the_page_of_a_panel_without_features():
    page = panel_report("Panel x", Table.of([{"partner": "p0", "worth": 3.0}]), {}, set(), None, {"game": "g"}).html()
    assert "p0" in page
    assert "main axes" not in page
