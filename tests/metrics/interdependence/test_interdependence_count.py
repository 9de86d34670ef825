"""The definitions of the count, on a hatch between cooks, small enough to count by hand."""

import pytest

from interplay.errors import InterplayError
from interplay.metrics.interdependence import InterdependenceOptions, Window, count, detail, rows, unused, windows
from interplay.symbolic.declare import NATURE, Recorder, SymbolicWorld, declare

TEXT = """
types cook
types table pot - place
types onion soup - item
agents cook
channel tables default
channel pots
fact holding(cook, item*) holds
fact on(item*, table) via tables
fact in(onion*, soup) state via pots
fact peeled(item*) state
fact cooking(soup*)
fact ready(soup*) via pots
fact free(cook)
fact served(item*)
action fetch(c: cook, i: item)
  needs free(c)
  adds holding(c, i)
  drops free(c)
action put(c: cook, i: item, t: table)
  needs holding(c, i)
  adds on(i, t), free(c)
  drops holding(c, i)
action toss(c: cook, i: item, t: table)
  needs holding(c, i)
  adds on(i, t)
  drops holding(c, i)
action take(c: cook, i: item, t: table)
  needs on(i, t), free(c)
  adds holding(c, i)
  drops on(i, t), free(c)
action peel(c: cook, i: item)
  needs holding(c, i)
  adds peeled(i)
action boil(c: cook, i: onion, s: soup)
  needs holding(c, i)
  adds in(i, s), cooking(s), free(c)
  drops holding(c, i)
event done(s: soup)
  needs cooking(s)
  adds ready(s)
  drops cooking(s)
action ladle(c: cook, s: soup)
  needs ready(s), free(c)
  adds holding(c, s)
  drops ready(s), free(c)
action serve(c: cook, i: item)
  needs holding(c, i)
  adds served(i), free(c)
  drops holding(c, i)
goal served(item)
"""
COOKS = ("ann", "bob", "cid")
DOMAIN = declare("hatch", TEXT)


def play(*script, cooks=2, length=60, horizon=None, **more):
    """`(t, seat, operator, object, ...)`, the cook's own name left out."""
    things = {"table_1": "table", "soup_1": "soup"} | {f"onion_{k}": "onion" for k in range(1, 4)}
    world = SymbolicWorld(DOMAIN, dict.fromkeys(COOKS, "cook") | things)
    recorder = Recorder(world, COOKS[:cooks], world.facts([("free", c) for c in COOKS[:cooks]]))
    for t, seat, operator, *objects in script:
        needs = [world.fact("in", "onion_1", "soup_1")] if operator == "ladle" else []
        who = [] if seat == NATURE else [COOKS[seat]]
        recorder.do(t, seat, operator, *who, *objects, preconditions=needs)
    return recorder.finish(length, horizon, game_id="hatch", **more)


PASS = [(0, 0, "fetch", "onion_1"), (1, 0, "put", "onion_1", "table_1"), (30, 1, "take", "onion_1", "table_1")]


def kinds(trace, **options):
    return [link.kind for link in count(trace, InterdependenceOptions(**options)).links]


def test_a_hand_over_that_is_served_is_constructive():
    found = count(play(*PASS, (31, 1, "serve", "onion_1")))
    [link] = found.links
    assert (link.giver, link.receiver, link.object, link.kind) == (0, 1, "onion_1", "constructive")
    assert (link.gave_t, link.used_t, link.fact) == (1, 30, "on(onion_1, table_1)")
    assert found.matrix() == [[None, 1], [0, None]]


def test_a_hand_over_that_leads_nowhere_is_irrelevant():
    assert kinds(play(*PASS)) == ["irrelevant"]


def test_a_free_hand_is_a_circumstance_and_carries_no_chain():
    other = [(31, 1, "put", "onion_1", "table_1"), (32, 1, "fetch", "onion_2"), (33, 1, "serve", "onion_2")]
    assert kinds(play(*PASS, *other)) == ["irrelevant"]


def test_what_comes_back_unchanged_is_a_loop_even_if_it_is_served():
    back = [(31, 1, "put", "onion_1", "table_1"), (32, 0, "take", "onion_1", "table_1"), (33, 0, "serve", "onion_1")]
    assert kinds(play(*PASS, *back)) == ["looping", "looping"]


def test_what_comes_back_in_another_state_is_no_loop():
    peel = [(31, 1, "peel", "onion_1"), (32, 1, "put", "onion_1", "table_1"), (33, 0, "take", "onion_1", "table_1")]
    trace = play(*PASS, *peel, (34, 0, "serve", "onion_1"))
    assert kinds(trace) == ["constructive", "constructive"]
    assert kinds(trace, states=False) == ["looping", "looping"]


