"""Networks over moves: the same numbers at any table, files, and proxies between a clone and the rules."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents import neural
from interplay.agents.api import Agent
from interplay.agents.hanabi.hgroup_bot import HGroup
from interplay.agents.hanabi.move_features import DECIDED, FACTS, FEATURES, described, no_history, remembered
from interplay.agents.hanabi.move_network import MoveNetwork, MovePolicy, save
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.traces.imitation_data import recorded_games
from interplay.training.imitation.move_clone import MoveCloning, clone_moves, decisions_of, judged

NETWORK = MoveNetwork.new(8, jax.random.key(0))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_moves_have_as_many_numbers_at_every_table_and_one_is_the_bots(players):
    game = make(f"hanabi/{players}p")
    bot = HGroup().bind(game)
    state = game.init(jax.random.key(1))

    @jax.jit
    def moves_and_action(state):
        seen = game.observe_as(state, "seen", jnp.int32(0))
        memory = bot.init(jax.random.key(0), 0)
        history = remembered(bot, no_history(bot), memory.before, seen)
        legal = game.legal(state)[0]
        what = described(bot, bot.look(memory, seen).model, history, memory.before, seen, legal)
        return what, bot.act(memory, seen, legal, jax.random.key(0))[1]

    what, action = moves_and_action(state)
    assert what.moves.shape == (len(game.action_names), FEATURES)
    assert what.table.shape == (FACTS,)
    assert np.all(np.isfinite(what.moves))
    assert np.flatnonzero(np.asarray(what.moves)[:, DECIDED]).tolist() == [int(action)]


def test_with_much_weight_on_the_rules_it_plays_as_the_bot_does():
    game = make("hanabi/2p")
    proxy = Agent("proxy", MovePolicy(NETWORK, rules=1e6, greedy=True), {})
    episodes = list(run(game, [Team.of(game, [proxy] * 2)], episodes=3, seed=0))
    data = decisions_of(game, recorded_games(episodes, None))
    assert len(data.action) == sum(episode.length for episode in episodes)
    assert np.all(data.moves[np.arange(len(data.action)), data.action, DECIDED] == 1)
    assert judged(NETWORK, data, rules=1e6).accuracy == 1 > judged(NETWORK, data).accuracy


def test_a_file_gives_back_the_same_policy_and_wrong_files_say_so(tmp_path):
    path, game = tmp_path / "one.safetensors", make("hanabi/2p")
    save(path, NETWORK, game, rules=2.0, training={"algorithm": "move clone", "run": 0, "split": 3})
    loaded = neural.load(path, greedy=True)
    assert loaded.config["rules"] == 2.0
    assert loaded.config["split"] == 3
    assert bool(loaded.policy.greedy)  # type: ignore[union-attr]
    assert np.allclose(loaded.policy.network.first, NETWORK.first, atol=1e-3)  # type: ignore[union-attr]
    save(path, MoveNetwork(*(x[:-1] for x in jax.tree_util.tree_leaves(NETWORK))), game, training={})
    with pytest.raises(InterplayError, match="first is"):
        neural.load(path)


def test_a_clone_learns_what_a_bot_does():
    game = make("hanabi/2p")
    team = Team.of(game, [agent("hanabi/simple")] * 2)
    data = decisions_of(game, recorded_games(list(run(game, [team], episodes=24, seed=0)), None))
    learn, test = data.of(data.game < 16), data.of(data.game >= 16)
    network, _ = clone_moves(learn, test, MoveCloning(units=16, epochs=12, batch=32, learning_rate=1e-2))
    before, after = judged(MoveNetwork.new(16, jax.random.key(0)), test), judged(network, test)
    assert after.accuracy > before.accuracy + 0.2
    assert after.cross_entropy < before.cross_entropy - 0.5
    with pytest.raises(InterplayError, match="at least one batch"):
        clone_moves(learn.of(np.arange(3)), test, MoveCloning(batch=32))
