"""A light football in JAX: the pitch, seats, actions and events of the real engine, with simple physics.

What differs from Google Research Football, which takes its time for bodies and animations:
- a player is a point with a way and a speed; a kick leaves four steps after it was chosen, unless the ball is lost;
- the defender runs at the ball and tackles by chance; the keeper stands between ball and goal and dives at shots;
- passes go to the team mate who is nearest to the way that the passer faces; aim and tackles err by chance;
- `slide` does nothing, there are no fouls, no throw-ins and no second half, and an episode is shorter.
As there, an episode ends with a goal, with the ball out of play and with the ball in the other team's feet. Chance is
drawn from a seed that the start state holds, so that an episode can be replayed from its start and its actions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from interplay.games.api import Step
from interplay.games.football import events as event_rules
from interplay.games.football.events import BallHistory
from interplay.games.football.pitch import (
    BALL_START,
    BOTTOM_LEFT,
    DEFENDER,
    DIRECTIONS,
    DRIBBLE,
    GOAL_X,
    GOAL_Y,
    HIGH_PASS,
    KEEPER,
    LEFT,
    LONG_PASS,
    NOBODY,
    OURS,
    OWN_KEEPER,
    RELEASE_DIRECTION,
    RELEASE_DRIBBLE,
    RELEASE_SPRINT,
    SEATS,
    SHOT,
    SIDE_Y,
    SPRINT,
    STARTS,
    THEIRS,
    Pitch,
)
from interplay.games.records import record

# Speeds in lengths of the pitch's half a step, close to those measured in the real engine (docs/games/football.md).
RUN, SPRINTING, DRIBBLING, WITH_BALL = 0.0092, 0.0139, 0.0065, 0.85
DEFENDER_SPEED, KEEPER_SPEED, DIVE_SPEED = 0.0100, 0.0060, 0.002
KICK_STEPS = 4  # from the choice of a kick to the kick
TURNING = 0.25  # share of the wanted way that is reached in a step
PASS_SPEED, PASS_BY_DISTANCE, LONG_FACTOR, SHOT_SPEED = 0.018, 0.035, 1.15, 0.05
FRICTION, GRAVITY, GROUND, OVERHEAD = 0.97, 0.1, 0.11, 0.7  # of a ball; height of a rolling one; out of reach
PASS_ERROR, LONG_ERROR, HIGH_ERROR = 0.05, 0.08, 0.1  # standard deviations of the angle
SHOT_ERROR, SHOT_ERROR_BY_DISTANCE = 0.010, 0.075  # of the place on the goal's line
REACH, DIVE = 0.022, 0.013  # how near a ball must come to be taken; the keeper's, of a shot
FAST = 0.03  # a ball faster than this is reached from half as far
TACKLE_REACH, TACKLE_CHANCE = 0.020, 0.08
WAIT = 5  # steps in which who kicked the ball cannot take it
JITTER = 0.01  # of the places at the start
KEEPER_LINE = 0.05  # how far the keeper comes off the goal's line


@record
class LightState:
    """A state of the light engine."""

    pitch: Pitch
    history: BallHistory
    facing: Float[Array, "3 2"]  # the way that each seat last wanted to go
    wait: Int[Array, " 3"]  # steps until each seat can take the ball
    kick: Int[Array, ""]  # the kick that the owner of the ball is about to make, or NOBODY
    kick_steps: Int[Array, ""]  # until it is made
    shot: Bool[Array, ""]  # the free ball was shot at the goal
    chance: UInt32[Array, " 2"]  # the key of what chance decides next


def start(places: Float[Array, "3 2"], chance: UInt32[Array, " 2"]) -> LightState:
    """Return the start state with the seats at these places; the first one has the ball."""
    still = jnp.zeros((SEATS + 1, 2))
    pitch = Pitch(
        time=jnp.int32(0),
        left=jnp.concatenate([jnp.array([OWN_KEEPER]), places]).astype(jnp.float32),
        left_direction=still,
        right=jnp.array([KEEPER, DEFENDER], jnp.float32),
        right_direction=jnp.zeros((2, 2)),
        ball=jnp.array(BALL_START, jnp.float32),
        ball_direction=jnp.zeros(3),
        owner_team=jnp.int32(OURS),
        owner_player=jnp.int32(1),
        sticky=jnp.zeros((SEATS, 10), jnp.int32),
        mode=jnp.int32(0),
        score=jnp.zeros(2, jnp.int32),
    )
    return LightState(
        pitch=pitch,
        history=event_rules.new_history(pitch, jnp),
        facing=jnp.tile(jnp.array([1.0, 0.0], jnp.float32), (SEATS, 1)),
        wait=jnp.zeros(SEATS, jnp.int32),
        kick=jnp.int32(NOBODY),
        kick_steps=jnp.int32(0),
        shot=jnp.bool_(False),
        chance=chance,
    )


def start_places(key: Array) -> Float[Array, "3 2"]:
    """Draw the places of the seats at the start."""
    return jnp.array(STARTS) + jax.random.uniform(key, (SEATS, 2), minval=-JITTER, maxval=JITTER)


def step(state: LightState, actions: Int[Array, " seat"], horizon: int) -> tuple[LightState, Step]:
    """Play one joint action."""
    key, for_numbers, for_normals = jax.random.split(jax.random.wrap_key_data(state.chance), 3)
    uniform, normal = jax.random.uniform(for_numbers, (2,)), jax.random.normal(for_normals, (2,))
    before = state.pitch
    sticky = _sticky(before.sticky, actions)
    owner = jnp.where(before.owner_team == OURS, before.owner_player - 1, NOBODY)
    facing, places, ways = _run(state, sticky, owner)
    right, right_ways = _defend(before, state.shot)
    action, kick_steps = _chosen_kick(state, actions, owner)
    kicks = (action >= 0) & (kick_steps == 0)
    moved = replace(before, left=places, left_direction=ways, right=right, right_direction=right_ways, sticky=sticky)
    kicked = _kick(moved, facing, owner, action, normal)
    ball, ball_way = _ball(before, moved, facing, owner, kicks, kicked)
    wait = jnp.where((jnp.arange(SEATS) == owner) & kicks, WAIT, jnp.maximum(state.wait - 1, 0))
    shot = jnp.where(kicks, action == SHOT, state.shot & (owner < 0))
    crossed, inside = _crossed(before.ball, ball)
    team, player = _possession(moved, ball, ball_way, jnp.where(kicks, NOBODY, owner), wait, shot, crossed, uniform)
    goal = crossed & inside & (team != THEIRS)
    out = (crossed & ~goal & (team != THEIRS)) | (jnp.abs(ball[1]) > SIDE_Y) | (ball[0] < -GOAL_X)
    after = replace(
        moved,
        time=before.time + 1,
        ball=ball,
        ball_direction=ball_way,
        owner_team=team,
        owner_player=player,
        score=before.score + jnp.array([1, 0]) * goal,
    )
    history, events, shaped = event_rules.record_step(state.history, before, after, actions, jnp)
    over = goal | out | (team == THEIRS)
    outcome = Step(
        reward=events[:, event_rules.EVENTS.index("goal")].astype(jnp.float32),
        shaped=shaped,
        terminated=over,
        truncated=~over & (after.time >= horizon),
        events=events,
    )
    keeps = (owner >= 0) & ~kicks & (player == owner + 1) & (team == OURS)
    new = LightState(
        pitch=after,
        history=history,
        facing=facing,
        wait=wait,
        kick=jnp.where(keeps, action, NOBODY),
        kick_steps=jnp.where(keeps, kick_steps, 0),
        shot=shot,
        chance=jax.random.key_data(key),
    )
    return new, outcome


def _chosen_kick(state: LightState, actions: Int[Array, " seat"], owner: Array) -> tuple[Array, Array]:
    """Return the kick under way (NOBODY: none) and the steps until it is made; a new choice does not change it."""
    action = actions[jnp.maximum(owner, 0)]
    begins = (owner >= 0) & (action >= LONG_PASS) & (action <= SHOT) & (state.kick < 0)
    kick = jnp.where(begins, action, state.kick)
    return kick, jnp.where(begins, KICK_STEPS, jnp.maximum(state.kick_steps - 1, 0))


def _sticky(sticky: Int[Array, "3 10"], actions: Int[Array, " seat"]) -> Int[Array, "3 10"]:
    """Return what stays pressed: a way until another or its release is chosen, sprint and dribble until released."""
    chosen = actions[:, None]
    moves = (chosen >= LEFT) & (chosen <= BOTTOM_LEFT)
    ways = jnp.where(moves, jnp.arange(8)[None] == chosen - LEFT, sticky[:, :8])
    ways = jnp.where(chosen == RELEASE_DIRECTION, 0, ways)
    sprint = jnp.where(actions == SPRINT, 1, jnp.where(actions == RELEASE_SPRINT, 0, sticky[:, 8]))
    dribble = jnp.where(actions == DRIBBLE, 1, jnp.where(actions == RELEASE_DRIBBLE, 0, sticky[:, 9]))
    return jnp.concatenate([ways, sprint[:, None], dribble[:, None]], axis=1).astype(jnp.int32)


def _run(state: LightState, sticky: Array, owner: Array) -> tuple[Array, Array, Array]:
    """Return the seats' facing, and the places and ways of our team."""
    wanted = sticky[:, :8].astype(jnp.float32) @ jnp.array(DIRECTIONS)
    moves = sticky[:, :8].any(axis=1)[:, None]
    facing = jnp.where(moves, wanted, state.facing)
    speed = jnp.where(sticky[:, 9] == 1, DRIBBLING, jnp.where(sticky[:, 8] == 1, SPRINTING, RUN))
    speed = speed * jnp.where(jnp.arange(SEATS) == owner, WITH_BALL, 1.0)
    ways = (1 - TURNING) * state.pitch.left_direction[1:] + TURNING * wanted * speed[:, None]
    places = state.pitch.left[1:] + ways
    low, high = jnp.array([-GOAL_X, -SIDE_Y]), jnp.array([GOAL_X, SIDE_Y])
    inside = jnp.clip(places, low, high)
    ways = inside - state.pitch.left[1:]
    keeper = state.pitch.left[:1]
    return facing, jnp.concatenate([keeper, inside]), jnp.concatenate([jnp.zeros((1, 2)), ways])


