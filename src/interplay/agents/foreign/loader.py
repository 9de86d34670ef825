"""A file of another framework as an agent: which kind it is is told by its name and by what it holds.

actor_agent0.pt                     ZSC-Eval, HSP (torch)
*.safetensors, *.pkl                JaxMARL, jax-aht (flax parameters)
a folder with _METADATA             jax-aht, JaxMARL (Orbax)
*.onnx                              any framework that writes ONNX
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from interplay.agents.api import Agent
from interplay.agents.foreign import array_files, flax_networks, zsc_eval
from interplay.errors import InterplayError, UnknownName
from interplay.untrusted_files import read_safetensors

TORCH, PICKLES, ONNX = (".pt", ".pth"), (".pkl", ".pickle"), (".onnx",)
OPTIONS = ("greedy", "activation", "encoding", "member")
JAX_AHT = ("checkpoints", "final_params", "best_params")  # where a run of jax-aht keeps its networks


def is_foreign_safetensors(path: str | Path) -> bool:
    """Return whether a safetensors file holds a network of JaxMARL that reads pictures of a kitchen.

    Published weights of Hanabi agents have the same names of layers; they read vectors that are no pictures.
    """
    if not Path(path).is_file():
        return False
    metadata, arrays = read_safetensors(path)
    if "interplay" in metadata or not flax_networks.is_flax(array_files.nested(arrays)):
        return False
    first = next((a for n, a in arrays.items() if re.search(r"(^|,)Dense_0,kernel$", n) and "CNN" not in n), None)
    picture = any("CNN_0" in name for name in arrays)
    return picture or (first is not None and first.ndim == 2 and first.shape[0] % 26 == 0)


def load(path: str | Path, **options: Any) -> Agent:
    """Load an agent that another framework trained.

    Args:
        path: The file, or the folder of an Orbax checkpoint.
        **options: `greedy`: take the likeliest actions. `activation`: of the hidden layers (relu, tanh, ...), where the
            file does not tell it. `encoding`: the game's encoding that it reads, if not the framework's own. `member`:
            which network, where a file holds several.

    Raises:
        InterplayError: The file is damaged, holds more than arrays, or no network that is known.
    """
    for option in options:
        if option not in OPTIONS:
            raise UnknownName("option of an agent of another framework", option, list(OPTIONS))
    path = Path(path)
    policy, framework = _policy(path, {k: v for k, v in options.items() if v is not None})
    plain = {k: v for k, v in options.items() if v is not None}
    config = {"framework": framework} | {k: str(v) if isinstance(v, tuple) else v for k, v in plain.items()}
    return Agent(path.stem, policy, config)


def _policy(path: Path, options: dict[str, Any]) -> tuple[Any, str]:
    where = str(path)
    if path.suffix in ONNX:
        from interplay.agents.foreign import onnx_model

        _refuse(options, ("activation", "member"), "an ONNX file says them itself")
        return onnx_model.load(path, **options), "ONNX"
    if path.suffix in TORCH:
        _refuse(options, ("member",), "a file of torch holds one actor")
        return zsc_eval.actor(array_files.read_torch(path), where, **options), "ZSC-Eval"
    if path.is_dir():
        tree = _of_run(array_files.read_orbax(path), where)
        return flax_networks.policy(tree, where, tanh=True, **options), "jax-aht"
    if path.suffix in PICKLES:
        tree = _of_run(array_files.read_pickle(path), where)
        return flax_networks.policy(tree, where, **options), "JaxMARL"
    return flax_networks.policy(array_files.read_flat_safetensors(path), where, **options), "JaxMARL"


def _of_run(tree: Any, where: str) -> Any:
    """The networks of a whole training run, where a file holds one."""
    if isinstance(tree, list | tuple):
        raise InterplayError(f"{where} holds a list of {len(tree)}; save the parameters of one agent")
    if isinstance(tree, dict) and not flax_networks.is_flax(tree.get("params", {})):
        for name in JAX_AHT:
            if isinstance(tree.get(name), dict):
                return tree[name]
    return tree


def _refuse(options: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if name in options:
            raise InterplayError(f"{name}: not for this file; {why}")
