"""Behaviour cloning of people: human proxies for games in which people were recorded.

The recorded kitchens come with interplay; games of Hanabi are read from a file that `interplay export --to recorded`
wrote (`games`). A run is a split of the recorded games: each game is tested in one run, so that the runs together say
how well unseen people are predicted. `steps`, `envs`, `rollout` and `ppo` have no meaning here.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree
from scipy.special import stdtrit

from interplay.agents import neural
from interplay.agents.anti_stuck import pose_entries, unstuck
from interplay.agents.api import Agent
from interplay.agents.basic import masked
from interplay.agents.networks import Core
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.suit_permutation import VECTORS, real_moves, vector_places
from interplay.games.registry import make
from interplay.progress import bar
from interplay.rollout.engine import run as play
from interplay.rollout.recorded_games import load
from interplay.rollout.teams import Team
from interplay.training import checkpoint
from interplay.training.actor_critic import policy_shape
from interplay.training.config import Experiment
from interplay.training.imitation.clone import CloneProgress, Clones, Cloning, clone, splits
from interplay.training.imitation.human_games import games_of, human_recordings
from interplay.training.imitation.recordings import GameStream, Recordings, replayed
from interplay.training.loader import make_game, method_options
from interplay.training.run import PolicyMembers, Trained

EVERY_S = 5.0  # between two lines of progress


@dataclass(frozen=True)
class BCOptions(Cloning):
    """Whom to clone, and how the clone is to be played."""

    games: str | None = None  # file of recorded games; null: those of the kitchen that come with interplay
    folds: int = 0  # into how many parts games are cut: run r tests the r-th, selects by the next; 0: as many as runs
    half: str = "all"  # all, or the first or second half of the people: for a training partner and its judge
    unstuck: int = 0  # after so many steps in one pose, the clone tries what it has not tried there; 0: never
    episodes: int = 20  # games of each clone with itself, for its return

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("unstuck", "episodes", "folds"):
            if getattr(self, name) < 0:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; 0 or more")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train clones, max E log π(a | o) over the games of people; a split of the games is a run.

    Raises:
        InterplayError: If there are no games to learn from, or if options do not fit together.
    """
    options = method_options(BCOptions, experiment)
    if experiment.first_run:
        raise InterplayError("first_run: the runs of bc are the splits of one set of games; leave it at 0")
    game = make_game(experiment)
    if options.games is None:
        games_of(game, options.half)
    elif not Path(options.games).is_file():
        raise InterplayError(f"algorithm.options.games: there is no file of recorded games {options.games}")
    elif options.half != "all":
        raise InterplayError("algorithm.options.half: only the people that come with interplay are known by halves")
    if options.unstuck:
        pose_entries(game, experiment.network.encoding)  # an error if the rule cannot see the chef
    stage = _CloneStage(experiment, game, options)
    return stage.load() or stage.train(quiet)


