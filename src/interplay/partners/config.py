"""What can be set in the making of a panel: one frozen record, the same for library, command line and panel file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interplay.errors import InterplayError
from interplay.partners.panel import KINDS
from interplay.training.config import Experiment, GameChoice
from interplay.training.loader import build as read

# By the panel's own settings; a gate would ask best responses to play well with themselves.
DECIDED = ("game", "algorithm", "seed", "runs", "first_run", "steps", "output", "gate")

# Small networks on the short feature vector: they learn within minutes, and panels of them are small files.
TRAINING: dict[str, Any] = {
    "envs": 64,
    "rollout": 200,
    "network": {"encoding": "features", "widths": [64, 64], "layer_norm": True},
    "ppo": {
        "learning_rate": [[0, 1e-3], [1, 1e-4]],
        "epochs": 4,
        "minibatches": 4,
        "entropy": [[0, 0.1], [0.5, 0.02], [1, 0.005]],
        "normalise_values": True,
    },
    "rewards": {"shaping": [[0, 1], [0.5, 0]]},
}


# A response that is trained on begins where a good agent is: small steps, little chance, points alone.
CLOSING: dict[str, Any] = {
    "ppo": {"learning_rate": [[0, 5e-4], [1, 5e-5]], "entropy": [[0, 0.02], [1, 0.003]]},
    "rewards": {"shaping": 0.0},
}


@dataclass(frozen=True)
class Build:
    """How a panel is made: everything that decides its result."""

    game: GameChoice
    name: str = "generated"  # of the panel
    seed: int = 0
    candidates: int = 64  # pairs of a biased player and its best response, trained in one program
    k: int = 10  # partners to select; each is in the panel twice, half-skilled and skilled
    steps: float = 1e7  # environment steps of each pair
    response_steps: float = 1e7  # environment steps of each fresh best response; 0: none are trained
    responses_from: tuple[str, ...] = ()  # agents that compete as best responses beside those that are trained here
    known: tuple[str, ...] = ()  # agents that no best response may be below: NAME=AGENT, or folders of training runs
    scripted: bool = True  # whether the game's scripted agents are among them
    closing_rounds: int = 1  # how often responses are trained on from known agents that do better than they
    closing_steps: float = 3e6  # environment steps of each
    mixed: bool = False  # in games of more than two seats: partners also sit together, in every ordered set of them;
    # each set has best responses of its own
    warm_responses: bool = False  # fresh best responses begin where those trained with the candidates ended
    snapshots: int = 20  # how many times on the way a half-skilled partner could be taken from
    training: Mapping[str, Any] = field(default_factory=lambda: TRAINING)  # envs, rollout, network, ppo, rewards
    responses: Mapping[str, Any] = field(default_factory=dict)  # changes to `training` for fresh best responses
    closing: Mapping[str, Any] = field(default_factory=lambda: CLOSING)  # further ones, for those that are trained on
    choices: Mapping[str, Any] = field(default_factory=dict)  # event -> weights to draw; none: the game's reward space
    at_most: int | None = None  # events that a candidate may weigh; null: as the game's reward space says
    features: tuple[str, ...] = ()  # events that tell behaviours apart; none: as the game's reward space says
    biased_shaping: bool = False  # whether the biased player is paid the shaped reward too
    least_return: float | None = None  # candidates not above it with their best response are dropped, and so are best
    # responses that do not return more; null: as the game's reward space says
    feature_episodes: int = 50  # of each pair and seat, for features
    trial_episodes: int = 50  # of each partner, possible best response and seat, to find the best
    ruler_episodes: int = 200  # of each partner with its best response in each seat, for J_BR; fresh ones
    most_envs: int = 0  # environments that step together in evaluation; 0: what suits the device
    partners: tuple[str, ...] = ()  # partners that are given rather than generated: checkpoints, names of agents, or a
    # panel, whose best responses then compete with what is known now
    kind: str = "generated"  # of the partners: generated, human proxy, self-play, scripted

    def __post_init__(self) -> None:
        for name in ("candidates", "k", "snapshots", "feature_episodes", "trial_episodes"):
            if getattr(self, name) < 1:
                raise InterplayError(f"{name}: {getattr(self, name)}; at least 1")
        if self.ruler_episodes < 2:
            raise InterplayError(f"ruler_episodes: {self.ruler_episodes}; an interval needs at least 2")
        if self.k > self.candidates and not self.partners:
            raise InterplayError(f"k: {self.k} of {self.candidates} candidates; select fewer or train more")
        if self.kind not in KINDS:
            raise InterplayError(f"kind: {self.kind!r}; one of {', '.join(KINDS)}")
        if self.response_steps == 0 and not self.partners:
            raise InterplayError("response_steps: 0; fresh best responses can be left out for given partners alone")
        changes = {"training": self.training, "responses": self.responses, "closing": self.closing}
        for place, values in changes.items():
            taken = [name for name in values if name in DECIDED]
            if taken:
                raise InterplayError(f"{place}.{taken[0]}: this is decided by the panel's own settings")

    def experiment(
        self, algorithm: str, runs: int, steps: float, seed: int, output: Mapping[str, Any], *, closing: bool = False
    ) -> Experiment:
        """The training run of a stage."""
        game = {"name": self.game.name, "options": dict(self.game.options)}
        values = merged(dict(self.training), self.responses if algorithm == "br" else {})
        values = merged(values, self.closing if closing else {})
        values |= {"game": game, "algorithm": {"name": algorithm}, "seed": seed, "runs": runs, "steps": steps}
        return read(Experiment, values | {"output": dict(output)}, "training")


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values with changes on top."""
    result = dict(values)
    for name, value in changes.items():
        nested = isinstance(value, Mapping) and isinstance(result.get(name), Mapping)
        result[name] = merged(result[name], value) if nested else value
    return result
