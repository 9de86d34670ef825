"""Simulated participants: they see what a browser shows, choose actions, and answer questions by a simple model."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.registry import agent as find_agent
from interplay.errors import InterplayError
from interplay.games.overcooked.state import ACTIONS, IDLE, OvercookedItem, OvercookedState, soup
from interplay.games.rescue.state import ACTIONS as RESCUE_ACTIONS
from interplay.rollout.seat import Seat, ask_all, view_of
from interplay.study.live.browser_views import FACING
from interplay.study.simulation.cooks import CookingPerson

# As people play, by `benchmarks/simulated_people.py`. Clones of people score too little to stand for them.
CHEF = "overcooked/greedy"
RANDOM_MOVES = (0.52, 0.12)  # mean and standard deviation, over people, of the share of a chef's moves that are random
BOLD = 0.5  # of cards that may fit and that a hint has named, how many a card player tries
ERROR = 0.19  # standard deviation of an answer's error, as a share of its scale
CARELESS = 0.05  # of a card player's moves, how many are any legal one


class SimulatedPlayer(Protocol):
    """A simulated participant in one game."""

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """Return the name of the action to send; None for none."""
        ...


class SimulatedChef:
    """An agent that plays Overcooked from the view that a browser shows.

    Args:
        game: The kitchen.
        seat: Where the participant sits.
        name: The agent, which must be a policy.
        seed: Seed of its chance.
    """

    def __init__(self, game: Any, seat: int, name: str, seed: int):
        agent = find_agent(name)
        if not agent.is_policy:
            raise InterplayError(f"{name!r} cannot stand in for a person: it is no policy")
        self._game, self._seat = game, Seat(game, agent, seat, jax.random.key(seed))

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """Return the agent's action in the state that a view shows."""
        state = kitchen_state(self._game, t, view)
        legal = np.asarray(self._game.legal(state))[self._seat.seat]
        observation = view_of(self._game, state, t, self._seat.seat, legal, self._seat.encoding)
        return ACTIONS[ask_all([(self._seat, observation, True)])[0].action]


def kitchen_state(game: Any, t: int, view: Mapping[str, Any]) -> OvercookedState:
    """Return the state of an Overcooked game that a view shows; nothing in it is hidden."""
    height, size = game.layout.height, game.layout.size
    items, timer = np.zeros(size, np.int8), np.full(size, IDLE, np.int8)
    for item in view["items"]:
        items[item["x"] * height + item["y"]] = _thing(item["kind"], item["detail"])
    for pot in view["pots"]:
        cell = pot["x"] * height + pot["y"]
        items[cell] = (
            soup(pot["onions"], pot["tomatoes"]) if pot["onions"] or pot["tomatoes"] else OvercookedItem.NOTHING
        )
        timer[cell] = pot["timer"]
    chefs = sorted(view["chefs"], key=lambda chef: chef["seat"])
    return OvercookedState(
        time=jnp.int32(t),
        cell=jnp.array([chef["x"] * height + chef["y"] for chef in chefs], jnp.int32),
        facing=jnp.array([FACING.index(chef["facing"]) for chef in chefs], jnp.int32),
        held=jnp.array([_thing(chef["held"], chef["detail"]) for chef in chefs], jnp.int32),
        items=jnp.asarray(items),
        timer=jnp.asarray(timer),
    )


def _thing(kind: str | None, detail: str | None) -> int:
    if kind is None:
        return OvercookedItem.NOTHING
    if kind == "soup":
        onions, tomatoes = (detail or "0,0").split(",")
        return soup(int(onions), int(tomatoes))
    return {"onion": OvercookedItem.ONION, "tomato": OvercookedItem.TOMATO, "dish": OvercookedItem.DISH}[kind]


class RandomPlayer:
    """Chooses actions at random."""

    def __init__(self, actions: Sequence[str], chance: random.Random):
        self._actions, self._chance = actions, chance

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """Return a random action."""
        return self._chance.choice(self._actions)


class ButtonPresser:
    """Presses a random one of the buttons of a game that is drawn by its scene."""

    def __init__(self, chance: random.Random):
        self._chance = chance

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """Return the action of a random button; None if there is none."""
        return self._chance.choice(view["legal"])["action"] if view["legal"] else None


