"""Reports from tables: each number of the page is a number of a table."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from interplay.errors import InterplayError
from interplay.reports import (
    Columns,
    Figure,
    Group,
    ReportReplay,
    TableSection,
    build_report,
    crossplay_report,
    grade_report,
    replay_data,
)
from interplay.reports.table_report import partner_name
from interplay.table import Table
from tests.reports.report_helpers import ACTIONS, REWARDS, STATES, Page, toy

NS = "{http://www.w3.org/2000/svg}"


def cells(seats=(0, 1)) -> Table:
    rows = []
    for seat in seats:
        for i, agent in enumerate("abc"):
            for j, partner in enumerate("abc"):
                mean = None if agent == partner == "c" else 10.0 * i + j + 100 * seat
                rows.append(
                    {
                        "game": "overcooked/ring",
                        "agent": agent,
                        "partner": partner,
                        "seat_of_agent": seat,
                        "episodes": 20,
                        "mean": mean,
                        "low": mean and mean - 1,
                        "high": mean and mean + 1,
                        "privileged": "b",
                    }
                )
    return Table.of(rows)


def flat(sections):
    for section in sections:
        yield section
        if isinstance(section, Columns | Group):
            yield from flat(section.sections)


def figures(report) -> list[Figure]:
    return [s for s in flat(report.sections) if isinstance(s, Figure)]


def shown(figure: Figure) -> list[str]:
    return [node.text for node in ET.fromstring(figure.svg).iter(f"{NS}text")]


def episode(id=None):
    return replay_data(toy(), STATES, ACTIONS, REWARDS, agents=["a", "b"], id=id)


def test_crossplay_has_a_map_per_seating_all_pairs_and_replays(tmp_path):
    report = crossplay_report(cells(), replays=[episode()], provenance={"seed": 1})
    maps = [f for f in figures(report) if f.name.startswith("heat-map")]
    assert [m.title for m in maps] == ["agent in seat 0", "agent in seat 1"]
    for seat, figure in enumerate(maps):
        values = {f"{10 * i + j + 100 * seat}" for i in range(3) for j in range(3)} - {f"{22 + 100 * seat}"}
        assert values <= set(shown(figure))
        assert "–" in shown(figure)
        assert shown(figure).count("b †") == 2
        assert figure.privileged
    assert isinstance(report.sections[-1], ReportReplay)
    Page(report.html())
    report.write_bundle(tmp_path)
    assert len(list((tmp_path / "figures").iterdir())) == len(figures(report))


def test_seatings_share_their_colours():
    maps = [f for f in figures(crossplay_report(cells())) if f.name.startswith("heat-map")]
    keys = [[t for t in shown(m) if t in ("0", "121")] for m in maps]
    assert all("0" in k and "121" in k for k in keys)  # the ends of the key, in both


def test_crossplay_numbers_leave_nulls_out():
    page = Page(crossplay_report(cells(seats=(0,))).html())
    numbers = [t for t in page.text["dd"] if t.strip()]
    assert numbers[:3] == ["3", "8", "180"]
    assert "points, c with b" in numbers  # 21, the best pair that was played
    assert "points, a with a" in numbers


def test_a_heat_map_of_unsummarised_rows_is_an_error():
    with pytest.raises(InterplayError, match="summarise the table first"):
        crossplay_report(cells(seats=(0,)) + cells(seats=(0,)))


def test_a_partner_is_named_by_what_it_prefers():
    assert partner_name({"partner": "c021.final", "prefers": "hoards dishes"}) == "hoards dishes (c021.final)"
    assert partner_name({"partner": "stay", "prefers": None}) == "stay"
    assert partner_name({"partner": "c1", "prefers": "x" * 50}, 10) == "xxxx…xxxxx (c1)"


def test_grade_names_the_hardest_partner_and_marks_privilege():
    overall = Table.of([{"agent": "a", "game": "g", "iqm": 12.5, "low": 11.0, "high": 14.0, "episodes": 60}])
    report = grade_report(overall, cells().where(agent="a"), replays=[episode()])
    page = Page(report.html())
    numbers = [t.strip() for t in page.text["dd"] if t.strip()]
    assert numbers[0] == "12.5"
    assert "[11.0, 14.0]" in numbers[1]
    assert "points with a" in numbers
    plot = next(f for f in figures(report) if f.title.startswith("With each partner"))
    assert "b, seat 0 †" in shown(plot)
    assert "1 [0, 2]" in shown(plot)


def test_tables_bring_the_figures_their_columns_allow():
    helps = Table.of(
        [
            {"game": "g", "episode": e, "giver": 0, "receiver": 1, "metric": "m", "value": v, "agents": "x | y"}
            for e, v in enumerate((2.0, 4.0, None))
        ]
    )
    intervals = Table.of([{"agent": "x", "estimate": 0.5, "low": 0.4, "high": 0.7}, {"agent": "y", "estimate": 0.1}])
    report = build_report({"helps": helps, "scores": intervals, "plain": Table.of([{"k": 1}])}, title="T", intro="Hi")
    graph, plot = figures(report)
    assert "3" in shown(graph)  # the mean of 2 and 4; null is not 0
    assert {"x", "y"} <= set(shown(graph))
    assert "0.50 [0.40, 0.70]" in shown(plot)
    assert [s.name for s in flat(report.sections) if isinstance(s, TableSection)] == ["helps", "scores", "plain"]
    Page(report.html())


def test_tables_that_cannot_be_reported_say_so():
    with pytest.raises(InterplayError, match="lacks partner"):
        crossplay_report(Table.of([{"agent": "a", "mean": 1}]))
    with pytest.raises(InterplayError, match="no rows"):
        crossplay_report(Table.of([], columns=["agent", "partner", "mean"]))
    with pytest.raises(InterplayError, match="with an estimate"):
        crossplay_report(Table.of([{"agent": "a", "partner": "b"}]))
