"""Hanabi as a game: the rules behind the common contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Int, PRNGKeyArray
from numpy.typing import ArrayLike

from interplay.config import build
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Encoding, Step
from interplay.games.compiled_method import compiled
from interplay.games.hanabi import checks, draw, encode
from interplay.games.hanabi import rules as hanabi
from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, PLAY, HanabiRules, HanabiState
from interplay.games.scene import Scene

SETS: dict[str, dict[str, Any]] = {  # rule sets by name: what they change
    "": {},
    "rainbow": {"suits": "RYGWBM", "wild": "M"},
    "six": {"suits": "RYGWBM"},
}


@dataclass(frozen=True, kw_only=True)
class HanabiOptions:
    """The options of a game of Hanabi; None leaves the rule set as it is (see `HanabiRules`)."""

    hand_size: int | None = None
    suits: str | None = None
    wild: str | None = None
    copies: tuple[int, ...] | None = None
    hint_tokens: int | None = None
    lives: int | None = None
    bomb: str | None = None
    discard_when_full: bool | None = None
    empty_hints: bool | None = None


def variants() -> list[str]:
    """List `2p` ... `5p`, and the same with other rule sets, such as `2p-rainbow`."""
    return [f"{players}p{'-' if name else ''}{name}" for name in SETS for players in range(2, 6)]


def score_rule(game: Hanabi) -> str:
    """Say what becomes of the points when the last life is lost."""
    last = {1: "first", 2: "second", 3: "third"}.get(game.rules.lives, f"{game.rules.lives}th")
    return f"points {'kept' if game.rules.bomb == 'keep' else 'lost'} after the {last} bomb"


def make(variant: str, options: Mapping[str, Any]) -> Hanabi:
    """Make a game of Hanabi for two to five players."""
    if variant not in variants():
        raise UnknownName("game", f"hanabi/{variant}", [f"hanabi/{v}" for v in variants()])
    players, _, name = variant.partition("-")
    chosen = {k: v for k, v in vars(build(HanabiOptions, options)).items() if v is not None}
    changes: dict[str, Any] = {"hand_size": 5 if int(players[0]) <= 3 else 4} | SETS[name] | chosen
    return Hanabi(f"hanabi/{variant}", HanabiRules(players=int(players[0]), **changes), options)


class Hanabi:
    """Hanabi for 2 to 5 players."""

    pure: ClassVar[bool] = True
    rules_version = "1"
    replayable = True
    event_names: tuple[str, ...] = hanabi.EVENTS

    def __init__(self, id: str, rules: HanabiRules, options: Mapping[str, Any]):
        self.id = id
        self.rules = rules
        self.options: Mapping[str, Any] = {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()}
        self.num_seats = rules.players
        self.seat_names = tuple(f"seat {i}" for i in range(rules.players))
        self.action_names = _action_names(rules)
        self.horizon = rules.horizon
        size = (encode.vector_size(rules),)
        self.encodings: Mapping[str, Encoding] = {
            "hle": Encoding(size, "float32", "the canonical vector of the Hanabi Learning Environment"),
            "belief": Encoding(size, "float32", "the same with odds in place of possibilities, as in JaxMARL"),
            "seen": Encoding(None, "record", "what a seat may see, in cards: hanabi.encode.HanabiObservation"),
            "nothing": Encoding((0,), "float32", "no observation"),
            "state": Encoding(None, "record", "everything, own cards and deck included", privileged=True),
        }

    def init(self, key: PRNGKeyArray, deck: Any = None) -> HanabiState:
        """Shuffle and deal; or deal `deck`, an int array [deck, 2] of (colour, rank - 1), top card first."""
        if deck is None:
            return hanabi.deal(self.rules, hanabi.shuffle(self.rules, key))
        if isinstance(deck, Tracer):  # within compiled code only the shape can be judged
            if deck.shape != (self.rules.deck_size, 2):
                raise InterplayError(f"a deck is [{self.rules.deck_size}, 2]; this one is {list(deck.shape)}")
            identities = (deck[:, 0] * self.rules.ranks + deck[:, 1]).astype(jnp.int8)
        else:
            identities = jnp.asarray(checks.check_deck(self.rules, deck))
        return hanabi.deal(self.rules, identities)

    def start(self, state: HanabiState) -> dict[str, Any]:
        """Return the deck that `init` takes."""
        return {"deck": jnp.stack([state.deck // self.rules.ranks, state.deck % self.rules.ranks], axis=-1)}

    @compiled()
    def step(
        self, state: HanabiState, actions: Int[Array, " seat"], key: PRNGKeyArray | None = None
    ) -> tuple[HanabiState, Step]:
        """Play one joint action; only that of the seat to move counts."""
        after = hanabi.step(self.rules, state, jnp.asarray(actions))
        return after, Step(
            reward=hanabi.reward(self.rules, state, after),
            shaped=jnp.zeros(self.num_seats, jnp.float32),
            terminated=hanabi.is_over(self.rules, after),
            truncated=jnp.bool_(False),
            events=hanabi.events(self.rules, state, after),
        )

    def checked_step(
        self, state: HanabiState, actions: ArrayLike, key: PRNGKeyArray | None = None
    ) -> tuple[HanabiState, Step]:
        """Play one joint action, outside of compiled code.

        Raises:
            InterplayError: An action is illegal; the message says why and what was legal.
        """
        if bool(hanabi.is_over(self.rules, state)):
            raise InterplayError(f"this game is over after {int(state.time)} moves")
        checks.check_actions(self.rules, self.action_names, state, actions)
        return self.step(state, jnp.asarray(np.asarray(actions)), key)

    @compiled(1)
    def observe(self, state: HanabiState, encoding: str) -> Any:
        """Return what every seat sees."""
        if encoding == "hle":
            return encode.hle(self.rules, state)
        if encoding == "belief":
            return encode.belief(self.rules, state)
        if encoding == "seen":
            return encode.seen(self.rules, state)
        if encoding == "nothing":
            return jnp.zeros((self.num_seats, 0), jnp.float32)
        if encoding == "state":
            return jax.tree.map(lambda x: jnp.broadcast_to(x, (self.num_seats, *jnp.shape(x))), state)
        raise UnknownName("encoding", encoding, list(self.encodings))

    def observe_as(self, state: HanabiState, encoding: str, seat: Int[Array, ""]) -> Any:
        """Return what one seat sees, `observe(state, encoding)[seat]`, without computing the others'."""
        vectors = {"hle": encode.hle, "belief": encode.belief}
        if encoding in vectors:
            return vectors[encoding](self.rules, state, jnp.reshape(seat, 1))[0]
        return jax.tree.map(lambda x: x[seat], self.observe(state, encoding))

    @compiled()
    def legal(self, state: HanabiState) -> Bool[Array, "seat action"]:
        """Return the legal actions; off turn only the no-op."""
        return hanabi.legal(self.rules, state)

    def to_move(self, state: HanabiState) -> Bool[Array, " seat"]:
        """Return the seat to move."""
        return hanabi.to_move(self.rules, state)

    def score(self, state: HanabiState) -> Int[Array, ""]:
        """Return the score if the game ended now."""
        return hanabi.score(self.rules, state)

    def render(self, state: HanabiState, seat: int | None = None) -> str:
        """Return the state as text."""
        return draw.text(self.rules, self.action_names, state, seat)

    def scene(self, state: HanabiState, seat: int | None = None) -> Scene:
        """Return the state as shapes."""
        return draw.scene(self.rules, self.action_names, state, seat)


def _action_names(rules: HanabiRules) -> tuple[str, ...]:
    names = []
    moves = rules.moves
    hints = [*rules.colours, *(str(r + 1) for r in range(rules.ranks))]
    for kind, slot, offset, hint in zip(moves.kind, moves.slot, moves.offset, moves.hint):
        if kind == DISCARD:
            names.append(f"discard {slot}")
        elif kind == PLAY:
            names.append(f"play {slot}")
        elif kind in (HINT_COLOUR, HINT_RANK):
            names.append(f"hint +{offset} {hints[hint]}")
        else:
            names.append("noop")
    return tuple(names)
