"""The report as a file: complete in itself, well-formed, harmless whatever the agents are called."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import pytest
from markupsafe import Markup

from interplay.errors import InterplayError
from interplay.reports import (
    Columns,
    Figure,
    FigureEstimate,
    Group,
    KeyNumber,
    KeyNumbers,
    Report,
    ReportReplay,
    TableSection,
    Text,
    interval_plot,
    replay_data,
)
from interplay.reports.document import json_island
from interplay.table import Table
from tests.reports.report_helpers import ACTIONS, REWARDS, STATES, Page, toy

HOSTILE = "</script><script>alert(1)</script><!--'\""


def pairs(name="alice"):
    played = {"agent": name, "partner": "bob", "mean": 123.44, "low": 110.2, "high": 130.9, "privileged": name}
    missing = {"agent": "bob", "partner": "carol", "mean": None, "low": None, "high": None, "privileged": ""}
    return Table.of([played | {"replay": None}, missing | {"replay": "#replay-0@2"}])


def full(name: str = "alice") -> Report:
    episode = replay_data(
        toy(), STATES, ACTIONS, REWARDS, agents=[name, name], title=name,
        remarks=[{"t": 1, "seat": 0, "kind": name, "text": name}],
    )  # fmt: skip
    figure = Figure(interval_plot([FigureEstimate(name, 1.0, 0.0, 2.0)], title=name), name, name)
    sections = [
        Text(f"Hello {name}", name),
        KeyNumbers([KeyNumber(name, name, name)], name),
        TableSection(pairs(name), name, caption=name, name="pairs"),
        Columns([figure, Text("beside")], name),
        Group([ReportReplay([episode], name, name)], name),
        ReportReplay([episode | {"title": "second"}], "Again"),
    ]
    return Report(name, sections, name, {"seed": 0, name: {"x": name}})


def test_the_page_is_well_formed_and_its_names_are_unique():
    page = Page(full().html())
    assert len(page.ids) == len(set(page.ids))
    targets = {a["href"][1:] for a in page.all("a") if a.get("href", "").startswith("#") and "replay" not in a["href"]}
    assert targets <= set(page.ids)
    assert len(page.all("h1")) == 1


def test_nothing_is_loaded_from_outside():
    text = full().html()
    page = Page(text)
    for tag, attrs in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name in ("src", "srcset", "action", "data", "poster"):
            assert name not in attrs, (tag, attrs)
        if "href" in attrs:
            assert attrs["href"].startswith(("#", "data:")), attrs["href"]
    assert set(re.findall(r"https?://[^\s\"'<>;]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in text
    assert "url(" not in text
    policy = next(m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy["content"]


def test_hostile_names_stay_text():
    text = full(HOSTILE).html()
    page = Page(text)
    assert [s.get("type") for s in page.all("script")] == ["application/json", "application/json", None]
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
    assert page.text["h1"] == [HOSTILE]


def test_embedded_json_is_the_replay():
    page = Page(full(HOSTILE).html())
    islands = [json.loads(t) for t in page.text["script"] if t.startswith("[")]
    assert [[e["id"] for e in island] for island in islands] == [["0"], ["1"]]
    assert islands[0][0]["agents"] == [HOSTILE, HOSTILE]
    assert islands[0][0]["remarks"][0]["text"] == HOSTILE


def test_json_islands_cannot_end_their_element():
    value = {"a": "</script> & <!-- \u2028\u2029", "b": float("nan")}
    text = str(json_island(value))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"a": value["a"], "b": None}


def test_tables_show_intervals_nulls_daggers_and_links():
    page = Page(Report("t", [TableSection(pairs(), name="pairs")]).html())
    heads = [t for t in page.text["button"] if t.strip()]
    assert [h for h in heads if h != "◐"] == ["agent", "partner", "mean", "replay"]
    assert page.text["span"][-1] == "[110.2, 130.9]"
    cells = [t.strip() for t in page.text["td"] if t.strip()]
    assert cells == ["alice", "bob", "123.4", "–", "bob", "carol", "–"]
    assert page.text["sup"] == ["†"]
    assert any("privileged" in t for t in page.text["p"])
    assert "#replay-0@2" in [a.get("href") for a in page.all("a")]
    assert [c.get("data-sort") for c in page.all("td")][:4] == ["alice", "bob", "123.44", None]


def test_a_small_p_is_not_shown_as_none():
    told = Table.of([{"test": "a", "p": 0.31, "p_holm": 0.93}, {"test": "b", "p": 3e-9, "p_holm": 9e-9}])
    page = Page(Report("t", [TableSection(told, name="tests")]).html())
    shown = [t.strip() for t in page.text["td"] if t.strip()]
    assert [s for s in shown if s.startswith("< 0.0")] == shown[-2:]


def test_no_footnote_without_privileged_agents():
    table = Table.of([{"agent": "a", "score": 1, "privileged": False}])
    text = Report("t", [TableSection(table)]).html()
    assert "†" not in text
    assert "<sup" in Report("t", [TableSection(Table.of([{"agent": "a", "privileged": True}]))]).html()
    team = Table.of([{"agents": "a | b", "seat_0": "a", "seat_1": "b", "privileged": ["b"]}])
    assert Report("t", [TableSection(team)]).html().count("<sup") == 2  # the team and its second seat


def test_long_tables_are_cut_on_the_page_but_not_in_the_download():
    table = Table.of([{"n": i, "x": i / 3} for i in range(50)])
    section = TableSection(table, "long", limit=10)
    page = Page(Report("t", [section]).html())
    assert len(page.all("tr")) == 11
    link = next(a for a in page.all("a") if a.get("download") == "long.csv")
    content = base64.b64decode(link["href"].partition(",")[2]).decode()
    assert len(list(csv.DictReader(io.StringIO(content)))) == 50


def test_what_is_the_same_in_every_row_is_told_once():
    table = Table.of([{"game": "g", "agent": a, "n": 20} for a in "ab"])
    page = Page(Report("t", [TableSection(table)]).html())
    assert page.text["caption"] == ["game: g; n: 20"]
    assert [t for t in page.text["td"] if t.strip()] == ["a", "b"]


def test_intervals_are_checked():
    with pytest.raises(InterplayError, match="no column 'lo'"):
        _ = TableSection(pairs(), intervals={"mean": ("lo", "high")}).columns


def test_the_bundle_holds_figures_and_tables_that_read_back(tmp_path):
    folder = full().write_bundle(tmp_path / "out")
    assert {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} == {
        "report.html", "provenance.json", "figures/alice.svg", "tables/pairs.csv", "tables/pairs.json",
        "replays/replay-0.json", "replays/replay-1.json",
    }  # fmt: skip
    ET.parse(folder / "figures/alice.svg")
    assert "var(" not in (folder / "figures/alice.svg").read_text()
    rows = json.loads((folder / "tables/pairs.json").read_text())["rows"]
    assert rows == pairs().rows
    flat = list(csv.DictReader((folder / "tables/pairs.csv").open()))
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows] == flat
    assert json.loads((folder / "replays/replay-1.json").read_text())["title"] == "second"
    assert json.loads((folder / "provenance.json").read_text())["seed"] == 0
    Page((folder / "report.html").read_text())


def test_two_sections_may_not_write_one_file(tmp_path):
    sections = [TableSection(pairs(), name="x"), TableSection(pairs("other"), name="x")]
    with pytest.raises(InterplayError, match="another name"):
        Report("t", sections).write_bundle(tmp_path)


def test_the_same_report_is_the_same_bytes(tmp_path):
    a, b = full().write(tmp_path / "a.html"), full().write(tmp_path / "b.html")
    assert a.read_bytes() == b.read_bytes()


def test_an_empty_replay_section_is_an_error():
    with pytest.raises(InterplayError, match="at least one episode"):
        Report("t", [ReportReplay([])]).html()


def test_a_section_may_come_from_elsewhere():
    class Mine:
        title = "Mine"

        def html(self, context):
            return Markup("<p>my own words</p>")

        def files(self):
            return {"mine.txt": "x"}

    assert "<p>my own words</p>" in Report("t", [Mine()]).html()