def _defend(pitch: Pitch, shot: Array) -> tuple[Array, Array]:
    """Return places and ways of keeper and defender: one between ball and goal, the other at the ball."""
    keeper, defender = pitch.right
    goal = jnp.array([GOAL_X, 0.0])
    away = pitch.ball[:2] - goal
    post = goal + away * jnp.minimum(KEEPER_LINE / (jnp.linalg.norm(away) + 1e-6), 1.0)
    # A shot is met where it will pass the keeper.
    steps = (keeper[0] - pitch.ball[0]) / jnp.maximum(pitch.ball_direction[0], 1e-3)
    meets = pitch.ball[1] + pitch.ball_direction[1] * jnp.clip(steps, 0.0, 20.0)
    post = jnp.where(shot, jnp.array([keeper[0], jnp.clip(meets, -GOAL_Y * 1.5, GOAL_Y * 1.5)]), post)
    ahead = jnp.where(pitch.owner_team == NOBODY, 4.0, 1.0)  # where a rolling ball will be
    at_ball = pitch.ball[:2] + ahead * pitch.ball_direction[:2]
    ways = jnp.stack(
        [_towards(keeper, post, jnp.where(shot, DIVE_SPEED, KEEPER_SPEED)), _towards(defender, at_ball, DEFENDER_SPEED)]
    )
    return pitch.right + ways, ways


