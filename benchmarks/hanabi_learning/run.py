"""Learning in Hanabi, stage by stage, against the clock: clones of people, HDR-IPPO by its weight, IPPO and its kin.

    python benchmarks/hanabi_learning/run.py bc_2p hdr_2p --games humans.npz --out results --minutes 8
    python benchmarks/hanabi_learning/run.py ippo_ff_2p --out results --minutes 4
    python benchmarks/hanabi_learning/run.py ippo_rnn_2p --out results --minutes 9 --continue
    python benchmarks/hanabi_learning/run.py --list
    python benchmarks/hanabi_learning/run.py bc_2p hdr_2p --games humans.npz --out /tmp/try --scale 0.001

Stages and their sizes are in stages.json. A stage trains for its `seconds`, as many steps as its `rate` (steps a
second and run) promises, so that schedules come to their end; its clock stops it if it is slower. `--rates` takes the
rates from what speed.py wrote. humans.npz is what `interplay export TRACES --to recorded --learn human` writes.

`--continue` goes on where the stage's policies are: those of WORK, or else those that the package ships. A policy's
file holds weights and critic at half precision, and its steps; Adam's moments begin anew. Each call anneals its
learning rate, so that what it leaves can be shipped; one that continues warms up from that low end to the rate that a
linear decay over `horizon` steps (1e10, as published) has at the steps so far, and anneals again. Entropy follows its
schedule anew.

OUT/results.json holds configurations, curves and numbers of all stages, rewritten every few seconds; OUT/STAGE.tar the
policies (or, while it trains, its last snapshot). Runs on jax, equinox, optax, safetensors, numpy and scipy alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import roster

HERE = Path(__file__).parent
MARGIN_S = 45  # compiling, the first log lines and the files of a stage
HORIZON = 1e10  # steps, as published, over which the peak of the learning rate decays from call to call
WARM_UP = 0.03  # share of a continuing call
EVERY_S = 15


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*")
    parser.add_argument("--list", action="store_true", help="the stages")
    parser.add_argument("--plan", nargs="+", default=[str(HERE / "stages.json"), str(HERE / "baselines.json")])
    parser.add_argument("--games", help="recorded games of people, .npz")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--work", help="folder for logs, states and policies (default: a temporary one)")
    parser.add_argument("--minutes", type=float, default=9.0, help="after which no stage goes on")
    parser.add_argument("--share", type=float, default=1.0, help="multiplies the seconds of all stages")
    parser.add_argument("--rates", help="JSON {stage: steps a second and run}, such as speed.py writes")
    parser.add_argument("--continue", dest="resume", action="store_true", help="from the policies that there are")
    parser.add_argument("--scale", type=float, default=1.0, help="below 1: a small try of everything")
    given = parser.parse_args()
    plan = merged([json.loads(Path(path).read_text()) for path in given.plan])
    if given.list:
        print("\n".join(plan["stages"]))
        return 0
    unknown = [s for s in given.stages if s not in plan["stages"]]
    if unknown or not given.stages:
        known = ", ".join(plan["stages"])
        print(f"error: no such stage: {unknown or 'none given'}; there are {known}", file=sys.stderr)
        return 2
    run = Session(given, plan)
    watch = threading.Thread(target=run.watch, daemon=True)
    watch.start()
    for stage in given.stages:
        run.stage(stage)
    run.over.set()
    watch.join()
    return 1 if any("error" in told for told in run.told.values()) else 0


def merged(plans: list[dict[str, Any]]) -> dict[str, Any]:
    """Several plans as one."""
    whole: dict[str, Any] = {"stages": {}}
    for plan in plans:
        whole |= {k: v for k, v in plan.items() if k != "stages"}
        whole["stages"] |= plan["stages"]
    return whole


def continued_rate(ppo: dict[str, Any], steps: float, horizon: float) -> list[list[float]]:
    """Learning rate of a call that continues after so many steps.

    It warms up from its last value to its first one as a linear decay over the horizon has left of it, and anneals to
    the last value again. Entropy follows its schedule anew.
    """
    rate = ppo["learning_rate"]
    first, last = (rate[0][1], rate[-1][1]) if isinstance(rate, list) else (rate, rate)
    return [[0, last], [WARM_UP, max(last, first * (1 - steps / horizon))], [1, last]]


class Session:
    """One call of the script."""

    def __init__(self, given: argparse.Namespace, plan: dict):
        self.given, self.plan = given, plan
        self.began, self.over = time.monotonic(), threading.Event()
        self.out = Path(given.out)
        self.work = Path(given.work or Path(tempfile.gettempdir()) / "hanabi_learning")
        self.out.mkdir(parents=True, exist_ok=True)
        self.work.mkdir(parents=True, exist_ok=True)
        self.rates = json.loads(Path(given.rates).read_text()) if given.rates else {}
        self.told: dict[str, dict[str, Any]] = {}

    @property
    def left_s(self) -> float:
        return 60 * self.given.minutes - (time.monotonic() - self.began)

    def stage(self, name: str) -> None:
        import jax

        from interplay.training.algorithms import train
        from interplay.training.config import Experiment
        from interplay.training.loader import build

        began = time.monotonic()
        if "play" in self.plan["stages"][name]:
            self.play(name, **self.plan["stages"][name]["play"])
            return
        config = self.config(name)
        self.told[name] = {"config": config, "device": jax.devices()[0].device_kind}
        if "continue_from" in config:
            self.told[name]["continues"] = [roster.sha256(Path(file)) for file in config["continue_from"]]
        if self.left_s < MARGIN_S and self.given.scale == 1:
            self.told[name]["error"] = "the clock had run out"
            return
        try:
            trained = train(build(Experiment, config), quiet=False)
        except Exception as error:  # the next stage may do better, and what there is comes back
            self.told[name]["error"] = f"{type(error).__name__}: {error}"
            print(f"{name}: {self.told[name]['error']}", file=sys.stderr, flush=True)
            return
        last = trained.curve[-1]
        self.told[name] |= {"wall_s": round(time.monotonic() - began, 1), "last": last}
        short = {"stage": name, "wall_s": self.told[name]["wall_s"], "returns": last.get("returns")}
        print(json.dumps(short), flush=True)

    def play(self, name: str, game: str, agents: list[dict[str, Any]], episodes: int) -> None:
        """Games of bots as a file to learn from: all teams that can be made of them, so many games each."""
        from interplay.agents.registry import agent
        from interplay.games.registry import make
        from interplay.rollout.engine import run
        from interplay.rollout.recorded_games import Recorded, save
        from interplay.rollout.teams import Team

        played, began = make(game), time.monotonic()
        bots = [agent(one["name"], **one.get("options", {})) for one in agents]
        teams = [Team.of(played, team) for team in itertools.product(bots, repeat=played.num_seats)]
        each = episodes if self.given.scale == 1 else 1
        last, done = began, 0

        def progress(more: int) -> None:
            nonlocal last, done
            done, now = done + more, time.monotonic()
            if now - last > EVERY_S:
                last = now
                told = f"{name}: {done:,} of {each * len(teams):,} games, {now - began:.0f} s"
                print(told, file=sys.stderr, flush=True)

        games = [
            Recorded("", e.actions, e.start, e.score, e.game_id, dict(e.options))
            for e in run(played, teams, episodes=each, seed=0, progress=progress)
        ]
        save(self.work / f"{name}.npz", games)
        self.told[name] = {"games": len(games), "mean": sum(g.score or 0 for g in games) / len(games)}
        print(json.dumps({"stage": name} | self.told[name]), flush=True)

    def config(self, name: str) -> dict[str, Any]:
        """The stage's experiment, with its budget filled in."""
        config = json.loads(json.dumps(self.plan["stages"][name]))
        rate, seconds = self.rates.get(name, config.pop("rate", 0)), config.pop("seconds", 0) * self.given.share
        config.pop("rate", None)
        if isinstance(config.get("network"), str):  # one that stages share
            config["network"] = dict(self.plan[config["network"]])
        options = config["algorithm"].setdefault("options", {})
        output = {"folder": str(self.work / name), "logs": 60, "checkpoints": 1, "snapshots": 3, "save_critic": True}
        horizon = config.pop("horizon", HORIZON)
        if config["algorithm"]["name"] == "bc":
            there = self.work / f"{options.get('games')}.npz"
            options["games"] = str(there) if "games" in options else self.given.games
            if options["games"] is None:
                raise SystemExit(f"{name}: say with --games where the recorded games of people are")
        else:
            seconds = max(5.0, min(seconds, self.left_s - MARGIN_S))
            config["steps"] = rate * seconds
            output["minutes"] = (seconds + 30) / 60  # compiling is on the clock too
        for place in ("clone", "population_from", "partners", "policy", "belief", "begin"):
            if place in options:
                options[place] = self.found(options[place])
        if self.given.resume:
            config |= self.continued(name, config, horizon)
        config["output"] = output | config.get("output", {})
        return self.small(config) if self.given.scale < 1 else config

    def continued(self, name: str, config: dict[str, Any], horizon: float) -> dict[str, Any]:
        """The policies that a stage continues from, and its schedules from there."""
        files = roster.files_of(name, self.work)
        if files:  # what they were trained in makes way
            steps = roster.header(files[0])["training"]["steps"]
            aside = self.work / f"{name}-{steps}"
            (self.work / name).rename(aside)
            files = [aside / file.relative_to(self.work / name) for file in files]
        files = files or roster.shipped_of(name)
        if len(files) != config.get("runs", 1):
            raise SystemExit(
                f"{name}: {len(files)} policies to continue from; the stage has {config.get('runs', 1)} runs"
            )
        steps = roster.header(files[0])["training"]["steps"]
        return {
            "continue_from": [str(file) for file in files],
            "ppo": config["ppo"] | {"learning_rate": continued_rate(config["ppo"], steps, horizon)},
        }

    def found(self, value: Any) -> Any:
        """The folder or file of another stage, named as STAGE or STAGE/policies/...; anything else as it is."""
        if isinstance(value, list):
            return [self.found(v) for v in value]
        return str(self.work / value) if str(value).split("/")[0] in self.plan["stages"] else value

    def small(self, config: dict[str, Any]) -> dict[str, Any]:
        """The same on a machine without an accelerator, to see that it runs."""
        options = config["algorithm"]["options"]
        if config["algorithm"]["name"] == "bc":
            from interplay.rollout.recorded_games import load, save

            full = options["games"]
            options |= {"epochs": 2, "episodes": 4, "games": str(self.work / "few.npz")}
            options |= {"select_games": 8} if options["select"] == "self_play" else {}
            save(options["games"], load(full)[:40])
            config["network"] |= {"widths": [16], "recurrent": 16, "decoder": [16]}
            config["runs"] = 3
            return config
        config |= {"envs": 8, "rollout": 32, "steps": 8 * 32 * 4}
        config.setdefault("ppo", {})["minibatches"] = 2
        config["output"] |= {"minutes": None, "logs": 2}
        return config

    def watch(self) -> None:
        """What is known so far, written down every few seconds."""
        while not self.over.wait(EVERY_S):
            self.write()
        self.write()

    def write(self) -> None:
        found: dict[str, Any] = {}
        for name, told in dict(self.told).items():
            log = self.work / name / "log.jsonl"
            lines = [json.loads(x) for x in log.read_text().splitlines() if x.endswith("}")] if log.exists() else []
            found[name] = dict(told) | {"curve": lines}
            self.pack(name)
        beside = self.out / ".results.json"
        beside.write_text(json.dumps(found))
        beside.replace(self.out / "results.json")

    def pack(self, name: str) -> None:
        """The stage's policies, or its last snapshot if it has none yet."""
        folder = self.work / name
        policies = sorted(folder.glob("policies/*.safetensors"))
        files = policies or sorted(folder.glob("snapshots/*.safetensors"))[-1:]
        target = self.out / f"{name}.tar"
        newest = max((f.stat().st_mtime for f in files), default=0.0)
        if not files or (target.exists() and target.stat().st_mtime >= newest):
            return
        beside = self.out / f".{name}.tar"
        with tarfile.open(beside, "w") as tar:
            for file in files:
                tar.add(file, arcname=f"{name}/{file.name}")
        beside.replace(target)


if __name__ == "__main__":
    sys.exit(main())
