"""Promises of replay: the states come back, and whatever disagrees with the record is told."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest

from interplay.errors import TraceError
from interplay.games.checksum import checksum
from interplay.games.registry import make
from interplay.traces import TraceSet, game_of, replay, replay_batches, replays, states_at, verify
from interplay.traces.replay import padded
from interplay.traces.replay_comparison import _rounding
from tests.traces.traces_toy import Broken, Fate, Slow, Toy, jitted, play


@pytest.fixture(scope="module")
def game():
    return jitted(Toy())


@pytest.fixture(scope="module")
def episodes(game):
    return [play(game, index=i) for i in range(12)]


def by_hand(game, episode):
    """The states, by a plain loop that shares nothing with the code under test."""
    state = game.init(jax.random.key(123), **episode.start)
    states = [state]
    for actions in episode.actions:
        state, _ = game.step(state, actions, jax.random.key(5))
        states.append(state)
    return states


def test_the_episodes_are_of_many_lengths(episodes):
    assert len({e.length for e in episodes}) > 3
    assert {e.terminated for e in episodes} == {True, False}


@pytest.mark.parametrize("kind", [Toy, Slow])
def test_replay_gives_states_rewards_and_events(game, episodes, kind):
    mine = kind()
    for episode in episodes[:4]:
        episode = dataclasses.replace(episode, game_id=mine.id)
        again = replay(mine, episode)
        expected = by_hand(game, episode)
        for t in (0, 1, episode.length // 2, episode.length):
            state = again.state(t)
            assert np.array_equal(state.place, expected[t].place)
            assert int(checksum(state)) == int(checksum(expected[t])) == again.checks[t]
        assert again.steps.reward.shape == (episode.length, 2)
        assert again.steps.events.shape == (episode.length, 2, 2)
        assert np.array_equal(again.steps.reward.sum(axis=0), episode.rewards)
        moved = np.diff([s.place for s in expected], axis=0) != 0
        assert np.array_equal(again.steps.events[:, :, 0], moved)
        assert again.legal.all()


def test_a_replay_does_not_depend_on_its_batch(game, episodes):
    alone = [replay(game, e) for e in episodes]
    for chunk in (5, 64):
        for one, other in zip(alone, replays(game, episodes, chunk=chunk), strict=True):
            jax.tree_util.tree_map(np.testing.assert_array_equal, vars(one), vars(other))


def test_a_batch_stands_still_past_the_end(game, episodes):
    (batch,) = replay_batches(game, episodes)
    shortest = min(range(len(episodes)), key=lambda i: episodes[i].length)
    n = episodes[shortest].length
    assert batch.played.sum(axis=1).tolist() == [e.length for e in episodes]
    place = np.asarray(batch.states.place)[shortest]
    assert (place[n:] == place[n]).all()
    assert not np.asarray(batch.steps.events)[shortest, n:].any()
    assert not np.asarray(batch.steps.terminated)[shortest, n:].any()


def test_states_at_lets_a_counterfactual_branch_off(game, episodes):
    episode = episodes[0]
    before = states_at(game, episode, 1)
    after, _ = game.step(before, episode.actions[1], jax.random.key(0))
    assert int(checksum(after)) == int(checksum(states_at(game, episode, 2)))
    with pytest.raises(TraceError, match=f"t is 0 to {episode.length}"):
        states_at(game, episode, episode.length + 1)


def test_an_episode_without_steps_replays(game, episodes):
    empty = dataclasses.replace(
        episodes[0],
        actions=np.zeros((0, 2), np.int16),
        check_steps=episodes[0].check_steps[:1],
        checks=episodes[0].checks[:1],
        rewards=np.zeros(2),
        terminated=False,
        events=(),
    )
    assert verify(TraceSet.in_memory([empty])).check().episodes == 1
    slow = Slow()
    again = replay(slow, dataclasses.replace(empty, game_id=slow.id))
    assert again.steps.events.shape == (0, 2, 2)


def test_padding_has_few_sizes():
    assert {padded(n, 400) for n in range(401)} == {16, 32, 64, 128, 256, 400}
    assert all(padded(n, 400) >= n for n in range(500))
    assert [padded(n, least=1) for n in (1, 2, 3, 64)] == [1, 2, 4, 64]


def test_verify_counts_what_it_replayed(tmp_path, episodes):
    three, slow, fate = Toy(seats=3), Slow(horizon=8), Fate(horizon=8)
    mixed = [*episodes, play(three), play(slow), play(fate), play(fate, index=1)]
    traces = TraceSet.in_memory([mixed[i] for i in np.random.default_rng(0).permutation(len(mixed))])
    done = []
    for each in (traces, traces.save(tmp_path / "set")):
        report = verify(each, progress=done.append).check()
        assert report.ok
        assert report.episodes == len(episodes) + 2
        assert report.unreplayable == 2
        assert report.steps == sum(e.length for e in mixed[:-2])
        assert set(report.games) == {three.id, slow.id, fate.id}
        assert len(report.table()) == 0
    assert sum(done) == 2 * len(mixed)


def with_action(episode, t, seat, action):
    actions = episode.actions.copy()
    actions[t, seat] = action
    return dataclasses.replace(episode, actions=actions)


def long_one(episodes):
    return max(episodes, key=lambda e: e.length)


def other_action(episode):
    return with_action(episode, 10, 0, {0: 1, 1: 2, 2: 1}[int(episode.actions[10, 0])])


WRONG = {
    "a checksum": (
        lambda e: dataclasses.replace(e, checks=e.checks + np.arange(len(e.checks), dtype=np.uint32) // 2),
        r"checksum of the state differs \(the last that agrees is at t=7\) at t=14: recorded \d+, replayed \d+",
    ),
    "the start": (
        lambda e: dataclasses.replace(e, start={**e.start, "slope": e.start["slope"] * 2}),
        "even the start sta",
    ),
    "an action": (other_action, r"the last that agrees is at t=7\) at t=14"),
    "the score": (
        lambda e: dataclasses.replace(e, rewards=e.rewards + np.array([0, 1])),
        r"score differs \(first at seat 1\) at t=\d+: recorded .*, replayed",
    ),
    "a score that is not a number": (lambda e: dataclasses.replace(e, rewards=e.rewards * np.nan), "score differs"),
    "the ending": (lambda e: dataclasses.replace(e, terminated=True), "the end differs.*recorded ended by the rules"),
    "an unknown action": (lambda e: with_action(e, 3, 1, 17), "step 3: seat 1 took action 17;.*has the actions 0 to 2"),
    "the rules": (lambda e: dataclasses.replace(e, rules_version="0"), "rules version '0', the game here has '1'"),
    "the options": (lambda e: dataclasses.replace(e, options={"seats": 3}), "has 3 seats, the episode has 2"),
    "unknown options": (lambda e: dataclasses.replace(e, options={"width": 3}), "cannot be made with {'width': 3}"),
    "the game": (lambda e: dataclasses.replace(e, game_id="chess/blitz"), "cannot make the game 'chess/blitz' again"),
    "the module": (
        lambda e: dataclasses.replace(e, game_id="no_module:Toy"),
        "names code, and names that",
    ),
    "start names": (
        lambda e: dataclasses.replace(e, start={"deck": np.zeros(3)}),
        "cannot be played from the start that was recorded, TypeError",
    ),
    "a longer record": (
        lambda e: dataclasses.replace(e, actions=np.concatenate([e.actions, e.actions[:1] * 0 + 2])),
        r"the game was over at t=40: recorded 41 steps, replayed 40 steps",
    ),
    "a missing state": (
        lambda e: dataclasses.replace(e, game_id=Fate().id, states=None),
        "cannot be replayed and the episode has not recorded its states",
    ),
    "a broken game": (lambda e: dataclasses.replace(e, game_id=Broken().id), "RuntimeError: no power in the basement"),
}


@pytest.mark.parametrize("case", WRONG)
def test_verify_tells_what_is_wrong_and_where(episodes, case):
    harm, says = WRONG[case]
    traces = TraceSet.in_memory([episodes[0], harm(long_one(episodes)), episodes[1]])
    report = verify(traces)
    assert report.episodes == 2  # the others still hold
    assert not report.ok
    assert {p.episode for p in report.problems} == {1}
    assert [row["episode"] for row in report.table()] == [1] * len(report.problems)
    with pytest.raises(TraceError, match=says) as error:
        report.check()
    assert "the trace set in memory: episode 1 (" in str(error.value)


def test_an_illegal_action_is_a_problem(game, episodes):
    stuck = with_action(episodes[0], 0, 0, 0)  # left of 0
    report = verify(TraceSet.in_memory([stuck]))
    assert any(
        "seat 0 took an action that was not allowed at t=0: recorded 0 (left)" in str(p) for p in report.problems
    )


def test_a_changed_file_is_noticed_after_saving(tmp_path, episodes):
    changed = [other_action(e) if e is long_one(episodes) else e for e in episodes]
    traces = TraceSet.in_memory(changed).save(tmp_path / "set")
    report = verify(TraceSet.open(tmp_path / "set"))
    assert report.episodes == len(episodes) - 1
    with pytest.raises(TraceError, match=f"{traces.path}: episode {episodes.index(long_one(episodes))} "):
        report.check()


def test_replay_refuses_what_disagrees(game, episodes):
    bad = dataclasses.replace(long_one(episodes), rewards=np.array([1.0, 2.0]))
    with pytest.raises(TraceError, match="score differs"):
        replay(game, bad)
    assert replay(game, bad, check=False).state(3) is not None


def test_a_game_that_cannot_be_replayed_says_so():
    fate = Fate(horizon=5)
    with pytest.raises(TraceError, match=r"cannot be replayed.*has not recorded its states"):
        replay(fate, dataclasses.replace(play(fate), states=None))
    recorded = play(fate)
    assert float(np.sum(replay(fate, recorded).steps.reward)) == recorded.score  # from its states
    slow = Slow(horizon=5)
    with pytest.raises(TraceError, match="is not pure JAX"):
        next(replay_batches(slow, [play(slow)]))


def test_games_are_made_once(episodes):
    assert game_of(episodes[0]) is game_of(episodes[1])


def test_overcooked_replays_and_verifies(tmp_path):
    game = make("overcooked/cramped_room", horizon=60)
    key = jax.random.key(0)
    played = [play(_Compiled(game), index=i, every=25, events=False) for i in range(3)]
    traces = TraceSet.in_memory(played).save(tmp_path / "set")
    assert verify(traces).check().episodes == 3
    idle = dataclasses.replace(played[0], actions=played[0].actions * [0, 1] + [4, 0])  # seat 0 stays all the time
    assert "the last that agrees is at t=0" in str(verify(TraceSet.in_memory([idle])).problems[0])
    state = states_at(game_of(played[0]), played[0], 30)
    assert int(state.time) == 30
    game.step(state, played[0].actions[30], key)


def test_what_is_played_is_verified(tmp_path):
    from interplay.rollout.engine import run
    from interplay.rollout.teams import Team

    game = make("overcooked/counter_circuit", horizon=70)
    played = run(game, [Team.of(game, ["random", "stay"])], episodes=5, seed=3)
    traces = TraceSet.create(tmp_path / "set")
    traces.append(played)
    report = verify(TraceSet.open(tmp_path / "set")).check()
    assert (report.episodes, report.steps) == (5, 350)


def test_fractions_may_round_and_whole_points_may_not():
    whole, tenths = np.full((400, 1), 20.0), np.full((400, 1), 0.1)
    assert _rounding(whole).tolist() == [0.0]
    off = abs(np.sum(tenths.astype(np.float32).cumsum(axis=0, dtype=np.float32)[-1]) - tenths.sum())
    assert 0 < off < _rounding(tenths)[0] < 0.001


class _Compiled:
    """A game with a compiled step, all else as it is."""

    def __init__(self, game):
        self._game = game
        self.step, self.legal = jax.jit(game.step), jax.jit(game.legal)

    def __getattr__(self, name):
        return getattr(self._game, name)
