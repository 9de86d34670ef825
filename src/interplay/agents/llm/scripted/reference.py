"""The reference team: a planner behind the same prompts as any model, which sends exactly the requests needed.

The cook that knows the recipe leads: it follows a team plan and asks for each act of its partner once, early enough to
be done in time and late enough to be done within the audit's window. The partner knows nothing but what it is asked.
Nothing is remembered between calls: all follows from the states, executions and messages so far.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

from interplay.agents.llm.chat import ChatRequest
from interplay.agents.llm.kitchen.situation import Situation
from interplay.agents.llm.scripted.simple import Scripted
from interplay.errors import InterplayError
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.lineage import Execution, executions
from interplay.games.collab_kitchen.macros import Macro, places, verify
from interplay.games.collab_kitchen.plan import plan_team, search_plan
from interplay.games.collab_kitchen.rules import KitchenRules
from interplay.games.collab_kitchen.state import KitchenState

WINDOW = 0.15  # share of the horizon in which the audit expects a request to be followed
LEAD = 0.6  # share of that window by which a request runs ahead of the plan
AT_ONCE = 10  # requests in one answer, which has room for a dozen entries
WAIT = "wait(1)"


class PlannedAct(NamedTuple):
    """An act of a plan: what, when, and what another seat has to do before (seat, index in its queue)."""

    macro: Macro
    t: int
    after: tuple[int, int] | None = None


class Wanted(NamedTuple):
    """An open request: what, its number among all requests, and how often it was asked."""

    macro: Macro
    number: int
    times: int


class PlanProgress(NamedTuple):
    """The plan that is being followed, when it began, and how much of its queue each seat has done."""

    queues: tuple[tuple[PlannedAct, ...], ...]
    start: int
    done: tuple[int, ...]

    def next(self, seat: int) -> PlannedAct | None:
        """Return a seat's next act; None if its queue is done."""
        queue = self.queues[seat]
        return queue[self.done[seat]] if self.done[seat] < len(queue) else None


