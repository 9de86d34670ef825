"""Whoever is seated is let go when the episode is over, wherever it was played and however it ended."""

from __future__ import annotations

import time

import numpy as np
import pytest

import interplay
from interplay.agents.api import Agent
from interplay.errors import IllegalAction
from interplay.rollout.live import LiveTable, live_engine
from interplay.rollout.live_python import TEXT

COOKS = "overcooked/cramped_room"


class Session:
    """Holds something, such as a connection, until it is closed."""

    def __init__(self, held, answer):
        held.append(self)
        self.answer, self.closed = answer, 0

    async def act(self, view):
        return int(np.argmax(view.legal)) if self.answer is None else self.answer

    def close(self):
        self.closed += 1


class Holding:
    """A player whose sessions are all kept in `held`."""

    encoding, deadline_s, default_action = "nothing", None, None

    def __init__(self, answer=None):
        self.held, self.answer = [], answer

    def begin(self, game, seat, seed):
        return Session(self.held, self.answer)


def in_batches(agent):
    interplay.play(interplay.make(COOKS, horizon=3), [agent, "stay"], episodes=2)


def in_python(agent):
    interplay.play(interplay.make("kitchen/original", horizon=2), [agent, "stay"], episodes=2)


def in_a_dialogue(agent):
    interplay.play(interplay.make("kitchen/original", horizon=2), ["llm:scripted/reference", agent], episodes=2)


def as_a_partner(agent):
    env = interplay.to_gymnasium(interplay.make(COOKS, horizon=3), [agent], seat=0)
    for seed in (0, 1):
        env.reset(seed=seed)
        env.step(4)
    env.close()


def under_test(agent):
    interplay.check_agent(agent, interplay.make(COOKS, horizon=3), steps=2)


def at_a_live_table(agent, name=COOKS, encoding="nothing", **options):
    engine = live_engine(interplay.make(name, **options), {"partner": agent}, sizes=(1,))
    table = LiveTable((1, 2), {1: "partner"}, encoding=encoding)
    engine.begin(table).result()
    engine.resume(table)
    engine.ask_partners(table)
    engine.step(table, np.argmax(table.legal, axis=-1)).result()
    table.close()
    table.close()
    engine.close()


def at_a_live_table_in_python(agent):
    at_a_live_table(agent, "kitchen/original", TEXT, horizon=3)


RUNNERS = [
    in_batches,
    in_python,
    in_a_dialogue,
    as_a_partner,
    under_test,
    at_a_live_table,
    at_a_live_table_in_python,
]


@pytest.mark.parametrize("run", RUNNERS)
def test_sessions_are_closed_once(run):
    player = Holding()
    run(Agent("holding", player))
    waited = time.monotonic() + 20
    while not all(session.closed for session in player.held) and time.monotonic() < waited:
        time.sleep(0.01)  # live tables close in their partners' threads
    assert len(player.held) >= 2
    assert {session.closed for session in player.held} == {1}


@pytest.mark.parametrize("run", [in_batches, in_python])
def test_they_are_closed_after_a_failure(run):
    player = Holding(answer=77)
    with pytest.raises(IllegalAction):
        run(Agent("holding", player))
    assert player.held
    assert all(session.closed == 1 for session in player.held)
