"""Work that is cut into shares is the same work."""

import pytest

import interplay
from interplay.errors import InterplayError
from interplay.rollout.engine import Share, play_share, run, shares
from interplay.rollout.teams import all_teams


@pytest.mark.parametrize(
    ("teams", "episodes", "slots", "batch"), [(1, 7, 3, 100), (9, 2, 2, 5), (4, 50, 64, 8), (3, 1, 1, 1)]
)
def test_shares_cover_the_work_once_and_in_order(teams, episodes, slots, batch):
    work = Share(None, list(range(teams)), 0, episodes, 0, batch)  # type: ignore[arg-type]
    cut = list(shares(work, slots))
    played = [(team, number) for s in cut for team in s.teams for number in range(s.first, s.first + s.episodes)]
    assert played == [(team, number) for team in range(teams) for number in range(episodes)]
    assert all(len(s.teams) * s.episodes <= max(batch, 1) or len(s.teams) == 1 for s in cut)


@pytest.mark.parametrize("game", ["overcooked/cramped_room", "kitchen/original"])
def test_an_episode_does_not_depend_on_its_share(game):
    world = interplay.make(game, horizon=12)
    teams = all_teams(world, ["random", "stay"])
    whole = list(run(world, teams, episodes=3, seed=4))
    parts = [e for s in shares(Share(world, teams, 0, 3, 4, 2), 2) for e in play_share(s)]
    assert [(e.index, e.actions.tolist(), e.checks.tolist()) for e in whole] == [
        (e.index, e.actions.tolist(), e.checks.tolist()) for e in parts
    ]


def test_an_unknown_engine_is_named():
    with pytest.raises(InterplayError, match="ray"):
        list(run(interplay.make("overcooked/cramped_room"), [], episodes=1, seed=0, engine="spark"))
