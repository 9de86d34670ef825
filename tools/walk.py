"""Print the functions of interplay that a command passes through, in the order in which they are first called.

python tools/walk.py crossplay --game overcooked/cramped_room --agents stay random --episodes 1 --report walk.html
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import interplay

SOURCE = str(Path(interplay.__file__).parent)


def main(words: list[str]) -> None:
    """Run `interplay WORDS` with a profiler hook, then print the functions to standard output and their number."""
    from interplay.cli.main import run

    seen: dict[str, None] = {}

    def hook(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<")  # no class body
        if event == "call" and code.co_filename.startswith(SOURCE) and is_function:
            module = Path(code.co_filename).relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
            seen.setdefault(f"{module}:{code.co_qualname}")

    sys.setprofile(hook)
    try:
        run(words)
    finally:
        sys.setprofile(None)
    print(*seen, sep="\n")
    print(f"{len(seen)} functions", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
