"""The settings of a training run: frozen records, the same for library, command line and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interplay.errors import InterplayError
from interplay.training.schedule import Schedule


@dataclass(frozen=True)
class GameChoice:
    """The game that is trained in."""

    name: str  # such as overcooked/coordination_ring
    options: Mapping[str, Any] = field(default_factory=dict)  # of the game, such as horizon


@dataclass(frozen=True)
class Network:
    """What a member's networks look like. A policy and a value network of one shape."""

    encoding: str = "planes_first"  # what the policy reads, one of the game's encodings
    trunk: str = "mlp"  # mlp, or cnn: 3x3 convolutions before the dense layers
    channels: tuple[int, ...] = (32, 64, 32)  # of the convolutions
    widths: tuple[int, ...] = (64, 64)  # of the dense layers
    activation: str = "relu"  # relu, tanh or gelu
    layer_norm: bool = False  # of every dense layer
    norm_first: bool = False  # the norm stands before the activation, not after
    recurrent: int = 0  # units of the memory; 0: no memory
    cell: str = "gru"  # of the memory: gru, lstm, or mingru, whose steps are trained side by side
    depth: int = 1  # cells of memory on top of each other
    decoder: tuple[int, ...] = ()  # dense layers between memory (or trunk) and the last layer
    own_turns: bool = False  # remembers only what it saw when it had something to choose: for by_turns, and clones
    shared_trunk: bool = False  # policy and value share trunk and memory
    critic_widths: tuple[int, ...] = ()  # dense layers of the value's own on a shared trunk
    critic_activation: str = "relu"  # of those
    critic: str = "own"  # own: the value network sees what the seat sees; central: what all seats see
    critic_knows_partner: bool = False  # the value network is told the number of the frozen partner
    precision: str = "float32"  # of the products: float32 (TF32 on a GPU) or bfloat16

    def __post_init__(self) -> None:
        if self.critic not in ("own", "central"):
            raise InterplayError(f"network.critic: {self.critic!r}; own or central")
        if self.own_turns and not self.recurrent:
            raise InterplayError("network.own_turns: it is about memory, and this network has none: set recurrent")
        if self.critic_widths and not self.shared_trunk:
            raise InterplayError("network.critic_widths: for a shared_trunk; else the value has the policy's layers")
        if self.shared_trunk and (self.critic == "central" or self.critic_knows_partner):
            raise InterplayError("network.shared_trunk: it sees what the policy sees; leave the critic at own")


@dataclass(frozen=True)
class PPO:
    """The constants of proximal policy optimisation."""

    learning_rate: Schedule = ((0.0, 5e-4),)
    adam_eps: float = 1e-5
    grad_norm: float = 0.5  # gradients are scaled down to this norm, member by member
    gamma: float = 0.99  # discount of rewards to come
    lam: float = 0.95  # lambda of the advantages
    clip: float = 0.2  # how far the ratio of new to old probability counts
    epochs: int = 4  # passes over each rollout
    minibatches: int = 4  # parts of a pass, an update each
    microbatches: int = 1  # parts of a minibatch computed one after the other: less memory, the same gradient
    chunk: int = 0  # steps through which memory is trained; 0: the whole rollout (1 without memory)
    value_coefficient: float = 0.5
    value_clip: float | None = 0.2  # the value may move this far from the old one; null: as far as it likes
    huber: float | None = None  # errors of the value count linearly beyond this; null: squared throughout
    entropy: Schedule = ((0.0, 0.01),)
    normalise_values: bool = False  # train the value network on returns of mean 0 and variance 1
    normaliser_decay: float = 0.99  # how slowly their running mean and variance follow, per update
    normalise_advantages: bool = True

    def __post_init__(self) -> None:
        for name in ("epochs", "minibatches", "microbatches"):
            if getattr(self, name) < 1:
                raise InterplayError(f"ppo.{name}: {getattr(self, name)}; at least 1")


