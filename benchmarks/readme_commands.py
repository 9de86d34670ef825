"""How long every command of the README takes, each in a process of its own, one after the other.

    python benchmarks/readme_commands.py                 # prints a Markdown table
    python benchmarks/readme_commands.py --only measure

Servers, and commands that train for long or need files from elsewhere, are listed as not run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_RUN = {
    "make ": "sets up a machine",
    " serve ": "a server",
    "challenge play": "needs a server",
    "interplay.training": "trains for minutes on a GPU",
    "partners build": "trains for minutes on a GPU",
    "overcooked_ai-1.1.0.tar.gz": "needs that archive from PyPI",
    "measure humans": "needs that archive from PyPI",
}


def commands(readme: Path) -> list[str]:
    """The lines of all `sh` blocks, continued lines joined."""
    blocks = re.findall(r"```sh\n(.*?)```", readme.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+", " ", line.partition(" # ")[0]).strip() for line in lines if line.strip()]


def reason_not_to_run(command: str) -> str | None:
    """Why a command is left out; None: it is run."""
    return next((why for part, why in NOT_RUN.items() if part in f"{command} "), None)


def main() -> int:
    """Run all commands in a fresh folder and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only commands that contain this text, and what they build on")
    args = parser.parse_args()
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    failed = 0
    print("| command | seconds |\n|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "benchmarks"):
            (Path(folder) / name).symlink_to(ROOT / name)
        for command in commands(ROOT / "README.md"):
            if args.only and args.only not in command and "--out" not in command:
                continue
            why = reason_not_to_run(command)
            if why is not None:
                print(f"| `{command}` | not run: {why} |", flush=True)
                continue
            began = time.perf_counter()
            done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
            seconds = time.perf_counter() - began
            failed += done.returncode != 0
            outcome = f"{seconds:.1f}" if done.returncode == 0 else f"FAILED: {done.stderr.strip()[-200:]!r}"
            print(f"| `{command}` | {outcome} |", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
