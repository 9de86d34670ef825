"""Best responses: for every partner and seat the best that is known, and what it returns.

A weak best response flatters everyone. So each partner gets a fresh one, trained against it alone; it competes with
the one that was trained together with the partner, with those of all other candidates and with the partners
themselves; and the winner is measured again, in episodes that had no part in the choice. Then every known agent tries:
scripted ones and trained egos. Where one of them does better beyond noise, a cell is open: a response is trained on
from where that agent is, and what cannot be closed so is named, with that agent as the best response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from interplay.agents.api import Agent
from interplay.games.api import Game
from interplay.partners.evaluate import PolicyStack, play_pairs
from interplay.partners.panel import SET_JOIN, Response, ReturnEstimate, set_name

CHANCE = 0.05  # of calling any agent better where all are no better than their best response (Holm over all suspects)
SUSPECTS = 3  # agents of a cell that are looked at more closely


class ReturnCell(NamedTuple):
    """A partner, or a set of partners by its number, and the seat of who responds to it."""

    partner: int
    seat: int


@dataclass(frozen=True)
class Exceeding:
    """A known agent that does better with a partner than its best response, beyond noise."""

    cell: ReturnCell
    agent: int  # among the known ones
    worth: ReturnEstimate
    p: float  # of Welch's test, Holm's correction


@dataclass(frozen=True)
class Evaluation:
    """How episodes are played: game, seed, how many, and how many environments step together."""

    game: Game
    partners: PolicyStack
    trial_episodes: int
    episodes: int
    seed: int
    most_envs: int = 0
    sets: tuple[tuple[int, ...], ...] = ()  # numbers of partners who sit together; none: each partner in all seats

    @property
    def beside(self) -> tuple[tuple[int, ...], ...]:
        """Who sits beside a response: sets of partners, each by a number or by one for every other seat."""
        return self.sets or tuple((i,) for i in range(len(self.partners)))

    @property
    def names(self) -> list[str]:
        """The names of the partners, or of the sets."""
        return [set_name([self.partners.names[i] for i in numbers]) for numbers in self.beside]

    def trial(self, stacks: Sequence[PolicyStack], seed: int) -> Float[np.ndarray, "partner agent seat"]:
        """Mean returns of every agent with every partner in every seat, in a few episodes."""
        returns = []
        for number, stack in enumerate(stacks):
            played = play_pairs(
                self.game,
                self.partners,
                stack,
                [(*numbers, ego) for numbers in self.beside for ego in range(len(stack))],
                episodes=self.trial_episodes,
                seed=self.seed + seed + number,
                most_envs=self.most_envs,
            )
            returns.append(played.returns.reshape(len(self.beside), len(stack), self.game.num_seats))
        return np.concatenate(returns, axis=1)

    def measure(
        self, stacks: Sequence[PolicyStack], wanted: Sequence[tuple[ReturnCell, int]], seed: int
    ) -> dict[tuple[ReturnCell, int], ReturnEstimate]:
        """Returns of agents (by number over all stacks) in cells, from episodes of their own."""
        made: dict[tuple[ReturnCell, int], ReturnEstimate] = {}
        first = 0
        for number, stack in enumerate(stacks):
            here = [(cell, who) for cell, who in wanted if first <= who < first + len(stack)]
            pairs = sorted({(cell.partner, who - first) for cell, who in here})
            if pairs:
                played = play_pairs(
                    self.game,
                    self.partners,
                    stack,
                    [(*self.beside[p], ego) for p, ego in pairs],
                    episodes=self.episodes,
                    seed=self.seed + seed + number,
                    most_envs=self.most_envs,
                )
                for cell, who in here:
                    scores = played.scores[pairs.index((cell.partner, who - first)), cell.seat]
                    made[cell, who] = ReturnEstimate.of(scores)
            first += len(stack)
        return made


def exceeding(
    evaluation: Evaluation,
    stacks: Sequence[PolicyStack],
    returns: Float[np.ndarray, "partner agent seat"],
    best: Mapping[ReturnCell, ReturnEstimate],
    seed: int,
    least: float,
) -> list[Exceeding]:
    """The known agents that do better than the best responses beyond noise, at most one in each cell: the best.

    Args:
        evaluation: How episodes are played.
        stacks: The known agents.
        returns: What they returned in the trial.
        best: The best responses' returns; a cell without one is exceeded by who returns more than `least`.
        seed: Added to the evaluation's own for the episodes in which suspects are measured.
        least: Returns that are as good as none.
    """
    partners, _, seats = returns.shape
    suspects: list[tuple[ReturnCell, int]] = []
    for cell in (ReturnCell(p, s) for p in range(partners) for s in range(seats)):
        mine = returns[cell.partner, :, cell.seat]
        above = max(best[cell].mean if cell in best else least, least)
        suspects += [(cell, int(who)) for who in np.argsort(-mine)[:SUSPECTS] if mine[who] > above]
    if not suspects:
        return []
    from interplay.stats.multiple_testing import holm

    measured = evaluation.measure(stacks, suspects, seed)
    nothing = ReturnEstimate(least, least, least, evaluation.episodes)
    chances = holm([p_above(measured[key], best.get(key[0], nothing)) for key in suspects])
    best_in_cell: dict[ReturnCell, Exceeding] = {}
    for (cell, who), p in zip(suspects, chances, strict=True):
        one = Exceeding(cell, who, measured[cell, who], float(p))
        if p < CHANCE and one.worth.mean > (best_in_cell[cell].worth.mean if cell in best_in_cell else -np.inf):
            best_in_cell[cell] = one
    return list(best_in_cell.values())


def p_above(one: ReturnEstimate, other: ReturnEstimate) -> float:
    """One-sided p of the first mean being no higher than the second (Welch's test from means and intervals)."""
    from scipy.special import stdtr, stdtrit

    errors = []
    for estimate in (one, other):
        width = stdtrit(max(estimate.episodes - 1, 1), 0.975)
        errors.append((estimate.high - estimate.low) / 2 / width)
    total, difference = errors[0] ** 2 + errors[1] ** 2, one.mean - other.mean
    if total == 0:
        return 0.0 if difference > 0 else 1.0
    freedom = total**2 / sum(
        e**4 / max(estimate.episodes - 1, 1) for e, estimate in zip(errors, (one, other), strict=True)
    )
    return float(stdtr(freedom, -difference / total**0.5))


class Contest:
    """Who responds best to each partner: trained responses compete, known agents try to do better.

    Args:
        evaluation: How episodes are played.
        least: Returns that are as good as none: a response that does not return more is not in a panel.
    """

    def __init__(self, evaluation: Evaluation, least: float):
        self.evaluation, self.least = evaluation, least
        self.stacks: list[PolicyStack] = []  # trained responses
        self.returns = np.zeros((len(evaluation.beside), 0, evaluation.game.num_seats))
        self.known: list[PolicyStack] = []
        self.known_returns = self.returns
        self._measured: dict[tuple[ReturnCell, int], ReturnEstimate] = {}

    @property
    def names(self) -> list[str]:
        """The names of the trained responses."""
        return [name for stack in self.stacks for name in stack.names]

    @property
    def known_names(self) -> list[str]:
        """The names of the known agents."""
        return [name for stack in self.known for name in stack.names]

    def enter(self, stacks: Sequence[PolicyStack]) -> None:
        """Trained responses, who play with every partner."""
        stacks = [stack for stack in stacks if len(stack)]
        if stacks:
            more = self.evaluation.trial(stacks, seed=len(self.stacks))
            self.stacks, self.returns = [*self.stacks, *stacks], np.concatenate([self.returns, more], axis=1)

    def challenge(self, stacks: Sequence[PolicyStack]) -> None:
        """Known agents, who play with every partner."""
        if stacks:
            self.known, self.known_returns = list(stacks), self.evaluation.trial(stacks, seed=50)

    def best(self) -> dict[ReturnCell, int]:
        """The trained response of each cell that did best in the trial; of equals the partner's own."""
        names, best_of_cell = self.names, {}
        for p, partner in enumerate(self.evaluation.names):
            own = [names.index(name) for name in own_responses(partner) if name in names]
            for seat in range(self.returns.shape[2]):
                mine = self.returns[p, :, seat]
                best = int(mine.argmax()) if mine.size else -1
                best_of_cell[ReturnCell(p, seat)] = next((who for who in own if mine[who] >= mine[best]), best)
        return {cell: who for cell, who in best_of_cell.items() if who >= 0}

    def settle(self) -> tuple[dict[ReturnCell, tuple[int, ReturnEstimate]], list[Exceeding]]:
        """The trained best response of each cell with its return, where it scores; and who exceeds them."""
        best = self.best()
        new = [(cell, who) for cell, who in best.items() if (cell, who) not in self._measured]
        self._measured |= self.evaluation.measure(self.stacks, new, seed=100)
        worth = {cell: (who, self._measured[cell, who]) for cell, who in best.items()}
        worth = {cell: pair for cell, pair in worth.items() if pair[1].mean > self.least}
        above = exceeding(
            self.evaluation,
            self.known,
            self.known_returns,
            {cell: estimate for cell, (_, estimate) in worth.items()},
            seed=150,
            least=self.least,
        )
        return worth, above

    def responses(
        self, worth: Mapping[ReturnCell, tuple[int, ReturnEstimate]], above: Sequence[Exceeding]
    ) -> list[tuple[Response, ...]]:
        """The best responses of every partner. An agent that exceeds a trained one is in its place."""
        names, known = self.evaluation.names, {one.cell: one for one in above}
        agents: dict[tuple[bool, int], Agent] = {}
        of_partners: list[list[Response]] = [[] for _ in names]
        for cell in sorted({*worth, *known}):
            outside = cell in known
            who, estimate = (known[cell].agent, known[cell].worth) if outside else worth[cell]
            one = agents.setdefault((outside, who), agent_of(self.known if outside else self.stacks, who))
            how = f"a known agent, which no trained response reached: {one.name}"
            of_partners[cell.partner].append(
                Response(cell.seat, one, how if outside else _how(names[cell.partner], one.name), estimate)
            )
        return [tuple(of) for of in of_partners]


def agent_of(stacks: Sequence[PolicyStack], number: int) -> Agent:
    """The agent of this number, counted over all stacks."""
    for stack in stacks:
        if number < len(stack):
            return stack.agent(number)
        number -= len(stack)
    raise IndexError(number)


def own_responses(partner: str) -> dict[str, str]:
    """The names of the responses that belong to a partner such as c003.mid, and how they came about."""
    if SET_JOIN in partner:
        return {f"br.{unordered_name(partner)}": "trained against its partners"}
    return {
        f"br.{partner}": "trained against it",
        f"br.{partner.rpartition('.')[0]}": "trained with it",
        partner: "the partner itself",
    }


def unordered_name(name: str) -> str:
    """Return the name of a set without its order: one response is trained against all orders."""
    return SET_JOIN.join(sorted(set(name.split(SET_JOIN))))


def _how(partner: str, response: str) -> str:
    if response.startswith("br+"):
        return "trained on from a known agent" if response.endswith(f".{partner}") else f"another's: {response}"
    return own_responses(partner).get(response, f"another's: {response}")
