"""Build all distributions and try them in empty environments of several Pythons.

    python tools/release_check.py python3.11 python3.12 python3.13

For each interpreter, wheels and source archives of interplay, interplay-agents and interplay-client are built, the
wheels are installed with their dependencies from the package index, and the first commands of the README run. Then
interplay is installed from its source archive, and says its version. Prints a line a step; exits 1 if one failed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DISTRIBUTIONS = (ROOT, ROOT / "packages" / "interplay-agents", ROOT / "packages" / "interplay-client")
COMMANDS = (
    ("--version",),
    ("doctor",),
    ("play", "--game", "hanabi/2p", "--agents", "hanabi/smart", "hanabi/piers", "--episodes", "2", "--out", "traces"),
    ("measure", "traces", "--metrics", "score", "--mean"),
    ("grade", "--game", "overcooked/counter_circuit", "--agent", "trained/overcooked/counter_circuit/hsp-1"),
    ("hub", "verify"),
)


def run(name: str, *command: str | Path, cwd: Path = ROOT) -> bool:
    """Run a command, print how it went, and return whether it succeeded."""
    began = time.perf_counter()
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {name} ({time.perf_counter() - began:.0f} s)", flush=True)
    if done.returncode:
        print(done.stdout[-2000:] + done.stderr[-2000:], flush=True)
    return done.returncode == 0


def try_with(interpreter: str, folder: Path) -> bool:
    """Build, install and use everything with one interpreter."""
    dist, venv, work = folder / "dist", folder / "venv", folder / "work"
    work.mkdir(parents=True)
    if not run(f"{interpreter}: empty environment", interpreter, "-m", "venv", venv):
        return False
    python, pip = venv / "bin" / "python", (venv / "bin" / "python", "-m", "pip", "--quiet", "--no-input")
    good = run(f"{interpreter}: build tool", *pip, "install", "build")
    for source in DISTRIBUTIONS:
        name = "interplay" if source == ROOT else source.name
        good &= run(f"{interpreter}: build {name}", python, "-m", "build", "--outdir", dist, source)
    good &= run(f"{interpreter}: install wheels", *pip, "install", *sorted(dist.glob("*.whl")), cwd=work)
    for command in COMMANDS:
        good &= run(f"{interpreter}: interplay {' '.join(command)}", venv / "bin" / "interplay", *command, cwd=work)
    archive = next(iter(dist.glob("interplay-[0-9]*.tar.gz")), None)
    again = ("install", "--force-reinstall", "--no-deps", archive or "missing")
    good &= run(f"{interpreter}: install the source archive", *pip, *again, cwd=work)
    return good & run(f"{interpreter}: its version", venv / "bin" / "interplay", "--version", cwd=work)


def main() -> int:
    """Try all interpreters that the command line names."""
    with tempfile.TemporaryDirectory() as folder:
        results = [try_with(name, Path(folder) / str(i)) for i, name in enumerate(sys.argv[1:] or ["python3"])]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