class _CloneStage:
    def __init__(self, experiment: Experiment, game: Game, options: BCOptions):
        self.experiment, self.game, self.options = experiment, game, options
        folder = experiment.output.folder
        self.folder = None if folder is None else Path(folder)

    def load(self) -> Trained | None:
        """Return what the folder holds already, if it is this run."""
        manifest = None if self.folder is None else checkpoint.read_manifest(self.folder)
        if manifest is None or self.folder is None:
            return None
        checkpoint.refuse_other(self.folder, manifest, self._identity())
        agents = [neural.load(self.folder / one["file"], unstuck=0) for one in manifest["policies"]]
        cores = jax.tree.map(lambda *x: np.stack(x)[:, None], *(a.policy.core for a in agents))  # type: ignore[union-attr]
        return Trained(self.experiment, self.game, manifest["curve"], PolicyMembers(cores), [], manifest["policies"])

    def train(self, quiet: bool) -> Trained:
        experiment, options = self.experiment, self.options
        encoding = experiment.network.encoding
        if options.games is None:
            data = human_recordings(self.game, encoding, options.half)
        else:
            data = self._recorded(options.games, quiet)
        judge = None
        if options.select == "self_play":
            judge = greedy_judge(forgiving(self.game), encoding, options.select_games, experiment.seed)
        with bar("bc", options.epochs, show=not quiet) as advance:

            def heard(epoch: int, line: dict[str, list[float]]) -> None:
                advance(1)
                if not quiet:
                    _say(epoch, options.epochs, line)

            clones = clone(
                data,
                policy_shape(self.game, experiment.network),
                options,
                splits(data.games, experiment.runs, experiment.seed, data.person, options.folds or None),
                jax.random.key(experiment.seed),
                renamings=renamings(self.game, encoding),
                judge=judge,
                tell=heard,
                progress=None if quiet else _Printer().epoch,
            )
        agents = [self._agent(clones, run) for run in range(experiment.runs)]
        returns = self_play(self.game, agents, options.episodes, experiment.seed)
        policies = self._about(clones, returns)
        nothing = [None] * experiment.runs
        unknown = {"steps": 0, "return": None, "returns": nothing, "member_returns": [[None] for _ in nothing]}
        curve = [{"update": i + 1, **unknown, **line} for i, line in enumerate(clones.curve)]
        curve[-1] |= summary(clones, returns) | {"member_returns": [[r] for r in returns]}
        if self.folder is not None:
            self._write(clones, policies, curve)
        cores = jax.tree.map(lambda x: x[:, None], clones.cores)
        return Trained(experiment, self.game, curve, PolicyMembers(cores), [], policies)

    def _recorded(self, path: str, quiet: bool) -> Recordings | GameStream:
        """Games of a file: played again batch by batch where whole games are learnt, else kept as what was seen."""
        network, games = self.experiment.network, load(path)
        if not network.recurrent or self.options.chunk:
            return replayed(self.game, games, network.encoding)
        printer = _Printer()
        with bar("games", len(games), show=not quiet) as advance:

            def checked(number: int) -> None:
                advance(number)
                if not quiet:
                    printer.games_checked(number)

            return GameStream(self.game, games, network.encoding, own_turns=network.own_turns, progress=checked)

    def _agent(self, clones: Clones, run: int) -> Agent:
        policy = neural.NeuralPolicy(clones.core(run), self.experiment.network.encoding)
        return Agent(f"bc{run}", unstuck(policy, self.options.unstuck))

    def _about(self, clones: Clones, returns: list[float | None]) -> list[dict[str, Any]]:
        fits = {"held_out": clones.test, "selected_by": clones.select}
        return [
            {
                "file": f"policies/run{run}.safetensors",
                "algorithm": "bc",
                "seed": self.experiment.seed,
                "run": run,
                "learner": "",
                "epoch": int(clones.epoch[run]),
                **({"half": self.options.half, "unstuck": self.options.unstuck} if self.options.games is None else {}),
                "return": returns[run],
                **{
                    f"{name}_{what}": float(value[run])
                    for name, f in fits.items()
                    for what, value in f._asdict().items()
                },
            }
            for run in range(self.experiment.runs)
        ]

    def _write(self, clones: Clones, policies: list[dict[str, Any]], curve: list[dict[str, Any]]) -> None:
        """Policies first, then the manifest that names them: a killed run leaves nothing that could be mistaken."""
        assert self.folder is not None
        network, precision = self.experiment.network, self.experiment.output.precision
        for run, about in enumerate(policies):
            path = self.folder / about["file"]
            training = {k: v for k, v in about.items() if k != "file"}
            neural.save(path, clones.core(run), self.game, network.encoding, training=training, precision=precision)
            about["sha256"] = checkpoint.file_hash(path)
        (self.folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in curve))
        rest = {"state": {"file": None, "sha256": None, "update": len(curve)}, "snapshots": [], "failed": []}
        checkpoint.write_manifest(self.folder, self._identity() | rest | {"policies": policies, "curve": curve})

    def _identity(self) -> dict[str, Any]:
        if self.options.games is None:
            people: Any = [[one.pair, one.score] for one in games_of(self.game, self.options.half)]
        else:
            people = checkpoint.file_hash(Path(self.options.games))
        return checkpoint.identity(self.experiment, self.game, {"people": people})


class _Printer:
    """Prints progress at most every few seconds, where no bar can be shown."""

    def __init__(self) -> None:
        self._last, self._games = -EVERY_S, 0

    def games_checked(self, games: int) -> None:
        self._games += games
        self._print(f"bc: {self._games:,} games replayed")

    def epoch(self, now: CloneProgress) -> None:
        done = f"{now.done:,} of {now.total:,} sequences"
        self._print(f"bc: epoch {now.epoch}, {done}, loss {now.loss:.3f}, {now.per_s:,.0f} sequences/s")

    def _print(self, text: str) -> None:
        now = time.perf_counter()
        if not sys.stderr.isatty() and now - self._last > EVERY_S:
            self._last = now
            print(text, file=sys.stderr, flush=True)


