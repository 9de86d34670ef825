"""A separate process that renders replays.

Drawing a game computes and compiles, and must not delay the games that people play. The process reads one job a line
from standard input, and ends when that is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.trust import admit, admitted, import_object

PATIENCE_S = 180.0
# The page contains its script. The sandbox keeps it from reading cookies and from sending requests to the server in the
# visitor's name.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"  # fmt: skip


class ReplayWorker:
    """The rendering process: started when first needed, one replay at a time.

    Args:
        page: The function that renders a stored game, as `module:function`; it takes the packed episode and the
            details that are passed to `replay`.
    """

    def __init__(self, page: str) -> None:
        self._page = page
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def replay(self, packed: bytes, details: dict[str, Any]) -> str:
        """Render the page that shows a stored game.

        Args:
            packed: The stored episode.
            details: What the page says about it.

        Raises:
            InterplayError: The game cannot be shown, or rendering took too long.
        """
        async with self._lock:
            with tempfile.TemporaryDirectory() as scratch:
                source, out = Path(scratch) / "episode", Path(scratch) / "replay.html"
                source.write_bytes(packed)
                job = {"episode": str(source), "out": str(out), "details": details}
                try:
                    answer = await asyncio.wait_for(self._ask(job), PATIENCE_S)
                except (TimeoutError, OSError, ValueError) as error:
                    self._kill()
                    raise InterplayError(f"this replay could not be made ({type(error).__name__}): try again") from None
                if answer.get("error"):
                    raise InterplayError(str(answer["error"]))
                return out.read_text(encoding="utf-8")

    async def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "interplay.server.replay_worker", self._page, *admitted(),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise OSError("the process ended")
        return json.loads(line)

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        self._process = None

    async def close(self) -> None:
        """Stop the process and wait for its end."""
        process = self._process
        self._kill()
        if process is not None:
            await process.wait()


def main() -> None:
    """Read jobs from standard input and write answers to standard output; nothing else may be written there."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(15)
    admit(sys.argv[2:])  # the code that the server trusts
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        job = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            page = import_object(sys.argv[1])
            Path(job["out"]).write_text(page(Path(job["episode"]).read_bytes(), job["details"]), encoding="utf-8")
        except Exception as error:
            answer = {"error": f"this game cannot be shown: {type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
