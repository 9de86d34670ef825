"""Several chains of stages beside each other on one GPU: small networks leave most of it idle, and compiling all of it.

    python benchmarks/hanabi_learning/together.py hdr_2p ippo_rnn_2p obl1_2p,obl_belief_2p,obl2_2p --minutes 9 --out OUT

A chain is stages that follow each other, with commas. Each runs in a process of its own (run.py); NVIDIA's MPS, where
it is there, lets their kernels run side by side. OUT/results.json holds what all stages told, OUT/CHAIN.tar the
policies of a chain (STAGE.tar of each of its stages). Everything is written anew every minute, so a run that is cut
short loses little.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

HERE = Path(__file__).parent
MEMORY = 0.8  # share of the GPU's memory that all processes take together
EVERY_S = 45


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chains", nargs="+", help="STAGE or STAGE,STAGE,...")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--work", default="work", help="folder of the stages' folders, shared by the chains")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--games", help="recorded games of people, .npz")
    parser.add_argument("--share", type=float, default=1.0)
    given = parser.parse_args()
    out, work = Path(given.out), Path(given.work)
    out.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    if shutil.which("nvidia-cuda-mps-control"):
        subprocess.run(["nvidia-cuda-mps-control", "-d"], check=False)
        time.sleep(2)
    environment = dict(os.environ) | {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{MEMORY / len(given.chains):.3f}"}
    running = {}
    for chain in given.chains:
        place = work / "out" / chain
        command = [sys.executable, str(HERE / "run.py"), *chain.split(","), "--out", str(place), "--work", str(work)]
        command += ["--minutes", str(given.minutes), "--share", str(given.share)]
        command += ["--games", given.games] if given.games else []
        log = (work / f"{chain}.log").open("w")
        running[chain] = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    while any(process.poll() is None for process in running.values()):
        time.sleep(5)
        if int(time.monotonic()) % EVERY_S < 5:
            gather(given.chains, work, out)
    gather(given.chains, work, out)
    for chain, process in running.items():
        print(f"== {chain}: {process.returncode}")
        print("\n".join((work / f"{chain}.log").read_text().splitlines()[-4:]), flush=True)
    return max(process.returncode for process in running.values())


def gather(chains: list[str], work: Path, out: Path) -> None:
    """What there is so far, in few files."""
    told: dict[str, object] = {}
    for chain in chains:
        place = work / "out" / chain
        if (place / "results.json").exists():
            told |= json.loads((place / "results.json").read_text())
        files = sorted(place.glob("*.tar"))
        if files:
            beside = out / f".{chain}.tar"
            with tarfile.open(beside, "w") as tar:
                for file in files:
                    tar.add(file, arcname=file.name)
            beside.replace(out / f"{chain.split(',')[0]}.tar")
    (out / "results.json").write_text(json.dumps(told))


if __name__ == "__main__":
    sys.exit(main())
