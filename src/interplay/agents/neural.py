"""Trained networks as policies, and their files.

A policy is one `.safetensors` file. Its header holds the network's shape, the encoding it reads and the game it was
trained for, so the file alone is enough: `interplay.agent("runs/ring/policies/run0.safetensors")`. It may also hold the
value network (arrays named `critic....`), from which training continues; agents do not read it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray, PyTree

from interplay.agents.anti_stuck import unstuck as rule
from interplay.agents.api import Agent, Info, Memory, Observation, Policy
from interplay.agents.basic import masked
from interplay.agents.networks import Core, Shape
from interplay.agents.partner_conditioned import PartnerConditionedNetwork, network_of
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import GAMES, capability, family_of
from interplay.untrusted_files import file_in, parse_json, read_json, read_safetensors, regular_file

FORMAT, VERSION = "interplay-policy", 1
CRITIC = "critic."  # how the names of the value network's arrays begin
SCALE = ":scale"  # how the name of an int8 matrix's scales ends; weights are the product of both
OUTPUTS_FIRST = ("weight_ih", "weight_hh")  # matrices [output, input]; others are [..., input, output]
MANIFEST = "manifest.json"
# Options that change how long one plays or what a mask rules out, but not what a policy has to know.
HARMLESS = {"horizon", "rule_out_null_interacts"}


class NeuralPolicy(Policy):
    """A trained network. It samples its actions, or takes the likeliest if `greedy`."""

    identity_kind: ClassVar[str] = "network"
    core: Core | PartnerConditionedNetwork
    greedy: Bool[Array, ""]
    reads: str = eqx.field(static=True)  # the encoding
    trained_for: str = eqx.field(static=True)  # the game, as `game_key` writes it; "" plays whatever fits
    any_score: bool = eqx.field(static=True)  # also under other options that only change the score

    def __init__(
        self,
        core: Core | PartnerConditionedNetwork,
        reads: str,
        *,
        trained_for: str = "",
        greedy: bool = False,
        any_score: bool = False,
    ):
        self.core, self.reads, self.trained_for, self.any_score = core, reads, trained_for, any_score
        self.greedy = jnp.bool_(greedy)

    def fingerprint(self) -> Mapping[str, Any]:
        """Return the network's shape, what it reads and was trained for, and its weights."""
        description = {"network": self.core.shape.changes(), "reads": self.reads, "trained_for": self.trained_for}
        return description | {"greedy": self.greedy, "weights": named_arrays(self.core)}

    @property
    def encoding(self) -> str:
        """Name of the encoding that `act` reads."""
        return self.reads

    def bind(self, game: Game) -> Policy:
        """Return this policy.

        Raises:
            InterplayError: It was trained for another game, or does not fit the game's observations and actions.
        """
        if self.trained_for and self.trained_for != game_key(game, any_score=self.any_score):
            only_score = self.trained_for == game_key(game, any_score=True)
            remedy = "write any_score:NAME" if only_score else "load it with any_game=True"
            raise InterplayError(
                f"this policy was trained for {self.trained_for}; the game is {game_key(game)}. "
                f"To use it all the same, {remedy}"
            )
        if self.reads not in game.encodings:
            known = ", ".join(game.encodings)
            raise InterplayError(f"this policy reads the encoding {self.reads!r}; {game.id} has {known}")
        seen, shape = game.encodings[self.reads].shape, self.core.shape
        if seen != shape.input:
            raise InterplayError(f"this policy reads {self.reads} of shape {shape.input}; in {game.id} it is {seen}")
        if len(game.action_names) != shape.outputs:
            raise InterplayError(f"this policy knows {shape.outputs} actions; {game.id} has {len(game.action_names)}")
        return self

    def init(self, key: PRNGKeyArray, seat: Array) -> Array:
        """Return the memory at the start of an episode."""
        return self.core.start()

    def act(self, memory: Memory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Memory, Array, Info]:
        """Choose an action and update the memory."""
        after, logits = self.core.step(memory, obs)
        if self.core.shape.own_turns:
            after = jnp.where(jnp.sum(legal) > 1, after, memory)
        logits = masked(logits, legal)
        sampled = jax.random.categorical(key, logits)
        return after, jnp.where(self.greedy, jnp.argmax(logits), sampled), Info(logits)


def game_key(game: Game, *, any_score: bool = False) -> str:
    """Return the game that a policy was trained for as text: its id, rules and the options that matter.

    Args:
        game: The game.
        any_score: Leave out options that only change the score.
    """
    dropped = capability(game, "score_options") if any_score else ()
    return _key(game.id, {k: v for k, v in game.options.items() if k not in dropped}, game.rules_version)


def _key(id: str, options: Mapping[str, Any], rules_version: str) -> str:
    matter = {k: v for k, v in sorted(options.items()) if k not in HARMLESS}
    return f"{id} (rules {rules_version}{', ' + json.dumps(matter) if matter else ''})"


