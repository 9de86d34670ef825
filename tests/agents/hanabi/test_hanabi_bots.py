"""The bots play as well as published, legally in any company, and by the rules of HLE."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import interplay
from interplay.agents.registry import names
from interplay.errors import InterplayError
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from tests.agents.hanabi.selfplay import selfplay
from tests.games.hanabi import hle
from tests.games.hanabi.test_hanabi_hle import agree

# Mean points at 2 to 5 players, kept after the third bomb: the public programs', or, for the lists of rules and
# Eger's AIs, those of an independent implementation (2 players).
PUBLIC = {
    "blind": (1.25, 1.25, 1.25, 1.25),
    "simple": (16.93, 18.47, 19.32, 18.50),
    "value": (19.79, 19.42, 19.38, 17.76),
    "holmes": (20.74, 20.85, 20.47, 18.41),
    "smart": (23.08, 23.29, 22.44, 20.69),
    "info": (20.02, 24.26, 24.87, 24.89),
    "cheat": (24.90, 24.98, 24.97, 24.95),
    "internal": (11.32,),
    "fireworks-outer": (14.86,),
    "iggi": (17.64,),
    "piers": (17.55,),
    "vandenbergh": (13.11,),
}


def is_mean(points: np.ndarray, expected: float, slack: float = 0.03) -> None:
    """Within four standard errors; `slack` is for the rounding and the own error of the published mean."""
    error = points.std() / np.sqrt(len(points))
    assert abs(points.mean() - expected) < 4 * error + slack, f"{points.mean():.2f} +- {error:.2f}, public {expected}"


@pytest.fixture(scope="module")
def pairs() -> dict[str, np.ndarray]:
    """Points of every bot paired with itself; one compiled program plays them all."""
    game = interplay.make("hanabi/2p", bomb="keep")
    teams = [Team.of(game, [interplay.agent(f"hanabi/{bot}")] * 2) for bot in PUBLIC]
    episodes = list(run(game, teams, episodes=200, seed=0, batch=200 * len(teams)))
    scores = np.array([e.score for e in episodes]).reshape(len(PUBLIC), -1)
    return dict(zip(PUBLIC, scores))


@pytest.mark.parametrize("bot", PUBLIC)
def test_mean_of_a_pair_is_the_public_one(bot, pairs):
    is_mean(pairs[bot], PUBLIC[bot][0])


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("bot", PUBLIC)
def test_means_are_the_public_ones(bot, players):
    if len(PUBLIC[bot]) <= players - 2:
        pytest.skip("no mean is known")
    games = selfplay((f"hanabi/{bot}",) * players, 2000)
    is_mean(games.points, PUBLIC[bot][players - 2])
    assert games.illegal.sum() == 0


@pytest.mark.slow
def test_bombs_cost_what_they_should():
    """Holmes loses lives; the mean without the points of bombed games is known, too."""
    is_mean(selfplay(("hanabi/holmes",) * 4, 2000).scores, 15.11, slack=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("team", "expected"),
    [
        (("outer", "outer"), 12.97),
        (("intentional", "intentional"), 12.63),
        (("full", "full"), 17.12),
        (("intentional", "outer"), 13.25),
        (("full", "intentional"), 14.82),
        (("full", "outer"), 7.07),
    ],
)
def test_the_study_ais_play_as_an_independent_implementation(team, expected):
    games = selfplay(tuple(f"hanabi/{b}" for b in team), 1500, discard_when_full=True)
    is_mean(games.points, expected, slack=0.15)


def mixed_tables(names: list[str], players: int, tables: int) -> None:
    """Random teams; the engine refuses an illegal action and logits that are not numbers."""
    game = interplay.make(f"hanabi/{players}p")
    agents = {n: interplay.agent(n) for n in names}
    rng = np.random.default_rng(players)
    teams = [[agents[n] for n in rng.choice(names, players)] for _ in range(tables)]
    episodes = list(run(game, [Team.of(game, team) for team in teams], episodes=3, seed=1))
    assert len(episodes) == 3 * tables
    assert all(e.terminated for e in episodes)
    assert all(i.privileged == (i.name == "hanabi/cheat") for e in episodes for i in e.agents)


@pytest.mark.slow
def test_bots_with_different_conventions_share_a_table_and_break_no_rule():
    mixed_tables(["hanabi/smart", "hanabi/holmes", "hanabi/hgroup", "hanabi/full", "hanabi/piers", "random"], 4, 60)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 5])
def test_all_bots_share_tables_and_break_no_rule(players):
    mixed_tables([*(n for n in names() if n.startswith("hanabi/")), "random"], players, 200)


def test_games_of_bots_agree_with_hle():
    team, number = ("value", "iggi", "outer"), 40
    decks = np.stack([hle.deck_of(seed, players=3) for seed in range(1, number + 1)])
    games = selfplay(tuple(f"hanabi/{b}" for b in team), number, decks=decks)
    played = [games.actions[i, : games.moves[i]] for i in range(number)]
    agree("hanabi/3p", [hle.play(i + 1, hle.follow(a), players=3) for i, a in enumerate(played)])


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("bot", ["smart", "cheat", "info"])
def test_hundreds_of_games_of_bots_agree_with_hle(bot, players):
    number = 250
    decks = np.stack([hle.deck_of(seed, players=players) for seed in range(1, number + 1)])
    games = selfplay((f"hanabi/{bot}",) * players, number, decks=decks)
    played = [games.actions[i, : games.moves[i]] for i in range(number)]
    agree(f"hanabi/{players}p", [hle.play(i + 1, hle.follow(a), players=players) for i, a in enumerate(played)])


def test_a_bot_refuses_a_deck_that_it_does_not_know():
    with pytest.raises(InterplayError, match="Smart knows the standard deck only"):
        interplay.agent("hanabi/smart").policy.bind(interplay.make("hanabi/2p-rainbow"))


def test_lists_of_rules_are_one_kind():
    game = interplay.make("hanabi/2p")
    iggi, piers = (interplay.agent(f"hanabi/{n}").policy.bind(game) for n in ("iggi", "piers"))
    assert jax.tree.structure(iggi) == jax.tree.structure(piers)


@pytest.mark.slow
def test_the_h_group_bot_plays_well_and_wants_nothing_illegal():
    games = selfplay(("hanabi/hgroup",) * 3, 200)
    assert games.illegal.sum() == 0
    assert games.points.mean() > 21.5
    assert np.mean(games.lives == 0) < 0.08


@pytest.mark.slow
@pytest.mark.parametrize("bot", [n for n in names() if n.startswith("hanabi/")])
def test_bots_keep_the_contract_of_agents(bot):
    interplay.check_agent(bot, interplay.make("hanabi/3p"), steps=8)
