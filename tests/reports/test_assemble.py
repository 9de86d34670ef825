"""Reports of trace sets: the right sections and episodes, and every number as `measure` gives it."""

import numpy as np
import pytest

import interplay
from interplay import api
from interplay.errors import InterplayError
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports import teamwork
from interplay.reports import trace_report as assemble
from interplay.traces import TraceSet
from tests.glossary import all_columns_explained  # noqa: F401
from tests.reports.report_helpers import bundle_tables


@pytest.fixture(scope="module")
def traces():
    game = interplay.make("overcooked/counter_circuit", horizon=120)
    return interplay.crossplay(game, ["overcooked/onion_passer", "overcooked/onion_receiver"], episodes=2, seed=0)


@pytest.fixture(scope="module")
def tables(traces, tmp_path_factory):
    """The tables of a report, as its bundle writes them."""
    return bundle_tables(traces, tmp_path_factory.mktemp("bundle"))


def test_the_best_and_the_worst_episode_are_shown(traces):
    scores = {row["episode"]: row["score"] for row in traces.summary()}
    chosen = MeasuredTraces(traces).shown
    assert scores[chosen[0]] == max(scores.values())
    assert scores[chosen[-1]] == min(scores.values())


def test_hand_overs_are_marked_where_they_happened(traces):
    measured = MeasuredTraces(traces)
    number = measured.shown[0]
    marks = teamwork.hand_overs(measured, number)
    detail = interplay.measure(traces, ["interdependence"], detail=True).where(episode=number)
    assert [(m.seat, m.to, m.t - 1, m.until - 1) for m in marks] == [
        (r["giver"], r["receiver"], r["gave_t"], r["used_t"]) for r in detail
    ]
    assert len(marks) > 2
    shown = assemble.show_episode(measured, number)
    constructive = [m for m in shown["marks"] if m["kind"] == "constructive"]
    assert len(constructive) == sum(r["class"] == "constructive" for r in detail)


def test_every_number_of_who_helps_whom_is_measured(traces, tables):
    rows = interplay.measure(traces, ["interdependence"], channels="each").where(window="unlimited")
    compared = 0
    for line in tables["who-helps-whom"]:
        mine = rows.where(agents=line["agents"], channel=line["channel"])
        for column, value in line.items():
            kind, _, ends = column.partition(" ")
            if "→" in ends:
                giver, receiver = (int(end) for end in ends.split(" → "))
                values = mine.where(metric=kind, giver=giver, receiver=receiver).column("value")
            elif ", seat " in column:
                metric, _, seat = column.partition(", seat ")
                values = mine.where(metric=metric.replace(" ", "_"), seat=int(seat)).column("value")
            else:
                continue
            present = [v for v in values if v is not None]
            assert value == (pytest.approx(np.mean(present)) if present else None), (line["agents"], column)
            compared += value is not None
    assert compared >= 20
    ways = {(r["constructive 0 → 1"], r["constructive 1 → 0"]) for r in tables["who-helps-whom"]}
    assert any(there != back for there, back in ways)  # were giver and receiver exchanged, it would be seen


def test_every_score_is_measured(traces, tables):
    scores = interplay.measure(traces, ["score"]).where(metric="score")
    name = next(stem for stem, rows in tables.items() if rows and {"agent", "partner", "mean"} <= set(rows[0]))
    assert len(tables[name]) == 4
    for row in tables[name]:
        mine = scores.where(agents=f"{row['agent']} | {row['partner']}").column("value")
        assert row["mean"] == pytest.approx(np.mean(mine))
        assert row["episodes"] == len(mine)


def test_every_hand_over_of_the_table_is_measured(traces, tables):
    detail = interplay.measure(traces, ["interdependence"], detail=True)
    listed = [
        tuple(r[c] for c in ("episode", "giver", "receiver", "object", "gave_t", "used_t"))
        for r in tables["hand-overs"]
    ]
    shown = {r["episode"] for r in tables["hand-overs"]}
    assert listed == [
        tuple(r[c] for c in ("episode", "giver", "receiver", "object", "gave_t", "used_t"))
        for r in detail
        if r["episode"] in shown
    ]


def test_a_set_is_read_replayed_and_measured_once(traces, tmp_path, monkeypatch):
    from interplay.metrics import api as metrics
    from interplay.traces import parquet_parts

    traces.save(tmp_path / "set")
    calls = {"replayed": 0, "tables": 0, "interdependence": 0}

    def counting(name, function):
        def counted(*given, **more):
            calls[name] += 1
            return function(*given, **more)

        return counted

    monkeypatch.setattr(metrics, "replay_batches", counting("replayed", metrics.replay_batches))
    monkeypatch.setattr(parquet_parts, "_read", counting("tables", parquet_parts._read))
    interdependence = metrics.metric("interdependence")
    monkeypatch.setattr(
        metrics, "metric", lambda name: interdependence if name == "interdependence" else metrics.METRICS.load(name)
    )
    object.__setattr__(interdependence, "compute", counting("interdependence", interdependence.compute))
    api.report(tmp_path / "set", tmp_path / "r.html")
    # Once for all, once by channel, once in detail for those shown.
    assert calls == {"replayed": 1, "tables": 4, "interdependence": 3}


def test_the_report_tells_who_helps_whom(traces, tmp_path):
    page = api.report(traces, tmp_path / "r.html").html
    for words in ("Who helps whom", "Hand-overs of episode", "Score against constructive hand-overs", "Cross-play"):
        assert words in page


def test_a_game_without_a_domain_has_no_such_section(tmp_path):
    traces = interplay.play(interplay.make("hanabi/2p"), ["random", "random"], episodes=2, seed=0)
    page = api.report(traces, tmp_path / "r.html").html
    assert "Who helps whom" not in page
    assert "Replays" in page


def test_a_single_episode_has_a_report_and_a_score_without_an_interval(traces, tmp_path):
    one = TraceSet.in_memory([traces[0]])
    (row,) = api.team_scores(MeasuredTraces(one)).rows
    assert (row["mean"], row["low"], row["high"], row["episodes"]) == (traces[0].score, None, None, 1)
    assert "Replays" in api.report(one, tmp_path / "r.html").html


def test_large_sets_are_sampled_and_say_so(traces):
    (group,) = teamwork.sections(MeasuredTraces(traces, shown=[], most=4))
    assert any("Counted over 4 of 8 episodes" in getattr(s, "body", "") for s in group.sections)


def test_an_episode_that_is_not_there_is_refused(traces):
    with pytest.raises(InterplayError, match="no episode 99"):
        MeasuredTraces(traces, shown=[99])