def _say(epoch: int, epochs: int, line: dict[str, list[float]]) -> None:
    """A line of progress where no bar can be shown."""
    if not sys.stderr.isatty():
        apart = ", ".join(f"{loss:.3f}" for loss in line["select"])
        print(f"bc: {epoch}/{epochs} epochs, loss on games apart {apart}", file=sys.stderr, flush=True)


def self_play(game: Game, agents: list[Agent], episodes: int, seed: int) -> list[float | None]:
    """Return the mean score of each agent with itself; None if no games were asked for."""
    if not episodes:
        return [None] * len(agents)
    teams = [Team.of(game, [agent] * game.num_seats) for agent in agents]
    scores = [one.score for one in play(game, teams, episodes=episodes, seed=seed)]
    return np.mean(np.reshape(scores, (len(agents), episodes)), axis=1).tolist()


def summary(clones: Clones, returns: list[float | None]) -> dict[str, Any]:
    """Return means and intervals over the splits."""
    known = [r for r in returns if r is not None]
    result: dict[str, Any] = {"return": float(np.mean(known)) if known else None, "returns": returns}
    for name, fit in (("held_out", clones.test), ("chance", clones.chance), ("learnt", clones.learn)):
        result[name] = {what: interval(value) for what, value in fit._asdict().items()}
    return result


def interval(values: np.ndarray, level: float = 0.95) -> dict[str, float | None]:
    """Return the mean over splits with Student's interval (None for a single split).

    Splits share games to learn from, so the interval is a little too narrow.
    """
    mean, many = float(np.mean(values)), len(values)
    if many < 2:
        return {"mean": mean, "low": None, "high": None}
    half = float(stdtrit(many - 1, (1 + level) / 2) * np.std(values, ddof=1) / np.sqrt(many))
    return {"mean": mean, "low": mean - half, "high": mean + half}


class Renamings(NamedTuple):
    """Every order of the colours, the first of them the real one."""

    seen: Int[np.ndarray, "order place"]  # vector as seen = real vector[..., seen]
    real: Int[np.ndarray, "order action"]  # what an action is really; legal as seen = legal[..., real]
    named: Int[np.ndarray, "order action"]  # what a real action is as seen


def renamings(game: Game, encoding: str) -> Renamings | None:
    """Return those of a game; None if it, or the encoding, has no colours to exchange."""
    if not isinstance(game, Hanabi) or encoding not in VECTORS:
        return None
    real = real_moves(game.rules)
    return Renamings(vector_places(game.rules), real, np.argsort(real, axis=1))


def forgiving(game: Game) -> Game:
    """Return Hanabi with points kept after the third bomb; other games as they are.

    Clones of few games seldom finish one, and where every epoch scores 0 none can be chosen.
    """
    return make(game.id, **{**game.options, "bomb": "keep"}) if isinstance(game, Hanabi) else game


def greedy_judge(game: Game, encoding: str, games: int, seed: int) -> Callable[[Any], Float[Array, " split"]]:
    """Return a function that gives the mean score of networks [split, ...], each in all seats of the same games."""

    def judge(cores: PyTree) -> Float[Array, " split"]:
        return jax.vmap(lambda core: jnp.mean(greedy_scores(game, core, encoding, games, seed)))(cores)

    return judge


def greedy_scores(game: Game, core: Core, encoding: str, games: int, seed: int) -> Float[Array, " game"]:
    """Return the scores of one network in all seats."""
    keys = jax.random.split(jax.random.key(seed), games)
    state = jax.vmap(lambda key: game.init(jax.random.fold_in(key, 0)))(keys)
    memory = jnp.zeros((games, game.num_seats, *core.start().shape), jnp.float32)

    def turn(carry: tuple, t: Array) -> tuple[tuple, None]:
        state, memory, score, over = carry
        seen, legal = jax.vmap(lambda s: (game.observe(s, encoding), game.legal(s)))(state)
        after, logits = jax.vmap(jax.vmap(core.step))(memory, seen)
        if core.shape.own_turns:
            after = jnp.where((jnp.sum(legal, axis=-1) > 1)[..., None], after, memory)
        actions = jnp.argmax(masked(logits, legal), axis=-1)
        state, step = jax.vmap(game.step)(state, actions, jax.vmap(lambda key: jax.random.fold_in(key, t + 1))(keys))
        score = score + jnp.where(over, 0.0, jnp.sum(step.reward, axis=-1))
        return (state, after, score, over | step.terminated | step.truncated), None

    carry = (state, memory, jnp.zeros(games), jnp.zeros(games, bool))
    (_, _, score, _), _ = jax.lax.scan(turn, carry, jnp.arange(game.horizon))
    return score
