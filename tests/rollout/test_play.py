"""What `play` and `crossplay` promise: batching changes nothing, players sit anywhere."""

import asyncio

import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.api import Agent, FunctionPlayer, Info, Move, Policy, TraceEvent
from interplay.agents.basic import Noisy, Random, masked
from interplay.errors import IllegalAction, InterplayError
from interplay.rollout import compiled
from interplay.rollout.engine import run
from interplay.rollout.teams import Team, all_teams, ego_teams

GAME = "overcooked/cramped_room"


def game(**options):
    return interplay.make(GAME, horizon=60, **options)


def played(agents, episodes=3, seed=0, **settings):
    world = game()
    return list(run(world, all_teams(world, agents), episodes=episodes, seed=seed, **settings))


def assert_same(one, other):
    assert [e.agents for e in one] == [e.agents for e in other]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.actions, b.actions)
        np.testing.assert_array_equal(a.checks, b.checks)
        assert a.score == b.score


def test_results_do_not_depend_on_the_batch():
    agents = ["random", "stay", "random+0.5"]
    assert_same(played(agents), played(agents, batch=4))


def test_a_pair_plays_alone_as_it_does_among_others():
    among = [e for e in played(["random", "stay"]) if [i.name for i in e.agents] == ["random", "stay"]]
    world = game()
    alone = list(run(world, [Team.of(world, ["random", "stay"])], episodes=3, seed=0))
    assert_same(among, alone)


def test_seeds_and_episodes_differ():
    first, second = played(["random"], episodes=2)
    assert not np.array_equal(first.actions, second.actions)
    assert not np.array_equal(first.actions, played(["random"], episodes=1, seed=1)[0].actions)


def test_a_longer_run_begins_as_the_shorter_one():
    assert_same(played(["random"], episodes=2), played(["random"], episodes=5)[:2])


def test_policies_that_differ_in_numbers_share_one_program():
    world = interplay.make(GAME, horizon=30)
    many = [Agent(f"noisy {i}", Noisy(Random(), i / 10)) for i in range(6)]
    before = compiled.compiled_rollout.cache_info().misses
    episodes = list(run(world, all_teams(world, many), episodes=1, seed=0))
    assert len(episodes) == 36
    assert compiled.compiled_rollout.cache_info().misses == before + 1


def test_checksums_come_every_fifty_steps_and_at_the_end():
    (episode,) = played(["random"], episodes=1)
    assert episode.check_steps.tolist() == [0, 50, 60]
    assert len(episode.checks) == 3
    assert episode.length == 60
    assert not episode.terminated


class Counter:
    """A player who walks north twice, then says why it stays."""

    encoding, deadline_s, default_action = "nothing", None, None

    def begin(self, game, seat, seed):
        return self

    async def act(self, view):
        return 0 if view.t < 2 else Move(4, [TraceEvent("message", {"text": f"seat {view.seat} stays"})])


def test_players_sit_beside_policies_in_any_seat():
    world = game()
    for team in (["random", Counter()], [Counter(), "random"]):
        (episode,) = run(world, [Team.of(world, team)], episodes=1, seed=0)
        seat = next(s for s, i in enumerate(episode.agents) if i.name == "Counter")
        assert episode.actions[:4, seat].tolist() == [0, 0, 4, 4]
        assert len(set(episode.actions[:, 1 - seat].tolist())) > 2
        assert episode.events[0].payload == {"text": f"seat {seat} stays"}
        assert [e.t for e in episode.events] == list(range(2, 60))


def test_a_policy_plays_beside_a_player_as_it_does_beside_a_policy():
    """Its keys come from the team and the episode, so only the team's number may change its play."""
    world = game()
    watcher = Agent("stay", FunctionPlayer(lambda seen: 4, "nothing"))
    ours = Team.of(world, ["random", "stay"])
    theirs = Team((ours.agents[0], watcher), ours.identities, ours.number)
    assert_same(list(run(world, [ours], episodes=1, seed=0)), list(run(world, [theirs], episodes=1, seed=0)))


class Slow(Counter):
    deadline_s, default_action = 0.01, 1

    async def act(self, view):
        if view.t == 0:
            await asyncio.sleep(5)
        return 4


def test_a_late_player_takes_its_default_action():
    world = game()
    (episode,) = run(world, [Team.of(world, [Slow(), "stay"])], episodes=1, seed=0)
    assert episode.actions[:2, 0].tolist() == [1, 4]
    assert episode.events[0].kind == "timeout"


class AlwaysInteract(Policy):
    encoding = "nothing"

    def act(self, memory, obs, legal, key):
        return memory, jnp.int32(5), Info(jnp.zeros(6))


class NotANumber(Policy):
    encoding = "nothing"

    def act(self, memory, obs, legal, key):
        return memory, jnp.int32(4), Info(jnp.full(6, jnp.nan))


@pytest.mark.parametrize("broken", [AlwaysInteract(), NotANumber()])
def test_an_illegal_choice_is_an_error_that_names_the_agent(broken):
    world = game(rule_out_null_interacts=True)
    with pytest.raises(IllegalAction, match=rf"{type(broken).__name__}.*seat 1.*step 0"):
        list(run(world, [Team.of(world, ["stay", broken])], episodes=1, seed=0))


def test_an_illegal_player_is_told_what_was_legal():
    world = game()
    wrong = Agent("wrong", FunctionPlayer(lambda seen: 9, "nothing"))
    with pytest.raises(IllegalAction, match=r"'wrong' in seat 0.*action 9 .* is not legal.*legal: north"):
        list(run(world, [Team.of(world, [wrong, "stay"])], episodes=1, seed=0))


def test_masked_random_never_chooses_what_is_ruled_out():
    world = game(rule_out_null_interacts=True)
    episodes = list(run(world, [Team.of(world, ["random", "random"])], episodes=4, seed=0))
    assert len(episodes) == 4
    assert float(masked(jnp.zeros(2), jnp.array([True, False]))[1]) < -1e30


def test_line_ups():
    world = game()
    assert len(all_teams(world, ["random", "stay", "random+0.1"])) == 9
    pairs = ego_teams(world, "random", ["stay", "random+0.1"])
    assert [[a.name for a in p.agents] for p in pairs] == [
        ["random", "stay"], ["stay", "random"], ["random", "random+0.1"], ["random+0.1", "random"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        (["random"], "2 seats, but 1 agents"),
        (["random", "ghost"], "unknown agent 'ghost'"),
        (["random", 3], "neither an agent's name"),
        (["random", "stay+lots"], "cannot read the noise"),
        (["random", "stay+2"], "between 0 and 1"),
        (["random", Agent("x", FunctionPlayer(lambda s: 4, "smells"))], "reads the encoding 'smells'"),
    ],
)
def test_what_cannot_be_seated_is_refused(agents, message):
    with pytest.raises(InterplayError, match=message):
        Team.of(game(), agents)


def test_two_agents_of_one_name_are_refused():
    with pytest.raises(InterplayError, match="two agents are called random"):
        all_teams(game(), ["random", "random"])


def test_play_is_a_function_and_a_room():
    """Whatever was imported before, `interplay.play(...)` plays."""
    import interplay.rollout.engine

    traces = interplay.play(game(), ["stay", "stay"], episodes=2, seed=0)
    assert len(traces) == 2
