"""A panel on disk: `panel.json` and `weights.safetensors` in a folder, and `baselines.json` if there are any.

All networks of one shape are stacked in the weights, [policy, ...]; the JSON names each policy by the hash of its
weights, so a partner and the best response that belongs to it cannot be mixed up. A hash over the whole JSON guards
the numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.anti_stuck import AntiStuckWrapper, unstuck
from interplay.agents.api import Agent
from interplay.agents.networks import Core, Shape
from interplay.agents.neural import NeuralPolicy, named_arrays
from interplay.agents.registry import recorded_agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make_recorded
from interplay.partners.panel import (
    KINDS,
    SKILLS,
    Panel,
    PanelMember,
    PartnerSet,
    Response,
    ReturnEstimate,
    comparison_key,
)
from interplay.table import plain
from interplay.untrusted_files import read_json, read_safetensors

FORMAT, VERSION = "interplay-panel", 1
PANEL, WEIGHTS, BASELINES = "panel.json", "weights.safetensors", "baselines.json"
PRECISION = "float16"


def write_panel(
    folder: str | Path,
    name: str,
    game: Game,
    members: Sequence[PanelMember],
    provenance: Mapping[str, Any],
    sets: Sequence[PartnerSet] = (),
) -> Panel:
    """Write a panel and give it as it will be read. Another panel in the folder is not overwritten.

    Args:
        folder: Where.
        name: Of the panel.
        game: The game that its returns were measured in.
        members: Its partners with their best responses.
        provenance: How it was made.
        sets: In games of more than two seats, who sits together, with the best responses to each set.
    """
    folder = Path(folder)
    _check(members, game)
    _check_sets(sets, len(members), game)
    policies, arrays = _packed(members, sets)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "game": {
            "id": game.id,
            "options": dict(game.options),
            "rules_version": game.rules_version,
            "horizon": game.horizon,
            "key": comparison_key(game),
        },
        "policies": policies,
        "members": [_member_json(m, policies) for m in members],
        "provenance": provenance,
    }
    if sets:
        about["sets"] = [
            {"members": list(one.numbers), "responses": _responses_json(one.responses, policies)} for one in sets
        ]
    about = json.loads(json.dumps(plain(about)))
    about["sha256"] = _digest(about)
    if (folder / PANEL).exists() and _read_json(folder / PANEL).get("sha256") != about["sha256"]:
        raise InterplayError(f"{folder} holds another panel; nothing was overwritten. Choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    _write_weights(folder / WEIGHTS, arrays)
    write_json(folder / PANEL, about, indent=None)
    return read_panel(folder)


def read_panel(path: str | Path, game: Game | None = None) -> Panel:
    """The panel of a folder, every hash checked; an error if it was made for another game than this one."""
    folder = Path(path).parent if Path(path).name == PANEL else Path(path)
    about = _read_json(folder / PANEL)
    if about.get("format") != FORMAT:
        raise InterplayError(f"{folder / PANEL} is no panel of interplay: it does not say {FORMAT!r}")
    if about.get("version") != VERSION:
        raise InterplayError(f"{folder / PANEL} has version {about.get('version')}; this interplay reads {VERSION}")
    if _digest(about) != about.get("sha256"):
        raise InterplayError(f"{folder / PANEL} was changed: its hash does not match its content. Take a fresh copy")
    try:
        if not all(isinstance(about[name], list) for name in ("members", "policies")) or not about["members"]:
            raise InterplayError(f"{folder / PANEL} is not as a panel is written: it lists no members or policies")
        _check_game(folder, about["game"], game)
        agents = _unpacked(folder, about)
        members = [_member_of(member, agents) for member in about["members"]]
        return Panel.of(
            str(about["name"]),
            members,
            game=about["game"],
            provenance=about["provenance"],
            file_hash=about["sha256"],
            baselines=read_baselines(folder, about["sha256"]),
            sets=tuple(_set_of(one, len(members), agents) for one in about.get("sets", ())),
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InterplayError(f"{folder / PANEL} is not as a panel is written: {error!r:.200}") from None


def read_baselines(folder: Path, panel_hash: str) -> dict[str, Any] | None:
    """How known agents do with a panel; None if that was not measured."""
    if not (folder / BASELINES).exists():
        return None
    baselines = _read_json(folder / BASELINES)
    if baselines.get("panel") != panel_hash:
        raise InterplayError(f"{folder / BASELINES} was measured with another panel than the one beside it")
    return baselines


def write_baselines(folder: str | Path, panel: Panel, rows: Sequence[Mapping[str, Any]], **measured: Any) -> None:
    """Keep how known agents do with a panel beside it; `measured` tells how (episodes, seed)."""
    content = plain({"panel": panel.file_hash, "measured": measured, "rows": list(rows)})
    write_json(Path(folder) / BASELINES, content)


def write_json(path: Path, values: Any, indent: int | None = 1) -> None:
    """Write a file as a whole or not at all."""
    beside = path.with_name(f".{path.name}.writing")
    beside.write_text(json.dumps(values, indent=indent) + "\n")
    beside.replace(path)


def _read_json(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InterplayError(f"there is no panel {path.parent}: {path.name} is missing")
    values = read_json(path, within=path.parent)
    if not isinstance(values, dict):
        raise InterplayError(f"{path} is damaged: it holds no object")
    return values


def _digest(about: Mapping[str, Any]) -> str:
    content = json.dumps({k: v for k, v in about.items() if k != "sha256"}, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _check(members: Sequence[PanelMember], game: Game) -> None:
    names = [m.agent.name for m in members]
    twice = sorted({n for n in names if names.count(n) > 1})
    if not members or twice:
        raise InterplayError(f"two partners are called {', '.join(twice)}" if twice else "a panel needs partners")
    for member in members:
        if member.kind not in KINDS or member.skill not in (None, *SKILLS):
            known = f"{', '.join(KINDS)}; mid, final"
            raise InterplayError(f"{member.agent.name}: {member.kind!r} of skill {member.skill!r}; known: {known}")
        seats = [r.seat for r in member.responses]
        if len(set(seats)) < len(seats) or not all(0 <= s < game.num_seats for s in seats):
            raise InterplayError(f"{member.agent.name}: best responses in the seats {seats}; one for each seat")


def _check_sets(sets: Sequence[PartnerSet], members: int, game: Game) -> None:
    for one in sets:
        seats = [r.seat for r in one.responses]
        fits = len(one.numbers) == game.num_seats - 1 and all(0 <= i < members for i in one.numbers)
        if not fits or len(set(seats)) < len(seats) or not all(0 <= s < game.num_seats for s in seats):
            raise InterplayError(
                f"a set of the partners {list(one.numbers)} with best responses in the seats {seats}; {game.id} has "
                f"{game.num_seats - 1} seats beside an ego"
            )


def _check_game(folder: Path, made_for: Mapping[str, Any], game: Game | None) -> None:
    here = game or make_recorded(made_for["id"], made_for["options"])
    if here.id != made_for["id"]:
        raise InterplayError(f"the panel {folder} is for {made_for['id']}; the game is {here.id}")
    if here.rules_version != made_for["rules_version"]:
        raise InterplayError(
            f"the panel {folder} was made under the rules {made_for['rules_version']}; "
            f"{here.id} now has {here.rules_version}, so its partners and scores mean something else"
        )


def network_of(policy: Any) -> tuple[NeuralPolicy, int] | None:
    """The network of a policy and the patience of the rule around it (0: none); None if it is of another making."""
    if isinstance(policy, AntiStuckWrapper) and isinstance(policy.base, NeuralPolicy):
        return policy.base, int(policy.patience)
    return (policy, 0) if isinstance(policy, NeuralPolicy) else None


def _policy_digest(
    policy: NeuralPolicy, network: Mapping[str, Any], patience: int, arrays: Mapping[str, np.ndarray]
) -> str:
    """A hash of a policy: its network, what it reads, what it was trained for, how it acts and its weights.

    The network is told as the file tells it: later versions of interplay may know more of networks than it does.
    """
    facts = [network, policy.reads, policy.trained_for, bool(policy.greedy), patience]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode() + arrays[name].tobytes())
    return digest.hexdigest()


def rounded(networks: Any) -> Any:
    """Networks as a panel will keep them: what is measured is what is shipped."""

    def leaf(x: Any) -> Any:
        is_weight = eqx.is_inexact_array(x)
        return jnp.asarray(x).astype(PRECISION).astype(jnp.float32) if is_weight else x

    return jax.tree.map(leaf, networks)


def _packed(
    members: Sequence[PanelMember], sets: Sequence[PartnerSet] = ()
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """The policies of a panel, each once, and their weights: of all networks of one shape [policy, ...]."""
    agents = [a for m in members for a in (m.agent, *(r.agent for r in m.responses))]
    agents += [r.agent for one in sets for r in one.responses]
    listed: list[dict[str, Any]] = []
    shapes: list[str] = []
    stacks: dict[str, list[np.ndarray]] = {}
    for one in agents:
        network = network_of(one.policy)
        if network is None:
            continue
        policy, patience = network
        arrays = {n: np.asarray(a).astype(PRECISION) for n, a in named_arrays(policy.core).items()}
        if not all(np.all(np.isfinite(a)) for a in arrays.values()):
            raise InterplayError(f"the weights of {one.name} are not all numbers; the panel was not written")
        digest = _policy_digest(policy, policy.core.shape.as_json(), patience, arrays)
        known = next((p for p in listed if p["name"] == one.name), None)
        if known:
            if known["sha256"] != digest:
                raise InterplayError(f"two different policies are called {one.name}")
            continue
        shape = json.dumps(policy.core.shape.as_json(), sort_keys=True)
        if shape not in shapes:
            shapes.append(shape)
        number = shapes.index(shape)
        row = sum(p["stack"] == number for p in listed)
        for name, array in arrays.items():
            stacks.setdefault(f"{number}.{name}", []).append(array)
        listed.append(
            {
                "name": one.name,
                "sha256": digest,
                "stack": number,
                "row": row,
                "network": json.loads(shape),
                "encoding": policy.reads,
                "trained_for": policy.trained_for,
                "greedy": bool(policy.greedy),
                "unstuck": patience,
            }
        )
    return listed, {name: np.stack(arrays) for name, arrays in stacks.items()}


def _write_weights(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    from safetensors.numpy import save_file

    beside = path.with_name(f".{path.name}.writing")
    save_file(dict(arrays), beside)
    beside.chmod(0o644)  # a shipped file is for all
    beside.replace(path)


def _unpacked(folder: Path, about: Mapping[str, Any]) -> dict[str, Agent]:
    path, agents = folder / WEIGHTS, {}
    stacks = read_safetensors(path, within=folder).arrays if about["policies"] else {}
    for listed in about["policies"]:
        shape = Shape.from_json(listed["network"])
        empty = jax.eval_shape(lambda shape=shape: Core(shape, 1.0, jax.random.key(0)))
        leaves = []
        for name, like in named_arrays(empty).items():
            stack = stacks.get(f"{listed['stack']}.{name}")
            if stack is None or stack.shape[1:] != like.shape or not 0 <= listed["row"] < len(stack):
                raise InterplayError(f"{path} has no weights {name} of the policy {listed['name']}")
            leaves.append(stack[listed["row"]])
        core = jax.tree.unflatten(jax.tree.structure(empty), leaves)
        full = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), core)
        policy = NeuralPolicy(full, listed["encoding"], trained_for=listed["trained_for"], greedy=listed["greedy"])
        digest = _policy_digest(policy, listed["network"], listed["unstuck"], named_arrays(core))  # type: ignore[arg-type]
        if digest != listed["sha256"]:
            raise InterplayError(
                f"{path}: the weights of {listed['name']} are not those of the panel, their hash does not match"
            )
        agents[listed["name"]] = Agent(
            listed["name"], unstuck(policy, listed["unstuck"]), {"sha256": listed["sha256"][:16]}
        )
    return agents


def _who(one: Agent, policies: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {"policy": one.name} if any(p["name"] == one.name for p in policies) else {"agent": one.name}


def _responses_json(responses: Sequence[Response], policies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"seat": r.seat, **_who(r.agent, policies), "how": r.how, "worth": r.worth._asdict()} for r in responses]


def _member_json(member: PanelMember, policies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        **_who(member.agent, policies),
        "kind": member.kind,
        "skill": member.skill,
        "candidate": member.candidate,
        "self_play": member.self_play._asdict() if member.self_play else None,
        "responses": _responses_json(member.responses, policies),
        "notes": dict(member.notes),
    }


def _agent_of(one: Mapping[str, Any], agents: Mapping[str, Agent]) -> Agent:
    return agents[one["policy"]] if "policy" in one else recorded_agent(one["agent"])


def _responses_of(listed: Sequence[Mapping[str, Any]], agents: Mapping[str, Agent]) -> tuple[Response, ...]:
    return tuple(Response(r["seat"], _agent_of(r, agents), r["how"], ReturnEstimate(**r["worth"])) for r in listed)


def _member_of(member: Mapping[str, Any], agents: Mapping[str, Agent]) -> PanelMember:
    return PanelMember(
        agent=_agent_of(member, agents),
        kind=member["kind"],
        skill=member["skill"],
        candidate=member["candidate"],
        self_play=ReturnEstimate(**member["self_play"]) if member["self_play"] else None,
        responses=_responses_of(member["responses"], agents),
        notes=member["notes"],
    )


def _set_of(one: Mapping[str, Any], members: int, agents: Mapping[str, Agent]) -> PartnerSet:
    numbers = tuple(one["members"])
    if not all(isinstance(i, int) and 0 <= i < members for i in numbers):
        raise KeyError(f"a set of {members} members names {list(numbers)!r:.100}")
    return PartnerSet(numbers, _responses_of(one["responses"], agents))
