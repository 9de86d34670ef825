"""The relay in facts and operators: what tells who helped whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.symbolic.declare import Recorder, SymbolicTrace, SymbolicWorld, declare

DOMAIN = declare(
    "relay",
    """
types runner place parcel
agents runner
channel shelf default
fact stored(parcel*)
fact carries(runner, parcel*) holds
fact rests(parcel*, place) via shelf
fact delivered(parcel*)
action pick_up(r: runner, p: parcel)
  needs stored(p)
  adds carries(r, p)
  drops stored(p)
action hand_over(r: runner, p: parcel, s: place)
  needs carries(r, p)
  adds rests(p, s)
  drops carries(r, p)
action take(r: runner, p: parcel, s: place)
  needs rests(p, s)
  adds carries(r, p)
  drops rests(p, s)
action deliver(r: runner, p: parcel)
  needs carries(r, p)
  adds delivered(p)
  drops carries(r, p)
goal delivered(parcel)
""",
)
RUNNERS, SHELF = ("runner_1", "runner_2"), "shelf_1"


class Reader:
    """Reads episodes: every parcel gets a name when it is first picked up."""

    domain = DOMAIN

    def __init__(self, game: Any):
        self._world = SymbolicWorld(DOMAIN, {**dict.fromkeys(RUNNERS, "runner"), SHELF: "place"})

    def read(self, states: Any, actions: Any) -> SymbolicTrace:
        """The operators of an episode, from what changed between its states."""
        carries = np.asarray(states.carries)
        picked = int(np.sum(carries[1:, 0] & ~carries[:-1, 0]))
        parcels = [self._world.add(f"parcel_{number + 1}", "parcel") for number in range(picked)]
        facts = [("stored", parcel) for parcel in parcels]
        recorder, held, lying = Recorder(self._world, RUNNERS, self._world.facts(facts)), [None, None], None
        left = iter(parcels)
        for t in range(len(actions)):
            before, after = carries[t], carries[t + 1]
            if after[0] and not before[0]:
                held[0] = next(left)
                recorder.do(t, 0, "pick_up", RUNNERS[0], held[0])
            if before[0] and not after[0]:
                recorder.do(t, 0, "hand_over", RUNNERS[0], held[0], SHELF)
                held[0], lying = None, held[0]
            if after[1] and not before[1]:
                recorder.do(t, 1, "take", RUNNERS[1], lying, SHELF)
                held[1], lying = lying, None
            if before[1] and not after[1]:
                recorder.do(t, 1, "deliver", RUNNERS[1], held[1])
                held[1] = None
        reach, partners = {SHELF: (0, 1)}, {"shelf": {0: (1,), 1: ()}}
        return recorder.finish(length=len(actions), game_id="relay/line", reach=reach, partners=partners)