def save(
    path: str | Path,
    core: Core | PartnerConditionedNetwork,
    game: Game,
    encoding: str,
    *,
    training: Mapping[str, Any] | None = None,
    precision: str = "float16",
    critic: Any = None,
) -> None:
    """Write a policy as one file.

    Args:
        path: The file.
        core: The policy's network.
        game: The game that it was trained for.
        encoding: The encoding that it reads.
        training: Plain JSON values that describe how it was made.
        precision: Data type of the stored weights: a float, or int8 (see `stored_as`).
        critic: The value network from which training can continue.

    Raises:
        InterplayError: A weight is not finite.
    """
    from safetensors.numpy import save_file

    about = {
        "format": FORMAT,
        "version": VERSION,
        "network": core.shape.as_json(),
        "encoding": encoding,
        "game": {"id": game.id, "options": dict(game.options), "rules_version": game.rules_version},
        "training": dict(training or {}),
    }
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    named = named_arrays(core) | {f"{CRITIC}{name}": a for name, a in named_arrays(critic).items()}
    arrays = stored_as(named, precision, str(path))
    beside = path.with_name(f".{path.name}.writing")
    save_file(arrays, beside, metadata={"interplay": json.dumps(about)})
    beside.replace(path)


def stored_as(named: Mapping[str, Any], precision: str, where: str = "") -> dict[str, np.ndarray]:
    """Return weights as a file holds them.

    With int8, a matrix becomes whole numbers from -127 to 127 and a float32 scale for each of its outputs, named
    `NAME:scale`; vectors become float16.

    Args:
        named: Arrays by name.
        precision: A float type of numpy, or int8.
        where: The file, for errors.

    Raises:
        InterplayError: A weight is not finite in this precision.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, weights in named.items():
        values = np.asarray(weights)
        if precision == "int8" and values.ndim > 1:
            summed = -1 if name.rsplit(".", 1)[-1] in OUTPUTS_FIRST else -2
            largest = np.max(np.abs(values.astype(np.float32)), axis=summed, keepdims=True)
            scale = np.where(largest > 0, largest / 127, 1.0).astype(np.float32)
            arrays[name + SCALE] = scale
            values = np.round(values / scale) if np.all(np.isfinite(scale)) else scale
            arrays[name] = values.astype(np.int8) if np.all(np.isfinite(values)) else values
        else:
            arrays[name] = values.astype("float16" if precision == "int8" else precision)
        if not np.all(np.isfinite(arrays[name])):
            raise InterplayError(f"the weights {name} are not all numbers ({precision}); {where} was not written")
    return arrays


def read_back(arrays: Mapping[str, np.ndarray], where: str) -> dict[str, np.ndarray]:
    """Return the weights of a file's arrays: what `stored_as` made int8 as float32, the rest as it is.

    Raises:
        InterplayError: Whole numbers without fitting scales, or scales without numbers.
    """
    weights = {}
    for name, values in arrays.items():
        if name.endswith(SCALE):
            if name.removesuffix(SCALE) not in arrays:
                raise InterplayError(f"{where} holds {name} without the weights that it scales")
            continue
        scale = arrays.get(name + SCALE)
        if scale is None:
            weights[name] = values
            continue
        fits = scale.ndim == values.ndim and all(n in (1, m) for n, m in zip(scale.shape, values.shape, strict=True))
        if values.dtype != np.int8 or not fits or scale.dtype.kind != "f":
            raise InterplayError(f"{where}: {name} and {name}{SCALE} do not belong together")
        weights[name] = values.astype(np.float32) * scale.astype(np.float32)
    return weights


def load(
    path: str | Path,
    *,
    greedy: bool = False,
    any_game: bool = False,
    any_score: bool = False,
    member: int | None = None,
    unstuck: int | None = None,
) -> Agent:
    """Load the agent of a checkpoint.

    Args:
        path: A policy's file, or the folder of a training run.
        greedy: Take the likeliest action instead of sampling.
        any_game: Skip the check that the policy was trained for the game.
        any_score: Let options of the game that only change the score differ from those of the training.
        member: The number of the policy in a run's folder; may be left out if there is one.
        unstuck: Patience of `AntiStuckWrapper` in steps, for policies cloned from people. None: as the file says; 0:
            never.

    Raises:
        InterplayError: The file or folder holds no policy that can be loaded.
    """
    path = Path(path)
    if path.is_dir():
        path = _member_of(path, member)
    if _is_published(path):
        from interplay.agents.hanabi import pretrained

        return pretrained.load(path, greedy=greedy or None)
    if (moves := _move_network(path, greedy)) is not None:
        return moves
    about, core, _ = read_networks(path)
    game = about["game"]
    trained_for = "" if any_game else trained_for_key(about)
    if any_score and trained_for:
        family = about["game"]["id"].partition("/")[0]
        dropped = family_of(family).score_options if family in GAMES.names() else ()
        options = {k: v for k, v in about["game"]["options"].items() if k not in dropped}
        trained_for = _key(about["game"]["id"], options, about["game"]["rules_version"])
    policy = NeuralPolicy(core, about["encoding"], trained_for=trained_for, greedy=greedy, any_score=any_score)
    config = {"game": game["id"], "greedy": greedy} | {k: v for k, v in about["training"].items() if _is_plain(v)}
    patience = about["training"].get("unstuck", 0) if unstuck is None else unstuck
    if not isinstance(patience, int) or patience < 0:
        raise InterplayError(f"{path}: unstuck is {patience!r:.40}; it is a number of steps")
    if patience or "unstuck" in config:
        config["unstuck"] = patience
    return Agent(path.stem, rule(policy, patience), config)


def trained_for_key(about: Mapping[str, Any]) -> str:
    """Return the game of a policy's header, as `game_key` writes it."""
    game = about["game"]
    return _key(game["id"], game["options"], game["rules_version"])


