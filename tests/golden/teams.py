"""A dozen teams whose results stand in a file: moving or renaming code changes no number.

python -m tests.golden.teams     # writes results.json anew; only when rules, agents or keys are meant to change
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("results.json")
TEAMS: list[tuple[str, dict, list[str]]] = [
    ("overcooked/cramped_room", {"horizon": 100}, ["overcooked/greedy", "overcooked/greedy"]),
    ("overcooked/counter_circuit", {"horizon": 100}, ["overcooked/onion_passer", "overcooked/onion_receiver"]),
    ("overcooked/coordination_ring", {"horizon": 100}, ["random", "overcooked/greedy+0.3"]),
    ("overcooked/forced_coordination_multi", {"horizon": 60}, ["random", "random"]),
    ("overcooked/cramped_room", {"players": 3, "horizon": 60}, ["random", "stay", "overcooked/dish_only"]),
    ("hanabi/2p", {}, ["hanabi/smart", "hanabi/piers"]),
    ("hanabi/3p", {}, ["hanabi/holmes", "random", "hanabi/value"]),
    ("hanabi/2p", {"bomb": "keep"}, ["hanabi/simple+0.2", "hanabi/iggi"]),
    ("rescue/cottage", {"horizon": 80}, ["rescue/helper", "rescue/loner"]),
    ("rescue/generated", {"horizon": 60}, ["random", "rescue/helper"]),
    ("kitchen/rc", {"level": 1, "number": 1}, ["random", "random"]),
    ("kitchen/original", {"level": 1, "number": 2}, ["llm:scripted/reference", "llm:scripted/reference"]),
]


def results(number: int) -> dict:
    """What a team does in three episodes: scores, and a digest of all actions and checksums."""
    import hashlib

    import interplay

    game, options, agents = TEAMS[number]
    traces = interplay.play(interplay.make(game, **options), agents, episodes=3, seed=7)
    digest = hashlib.sha256()
    for episode in traces:
        digest.update(np.asarray(episode.actions, "<i2").tobytes() + np.asarray(episode.checks, "<u4").tobytes())
    return {
        "team": f"{game} {json.dumps(options, sort_keys=True)}: {' | '.join(agents)}",
        "hashes": [identity.hash for identity in traces[0].agents],
        "scores": [episode.score for episode in traces],
        "digest": digest.hexdigest()[:32],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps([results(n) for n in range(len(TEAMS))], indent=1) + "\n")