def _towards(place: Array, target: Array, speed: Any) -> Array:
    way = target - place
    return way * jnp.minimum(speed / (jnp.linalg.norm(way) + 1e-6), 1.0)


def _kick(pitch: Pitch, facing: Array, owner: Array, action: Array, normal: Array) -> Float[Array, " 3"]:
    """Return the way of the ball when the owner kicks it: x, y and height a step."""
    seat = jnp.maximum(owner, 0)
    here = pitch.left[seat + 1]
    to_mates = pitch.left[1:] - here
    distance = jnp.linalg.norm(to_mates, axis=1)
    aligned = (to_mates @ facing[seat]) / (distance + 1e-6) - 0.5 * distance
    mate = jnp.argmax(jnp.where(jnp.arange(SEATS) == seat, -jnp.inf, aligned))
    target = pitch.left[mate + 1] + 6.0 * pitch.left_direction[mate + 1]
    way = target - here
    far = jnp.linalg.norm(way)
    error = jnp.where(action == HIGH_PASS, HIGH_ERROR, jnp.where(action == LONG_PASS, LONG_ERROR, PASS_ERROR))
    cos, sin = jnp.cos(error * normal[0]), jnp.sin(error * normal[0])
    turned = jnp.array([way[0] * cos - way[1] * sin, way[0] * sin + way[1] * cos]) / (far + 1e-6)
    rolling = (PASS_SPEED + PASS_BY_DISTANCE * far) * jnp.where(action == LONG_PASS, LONG_FACTOR, 1.0)
    air = 8.0 + 30.0 * far  # steps in the air
    high = action == HIGH_PASS
    passed = jnp.concatenate(
        [turned * jnp.where(high, far / air, rolling), jnp.where(high, GRAVITY * air / 2, 0.0)[None]]
    )
    # A shot aims at the corner that is farther from the keeper.
    corner = jnp.where(pitch.right[0, 1] > 0, -1.0, 1.0) * GOAL_Y * 0.75
    to_goal = jnp.linalg.norm(jnp.array([GOAL_X, 0.0]) - here)
    aim = jnp.array([GOAL_X, corner + (SHOT_ERROR + SHOT_ERROR_BY_DISTANCE * to_goal) * normal[1]]) - here
    shot = jnp.concatenate([aim / (jnp.linalg.norm(aim) + 1e-6) * SHOT_SPEED, jnp.zeros(1)])
    return jnp.where(action == SHOT, shot, passed)