class CardPlayer:
    """Plays Hanabi: plays cards that surely fit, hints at cards that fit, else discards the oldest card.

    As people do, it also tries cards that a hint has named and that may fit, and now and then does anything.

    Args:
        seat: Where the participant sits.
        chance: What it draws from.
        bold: How often it tries a card that may fit.
        careless: How often it makes any legal move.
    """

    def __init__(self, seat: int, chance: random.Random, bold: float = BOLD, careless: float = CARELESS):
        self._seat, self._chance, self._bold, self._careless = seat, chance, bold, careless

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """Return the move to make; None if it is not their turn."""
        if not view["your_turn"]:
            return None
        legal = {move["action"]: move for move in view["legal"]}
        if self._chance.random() < self._careless:
            return self._chance.choice(list(legal))
        fits = {(colour, height + 1) for colour, height in view["fireworks"].items()}
        may_fit = []
        for slot, card in enumerate(view["hands"][self._seat]):
            open_faces = [(c, r) for c in card["colours"] for r in card["ranks"]]
            if open_faces and all(face in fits for face in open_faces) and f"play {slot}" in legal:
                return f"play {slot}"
            named = len(card["colours"]) == 1 or len(card["ranks"]) == 1
            if named and any(face in fits for face in open_faces) and f"play {slot}" in legal:
                may_fit.append(f"play {slot}")
        if may_fit and self._chance.random() < self._bold:
            return may_fit[-1]  # the newest
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


def simulated_chef(game: Any, seat: int, chance: random.Random) -> SimulatedPlayer:
    """Return a participant for a kitchen of Overcooked: a scripted chef, many of whose moves are random."""
    return SimulatedChef(game, seat, softened_chef(chance), chance.randrange(2**31))


def softened_chef(chance: random.Random) -> str:
    """Return the name of a chef who is as good as people are, some more, some less."""
    return f"{CHEF}+{min(0.9, max(0.1, chance.gauss(*RANDOM_MOVES))):.2f}"


def simulated_rescuer(game: Any, seat: int, chance: random.Random) -> SimulatedPlayer:
    """Return a participant for search and rescue, who acts at random."""
    return RandomPlayer(RESCUE_ACTIONS, chance)


def simulated_card_player(game: Any, seat: int, chance: random.Random) -> SimulatedPlayer:
    """Return a participant for Hanabi."""
    return CardPlayer(seat, chance)


def simulated_cook(game: Any, seat: int, chance: random.Random) -> SimulatedPlayer:
    """Return a participant for the kitchen of language models."""
    return CookingPerson(seat, chance)


class AnswerModel:
    """A model of answers: a participant has a mood, likes partners with whom the score was high, and errs a little."""

    def __init__(self, chance: random.Random):
        self.chance = chance
        self.last = ""
        self._mood = chance.gauss(0, 0.5)
        self._liked: dict[str, list[float]] = {}  # by alias: how well games with it went

    def played(self, alias: str, score: float) -> None:
        """Note the score of a game with a partner."""
        self.last = alias
        self._liked.setdefault(alias, []).append(score)

    def liking(self, alias: str) -> float:
        """Return how well games with a partner went against all games: about -1 to 1."""
        every = [score for scores in self._liked.values() for score in scores]
        spread = max(every) - min(every) if every else 0.0
        own = self._liked.get(alias, [])
        if not own or not spread:
            return 0.0
        return (sum(own) / len(own) - sum(every) / len(every)) / spread

    def answer_question(self, question: Mapping[str, Any]) -> Any:
        """Return the answer to a question as the browser is sent it."""
        chance = self.chance
        match question["type"]:
            case "likert" | "two_sided":
                points = question["points"]
                aliases = list(self._liked)
                leaning = self.liking(self.last)
                if question["type"] == "two_sided" and len(aliases) >= 2:
                    leaning = self.liking(aliases[-1]) - self.liking(aliases[-2])
                middle = (points + 1) / 2
                value = middle + (leaning + self._mood / 2) * (points - 1) / 2 + chance.gauss(0, ERROR * (points - 1))
                return min(points, max(1, round(value)))
            case "choice":
                return chance.choice(question["options"])["value"]
            case "multi":
                return [o["value"] for o in question["options"] if chance.random() < 0.5]
            case "slider":
                share = 0.5 + (self.liking(self.last) + self._mood / 2) / 2 + chance.gauss(0, 0.15)
                step = question["step"] or 1
                steps = int((question["max"] - question["min"]) / step)
                return question["min"] + step * round(min(1.0, max(0.0, share)) * steps)
            case "number":
                low = question["min"] if question["min"] is not None else 0
                high = question["max"] if question["max"] is not None else 100
                return chance.randint(int(low), int(high))
        return "no remarks"
