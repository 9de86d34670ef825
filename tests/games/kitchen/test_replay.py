"""An episode with its dialogue beside the kitchen, as the report shows it."""

import interplay
from interplay.agents.api import Agent, Move, TraceEvent
from interplay.games.collab_kitchen.plan import Follower, plan_team
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports.dialogue import dialogue_lines
from interplay.reports.replay import still
from interplay.reports.trace_report import show_episode
from interplay.rollout.episode import RecordedEvent


class DialogueAgent:
    """Follows the team's plan, and says one thing."""

    encoding, deadline_s, default_action = "state", None, None

    def __init__(self):
        self.team = None

    def begin(self, game, seat, seed):
        return Session(self, game, seat)


class Session:
    def __init__(self, talker, game, seat):
        self.talker, self.game, self.seat = talker, game, seat

    async def act(self, view):
        if view.t == 0 and self.seat == 0:
            self.talker.team = Follower(self.game, plan_team(self.game, view.observation), view.observation)
        remarks = []
        if view.t == 0 and self.seat == 0:
            remarks = [
                TraceEvent(
                    "message", {"to": 1, "text": "Pass me <an> egg, please.", "units": [], "tokens_out": 7, "turn": 0}
                ),
                TraceEvent("call", {"model": "m", "prompt": "secret " * 1000}),
                TraceEvent(
                    "verdict", {"verb": "cook", "object": None, "place": "pot", "ok": False, "message": "empty pot"}
                ),
            ]
        return Move(self.talker.team.act(self.seat, view.observation), remarks)


def test_the_dialogue_stands_beside_the_kitchen():
    game = interplay.make("kitchen/original", dish="boiled egg")
    talker = DialogueAgent()
    traces = interplay.play(game, [Agent("a", talker), Agent("b", talker)], episodes=1, seed=0)
    (episode,) = traces
    assert (episode.length, episode.score) == (15, 20.0)
    shown = show_episode(MeasuredTraces(traces, shown=[0]), 0)
    assert [(r["t"], r["seat"], r["kind"], r["text"]) for r in shown["remarks"]] == [
        (0, 0, "message", "to assistant: Pass me <an> egg, please."),
        (0, 0, "verdict", "cook(pot): empty pot"),
    ]
    assert "egg" in still(shown, 6).svg()


def test_other_remarks_are_told_too():
    class Event:
        t, seat = 3, 1

        def __init__(self, kind, payload):
            self.kind, self.payload = kind, payload

    events = [
        Event("plan", {"macros": [{"verb": "wait", "number": 2}, "deliver()"]}),
        Event("timeout", {"seconds": 1.5}),
        Event("end", {"reason": "horizon"}),
    ]
    assert [r["text"] for r in dialogue_lines(events)] == ["wait(2), then deliver()", '{"seconds": 1.5}', "horizon"]


def test_what_happened_to_a_participant_is_told_in_words():
    events = [
        RecordedEvent(t=5, seq=0, seat=0, kind="unattended", payload={"until": 9, "why": "line"}),
        RecordedEvent(t=9, seq=0, seat=1, kind="takeover", payload={"seat": 1, "partner": "bot"}),
        RecordedEvent(t=12, seq=0, seat=1, kind="back", payload={"seat": 1}),
    ]
    told = ["steps before 9 were not seen: the line was silent", "bot plays on here", "the participant plays again"]
    assert [line["text"] for line in dialogue_lines(events)] == told