def _ball(
    before: Pitch, moved: Pitch, facing: Array, owner: Array, kicks: Array, kicked: Array
) -> tuple[Float[Array, " 3"], Float[Array, " 3"]]:
    """Return the place and the way of the ball: in front of its owner, or rolling, or in the air."""
    seat = jnp.maximum(owner, 0)
    in_air = (before.ball[2] > GROUND) | (before.ball_direction[2] > 0)
    friction = jnp.where(in_air, 1.0, FRICTION)
    falling = jnp.where(in_air, before.ball_direction[2] - GRAVITY, 0.0)
    rolls = jnp.concatenate([before.ball_direction[:2] * friction, falling[None]])
    way = jnp.where(kicks, kicked, rolls)
    free = before.ball + way
    free = free.at[2].max(GROUND)
    way = way.at[2].set(jnp.where(free[2] > GROUND, way[2], 0.0))
    led = jnp.concatenate([moved.left[seat + 1] + 0.012 * facing[seat], jnp.full(1, GROUND)])
    is_led = (owner >= 0) & ~kicks
    return jnp.where(is_led, led, free), jnp.where(is_led, led - before.ball, way)


def _crossed(before: Float[Array, " 3"], ball: Float[Array, " 3"]) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
    """Return whether the ball has passed the goal's line, and whether it did so between the posts."""
    share = (GOAL_X - before[0]) / jnp.where(ball[0] == before[0], 1e-6, ball[0] - before[0])
    there = before[1] + jnp.clip(share, 0.0, 1.0) * (ball[1] - before[1])
    return ball[0] > GOAL_X, (jnp.abs(there) < GOAL_Y) & (ball[2] < 2.4)


def _possession(
    pitch: Pitch, ball: Array, way: Array, owner: Array, wait: Array, shot: Array, crossed: Array, uniform: Array
) -> tuple[Int[Array, ""], Int[Array, ""]]:
    """Return the team and the player who have the ball now; `owner` is the seat that led it, or NOBODY."""
    speed = jnp.linalg.norm(way[:2])
    reach = jnp.where(speed > FAST, 0.5, 1.0) * REACH
    low = ball[2] < OVERHEAD
    ours = jnp.linalg.norm(pitch.left[1:] - ball[:2], axis=1)
    keeper, defender = jnp.linalg.norm(pitch.right - ball[:2], axis=1)
    # The keeper's dive is measured on the way of the last step, since a shot passes in one.
    along = jnp.clip(jnp.dot(pitch.right[0] - (ball[:2] - way[:2]), way[:2]) / (speed**2 + 1e-9), 0.0, 1.0)
    passing = jnp.linalg.norm(pitch.right[0] - (ball[:2] - (1 - along) * way[:2]))
    saves = jnp.where(shot, passing < DIVE, keeper < REACH) & low
    tackles = (owner >= 0) & (defender < TACKLE_REACH) & (uniform[0] < TACKLE_CHANCE)
    takes = (owner < 0) & low & (defender < reach)
    theirs = saves | tackles | takes
    free = jnp.where((wait == 0) & low, ours, jnp.inf)
    nearest = jnp.argmin(free)
    caught = (owner < 0) & (free[nearest] < reach) & ~crossed
    seat = jnp.where(owner >= 0, owner, jnp.where(caught, nearest, NOBODY))
    team = jnp.where(theirs, THEIRS, jnp.where(seat >= 0, OURS, NOBODY))
    player = jnp.where(theirs, jnp.where(saves, 0, 1), jnp.where(seat >= 0, seat + 1, NOBODY))
    return team.astype(jnp.int32), player.astype(jnp.int32)