def read_networks(path: str | Path) -> tuple[dict[str, Any], Core | PartnerConditionedNetwork, dict[str, np.ndarray]]:
    """Read a policy's header, its network, and the arrays of its value network (empty if the file has none)."""
    about, arrays = read(path)
    critic = {name.removeprefix(CRITIC): a for name, a in arrays.items() if name.startswith(CRITIC)}
    policy = {name: a for name, a in arrays.items() if not name.startswith(CRITIC)}
    return about, _filled(Shape.from_json(about["network"]), policy, Path(path)), critic


def _is_published(path: Path) -> bool:
    """Return whether a file has a form in which others have published weights of Hanabi agents."""
    from interplay.agents.hanabi import pretrained

    if not path.is_file():
        return False
    metadata, arrays = read_safetensors(path)
    return "interplay" not in metadata and pretrained.is_public(arrays)


def _move_network(path: Path, greedy: bool) -> Agent | None:
    """Return the agent of a file that holds a network over Hanabi's moves; None if it is another file."""
    from interplay.agents.hanabi import move_network

    if not path.is_file():
        return None
    about, arrays = opened(path)
    if not isinstance(about, dict) or about.get("format") != move_network.FORMAT:
        return None
    return move_network.load(path, about, arrays, greedy=greedy)


def opened(path: str | Path) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the header of a file of weights (None if it has none) and its arrays."""
    metadata, arrays = read_safetensors(path)
    return parse_json(metadata.get("interplay", "null"), f"{path}, header"), read_back(arrays, str(path))


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a policy's header and its arrays.

    Raises:
        InterplayError: The file does not exist or holds no policy.
    """
    path = Path(path)
    if not path.exists():
        raise InterplayError(f"there is no checkpoint {path}")
    about, arrays = opened(path)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InterplayError(f"{path} holds no policy of interplay: its header does not say {FORMAT!r}")
    if about.get("version") != VERSION:
        raise InterplayError(f"{path} has version {about.get('version')} of the format; this interplay reads {VERSION}")
    kinds = {"network": dict, "encoding": str, "game": dict, "training": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(about.get(name), kind)]
    wrong += [f"game.{k}" for k in ("id", "options", "rules_version") if not wrong and k not in about["game"]]
    if wrong:
        raise InterplayError(f"{path}: the header lacks {', '.join(wrong)}")
    return about, arrays


def named_arrays(core: PyTree) -> dict[str, Array]:
    """Return the arrays of a network by their path in it, such as `trunk.layers.0.weight`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(core)
    return {".".join(_name(k) for k in path): leaf for path, leaf in leaves}


def _name(key: Any) -> str:
    for attribute in ("name", "idx", "key"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


def _filled(shape: Shape, arrays: Mapping[str, np.ndarray], path: Path) -> Core | PartnerConditionedNetwork:
    empty = jax.eval_shape(lambda: network_of(shape, 1.0, jax.random.key(0)))
    wanted = named_arrays(empty)
    missing, unknown = sorted(set(wanted) - set(arrays)), sorted(set(arrays) - set(wanted))
    if missing or unknown:
        problems = [f"lacks {', '.join(missing)}"] if missing else []
        problems += [f"holds {', '.join(unknown)}, which its network has not"] if unknown else []
        raise InterplayError(f"{path} {'; '.join(problems)}")
    leaves = []
    for name, like in wanted.items():
        if arrays[name].shape != like.shape:
            raise InterplayError(f"{path}: {name} has shape {arrays[name].shape}; its network needs {like.shape}")
        leaves.append(jnp.asarray(arrays[name], jnp.float32))
    return jax.tree.unflatten(jax.tree.structure(empty), leaves)


def _member_of(folder: Path, member: int | None) -> Path:
    """Return the file of a member of a training run."""
    manifest = read_json(folder / MANIFEST, within=folder)
    policies = manifest.get("policies") or [] if isinstance(manifest, dict) else []
    if not isinstance(policies, list) or not all(isinstance(p, dict) and "file" in p for p in policies):
        raise InterplayError(f"{folder / MANIFEST} is not the manifest of a training run")
    if not policies:
        raise InterplayError(f"{folder} holds no policies yet: its training has not come to an end")
    if member is None and len(policies) > 1:
        raise InterplayError(f"{folder} holds {len(policies)} policies; choose one with member=0 ... or name its file")
    if not 0 <= (member or 0) < len(policies):
        raise InterplayError(f"{folder} has no member {member}; it holds {len(policies)} policies")
    return regular_file(file_in(folder, policies[member or 0]["file"]), within=folder)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | bool) or (isinstance(value, float) and math.isfinite(value))