def test_only_the_last_to_make_a_fact_true_is_its_giver():
    again = [(2, 0, "take", "onion_1", "table_1"), (3, 0, "put", "onion_1", "table_1")]
    [link] = count(play(*PASS[:2], *again, PASS[2])).links
    assert link.gave_t == 3


def test_pots_count_only_when_asked_and_nature_passes_the_credit_on():
    cook = [(0, 0, "fetch", "onion_1"), (1, 0, "boil", "onion_1", "soup_1"), (21, NATURE, "done", "soup_1")]
    trace = play(*cook, (25, 1, "ladle", "soup_1"), (26, 1, "serve", "soup_1"))
    assert count(trace).links == ()
    found = count(trace, InterdependenceOptions(channels=("tables", "pots")))
    assert sorted((k.object, k.giver, k.receiver, k.gave_t, k.kind) for k in found.links) == [
        ("onion_1", 0, 1, 1, "constructive"),
        ("soup_1", 0, 1, 1, "constructive"),
    ]
    assert found.channel == "tables+pots"
    assert [t.accepted_t for t in found.triggers] == [25]
    with pytest.raises(InterplayError, match="no channel 'doors'; it has tables, pots"):
        count(trace, InterdependenceOptions(channels=("doors",)))


def test_the_literal_rule_wants_every_effect_to_be_needed():
    tossed = [PASS[0], (1, 0, "toss", "onion_1", "table_1"), PASS[2]]
    assert len(count(play(*tossed), InterdependenceOptions(rule="subset")).links) == 1
    assert count(play(*PASS), InterdependenceOptions(rule="subset")).links == ()
    assert len(count(play(*PASS)).links) == 1
    with pytest.raises(InterplayError, match="rule: 'loose'"):
        InterdependenceOptions(rule="loose")


def test_rates_and_windows():
    ignored = [(40, 0, "fetch", "onion_2"), (41, 0, "put", "onion_2", "table_1")]
    found = count(play(*PASS, (31, 1, "serve", "onion_1"), *ignored, length=400))
    unlimited, fixed, share = windows(found.horizon)
    assert (fixed.steps, share.steps) == (20, 60)
    assert found.num_triggers(0) == 2
    assert found.percent_triggered(0) == 50.0
    assert found.percent_not_accepted(0) == 50.0
    assert [found.adr(0, w) for w in (unlimited, fixed, share)] == [0.5, 0.0, 0.5]
    assert [found.mor(0, w) for w in (unlimited, fixed, share)] == [0.5, 1.0, 0.5]
    assert [found.idensity(0, w) for w in (unlimited, fixed, share)] == [1.0, None, 1.0]
    assert found.adr(1) is None
    assert found.percent_triggered(1) == 0.0
    assert [row["object"] for row in unused(found)] == ["onion_2"]


def test_where_nobody_can_be_given_anything_counts_are_null():
    alone = {"tables": {0: frozenset(), 1: frozenset()}}
    found = count(play((0, 0, "fetch", "onion_1"), partners=alone, reach={"table_1": frozenset({0})}))
    assert found.number("constructive") is None
    assert found.matrix() == [[None, None], [None, None]]
    assert all(row["value"] is None for row in rows(found) if row["metric"] != "subtasks")
    assert count(play(*PASS[:2], reach={"table_1": frozenset({0})})).triggers == ()


def test_three_cooks_sequential_and_reciprocal():
    chain = [*PASS, (31, 1, "serve", "onion_1")]
    chain += [(32, 1, "fetch", "onion_2"), (33, 1, "put", "onion_2", "table_1"), (34, 0, "take", "onion_2", "table_1")]
    chain += [(35, 0, "serve", "onion_2"), (36, 0, "fetch", "onion_3"), (37, 0, "put", "onion_3", "table_1")]
    chain += [(38, 2, "take", "onion_3", "table_1"), (39, 2, "serve", "onion_3")]
    found = count(play(*chain, cooks=3))
    assert found.matrix() == [[None, 1, 1], [1, None, 0], [0, 0, None]]
    told = {(r["giver"], r["receiver"], r["metric"]): r["value"] for r in rows(found, about={"episode": 7})}
    assert told[0, 1, "reciprocal"] == told[1, 0, "reciprocal"] == told[0, 2, "sequential"] == 1
    assert told[0, 1, "sequential"] == told[0, 2, "reciprocal"] == 0
    assert {row["episode"] for row in rows(found, about={"episode": 7})} == {7}
    assert [row["class"] for row in detail(found)] == ["constructive"] * 3


def test_counts_within_a_window():
    found = count(play(*PASS, (31, 1, "serve", "onion_1")))
    assert found.number("constructive", Window("short", 28)) == 0
    assert found.number("constructive", Window("long", 29)) == 1
