"""Replays: small, and nothing lost."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.scene import Scene
from interplay.reports import Mark, replay_data, still
from tests.reports.report_helpers import ACTIONS, REWARDS, STATES, toy


def test_every_frame_comes_back_as_it_was():
    game = toy()
    data = json.loads(json.dumps(replay_data(game, STATES, ACTIONS, REWARDS, seat_views=True)))
    for t in range(5):
        state = {"n": STATES["n"][t]}
        assert still(data, t) == game.scene(state)
        for seat in (0, 1):
            assert still(data, t, str(seat)) == game.scene(state, seat)
    with pytest.raises(InterplayError, match="steps 0 to 4"):
        still(data, 5)


def test_equal_frames_and_sprites_are_stored_once():
    data = replay_data(toy(), STATES, ACTIONS, REWARDS)
    assert list(data["views"]) == [""]
    assert data["views"][""]["at"] == [0, 1, 1, 2, 1]
    assert len(data["views"][""]["frames"]) == 3
    assert len(data["sprites"]) == 1
    assert len(data["shapes"]) == 2


def test_scores_actions_and_points_are_told_at_the_step_they_bring_about():
    data = replay_data(toy(), STATES, ACTIONS, REWARDS, agents=["a", "b"], title="T", id=7)
    assert (data["id"], data["title"], data["agents"], data["steps"]) == ("7", "T", ["a", "b"], 4)
    scores = [sum(points for when, _, points in data["rewards"] if when <= t) for t in range(5)]
    assert scores == [0, 0, 5, 5, 9]
    assert data["actions"] == [[0, 1, 0, 0], [1, 1, 1, 0]]
    points = [(m["t"], m["seat"], m["label"]) for m in data["marks"]]
    assert points == [(2, 1, "+5 points"), (4, 0, "-1 points"), (4, 1, "+5 points")]


def test_events_are_news_unless_they_happen_all_the_time():
    events = np.zeros((8, 2, 2), int)
    events[3, 0, 0] = 1
    events[:, 1, 1] = 1
    states = {"n": np.arange(9)}
    actions = rewards = np.zeros((8, 2), int)
    data = replay_data(toy(), states, actions, rewards, events=events, mark_events=["hit"])
    assert data["events"] == [[4, 0, 0]]
    assert data["marks"] == [{"t": 4, "seat": 0, "kind": "hit", "label": "hit"}]
    with pytest.raises(InterplayError, match="no event miss"):
        replay_data(toy(), states, actions, rewards, events=events, mark_events=["miss"])


def test_hand_overs_and_remarks_are_kept_in_order():
    marks = [Mark(3, 0, "hand_over", to=1), Mark(1, 1, "look")]
    remarks = [{"t": 2, "seat": 0, "kind": "message", "text": "hello"}]
    data = replay_data(toy(), STATES, ACTIONS, np.zeros((4, 2)), marks=marks, remarks=remarks)
    assert data["marks"] == [
        {"t": 1, "seat": 1, "kind": "look", "label": "look"},
        {"t": 3, "seat": 0, "kind": "hand_over", "label": "hand over", "to": 1},
    ]
    assert data["remarks"] == remarks


def test_shapes_that_do_not_fit_are_told():
    with pytest.raises(InterplayError, match="through 5 states, but there are 4"):
        replay_data(toy(), {"n": np.arange(4)}, ACTIONS, REWARDS)
    with pytest.raises(InterplayError, match=r"must be \[step, 2\]"):
        replay_data(toy(), STATES, ACTIONS[:, :1], REWARDS)
    moving = toy(scene=lambda s, seat=None: Scene(5, 5, (("circle", int(s["n"]), 0, 1, "#000000"),), ()))
    with pytest.raises(InterplayError, match="backdrop"):
        replay_data(moving, STATES, ACTIONS, REWARDS)


def test_a_list_of_states_will_do():
    listed = [{"n": n} for n in STATES["n"]]
    assert replay_data(toy(), listed, ACTIONS, REWARDS) == replay_data(toy(), STATES, ACTIONS, REWARDS)


def test_a_kitchen_of_400_steps_is_small_and_exact():
    """Random chefs change something nearly every step, which is the worst case for size."""
    game = interplay.make("overcooked/counter_circuit")
    actions = jax.random.randint(jax.random.key(3), (400, 2), 0, 6)

    def advance(state, joint):
        state, step = game.step(state, joint, jax.random.key(0))
        return state, (state, step.reward, step.events)

    start = game.init(jax.random.key(0))
    _, (later, rewards, events) = jax.lax.scan(advance, start, actions)
    states = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), start, later)
    data = replay_data(
        game, states, np.asarray(actions), rewards, events=np.asarray(events), agents=["random", "random"]
    )
    size = len(json.dumps(data, separators=(",", ":")))
    assert size < 60_000, size
    for t in (0, 1, 57, 399, 400):
        state = jax.tree.map(lambda a, t=t: a[t], states)
        assert still(json.loads(json.dumps(data)), t).svg() == game.scene(state).svg()
