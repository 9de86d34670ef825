"""Agents by name.

A name is `overcooked/onion_passer`, `module:Thing`, `llm:provider/model`, `sparta:NAME`, `greedy:NAME`,
`any_score:NAME`, or the path of a checkpoint. `{layout}` in it is the place for the layout of the game that is played,
and options may follow: `hanabi/hgroup-regular?scale=0.1`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.agents.api import Agent, as_agent
from interplay.agents.identity import content_hash
from interplay.config import options as parse_options
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.registry import Registry
from interplay.trust import is_reference

PREFIXES = ("greedy:", "any_score:")  # of a registered agent's name
FOREIGN = (".pt", ".pth", ".pkl", ".pickle", ".onnx")  # files of other frameworks; an Orbax folder has _METADATA
AGENTS = Registry(
    "agent",
    entry_points="interplay.agents",
    table={
        "random": "interplay.agents.basic:Random",
        "stay": "interplay.agents.basic:Stay",
        "overcooked": "interplay.agents.overcooked.registry:OvercookedAgents",
        "hanabi": "interplay.agents.hanabi.registry:HanabiAgents",
        "rescue": "interplay.agents.rescue.registry:RescueAgents",
        "football": "interplay.agents.football.registry:FootballAgents",
        "trained": "interplay.agents.shipped:ShippedAgents",
    },
)


LAYOUT = "{layout}"  # in a name: the place for the layout of the game that is played


def name_in(name: str, game: Game) -> str:
    """Return an agent's name with the layout of a game in its place: `{layout}` becomes `counter_circuit`."""
    return name.replace(LAYOUT, game.id.partition("/")[2] or game.id)


def agent(name: str, **options: Any) -> Agent:
    """Return the agent of a name.

    `name+0.1` adds random actions in one turn of ten; `greedy:name` is a trained policy that takes its likeliest
    actions; `any_score:name` also plays under options that only change the score, such as Hanabi's `bomb`, other than
    those of its training. `name?option=value&option=value` gives options, and the agent bears the whole name. A
    registered thing is either a policy or player (called with the options), or a family: an object with
    `make(variant, **options)` and `variants()`.

    Args:
        name: The agent's name.
        **options: Passed to what makes the agent.

    Raises:
        InterplayError: Nothing has this name, or it does not take the options.
    """
    if LAYOUT in name:
        raise InterplayError(f"{name!r} has a place for a layout, filled where a game is played with the agent")
    if name.startswith("llm:"):
        from interplay.agents.llm.player import make as language_model

        return language_model(name.removeprefix("llm:"), **options)
    base, mark, query = name.partition("?")
    if mark:
        given = options | parse_options(query.split("&"))
        try:
            made = agent(base, **given)
        except InterplayError:
            raise
        except Exception as error:  # whatever an agent's own code makes of options that it did not expect
            raise InterplayError(f"{base} cannot be made with the options {query!r}: {error}") from error
        return replace(made, name=name)
    if name.startswith("sparta:"):
        from interplay.agents.hanabi.sparta import sparta

        return sparta(name.removeprefix("sparta:"), **options)
    if name.startswith("greedy:"):
        return _greedy(name.removeprefix("greedy:"), options)
    if name.startswith("any_score:"):
        return _any_score(name.removeprefix("any_score:"), options)
    if is_checkpoint(name):
        return _checkpoint(name, options)
    base, plus, noise = name.partition("+")
    try:
        base_agent = _checkpoint(base, options) if is_checkpoint(base) else _make(base, options)
    except TypeError as error:
        unknown = [option for option in options if f"unexpected keyword argument {option!r}" in str(error)]
        if not unknown:
            raise
        raise InterplayError(f"{base} has no option {unknown[0]!r}") from None
    return with_noise(base_agent, noise, name) if plus else base_agent


def recorded_agent(name: Any) -> Agent:
    """Return the agent that data names: a registered one, with noise and options or without.

    Files and language models are not accepted from data, nor are texts as options, which could name files.

    Raises:
        InterplayError: Nothing is registered under this name.
    """
    base, mark, query = name.partition("?") if isinstance(name, str) else ("", "", "")
    while base.startswith(PREFIXES):
        base = base.partition(":")[2]
    if not base or ":" in base or is_checkpoint(base.partition("+")[0]):
        raise InterplayError(f"{name!r:.100} is no registered agent; data may name no other")
    for option, value in parse_options(query.split("&") if mark else ()).items():
        if not isinstance(value, int | float):
            raise InterplayError(f"{name!r:.100}: data gives numbers, true and false as options, no {option}")
    return agent(name)


