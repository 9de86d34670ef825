"""The paper's teams with trained agents, its figure at tiny size, and the rule of its authors."""

import pytest

import interplay
from interplay.errors import InterplayError
from interplay.papers.interdependence import experiment, figure3
from interplay.table import Table
from interplay.traces import TraceSet
from interplay.traces.importers.overcooked_ai import human_episodes

pytest.importorskip("interplay_agents", reason="needs the trained agents")


def test_every_seed_on_this_machine_plays_both_seatings():
    names = experiment.seeds("forced_coordination", "fcp")
    assert names[0] == "trained/overcooked/forced_coordination/fcp-1"
    assert len(names) >= 3
    played = experiment.episodes_of(1, methods=["fcp"], episodes=1, layouts=["forced_coordination"])
    assert set(played.column("agent")) == set(names)
    assert set(played.column("channel")) == {"counters", "pots", "counters+pots"}
    [row] = experiment.table(played, names=("1a", "1b"))
    assert row["agents"] == len(names)
    assert row["cons_a_soup"] in (None, 4)
    parts = row["pct_trig_parked"] + row["pct_trig_ignored"]
    assert row["pct_trig_not_accepted"] == pytest.approx(parts)
    with pytest.raises(InterplayError, match="no agent trained/overcooked/forced_coordination/nobody-N"):
        experiment.seeds("forced_coordination", "nobody")


def test_the_claim_is_told_by_the_numbers():
    def row(agent, share):
        return {"layout": "counter_circuit", "agent": agent, "pct_trig_not_accepted": share, "cons_a_soup": None}

    rows = Table.of([row("fcp", 20.0), row("hsp", 9.0)])
    assert "does not carry over: ours leave FCP 20 %, HSP 9 %" in experiment.statements(1, rows)[0]
    rows = Table.of([row("fcp", 80.0), row("hsp", 99.0)])
    assert "carries over" in experiment.statements(1, rows)[0]


def test_the_rule_of_the_authors_equals_ours_where_only_counters_pass_things():
    """Forced coordination: nobody can use a pot that another has filled."""
    games = [e for e in human_episodes() if e.game_id == "overcooked/forced_coordination"][:3]
    traces = TraceSet.in_memory(games)
    by_rule = [
        [r["value"] for r in interplay.measure(traces, ["interdependence"], rule=rule).where(metric="constructive")]
        for rule in ("overlap", "authors")
    ]
    assert by_rule[0] == by_rule[1]
    room = TraceSet.in_memory([e for e in human_episodes() if e.game_id == "overcooked/cramped_room"][:1])
    ours, theirs = (
        sum(r["value"] for r in interplay.measure(room, ["interdependence"], rule=rule).where(metric="constructive"))
        for rule in ("overlap", "authors")
    )
    assert theirs != ours  # a soup is one object to them, and each onion is one to us
    rescue = interplay.play("rescue/rubble", ["rescue/helper"] * 2, episodes=1)
    with pytest.raises(InterplayError, match="of a program for Overcooked"):
        interplay.measure(rescue, ["interdependence"], rule="authors")


@pytest.mark.slow
def test_figure_3_trains_reads_and_draws_at_tiny_size(tmp_path):
    conditions = figure3.conditions(["cramped_room"])
    assert [c.folder for c in conditions] == [
        "cramped_room/delivery-counters+pots", "cramped_room/hand_over-counters+pots",
        "cramped_room/delivery-counters", "cramped_room/hand_over-counters",
    ]  # fmt: skip
    figure3.train(conditions[1], tmp_path, prices=(0.0, 0.3), seeds=2, scale=1e-4)
    made = figure3.table(figure3.read(tmp_path, conditions))
    assert [(r["paid_at"], r["alpha"], r["seeds"]) for r in made] == [("hand_over", 0.0, 2), ("hand_over", 0.3, 2)]
    assert all(path.read_text().startswith("<svg") for path in figure3.write(made, tmp_path / "drawn"))
    with pytest.raises(InterplayError, match="no condition was trained"):
        figure3.read(tmp_path / "nowhere", conditions)


def test_the_earlier_run_is_told():
    rows = figure3.earlier()
    assert {(r["method"], r["alpha"]) for r in rows} == {(m, a) for m in ("fcp", "mep", "hsp") for a in (0.0, 0.3)}
