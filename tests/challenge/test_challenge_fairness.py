"""What keeps a leaderboard fair: one seat ranks, peeking shows, plans are read, failed starts are void."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path

import numpy as np
import pytest

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.challenge import baselines, leaderboard, repository
from interplay.challenge.client import Candidate
from interplay.challenge.cross_seat_leakage import peeking, surplus_of
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.server.api_error import ApiError
from tests.challenge.conftest import challenge

ROOT = Path(__file__).parents[2]


def games_of(candidate: str, seats: int, episodes: int, seed: int) -> list:
    """Games of three in which the candidate holds so many seats; the rest is a simple bot's."""
    game = make("hanabi/3p")
    mine, other = Agent("candidate", agent(candidate).policy, {}), agent("hanabi/simple")
    return list(run(game, [Team.of(game, [mine] * seats + [other] * (3 - seats))], episodes=episodes, seed=seed))


@pytest.mark.parametrize(("several", "suspicious"), [("hanabi/hgroup", False), ("hanabi/cheat", True)])
def test_a_candidate_that_sees_its_own_cards_is_marked_and_an_honest_one_is_not(several, suspicious):
    episodes = games_of("hanabi/hgroup", 1, 32, 1) + games_of(several, 2, 32, 2)
    found = peeking(make("hanabi/3p"), episodes)
    assert found is not None
    assert min(found["games"]) >= 10
    assert found["suspicious"] is suspicious


def test_peeking_needs_games_of_both_kinds_and_says_nothing_of_other_games():
    game = make("hanabi/3p")
    assert peeking(game, games_of("hanabi/hgroup", 1, 3, 1)) is None
    assert peeking(make("overcooked/cramped_room"), []) is None
    row = surplus_of(game, games_of("hanabi/cheat", 2, 1, 0)[0])
    assert row is not None
    assert row.seats == 2
    assert row.surplus > 0.1  # a cheat knows what it plays


def entry(name: str, one: float, two: float) -> dict:
    mean = (one + two) / 2
    by_seats = [{"seats": 1, "mean": one}, {"seats": 2, "mean": two}]
    return {"agent": name, "baseline": False, "settings": [{"setting": "2p", "mean": mean, "by_seats": by_seats}]}


def test_the_mean_of_one_seat_ranks():
    rows = leaderboard.ranked(challenge(), [entry("peeks", 5, 25), entry("plays", 12, 13)])
    assert [row["agent"] for row in rows] == ["plays", "peeks"]


def test_a_reviewed_plan_is_played_once_the_host_approved_it(served, clock):
    reviewed = challenge(plans="reviewed")
    team = served.team("careful")
    number = served.base.database.read(
        lambda tx: tx.exec_driver_sql("SELECT id FROM teams WHERE name = 'careful'").scalar_one()
    )
    assert team["team_key"]
    entered = served.base.database.write(
        repository.enter, clock, reviewed, served.host.choices, number, "agent", "what we expect"
    )
    assert entered["status"] == repository.REVIEW
    own = served.base.database.read(repository.submission, repository.submissions.c.public == entered["evaluation"])
    with pytest.raises(ApiError, match="has not approved the plan"):
        served.base.database.write(repository.claim, clock, reviewed, own, 1, 4)
    waiting = served.base.database.read(repository.under_review, reviewed)
    assert [row["plan"] for row in waiting if row["evaluation"] == entered["evaluation"]] == ["what we expect"]
    served.base.database.write(repository.approve, clock, entered["evaluation"])
    assert served.base.database.write(repository.claim, clock, reviewed, own, 1, 4)
    with pytest.raises(ApiError, match="waits for review"):
        served.base.database.write(repository.approve, clock, entered["evaluation"])


def test_an_agent_that_fails_is_told_before_a_game_is_dealt():
    settings = {"settings": [{"name": "2p", "game": "hanabi/2p", "options": {}}]}
    candidate = Candidate({"": "hanabi/simple"}, 0)
    candidate.prepare(settings)
    asyncio.run(candidate.try_out(settings))

    async def fails(messages):
        raise RuntimeError("no weights")

    candidate._made["2p"].act = fails
    with pytest.raises(InterplayError, match="fails before any game: RuntimeError: no weights"):
        asyncio.run(candidate.try_out(settings))


def test_names_of_baselines():
    assert baselines.short_name("trained/hanabi/{setting}/ippo-1") == "hanabi/ippo-1"
    by_setting = baselines.agents_by_setting("trained/hanabi/{setting}/ippo-1", ["2p", "3p"])
    assert by_setting == {"2p": "trained/hanabi/2p/ippo-1", "3p": "trained/hanabi/3p/ippo-1"}


def test_the_small_client_plays_and_predicts(served, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "packages" / "interplay-client" / "src"))
    small = importlib.import_module("interplay_client")
    keys = served.entry("small client")
    shapes = set()

    def make_agent(setting, seat):
        def act(observation, legal, to_move):
            shapes.add((setting, observation.shape))
            return int(np.flatnonzero(legal)[0])

        return act

    def uniform(setting, seat):
        return lambda observation, legal, to_move: legal / legal.sum()

    scores = small.play(served.url, keys["evaluation_key"], make_agent, encoding="belief", at_once=16)
    assert len(scores) == 29
    assert shapes == {("2p", (658,)), ("3p", (956,))}
    assert small.predict(served.url, keys["evaluation_key"], uniform, encoding="belief") > 10
    with pytest.raises(small.ChallengeError, match="no agent for '2p': KeyError"):
        small.play(served.url, keys["evaluation_key"], lambda setting, seat: {}["weights"], encoding="belief")
    with pytest.raises(small.ChallengeError, match="there is a team called"):
        small.register(served.url, "small client", "someone")
