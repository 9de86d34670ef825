"""The Hanabi Learning Environment as the oracle: games of its own, recorded move by move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

pyhanabi = pytest.importorskip(
    "hanabi_learning_environment.pyhanabi",
    reason="install it with CMAKE_POLICY_VERSION_MINIMUM=3.5 pip install hanabi-learning-environment==0.0.4",
)


@dataclass
class Recorded:
    """One game; arrays are [move, ...], and one longer where they tell of states."""

    deck: np.ndarray  # [deck, 2]
    actions: np.ndarray
    hands: np.ndarray  # [state, seat, slot], -1 where there is no card
    observations: np.ndarray  # [state, seat, size]
    legal: np.ndarray  # [state, action]
    rewards: np.ndarray
    tokens: np.ndarray
    lives: np.ndarray
    fireworks: np.ndarray
    ended: np.ndarray  # [state] bool


def deck_of(seed: int, **params) -> np.ndarray:
    """The deck that a seed gives: the one that a game which never ends early deals."""
    game = pyhanabi.HanabiGame({**params, "seed": seed, "max_life_tokens": 1000})
    state, players = game.new_initial_state(), params["players"]
    drawn = []
    while True:
        while state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
            before = [len(h) for h in state.player_hands()]
            state.deal_random_card()
            after = state.player_hands()
            seat = next(i for i in range(players) if len(after[i]) > before[i])
            drawn.append((after[seat][-1].color(), after[seat][-1].rank()))
        if state.deck_size() == 0:
            return np.array(drawn)
        state.apply_move(pyhanabi.HanabiMove.get_play_move(0))


def play(seed: int, choose: Callable[[object, object, list[int]], int], encode: bool = True, **params) -> Recorded:
    """A game of HLE in which `choose(game, state, legal actions)` picks the moves."""
    game = pyhanabi.HanabiGame({**params, "seed": seed})
    encoder = pyhanabi.ObservationEncoder(game)
    state, players, slots = game.new_initial_state(), game.num_players(), game.hand_size()
    ranks = game.num_ranks()
    log: dict[str, list] = {k: [] for k in Recorded.__dataclass_fields__}
    score = 0
    while True:
        while state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
            state.deal_random_card()
        hands = np.full((players, slots), -1)
        for seat, hand in enumerate(state.player_hands()):
            hands[seat, : len(hand)] = [c.color() * ranks + c.rank() for c in hand]
        legal = np.zeros(game.max_moves(), bool)
        ended = state.is_terminal()
        uids = [] if ended else [game.get_move_uid(m) for m in state.legal_moves()]
        legal[uids] = True
        log["hands"].append(hands)
        log["legal"].append(legal)
        log["tokens"].append(state.information_tokens())
        log["lives"].append(state.life_tokens())
        log["fireworks"].append(state.fireworks())
        log["ended"].append(ended)
        if encode:
            log["observations"].append([encoder.encode(state.observation(p)) for p in range(players)])
        if ended:
            break
        action = choose(game, state, uids)
        state.apply_move(game.get_move(action))
        log["actions"].append(action)
        log["rewards"].append(state.score() - score)
        score = state.score()
    arrays = {k: np.array(v) for k, v in log.items()} | {"deck": deck_of(seed, **params)}
    return Recorded(**arrays)


def adept(rng: np.random.Generator) -> Callable:
    """Random moves that mostly avoid losing lives, so that games also end by an empty deck or a full score."""

    def choose(game, state, legal):
        hand, slots = state.player_hands()[state.cur_player()], game.hand_size()
        fits = [slots + i for i, c in enumerate(hand) if state.card_playable_on_fireworks(c.color(), c.rank())]
        dead = [i for i, c in enumerate(hand) if c.rank() < state.fireworks()[c.color()] and i in legal]
        hints = [a for a in legal if a >= 2 * slots]
        for moves, share in ((fits, 0.9), (dead, 0.8), (hints, 0.8), ([a for a in legal if a < slots], 0.95)):
            if moves and rng.random() < share:
                return int(rng.choice(moves))
        return int(rng.choice(legal))

    return choose


def random(rng: np.random.Generator) -> Callable:
    return lambda game, state, legal: int(rng.choice(legal))


def follow(actions: np.ndarray) -> Callable:
    """The moves of a game played elsewhere."""
    left = iter(actions)
    return lambda game, state, legal: int(next(left))
