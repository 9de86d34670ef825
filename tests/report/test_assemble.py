"""Reports of trace sets: the right sections, the right episodes, and hand-overs at their moments."""

import pytest

import interplay
from interplay import api
from interplay.errors import InterplayError
from interplay.report import assemble, teamwork


@pytest.fixture(scope="module")
def traces():
    game = interplay.make("overcooked/counter_circuit", horizon=120)
    return interplay.crossplay(game, ["overcooked/onion_passer", "overcooked/onion_receiver"], episodes=2, seed=0)


@pytest.mark.slow
def test_the_best_and_the_worst_episode_are_shown(traces):
    scores = {row["episode"]: row["score"] for row in traces.summary()}
    chosen = assemble.extremes(traces)
    assert scores[chosen[0]] == max(scores.values())
    assert scores[chosen[-1]] == min(scores.values())


def test_hand_overs_are_marked_where_they_happened(traces):
    number = assemble.extremes(traces)[0]
    marks = teamwork.hand_overs(traces, number)
    detail = interplay.measure(traces, ["interdependence"], detail=True).where(episode=number)
    assert [(m.seat, m.to, m.t - 1, m.until - 1) for m in marks] == [
        (r["giver"], r["receiver"], r["gave_t"], r["used_t"]) for r in detail
    ]
    assert len(marks) > 2
    shown = assemble.show_episode(traces, number)
    constructive = [m for m in shown["marks"] if m["kind"] == "constructive"]
    assert len(constructive) == sum(r["class"] == "constructive" for r in detail)


def test_the_report_tells_who_helps_whom(traces, tmp_path):
    page = api.write_report(traces, tmp_path / "r.html").read_text()
    for words in ("Who helps whom", "Hand-overs of episode", "Score against constructive hand-overs", "Cross-play"):
        assert words in page


def test_a_game_without_a_domain_has_no_such_section(tmp_path):
    traces = interplay.play(interplay.make("hanabi/2p"), ["random", "random"], episodes=2, seed=0)
    page = api.write_report(traces, tmp_path / "r.html").read_text()
    assert "Who helps whom" not in page
    assert "Replays" in page


def test_large_sets_are_sampled_and_say_so(traces, monkeypatch):
    monkeypatch.setattr(teamwork, "MOST_EPISODES", 4)
    (group,) = teamwork.sections(traces, [])
    assert any("Counted over 4 of 8 episodes" in getattr(s, "body", "") for s in group.sections)


def test_an_episode_that_is_not_there_is_refused(traces):
    with pytest.raises(InterplayError, match="no episode 99"):
        assemble.show_episode(traces, 99)
