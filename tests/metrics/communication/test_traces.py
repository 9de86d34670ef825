"""The audit of recorded episodes: from traces, from their export, from the command line, into a page."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser

import pytest

import interplay
from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import DISHES
from interplay.metrics.communication import AuditSettings, rows
from interplay.metrics.communication.source import open_source, transcripts_of
from interplay.reports.communication import JudgedMessages, audit
from interplay.table import Table
from interplay.traces import TraceSet, write_jsonl
from tests.metrics.communication.cooks import cook, dabble

ASKED = (0, "Please pick up the potato and cut it, then bring it to me.")
THANKED = (12, "You are great!")


@pytest.fixture(scope="module")
def traces() -> TraceSet:
    return cook("boiled potato~slices", ASKED, THANKED, episodes=2)


def values(table: Table, window: str = "0.15 x horizon") -> dict:
    return {r["metric"]: r["value"] for r in table if r["seat"] is None and r["window"] == window}


@pytest.mark.parametrize("dish", DISHES)
def test_cooks_who_keep_to_the_reference_plan_waste_nothing(dish):
    found = values(interplay.measure(cook(dish), ["communication"]))
    assert found["success"] == 1
    assert found["tes"] == pytest.approx(1)
    assert (found["adr"], found["idensity"], found["repeated_actions"], found["waste"]) == (1, 1, 0, 0)
    assert found["follow_rate"] is None


def test_a_request_is_settled_by_the_replayed_action(traces):
    detail = interplay.measure(traces, ["communication"], detail=True)
    mine = detail.where(episode=0).rows
    assert [(r["request"], r["category"]) for r in mine] == [
        ("pickup(potato)", "effective"),
        ("cut(potato)", "effective"),
        ("place_obj_on_counter(potato~slices, counter)", "effective"),
        (None, "unstructured"),
    ]
    again = interplay.measure(traces, ["communication"]).where(episode=0)
    assert values(again)["follow_rate_all"] == 3 / 4


def test_options_of_the_metric(traces):
    strict = values(interplay.measure(traces, ["communication"], window=1), "1 steps")
    assert strict["follow_rate"] == 0
    assert strict["delayed_rate"] == 1
    with pytest.raises(InterplayError, match="redundancy"):
        interplay.measure(traces, ["communication"], redundancy="loose")


def test_the_export_of_a_trace_set_and_its_events_say_the_same(traces, tmp_path):
    found = audit(traces)
    assert found.write_transcripts(tmp_path / "events.jsonl") == 2
    write_jsonl(traces, tmp_path / "traces.jsonl")
    for file in ("events.jsonl", "traces.jsonl"):
        again = list(transcripts_of(open_source(tmp_path / file)))
        for one, other in zip(again, found.transcripts, strict=True):
            first, second = ([r["value"] for r in rows(t, AuditSettings())] for t in (one, other))
            assert first == second


def test_where_one_can_finish_alone_passing_a_raw_thing_is_no_nonsense():
    asked = (0, "Bring me the potato.")
    settled = audit(cook("boiled potato~slices", asked, layout="nrc")).judged.rows[0]
    assert (settled["request"], settled["right_request"]) == ("place_obj_on_counter(potato, counter)", None)
    settled = audit(cook("boiled potato~slices", asked, layout="rc")).judged.rows[0]
    assert settled["request"] == "place_obj_on_counter(potato, counter)"
    assert settled["right_request"] == "place_obj_on_counter(potato~slices, counter)"


@pytest.mark.parametrize(
    ("played", "constructive"),
    [(lambda: dabble("boiled egg", 4, "original"), None), (lambda: dabble("potato soup", 2, "rc"), None),
     (lambda: cook("potato and pea patty"), 5)],
)  # fmt: skip
def test_hand_overs_are_those_of_the_symbolic_trace(played, constructive):
    traces = played()
    names = ("adr", "mor", "idensity", "triggers", "constructive")
    mine = interplay.measure(traces, ["communication"]).rows
    theirs = interplay.measure(traces, ["interdependence"], channels="counters").rows
    ours = {
        (r["episode"], r["seat"], r["window"], r["metric"]): r["value"]
        for r in mine
        if r["metric"] in names and r["seat"] is not None
    }
    symbolic = {
        (r["episode"], r["giver"] if r["seat"] is None else r["seat"], r["window"], r["metric"]): r["value"]
        for r in theirs
        if r["metric"] in names
    }
    assert len(symbolic) > 20
    assert {key: ours[key] for key in symbolic} == pytest.approx(symbolic)
    if constructive is not None:
        assert sum(v for (*_, metric), v in symbolic.items() if metric == "constructive") == constructive


class TestSummary:
    def test_means_with_intervals_over_episodes(self, traces):
        found = audit(traces).summary("cell", ("follow_rate", "latency", "comm_cost_all"))
        assert [(r["metric"], r["n"], r["level"]) for r in found] == [
            ("follow_rate", 2, 2), ("latency", 2, 2), ("comm_cost_all", 0, 2),
        ]  # fmt: skip
        assert (found.rows[0]["mean"], found.rows[0]["low"], found.rows[0]["high"]) == (1, 1, 1)
        assert found.rows[2]["mean"] is None

    def test_one_episode_has_a_mean_and_no_interval(self, traces):
        found = audit(traces[:1]).summary("all", ("units",)).rows[0]
        assert (found["mean"], found["low"], found["high"], found["n"]) == (3, None, None, 1)
        assert "Every judged message" in audit(traces[:1]).report().html()

    def test_by_seat(self, traces):
        found = audit(traces).summary("seat", ("units",))
        assert [(r["seat"], r["agent"], r["mean"]) for r in found] == [(0, "talker", 3), (1, "cook", 0)]

    def test_pairings_are_directed(self, traces):
        assert [r["agents"] for r in audit(traces).summary("pairing", ("units",))] == ["talker | cook"]

    def test_unknown_names(self, traces):
        with pytest.raises(InterplayError, match="grouped by"):
            audit(traces).summary("moon")
        with pytest.raises(InterplayError, match="unknown metric of the audit 'charm'"):
            audit(traces).summary("all", ("charm",))

    def test_outcomes(self, traces):
        assert audit(traces).outcomes().rows == [
            {"level": 2, "effective": 0.75, "assisted": 0.0, "redundant": 0.0, "ineffective": 0.0,
             "unstructured": 0.25, "judged": 8}
        ]  # fmt: skip


class TestCommand:
    def test_json(self, traces, tmp_path, capsys):
        traces.save(tmp_path / "traces")
        assert run(["llm", "audit", str(tmp_path / "traces"), "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        rates = {r["metric"]: r["mean"] for r in printed["rows"]}
        assert rates["follow_rate"] == 1
        assert set(rates) == set(printed["definitions"])
        assert printed["episodes"] == 2

    def test_a_transcript_and_all_that_can_be_shown_of_it(self, traces, tmp_path, capsys):
        events, page = tmp_path / "events.jsonl", tmp_path / "audit.html"
        audit(traces).write_transcripts(events)
        for what, rows_found in (("episodes", None), ("judged", 8), ("outcomes", 1)):
            assert run(["llm", "audit", str(events), "--show", what, "--json", "--report", str(page)]) == 0
            printed = json.loads(capsys.readouterr().out)["rows"]
            assert rows_found is None or len(printed) == rows_found
        assert "Every judged message" in page.read_text()
        assert run(["llm", "audit", str(events), "--window", "1", "--metrics", "follow_rate"]) == 0
        assert "follow_rate" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("source", "message"),
        [("none", "there is no such folder"), ("bad.jsonl", "bad.jsonl, line 2"), ("empty.jsonl", "holds no episode")],
    )
    def test_bad_input(self, source, message, tmp_path, capsys):
        header = {"kind": "episode", "episode": 1, "dish": "boiled egg", "roles": [{"name": "chef"}, {"name": "b"}]}
        (tmp_path / "bad.jsonl").write_text(json.dumps(header) + "\n{")
        (tmp_path / "empty.jsonl").write_text("")
        assert run(["llm", "audit", str(tmp_path / source)]) == 2
        assert message in capsys.readouterr().err

    def test_a_wrong_name_is_told_before_anything_is_read(self, tmp_path, capsys):
        assert run(["llm", "audit", str(tmp_path / "none"), "--metrics", "follow_rat"]) == 2
        assert "did you mean follow_rate" in capsys.readouterr().err

    def test_traces_without_a_kitchen(self, traces, tmp_path, capsys):
        TraceSet.in_memory([dataclasses.replace(traces[0], game_id="hanabi/2p")]).save(tmp_path / "cards")
        assert run(["llm", "audit", str(tmp_path / "cards")]) == 2
        assert "holds no kitchen, only hanabi/2p" in capsys.readouterr().err


class _Tags(HTMLParser):
    """Which elements are open, so that a page that closes the wrong one is found out."""

    empty = frozenset({"meta", "input", "br", "img", "link", "hr", "line", "rect", "circle", "path", "polygon"})

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.rows: list[str | None] = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.empty:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append(dict(attrs).get("class"))

    def handle_endtag(self, tag):
        if tag not in self.empty:
            assert self.open.pop() == tag


class TestPage:
    def test_the_page_is_well_formed_and_shows_every_judged_message(self, traces):
        page = audit(traces).report().html()
        tags = _Tags()
        tags.feed(page)
        assert tags.open == []
        assert tags.rows.count("effective") == 6
        assert tags.rows.count("unstructured") == 2
        assert "step 4, assistant" in page or "assistant: cut(potato, chopping_board)" in page

    def test_words_of_models_are_escaped(self):
        row = {"episode": 0, "t": 1, "text": "<script>alert(1)</script>", "category": "effective", "reason": "followed"}
        table = Table.of([row], columns=["level", "partner", "request", "latency", "settled_by", "correction", "agent"])
        page = str(audit_page(table))
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page

    def test_every_category_can_be_filtered(self, traces):
        page = str(audit_page(audit(traces).judged))
        for category in ("effective", "assisted", "redundant", "ineffective", "unstructured"):
            assert f'value="{category}"' in page

    def test_the_report_of_a_trace_set_has_the_audit_with_links_to_moments(self, traces, tmp_path):
        traces.save(tmp_path / "traces")
        page = interplay.api.report(tmp_path / "traces", tmp_path / "report.html").html
        assert "What messages achieve" in page
        assert 'href="#replay-0@0"' in page


def audit_page(judged: Table):
    from interplay.reports.document import ReportContext

    return JudgedMessages(judged).html(ReportContext())
