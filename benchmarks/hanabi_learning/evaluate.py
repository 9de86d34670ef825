"""What trained policies are worth: with themselves, with their clone and each other, and as a guess at people.

    python benchmarks/hanabi_learning/evaluate.py --players 2 --work WORK --games humans.npz
    python benchmarks/hanabi_learning/evaluate.py --players 3 --work WORK --games games_3p.npz --self-play 5000
    python benchmarks/hanabi_learning/evaluate.py --players 2 --work WORK --stages hdr_2p

WORK is the folder that take_in.py (or run.py --work) filled; what is not there is taken from the package. Policies play
their likeliest action. results/evaluation_2p.json holds

- self_play: mean and its standard error, median, perfect and zero games, least;
- foreseen: see foreseen.py. humans.npz is what `interplay export TRACES --to recorded --learn human` writes;
  games_3p.npz what `run.py games_3p --work WORK` leaves in WORK: the bots' games that clones of three players learn;
- ablation: for every stage that is held near a clone, all of it with each other, in all seatings.

A policy that was evaluated before, by its file's hash, with as many games, is not played again. Policies of a stage
that was trained anew replace those of before. So this is run after every change, and nothing is merged by hand.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import roster as table
from foreseen import People, foreseen, held_out_by
from roster import RESULTS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=2, choices=(2, 3))
    parser.add_argument("--work", type=Path, help="folder of the stages' folders")
    parser.add_argument("--stages", nargs="*", help="only these (default: all that are there)")
    parser.add_argument("--games", type=Path, help="recorded games of people, .npz")
    parser.add_argument("--most-games", type=int, help="of those, at most so many are asked about")
    parser.add_argument("--self-play", type=int, default=1000, help="games of each policy with itself")
    parser.add_argument("--cross-play", type=int, default=200, help="games of each team of an ablation")
    parser.add_argument("--roster", type=Path, default=table.ROSTER)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    evaluate(given)
    return 0


def evaluate(given: argparse.Namespace) -> dict[str, Any]:
    from interplay.games.registry import make

    game = make(f"hanabi/{given.players}p")
    path = given.out / f"evaluation_{given.players}p.json"
    book = Book(path, game.id)
    agents = book.look_up(table.read(given.roster), given.players, given.work)
    chosen = {name: a for name, a in agents.items() if given.stages is None or name.split("/")[0] in given.stages}
    if not chosen:
        there = ", ".join(sorted({name.split("/")[0] for name in agents})) or "none"
        raise SystemExit(
            f"error: no policies of {', '.join(given.stages or ['any stage'])}; there are those of {there}"
        )
    self_play(book, game, chosen, given.self_play)
    if given.games is not None:
        tell_people(book, game, chosen, given)
    held = {name.split("/")[0] for name, a in chosen.items() if "hold" in a.config}
    for stage in sorted(s for s in held if table.files_of(s, given.work)):  # the package has some of a stage's alone
        ablation(book, game, stage, agents, given)
    return book.held


class Book:
    """The file of results, written after every part."""

    def __init__(self, path: Path, game_id: str):
        self.path = path
        empty = {"kind": "evaluation", "game": game_id, "policies": {}, "self_play": {}, "foreseen": {}, "ablation": {}}
        self.held: dict[str, Any] = empty | (json.loads(path.read_text()) if path.is_file() else {})

    def look_up(self, roster: dict, players: int, work: Path | None) -> dict[str, Any]:
        """The agents that are there. What a stage in the work folder had before and has no longer is forgotten."""
        from interplay.agents import neural
        from interplay.agents.api import Agent

        found = {}
        for name, _, file in table.policies(roster, players, work):
            loaded = neural.load(file, greedy=True)
            about = dict(loaded.config) | {"sha256": table.sha256(file)}
            found[name] = Agent(name, loaded.policy, about)
        there = {name.split("/")[0] for name in found if table.files_of(name.split("/")[0], work)}
        for part in ("policies", "self_play", "foreseen"):
            for name in list(self.held[part]):
                if name.split("/")[0] in there and name not in found:
                    del self.held[part][name]
        self.keep("policies", {name: dict(a.config) for name, a in found.items()})
        return found

    def todo(self, part: str, agents: dict[str, Any], games: int | None = None) -> dict[str, Any]:
        """Those whose file, or number of games, is another one than before."""
        held = self.held[part]

        def known(name: str, agent: Any) -> bool:
            before = held.get(name, {})
            return before.get("sha256") == agent.config["sha256"] and (games is None or before.get("games", 0) >= games)

        return {name: agent for name, agent in agents.items() if not known(name, agent)}

    def keep(self, part: str, more: dict[str, Any]) -> None:
        self.held[part] |= more
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(f".{self.path.name}")
        beside.write_text(json.dumps(self.held, indent=1) + "\n")
        beside.replace(self.path)


def self_play(book: Book, game: Any, agents: dict[str, Any], episodes: int) -> None:
    from interplay.rollout.engine import run
    from interplay.rollout.teams import Team

    todo = book.todo("self_play", agents, episodes)
    for stage, names in itertools.groupby(todo, key=lambda name: name.split("/")[0]):  # of one kind: compiled once
        mine = list(names)
        teams = [Team.of(game, [agents[name]] * game.num_seats) for name in mine]
        played = run(game, teams, episodes=episodes, seed=7, batch=2048)
        scores = np.array([e.score for e in played], float).reshape(len(mine), episodes)
        told = {n: points(s, game) | {"sha256": agents[n].config["sha256"]} for n, s in zip(mine, scores, strict=True)}
        book.keep("self_play", told)
        print(f"{stage}: " + ", ".join(f"{n.split('/')[1]} {one['mean']:.2f}" for n, one in told.items()), flush=True)


def points(scores: np.ndarray, game: Any) -> dict[str, float]:
    return {
        "mean": float(scores.mean()),
        "se": float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0,
        "median": float(np.median(scores)),
        "perfect": float((scores == game.rules.max_score).mean()),
        "zero": float((scores == 0).mean()),
        "min": float(scores.min()),
        "games": len(scores),
    }


def tell_people(book: Book, game: Any, agents: dict[str, Any], given: argparse.Namespace) -> None:
    from interplay.rollout.recorded_games import load

    todo = book.todo("foreseen", agents)
    if not todo:
        return
    clones = Counter(name.split("/")[0] for name in book.held["policies"] if name.startswith("bc"))
    people = People(game, load(given.games), max(clones.values(), default=5))  # a clone for each split
    told = foreseen(people, todo, given.most_games)
    for name, one in told.items():
        one["sha256"] = agents[name].config["sha256"]
    book.keep("foreseen", told)


def ablation(book: Book, game: Any, stage: str, agents: dict[str, Any], given: argparse.Namespace) -> None:
    """[row, column] the mean score of the row's agent in one seat and the column's in all others, over all seats."""
    held = {name: a for name, a in agents.items() if name.split("/")[0] == stage}
    episodes, clone = given.cross_play, clone_of(stage, next(iter(held.values())), agents, given.out)
    mine = ([] if clone is None else [clone]) + sorted(held.values(), key=lambda a: float(a.config["hold"]))
    hashes = [a.config["sha256"] for a in mine]
    before = book.held["ablation"].get(stage, {})
    names = [a.name for a in mine]
    if (before.get("agents"), before.get("sha256")) == (names, hashes) and before["games"] >= episodes:
        return
    began = time.time()
    means, spreads = met(game, mine, episodes)
    told = {"agents": names, "mean": means.round(3).tolist(), "se": spreads.round(4).tolist()}
    more = {"games": episodes, "sha256": hashes, "wall_s": round(time.time() - began, 1)}
    book.keep("ablation", {stage: told | more})
    print(f"{stage}: with its clone {means[:, 0].round(2).tolist()}", flush=True)


def clone_of(stage: str, agent: Any, agents: dict[str, Any], results: Path) -> Any:
    """The clone that a policy was held near. Its file says which run that was, the stage's configuration of which
    stage; a shipped one is of bc."""
    players = agent.config["game"].split("/")[1]
    file, begun_with = results / "stages" / f"{stage}.json", ""
    if file.is_file():
        options = json.loads(file.read_text())["attempts"][0]["config"]["algorithm"]["options"]
        begun_with = str(options.get("clone", ""))
    of_stage = begun_with.split("/")[0] if begun_with.startswith("bc") else f"bc_{players}"
    return agents.get(f"{of_stage}/{held_out_by(agent.name, agent.config)}")


def met(game: Any, agents: list[Any], episodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Means over all seatings, and their standard errors."""
    from interplay.rollout.engine import run
    from interplay.rollout.teams import Team

    seats = range(game.num_seats)
    places = [(i, j, s) for i, j in itertools.product(range(len(agents)), repeat=2) for s in seats]
    teams = {place: [place[0] if s == place[2] else place[1] for s in seats] for place in places}
    once = sorted({tuple(team) for team in teams.values()})  # at two players each team is that of two places
    played = run(
        game, [Team.of(game, [agents[i] for i in team]) for team in once], episodes=episodes, seed=11, batch=1 << 15
    )
    scores = np.array([e.score for e in played], float).reshape(len(once), episodes)
    mean, var = (dict(zip(once, x, strict=True)) for x in (scores.mean(axis=1), scores.var(axis=1, ddof=1) / episodes))
    total, error = (np.zeros((len(agents), len(agents))) for _ in range(2))
    for place, team in teams.items():
        total[place[:2]] += mean[tuple(team)] / len(seats)
        alone = place[0] == place[1]  # then all seatings are the same games
        error[place[:2]] += var[tuple(team)] / len(seats) ** (1 if alone else 2)
    return total, np.sqrt(error)


if __name__ == "__main__":
    sys.exit(main())
