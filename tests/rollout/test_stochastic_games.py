"""Games in which chance strikes within a step: their traces hold states as arrays, and everything works on them."""

import dataclasses

import jax
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError, TraceError
from interplay.games.api import NOTHING, Encoding, Step
from interplay.games.scene import Scene
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.traces import TraceSet, read_jsonl, replay, same, verify, write_jsonl


@pytest.fixture(scope="module")
def traces():
    pytest.importorskip("jaxmarl")
    return interplay.play("jaxmarl/MPE_simple_reference_v3", ["random", "random"], episodes=3, seed=0)


def test_states_are_recorded_as_arrays_and_verified(traces, tmp_path):
    assert verify(traces).check().unreplayable == 3
    saved = traces.save(tmp_path / "set")
    assert all(same(a, b) for a, b in zip(traces, TraceSet.open(tmp_path / "set"), strict=True))
    assert verify(saved).ok
    write_jsonl(traces, tmp_path / "traces.jsonl")
    assert all(same(a, b) for a, b in zip(traces, read_jsonl(tmp_path / "traces.jsonl"), strict=True))
    again = replay(interplay.make("jaxmarl/MPE_simple_reference_v3"), traces[0])
    assert again.steps.reward.shape == (traces[0].length, 2)
    assert again.steps.reward.sum() == pytest.approx(traces[0].score, abs=1e-3)


def test_what_was_changed_is_noticed(traces):
    episode = traces[0]
    moved = {n: v.copy() for n, v in episode.states.items()}
    moved["state.inner.p_pos"][5] += 1
    paid = {n: v.copy() for n, v in episode.states.items()}
    paid["step.reward"][3] += 1
    lost = {n: v for n, v in episode.states.items() if n != "state.inner.p_pos"}
    cut = {n: v[:-1] for n, v in episode.states.items()}
    last = {n: v.copy() for n, v in episode.states.items()}
    last["state.inner.p_pos"][-1] += 1
    for states, words in (
        (last, "checksum"),
        (paid, "score differs"),
        (lost, "lack"),
        (cut, "shape"),
        (None, "not recorded"),
    ):
        report = verify(TraceSet.in_memory([dataclasses.replace(episode, states=states)]))
        assert words in str(report.problems[0]), words


def test_measures_and_report(traces, tmp_path):
    rows = interplay.measure(traces, ["score", "events"])
    assert len(rows.where(metric="score")) == 3
    page = interplay.report(traces, tmp_path / "r.html").html
    assert "Replays" in page
    assert len(MeasuredTraces(traces).shown) == 2


class Dice:
    """A game in plain Python: each seat bets whether its die shows six; chance strikes in `step`."""

    id, options, num_seats, seat_names = f"{__name__}:Dice", {}, 2, ("left", "right")
    action_names, event_names, rules_version, horizon, replayable = ("bet", "stay"), ("six",), "1", 6, False
    encodings = {"count": Encoding((1,), "float32", "sixes so far"), "nothing": NOTHING}  # noqa: RUF012

    def init(self, key, **start):
        return {"sixes": [0, 0], "words": "go"}

    def start(self, state):
        return {}

    def step(self, state, actions, key):
        dice = np.asarray(jax.random.randint(key, (2,), 1, 7))
        six = (dice == 6) & (np.asarray(actions) == 0)
        after = {"sixes": [a + int(b) for a, b in zip(state["sixes"], six, strict=True)], "words": "go"}
        zero, no = np.zeros(2, np.float32), np.bool_(False)
        return after, Step(
            reward=six.astype(np.float32), shaped=zero, terminated=no, truncated=no, events=six[:, None].astype(int)
        )

    def observe(self, state, encoding):
        return np.array(state["sixes"], np.float32)[:, None] if encoding == "count" else np.zeros((2, 0), np.float32)

    def legal(self, state):
        return np.ones((2, 2), bool)

    def to_move(self, state):
        return np.ones(2, bool)

    def checksum(self, state):
        return state["sixes"][0] * 100 + state["sixes"][1]

    def render(self, state, seat=None):
        return f"sixes: {state['sixes']}"

    def scene(self, state, seat=None):
        return Scene(10, 10, (), ())


class PackedDice(Dice):
    """The same, which says how its states become arrays."""

    id = f"{__name__}:PackedDice"

    def pack_state(self, state):
        return {"sixes": np.array(state["sixes"])}

    def unpack_state(self, arrays):
        return {"sixes": arrays["sixes"].tolist(), "words": "go"}


def test_a_python_game_with_chance():
    traces = interplay.play(PackedDice(), ["random", "random"], episodes=2, seed=0)
    assert verify(traces).ok
    again = replay(PackedDice(), traces[0])
    assert again.states[-1]["sixes"] == [int(r) for r in traces[0].rewards]
    events = interplay.measure(traces, ["events"]).where(event="six")
    assert sum(events.column("value")) == sum(e.score for e in traces)


def test_a_state_that_is_no_numbers_needs_to_be_packed():
    with pytest.raises(InterplayError, match="pack_state"):
        interplay.play(Dice(), ["random", "random"], episodes=1, seed=0)


def test_without_states_there_is_no_replay(traces):
    bare = dataclasses.replace(traces[0], states=None)
    with pytest.raises(TraceError, match="has not recorded its states"):
        replay(interplay.make("jaxmarl/MPE_simple_reference_v3"), bare)