class Reference(Scripted):
    """The planner-backed team member, as leader or assistant."""

    name = "scripted/reference"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the plan and the messages of the leader or the assistant."""
        situation = request.context
        if not isinstance(situation, Situation) or request.purpose not in ("plan", "reply", "correct"):
            return super().fill(request)
        leader = next(s for s, role in enumerate(situation.game.roles) if role.knows_recipe)
        plan = self.lead(situation) if leader == situation.seat else self.follow(situation)
        say = " ".join(filter(None, [self.addressed(situation, plan), self.small_talk(situation)]))
        return super().fill(request) | {"plan": plan} | ({"say": say} if say and "say" in self._fields(request) else {})

    @staticmethod
    def _fields(request: ChatRequest) -> Any:
        return (request.schema or {}).get("properties", {})

    def addressed(self, situation: Situation, plan: list[str]) -> str:
        """Return whom the requests are for, among more than two cooks."""
        if len(situation.others) < 2 or not any(entry.startswith("request(") for entry in plan):
            return ""
        progress = self.progress(situation)
        asked = [s for s in situation.others if progress and self.requests(situation, progress, s)]
        return f"{situation.name(asked[0])}, please:" if asked else ""

    def small_talk(self, situation: Situation) -> str:
        """Return what is said beside requests: nothing."""
        return ""

    # ------------------------------------------------------------ the leader, who knows the recipe
    def lead(self, situation: Situation) -> list[str]:
        """Return the leader's plan: requests to one partner, then its own next act."""
        progress = self.progress(situation)
        if progress is None:
            return [WAIT]
        wanted = [self.requests(situation, progress, other) for other in situation.others]
        wanted = [f"request('{macro}')" for macro in next(filter(None, wanted), [])]  # of one partner at a time
        if situation.purpose == "reply" and situation.queue:
            return wanted  # what is under way goes on
        act = progress.next(situation.seat)
        ready = act is not None and _allowed(situation, act.macro) and _turn(progress, act)
        return [*wanted, str(act.macro) if act is not None and ready else WAIT]

    def progress(self, situation: Situation) -> PlanProgress | None:
        """Return the plan that explains what was done; after a deviation, a new one from there."""
        game, states = situation.game, situation.sight.states
        queues, start, done = self.planned(game, states[0], situation.seat), 0, [0] * game.num_seats
        for execution in situation.executions:
            if execution.t < start or queues is None:
                continue
            queue, at = queues[execution.seat], done[execution.seat]
            if at < len(queue) and fits(queue[at].macro, execution):
                done[execution.seat] += 1
            else:
                start, done = execution.t + 1, [0] * game.num_seats
                queues = self.planned(game, states[start], situation.seat)
        return None if queues is None else PlanProgress(queues, start, tuple(done))

    def planned(self, game: Kitchen, state: KitchenState, seat: int) -> tuple[tuple[PlannedAct, ...], ...] | None:
        """Return each seat's acts in a plan from this state; None if there is none."""
        return team_queues(game, state)

    def requests(self, situation: Situation, progress: PlanProgress, other: int) -> list[Macro]:
        """Return what to ask of a partner now: acts that are due soon, and overdue requests."""
        queue, done = progress.queues[other], progress.done[other]
        window = audit_window(situation.game)
        asked, last = 0, progress.start
        for message in situation.messages:
            if message.sender != situation.seat or message.t < progress.start or message.to not in (None, other):
                continue
            for unit in message.units:
                if asked < len(queue) and same(queue[asked].macro, unit):
                    asked += 1
                last = message.t
        soon = situation.t + LEAD * window
        fresh = [act.macro for act in queue[asked:] if progress.start + act.t <= soon or asked == done]
        fresh = fresh[: min(AT_ONCE, max(1, sum(progress.start + act.t <= soon for act in queue[asked:])))]
        if fresh or asked <= done:
            return fresh
        since = max([last, *(d.t for d in situation.executions if d.seat == other)])
        waited = situation.t - max(since, progress.start + queue[done].t)
        possible = verify(situation.game, situation.state, other, queue[done].macro).ok
        return [queue[done].macro] if waited > window and possible else []

    # ------------------------------------------------------------ the assistant
    def follow(self, situation: Situation) -> list[str]:
        """Return the assistant's plan: its first open request if possible, else wait."""
        todo = self.to_do(situation)
        if situation.purpose == "reply" and situation.queue and situation.queue[0].verb != "wait":
            return []
        if todo and _allowed(situation, todo[0]):
            return [str(todo[0])]
        return [WAIT]

    def to_do(self, situation: Situation) -> list[Macro]:
        """Return what was asked and is not done yet, in order."""
        return [wanted.macro for wanted in asked_of(situation)]


class Soloist(Reference):
    """Plans and works alone, as if nobody else were there."""

    name = "scripted/soloist"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the plan of a leader."""
        situation = request.context
        if not isinstance(situation, Situation) or request.purpose not in ("plan", "reply", "correct"):
            return super().fill(request)
        return Scripted.fill(self, request) | {"plan": self.lead(situation)}

    def planned(self, game: Kitchen, state: KitchenState, seat: int) -> tuple[tuple[PlannedAct, ...], ...] | None:
        """Return a plan in which only this seat works."""
        return solo_queues(game, state, seat)

    def requests(self, situation: Situation, progress: PlanProgress, other: int) -> list[Macro]:
        """Return no requests."""
        return []


def audit_window(game: Kitchen) -> int:
    """Return the number of steps within which the audit expects a request to be done."""
    return math.ceil(WINDOW * game.horizon)


def _allowed(situation: Situation, macro: Macro) -> bool:
    return verify(situation.game, situation.state, situation.seat, macro).ok


def _turn(progress: PlanProgress, act: PlannedAct) -> bool:
    """Return whether what has to come before is done."""
    return act.after is None or progress.done[act.after[0]] > act.after[1]


def asked_of(situation: Situation) -> list[Wanted]:
    """Return the open requests to this cook, in order.

    The first of them, asked alone once more after a window without news, counts as a reminder, not as a new request.
    """
    asked = [(m.t, 0, m) for m in situation.messages if m.sender != situation.seat]
    mine = [(d.t, 1, d) for d in situation.executions if d.seat == situation.seat]
    open_: list[Wanted] = []
    number, news, window = 0, 0, audit_window(situation.game)
    for t, _, thing in sorted([*asked, *mine], key=lambda event: event[:2]):
        quiet, news = t - news > window, t if isinstance(thing, Execution) or thing.units else news
        if isinstance(thing, Execution):
            match = next((w for w in open_ if fits(w.macro, thing)), None)
            if match is not None:
                open_.remove(match)
            continue
        macros = [Macro(u["verb"], u.get("object"), u.get("place")) for u in thing.units]
        if quiet and len(macros) == 1 and open_ and open_[0].macro == macros[0]:
            open_[0] = open_[0]._replace(times=open_[0].times + 1)
            continue
        for macro in macros:
            open_.append(Wanted(macro, number, 1))
            number += 1
    return open_


def fits(macro: Macro, execution: Execution) -> bool:
    """Return whether an execution fulfils a macro action."""
    return macro.verb == execution.verb and macro.object in (None, execution.object)


def same(macro: Macro, unit: Any) -> bool:
    """Return whether a message's unit asks for a macro action."""
    return macro.verb == unit["verb"] and macro.object == unit.get("object")


