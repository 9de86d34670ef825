"""The light engine: the contract, its physics, and what its episodes show."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError, UnknownName
from interplay.games.football import light
from interplay.games.football.events import EVENTS
from interplay.games.football.pitch import ACTIONS, NOBODY, OURS, RIGHT, SHOT, SPRINT, THEIRS

GAME = interplay.make("football/keepaway")


@pytest.fixture(scope="module")
def random_play():
    """[step, episode, ...] states, actions, steps and whether the episode was under way, of random episodes."""

    def episode(key):
        for_start, for_actions = jax.random.split(key)
        actions = jax.random.randint(for_actions, (GAME.horizon, 3), 0, len(ACTIONS))

        def turn(carry, joint):
            state, done = carry
            after, step = GAME.step(state, joint, key)
            return (after, done | step.terminated | step.truncated), (state, after, step, ~done)

        return jax.lax.scan(turn, (GAME.init(for_start), jnp.bool_(False)), actions)[1]

    return jax.tree_util.tree_map(np.asarray, jax.jit(jax.vmap(episode))(jax.random.split(jax.random.key(0), 256)))


def test_it_keeps_the_contract():
    assert "compiled" in interplay.check_game(GAME, steps=30)


def test_whoever_has_the_ball_is_near_it_and_episodes_end_as_told(random_play):
    before, after, step, on = random_play
    owner = np.where((after.pitch.owner_team == OURS) & on, after.pitch.owner_player, 0)
    places = np.take_along_axis(after.pitch.left, owner[..., None, None].repeat(2, -1), axis=2)[:, :, 0]
    apart = np.linalg.norm(places - after.pitch.ball[..., :2], axis=-1)
    assert apart[(owner > 0) & on].max() < 0.03
    lost, scored = after.pitch.owner_team == THEIRS, after.pitch.score[..., 0] > before.pitch.score[..., 0]
    out = (np.abs(after.pitch.ball[..., 1]) > 0.42) | (after.pitch.ball[..., 0] > 1) | (after.pitch.ball[..., 0] < -1)
    assert np.array_equal((step.terminated & on), ((lost | scored | out) & on))
    assert 0.3 < np.mean((lost & on).any(axis=1)) < 1


def test_rewards_are_the_goals_of_who_had_the_ball_last(random_play):
    _, _after, step, on = random_play
    goals = step.events[..., EVENTS.index("goal")]
    assert np.array_equal(step.reward, goals.astype(np.float32))
    assert np.array_equal(goals.sum(-1)[on], (step.reward.sum(-1))[on])
    assists = step.events[..., EVENTS.index("assist")]
    assert not (assists & goals).any()
    assert (assists.sum(-1) <= goals.sum(-1)).all()


@pytest.mark.slow
def test_a_shot_from_near_scores_more_often_than_one_from_far():
    def rate(x):
        def one(key):
            state = GAME.init(key)
            places = state.pitch.left.at[1].set(jnp.array([x, 0.0]))
            pitch = state.pitch
            pitch = type(pitch)(**vars(pitch) | {"left": places, "ball": jnp.array([x + 0.01, 0.0, 0.11])})
            pitch = type(pitch)(**vars(pitch) | {"right": jnp.array([[0.97, 0.0], [0.5, 0.3]])})
            state = light.LightState(**vars(state) | {"pitch": pitch})
            scan = lambda s, _: (lambda a, st: (a, st.reward.sum()))(*GAME.step(s, jnp.full(3, SHOT), key))  # noqa: E731
            return jax.lax.scan(scan, state, None, 14)[1].sum() > 0

        return float(jnp.mean(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(1), 400))))

    near, far = rate(0.88), rate(0.55)
    assert near > 0.35 > far


def test_sprinting_is_faster_and_what_is_pressed_stays_pressed():
    state = GAME.init(jax.random.key(0))
    places = []
    for first in (RIGHT, SPRINT):
        now = state
        for action in (first, RIGHT, *[0] * 10):
            now, _ = GAME.step(now, jnp.array([0, action, 0]), None)
        places.append(float(now.pitch.left[2, 0]))
    assert state.pitch.left[2, 0] < places[0] < places[1]


@pytest.mark.parametrize(
    ("y", "height", "inside"),
    [(0.0, 0.1, True), (0.03, 2.0, True), (-0.06, 0.1, False), (0.06, 0.1, False), (0, 2.6, False)],
)
def test_a_goal_is_between_the_posts_and_under_the_bar(y, height, inside):
    ball = jnp.array([1.01, y, height])
    passed, scored = light._crossed(jnp.array([0.97, y, height]), ball)
    assert bool(passed)
    assert bool(scored) == inside
    assert not light._crossed(ball - 0.04, ball - 0.03)[0]


@pytest.mark.parametrize("side", [-1, 1])
def test_the_keeper_dives_to_where_a_shot_will_pass_on_either_side(side):
    pitch = GAME.init(jax.random.key(0)).pitch
    changes = {
        "right": jnp.array([[0.97, 0.04 * side], [0.5, 0.3]]),
        "ball": jnp.array([0.87, 0.05 * side, 0.1]),
        "ball_direction": jnp.array([0.02, 0.0, 0.0]),
    }
    _, ways = light._defend(type(pitch)(**vars(pitch) | changes), jnp.bool_(True))
    assert ways[0, 1] * side > 0.001


def test_bad_options_and_starts_are_refused():
    with pytest.raises(InterplayError, match="an episode has 1 to"):
        interplay.make("football/keepaway", horizon=0)
    with pytest.raises(UnknownName, match="football/3v2"):
        interplay.make("football/3v2")
    with pytest.raises(UnknownName, match="deck"):
        GAME.init(jax.random.key(0), deck=[1])
    with pytest.raises(InterplayError, match="shape"):
        GAME.init(jax.random.key(0), places=np.zeros((2, 2)))


def test_text_and_drawing_show_everybody():
    state = GAME.init(jax.random.key(0))
    text = GAME.render(state, 1)
    assert "bottom wing (you)" in text
    assert "centre has it" in text
    drawn = GAME.scene(state, 1)
    labels = [shape[3] for shape in drawn.shapes if shape[0] == "text"]
    assert {"0", "1", "2", "K", "D"} <= set(labels)
    assert int(state.history.last) == 0
    assert int(state.history.previous) == NOBODY


def test_a_cross_play_of_three_seats_has_a_report(tmp_path):
    names = ["football/passer", "football/shooter"]
    traces = interplay.crossplay(GAME, names, episodes=2, seed=0)
    assert len(traces) == 2 * 2**3  # every agent in every seat
    interplay.report(traces, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for title in ("Mean score of each team", "Who helps whom", "Replays"):
        assert title in page
    assert all(seat in page for seat in GAME.seat_names)
