"""Stand-ins for people: they see what a browser sees, choose keys, and answer questions as a simple model would."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Policy
from interplay.agents.registry import agent as find_agent
from interplay.errors import InterplayError
from interplay.games.overcooked.state import ACTIONS, IDLE, Item, State, soup
from interplay.games.registry import make_recorded
from interplay.games.rescue.state import ACTIONS as RESCUE_ACTIONS
from interplay.study.protocol import Setting
from interplay.study.standins_kitchen import CookingPerson
from interplay.study.views import FACING


class StandIn(Protocol):
    """Who sits before a browser for one game."""

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """The name of the action to send, or nothing."""
        ...


class Chef:
    """Any policy for Overcooked, which reads the kitchen as the browser shows it."""

    def __init__(self, setting: Setting, name: str):
        self.game: Any = make_recorded(setting.game, setting.options)
        mind = find_agent(name).policy
        if not isinstance(mind, Policy):
            raise InterplayError(f"{name!r} cannot stand in for a person: it is no policy")
        policy = mind.bind(self.game)

        def act(policy: Policy, memory: Any, state: State, seat: Any, key: Any) -> Any:
            seen = jax.tree_util.tree_map(lambda x: x[seat], self.game.observe(state, policy.encoding))
            memory, action, _ = policy.act(memory, seen, self.game.legal(state)[seat], key)
            return memory, action

        self._policy, self._act = policy, eqx.filter_jit(act)

    def sit(self, seat: int, seed: int) -> StandIn:
        return _SeatedChef(self, seat, jax.random.key(seed))

    def begin(self, seat: int, key: Any) -> Any:
        return self._policy.init(key, jnp.int32(seat))

    def act(self, memory: Any, state: State, seat: int, key: Any) -> tuple[Any, int]:
        memory, action = self._act(self._policy, memory, state, jnp.int32(seat), key)
        return memory, int(action)


class _SeatedChef:
    def __init__(self, chef: Chef, seat: int, key: Any):
        self._chef, self._seat, self._key = chef, seat, key
        self._memory = chef.begin(seat, key)

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        state = kitchen_state(self._chef.game, t, view)
        key = jax.random.fold_in(self._key, t)
        self._memory, action = self._chef.act(self._memory, state, self._seat, key)
        return ACTIONS[action]


def kitchen_state(game: Any, t: int, view: Mapping[str, Any]) -> State:
    """The state that a view shows: in a kitchen nothing is hidden."""
    height, size = game.layout.height, game.layout.size
    items, timer = np.zeros(size, np.int8), np.full(size, IDLE, np.int8)
    for item in view["items"]:
        items[item["x"] * height + item["y"]] = _thing(item["kind"], item["detail"])
    for pot in view["pots"]:
        cell = pot["x"] * height + pot["y"]
        items[cell] = soup(pot["onions"], pot["tomatoes"]) if pot["onions"] or pot["tomatoes"] else Item.NOTHING
        timer[cell] = pot["timer"]
    chefs = sorted(view["chefs"], key=lambda chef: chef["seat"])
    return State(
        time=jnp.int32(t),
        cell=jnp.array([chef["x"] * height + chef["y"] for chef in chefs], jnp.int32),
        facing=jnp.array([FACING.index(chef["facing"]) for chef in chefs], jnp.int32),
        held=jnp.array([_thing(chef["held"], chef["detail"]) for chef in chefs], jnp.int32),
        items=jnp.asarray(items),
        timer=jnp.asarray(timer),
    )


def _thing(kind: str | None, detail: str | None) -> int:
    if kind is None:
        return Item.NOTHING
    if kind == "soup":
        onions, tomatoes = (detail or "0,0").split(",")
        return soup(int(onions), int(tomatoes))
    return {"onion": Item.ONION, "tomato": Item.TOMATO, "dish": Item.DISH}[kind]


class Wanderer:
    """Presses keys at random."""

    def __init__(self, actions: Sequence[str], chance: random.Random):
        self._actions, self._chance = actions, chance

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        return self._chance.choice(self._actions)


class CardPlayer:
    """Plays what hints prove to fit or point at, hints what fits, discards the oldest card otherwise."""

    def __init__(self, seat: int, chance: random.Random):
        self._seat, self._chance = seat, chance

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        if not view["your_turn"]:
            return None
        legal = {move["action"]: move for move in view["legal"]}
        fits = {(colour, height + 1) for colour, height in view["fireworks"].items()}
        for slot, card in enumerate(view["hands"][self._seat]):
            open_faces = [(c, r) for c in card["colours"] for r in card["ranks"]]
            if open_faces and all(face in fits for face in open_faces) and f"play {slot}" in legal:
                return f"play {slot}"
        hints = []
        for name, move in legal.items():
            if move["kind"].startswith("hint"):
                hand = view["hands"][move["target"]]
                if any(move["value"] in (c["colour"], c["rank"]) and (c["colour"], c["rank"]) in fits for c in hand):
                    hints.append(name)
        if hints:
            return self._chance.choice(hints)
        discards = [name for name, move in legal.items() if move["kind"] == "discard"]
        return discards[0] if discards else self._chance.choice(list(legal))


def stand_in(kind: str, chef: Chef | None, seat: int, chance: random.Random) -> StandIn:
    if kind == "overcooked" and chef is not None:
        return chef.sit(seat, chance.randrange(2**31))
    if kind == "hanabi":
        return CardPlayer(seat, chance)
    if kind == "kitchen":
        return CookingPerson(seat, chance)
    return Wanderer(RESCUE_ACTIONS, chance)


class Opinion:
    """Answers from a model: a person has a mood, likes partners with whom points were made, and errs a little."""

    def __init__(self, chance: random.Random):
        self._chance = chance
        self._mood = chance.gauss(0, 0.5)
        self._liked: dict[str, list[float]] = {}  # by alias: how well games with it went

    def played(self, alias: str, score: float) -> None:
        self._liked.setdefault(alias, []).append(score)

    def liking(self, alias: str) -> float:
        """How well games with a partner went, against all games: about -1 to 1."""
        every = [score for held in self._liked.values() for score in held]
        spread = max(every) - min(every) if every else 0.0
        own = self._liked.get(alias, [])
        if not own or not spread:
            return 0.0
        return (sum(own) / len(own) - sum(every) / len(every)) / spread

    def answer(self, page: Mapping[str, Any], last: str) -> dict[str, Any]:
        match page["kind"]:
            case "consent":
                return {box["id"]: True for box in page["checkboxes"]}
            case "ranking":
                items = sorted((self._chance.gauss(-self.liking(i["label"]), 0.3), i["id"]) for i in page["items"])
                return {"order": [name for _, name in items]}
            case "form" | "quiz":
                return {q["id"]: self._one(q, last) for q in page["questions"]}
        return {}

    def _one(self, question: Mapping[str, Any], last: str) -> Any:
        chance = self._chance
        match question["type"]:
            case "likert" | "two_sided":
                points = question["points"]
                aliases = list(self._liked)
                leaning = self.liking(last)
                if question["type"] == "two_sided" and len(aliases) >= 2:
                    leaning = self.liking(aliases[-1]) - self.liking(aliases[-2])
                middle = (points + 1) / 2
                value = middle + (leaning + self._mood / 2) * (points - 1) / 2 + chance.gauss(0, 0.6)
                return min(points, max(1, round(value)))
            case "choice":
                return chance.choice(question["options"])["value"]
            case "multi":
                return [o["value"] for o in question["options"] if chance.random() < 0.5]
            case "number":
                low = question["min"] if question["min"] is not None else 0
                high = question["max"] if question["max"] is not None else 100
                return chance.randint(int(low), int(high))
        return "no remarks"