def _plain(macro: Macro) -> Macro:
    """Replace a numbered counter by any counter: between two cooks, whoever passes something on chooses it."""
    return macro._replace(place="counter") if (macro.place or "").startswith("counter(") else macro


def team_queues(game: Kitchen, state: KitchenState) -> tuple[tuple[PlannedAct, ...], ...] | None:
    """Return each seat's acts in a team plan from here; None if there is none."""
    try:
        plan = plan_team(game, state)
    except InterplayError:
        return None
    name = _plain if game.num_seats == 2 else Macro._make  # among three, which counter tells for whom
    queues = tuple(tuple(PlannedAct(name(p.macro), p.t, p.after) for p in queue) for queue in plan.queues)
    return _finished_by_starter(game, queues)


def _finished_by_starter(
    game: Kitchen, queues: tuple[tuple[PlannedAct, ...], ...]
) -> tuple[tuple[PlannedAct, ...], ...]:
    """Let the cook that started a utensil also finish with it, where it can.

    A plan in single steps may have one cook walk up while the other's utensil works. In macro actions nobody can set
    out for what is not ready.
    """
    for taker, queue in enumerate(queues):
        for at, act in enumerate(queue):
            if act.after is None or (act.macro.place or "").startswith("counter"):
                continue
            giver, last = act.after
            head, tail = _cut(queue, at, taker)
            if tail and last == len(queues[giver]) - 1 and all(_can(game, giver, a.macro) for a in tail):
                changed = {giver: (*queues[giver], *tail), taker: head}
                return tuple(changed.get(seat, other) for seat, other in enumerate(queues))
    return queues


def _cut(queue: tuple[PlannedAct, ...], at: int, taker: int) -> tuple[tuple[PlannedAct, ...], tuple[PlannedAct, ...]]:
    """Split a queue at `at`; the second part is for the cook that takes it over, its dish fetched from a counter."""
    head, tail = queue[:at], tuple(act._replace(after=None) for act in queue[at:])
    if queue[at].macro.verb == "pickup":
        return head, tail
    if queue[at].macro.verb != "fill_dish_with_food" or not head or head[-1].macro.object != "dish":
        return queue, ()
    if head[-1].macro.place == "counter":
        return head[:-1], (head[-1]._replace(after=None), *tail)
    put = PlannedAct(Macro("place_obj_on_counter", place="counter"), head[-1].t + 3)
    return (*head, put), (PlannedAct(Macro("pickup", "dish", "counter"), queue[at].t, (taker, at)), *tail)


def _can(game: Kitchen, seat: int, macro: Macro) -> bool:
    stations = places(game, macro.place or "")
    return macro.verb in game.roles[seat].verbs and any(game.layout.reaches(seat, s) for s in stations)


def solo_queues(game: Kitchen, state: KitchenState, seat: int) -> tuple[tuple[PlannedAct, ...], ...] | None:
    """Return a plan in which only one seat works; None if there is none."""
    actions = _solo(game.rules, state._replace(time=0), seat)
    if actions is None:
        return None
    queues: list[list[PlannedAct]] = [[] for _ in game.roles]
    for execution in executions(game, [state], actions):
        macro = Macro(execution.verb, execution.object if execution.verb == "pickup" else None, execution.place)
        queues[execution.seat].append(PlannedAct(macro, execution.t))
    return tuple(map(tuple, queues))


@functools.lru_cache(maxsize=256)
def _solo(constants: KitchenRules, state: KitchenState, seat: int) -> Any:
    return search_plan(constants, state, (seat,)).actions