def is_checkpoint(name: str) -> bool:
    """Return whether a name is the path of a trained policy: its file, or the folder of a training run.

    Files of other frameworks are among them (`agents.foreign`).
    """
    if name.endswith(".safetensors") or _is_foreign(name):
        return True
    try:
        return (Path(name) / "manifest.json").is_file()
    except (OSError, ValueError):  # no name of a file can be so long, or hold such characters
        return False


def _is_foreign(name: str) -> bool:
    """Return whether a name is that of a file or folder of another framework, without loading anything for it."""
    if name.endswith(FOREIGN):
        return True
    try:
        return (Path(name) / "_METADATA").is_file()
    except (OSError, ValueError):
        return False


def _checkpoint(path: str, options: dict[str, Any]) -> Agent:
    from interplay.agents.foreign.loader import is_foreign_safetensors
    from interplay.agents.foreign.loader import load as load_foreign
    from interplay.agents.neural import load

    if _is_foreign(path) or ({"activation", "encoding"} & set(options)) or is_foreign_safetensors(path):
        return load_foreign(path, **options)

    known = ["greedy", "any_game", "any_score", "member", "unstuck"]
    for option in options:
        if option not in known:
            raise UnknownName("option of a checkpoint", option, known)
    return load(path, **options)


def _any_score(name: str, options: dict[str, Any]) -> Agent:
    bare = name.removeprefix("greedy:")
    trained = bare.startswith("trained/") or is_checkpoint(bare.partition("+")[0])
    made = agent(name, **options | {"any_score": True}) if trained else agent(name, **options)
    return replace(made, name=f"any_score:{made.name}")


def _greedy(name: str, options: dict[str, Any]) -> Agent:
    if name.startswith("any_score:"):
        return agent(f"any_score:greedy:{name.removeprefix('any_score:')}", **options)
    if not name.startswith("trained/") and not is_checkpoint(name.partition("+")[0]):
        raise InterplayError(f"greedy:{name}: only trained policies sample, trained/... or the path of a checkpoint")
    greedy_agent = agent(name, **options | {"greedy": True})
    return replace(greedy_agent, name=f"greedy:{greedy_agent.name}")


def _make(name: str, options: dict[str, Any]) -> Agent:
    if is_reference(name):
        return as_agent(AGENTS.load(name)(**options), name)
    family, slash, variant = name.partition("/")
    if family not in AGENTS.names():
        raise UnknownName("agent", name, names())
    thing = AGENTS.load(family)
    if slash:
        if not hasattr(thing, "make"):
            raise UnknownName("agent", name, names())
        made = thing.make(variant, **options)
        declared = made.kind or getattr(made.policy, "identity_kind", "")
        return made if declared else replace(made, kind=name)
    return Agent(name, thing(**options), dict(options), kind=name)


def with_noise(base: Agent, noise: str, name: str) -> Agent:
    """Return the agent with a random legal action in a share of its turns."""
    from interplay.agents.basic import Noisy

    try:
        epsilon = float(noise)
    except ValueError:
        raise InterplayError(f"cannot read the noise in {name!r}: write a share, as in {base.name}+0.1") from None
    if not 0 <= epsilon <= 1:
        raise InterplayError(f"the noise in {name!r} is a share of turns between 0 and 1, not {noise}")
    if not base.is_policy:
        raise InterplayError(f"{base.name!r} is a player; only policies can be given noise")
    config = {**base.config, "epsilon": epsilon, "base": content_hash(base)}
    return Agent(name, Noisy(base.policy, epsilon), config, kind="noisy")  # type: ignore[arg-type]


def names() -> list[str]:
    """List every registered agent."""
    listed = []
    for name in AGENTS.names():
        thing = AGENTS.load(name)
        listed += [f"{name}/{v}" for v in thing.variants()] if hasattr(thing, "variants") else [name]
    return listed
