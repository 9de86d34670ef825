"""An agent at a table of a stand-in for hanab.live."""

from __future__ import annotations

import asyncio

import jax
import numpy as np
import pytest

from interplay.agents.registry import agent
from interplay.bridges.hanab_live import login, serve_bot
from interplay.bridges.hanab_live_game import SiteGame, SitePlayer, refused_option
from interplay.errors import InterplayError
from interplay.games.registry import make
from tests.bridges.site import Rules, Site, running

FAST = {"games": 1, "pause_s": 0.0, "think_s": 0.0}


@pytest.mark.parametrize("seat", [0, 1])
def test_a_game_is_played_to_its_end_and_no_move_is_refused(seat):
    site = Site(seed=seat + 3, bot=seat)
    with running(site) as url:
        (game,) = asyncio.run(serve_bot(url, "Bot-x", "secret", agent("hanabi/hgroup"), **FAST))
    rules = site.rules
    assert site.warnings == []
    assert game["end"] == rules.end
    assert game["score"] == (sum(rules.stacks) if rules.end == 1 else 0)
    commands = [command for command, _ in site.frames]
    assert commands[:5] == ["tableJoin", "getGameInfo1", "getGameInfo2", "loaded", "getGameInfo2"]
    assert commands.count("action") >= rules.turn // 2 - 1
    assert commands[-1] == "tableUnattend"


def test_a_move_that_got_lost_is_asked_for():
    site = Site(seed=5, lose_a_move=True)
    with running(site) as url:
        (game,) = asyncio.run(serve_bot(url, "Bot-x", "secret", agent("hanabi/hgroup"), **FAST))
    assert [command for command, _ in site.frames].count("getGameInfo2") == 3
    assert game["end"] == site.rules.end


def test_the_agent_does_what_it_would_do_in_our_own_game():
    """Replay a finished game of the site by our rules with all cards open: every choice was the agent's own."""
    site = Site(seed=11)
    with running(site) as url:
        asyncio.run(serve_bot(url, "Bot-x", "secret", agent("hanabi/hgroup"), **FAST))
    game = make("hanabi/2p")
    known = SiteGame(2, 1)
    for action in site.rules.log:
        known.apply(site.rules.seen(action))
    deck = np.array([[suit, rank - 1] for suit, rank in site.rules.deck])
    state, policy = game.init(jax.random.key(0), deck=deck), agent("hanabi/hgroup").policy.bind(game)
    memory, noop = policy.init(jax.random.key(0), 1), game.rules.moves.noop
    mine, step = 0, jax.jit(lambda state, joint: game.step(state, joint)[0])

    @jax.jit
    def decide(memory, state):
        seen = jax.tree_util.tree_map(lambda x: x[1], game.observe(state, policy.encoding))
        return policy.act(memory, seen, game.legal(state)[1], jax.random.key(0))[:2]

    for t, move in enumerate(known.moves):
        memory, choice = decide(memory, state)
        if t % 2 == 1:
            assert int(choice) == move, t
            mine += 1
        joint = np.array([noop, noop])
        joint[t % 2] = move
        state = step(state, joint)
    assert mine > 5


def test_what_our_rules_do_not_have_is_refused():
    assert refused_option({"variantName": "Black (5 Suits)"}, 2) == "the variant 'Black (5 Suits)'"
    assert refused_option({"variantName": "No Variant", "cardCycle": True}, 2) == "the option cardCycle"
    assert refused_option({"timed": True, "emptyClues": False}, 3) is None
    assert refused_option({}, 6) == "6 players"


def test_errors_are_for_people():
    with running(Site()) as url, pytest.raises(InterplayError, match="refuses the login of Bot-x: Incorrect password"):
        login(url, "Bot-x", "wrong")
    with pytest.raises(InterplayError, match="cannot reach"):
        login("http://127.0.0.1:9", "Bot-x", "secret")
    site = SiteGame(2, 0)
    with pytest.raises(InterplayError, match="which shows what a seat may not see"):
        SitePlayer(agent("hanabi/cheat"), site)
    for action in (Rules(0, 0).seen(a) for a in Rules(0, 0).log[1:]):
        with pytest.raises(InterplayError, match="is drawn after 0 others"):
            site.apply(action)
        break