@dataclass(frozen=True)
class Rewards:
    """What is maximised: the game's points, its shaped help, events of the game at a price, and teaming."""

    task: float = 1.0  # weight of the game's points
    share: str = "team"  # team: every seat earns the sum of all seats' points; own: each earns its own
    shaping: Schedule = ((0.0, 0.0),)  # weight of the game's shaped reward
    shaped_events: Mapping[str, float] = field(default_factory=dict)  # events that the shaped reward pays as well
    share_shaping: bool = False  # every seat earns the sum of all seats' shaped rewards, not its own
    events: Mapping[str, float] = field(default_factory=dict)  # weight of each of the game's events
    events_weight: Schedule = ((0.0, 1.0),)  # times their weights, so that preferences can come after skill
    teaming: float = 0.0  # weight of hand-overs (Overcooked)
    teaming_channels: tuple[str, ...] = ("counters",)  # those that pay: counters, pots
    teaming_at: str = "delivery"  # constructive ones pay at the delivery; hand_over: all pay when taken, loops pay back
    watch_teaming: bool = False  # log hand-overs even if they are not paid
    conduct: Mapping[str, float] = field(default_factory=dict)  # price of dominated (g1, g2) and dominant (g3) moves
    known: str = "public"  # how those are judged: by hints and open cards, or by all that is seen (Hanabi)
    entropies: Mapping[str, float] = field(default_factory=dict)  # weight of ad_entropy, ard_entropy and ic

    def __post_init__(self) -> None:
        if self.share not in ("team", "own"):
            raise InterplayError(f"rewards.share: {self.share!r}; team or own")


@dataclass(frozen=True)
class Algorithm:
    """The coordination method and its own options."""

    name: str = "sp"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Gate:
    """What a run must reach to be alive. A dead one is trained again from another seed, and counted in the manifest."""

    least_return: float | None = None  # score with itself, and with the partners it learnt with; null: nothing is asked
    retries: int = 2  # how often in all; who is dead even then gets no policy's file
    rounds: int = 10  # episodes of each rotation of seats in which an ego plays with itself

    def __post_init__(self) -> None:
        if self.retries < 0 or self.rounds < 1:
            raise InterplayError(f"gate: {self.retries} retries, {self.rounds} rounds; at least 0 and 1")


@dataclass(frozen=True)
class Output:
    """Where results go, and how often."""

    folder: str | None = None  # log.jsonl, manifest.json, checkpoints, snapshots and policies; null: nowhere
    logs: int = 100  # how often a run is logged in all
    checkpoints: int = 10  # how often in all the whole state is kept for resuming
    snapshots: int = 0  # how many times on the way, beside start and end, the policies are kept
    precision: str = "float16"  # of the weights in the files of policies
    save_critic: bool = False  # those files hold the value network too, so that training can continue from them
    minutes: float | None = None  # after so long training ends at the next log line; schedules go by the steps that
    # this allows at the pace so far; null: never
    wandb: str | None = None  # project of a wandb run that is told all log lines too

    def __post_init__(self) -> None:
        if self.precision not in ("float16", "float32"):
            raise InterplayError(f"output.precision: {self.precision!r}; float16 or float32")


@dataclass(frozen=True)
class Experiment:
    """A training run: everything that decides its result."""

    game: GameChoice
    algorithm: Algorithm = field(default_factory=Algorithm)
    seed: int = 0
    runs: int = 1  # seeds, or members, trained beside each other in one compiled program
    first_run: int = 0  # number of the first run: run 3 of 8 is also run 3 alone
    steps: float = 1e6  # environment steps of each run
    envs: int = 64  # environments of each run
    rollout: int = 400  # steps of each environment between updates
    actors: int = 0  # processes that play a game in plain Python; 0: as many as processors. Changes no result
    network: Network = field(default_factory=Network)
    ppo: PPO = field(default_factory=PPO)
    rewards: Rewards = field(default_factory=Rewards)
    gate: Gate = field(default_factory=Gate)
    output: Output = field(default_factory=Output)
    continue_from: tuple[str, ...] = ()  # policies (with their critics) to continue training from, one for each run;
    # steps count on from theirs, schedules and `steps` are of this call alone

    def __post_init__(self) -> None:
        for name in ("runs", "envs", "rollout"):
            if getattr(self, name) < 1:
                raise InterplayError(f"{name}: {getattr(self, name)}; at least 1")
        if self.updates < 1:
            raise InterplayError(
                f"steps: {self.steps:g} is less than one update, {self.envs} envs x {self.rollout} steps"
            )

    @property
    def updates(self) -> int:
        """Updates of each run."""
        return int(self.steps) // (self.envs * self.rollout)
