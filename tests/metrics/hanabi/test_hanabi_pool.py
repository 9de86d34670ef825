"""The table of a pool agrees with the metrics of which it is made."""

from statistics import fmean

import pytest

import interplay
from interplay.metrics.hanabi.agent_pool import wide
from tests.metrics.hanabi.scripted import compiled


def test_agrees_with_its_parts():
    games = interplay.crossplay(compiled()[0], ["random", "hanabi/simple"], episodes=4, seed=9)
    table = interplay.measure(games, ["hanabi/pool"], concepts=40)
    rows = {r["agent"]: r for r in wide(table)}
    parts = interplay.measure(games, ["hanabi/dominance", "hanabi/behaviour", "crossplay", "information"])

    (self_play,) = parts.where(metric="self_play", agent="hanabi/simple").rows
    assert rows["hanabi/simple"]["self_play"] == self_play["value"]
    assert rows["random"]["intra_xp"] is None
    (ic,) = parts.where(
        metric="ic", agent="random", role="answers", over="mean of pairings", estimate="miller-madow"
    ).rows
    assert (rows["random"]["ic_corrected"], rows["random"]["ic_corrected_sd"]) == (ic["value"], ic["sd"])

    def of_partner(metric, partner, **where):
        found = [r for r in parts.where(metric=metric, agent="random", **where) if partner in r["agents"]]
        return [r for r in found if r["value"] is not None]

    alone = list(of_partner("g3", "random | random", known="public"))
    with_simple = of_partner("g3", "hanabi/simple", known="public")
    expected = fmean([fmean([r["value"] for r in part]) for part in (alone, with_simple)])
    assert rows["random"]["g3"] == pytest.approx(expected)
    # Of plays, each counts alike, whichever game it was in.
    by_plays = [of_partner("ipp", p, known="told") for p in ("random | random", "hanabi/simple")]
    shares = [sum(r["value"] * r["n"] for r in part) / sum(r["n"] for r in part) for part in by_plays]
    assert rows["random"]["ipp"] == pytest.approx(fmean(shares))


@pytest.mark.slow
def test_both_bomb_conventions_from_the_same_games():
    kept, lost = (
        interplay.measure(
            interplay.play(interplay.make("hanabi/2p", bomb=bomb), ["random", "random"], episodes=8, seed=1),
            ["hanabi/pool"],
            concepts=10,
        )
        for bomb in ("keep", "zero")
    )
    for table in (kept, lost):
        zero, keep = (wide(table, bomb=b).rows[0]["self_play"] for b in ("zero", "keep"))
        assert zero == 0
        assert keep > 0
