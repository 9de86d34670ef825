"""Games that are plain Python: policies and players are asked turn by turn, and the record verifies."""

import asyncio
from typing import ClassVar

import pytest

import interplay
from interplay.agents.api import Agent, FunctionPlayer
from interplay.errors import IllegalAction
from interplay.games.api import NOTHING, no_observation
from interplay.traces import verify
from tests.traces.traces_toy import Slow


class Plain(Slow):
    """The toy game for agents that look at nothing."""

    encodings: ClassVar = {**Slow.encodings, "nothing": NOTHING}

    def __init__(self, seats: int = 2, horizon: int = 15):
        super().__init__(seats, horizon)
        self.id = f"{__name__}:Plain"

    def observe(self, state, encoding):
        return no_observation(self.num_seats)


class Late:
    """A player who never answers in time."""

    encoding, deadline_s, default_action = "nothing", 0.01, None

    def begin(self, game, seat, seed):
        return self

    async def act(self, view):
        await asyncio.sleep(5)


def test_policies_play_and_the_record_verifies():
    traces = interplay.play(Plain(), ["random", "random"], episodes=2, seed=0)
    assert verify(traces).check().episodes == 2
    again = interplay.play(Plain(), ["random", "random"], episodes=2, seed=0)
    assert [e.actions.tolist() for e in traces] == [e.actions.tolist() for e in again]


def test_policies_that_hold_arrays_play_too():
    traces = interplay.play(Plain(), ["random+0.5", "stay+0.3"], episodes=2, seed=0)
    assert verify(traces).check().episodes == 2
    assert len({tuple(a) for e in traces for a in e.actions.tolist()}) > 1


def test_a_late_player_takes_a_legal_action_and_it_is_noted():
    (episode,) = interplay.play(Plain(), [Late(), "random"], episodes=1, seed=0)
    late = [e for e in episode.events if e.kind == "timeout"]
    assert {e.seat for e in late} == {0}
    assert len(late) == episode.length
    assert all(episode.actions[e.t, 0] == e.payload["action"] for e in late)


def test_an_illegal_choice_is_refused():
    wrong = Agent("wrong", FunctionPlayer(lambda seen: 99, "nothing"))
    with pytest.raises(IllegalAction, match=r"'wrong' in seat 1.*action 99 .* is not legal"):
        interplay.play(Plain(), ["random", wrong], episodes=1, seed=0)
