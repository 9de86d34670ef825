"""Fill a leaderboard: every baseline plays an evaluation over the wire, by the schedule that everybody gets."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from interplay.challenge import admin, client, leaderboard, results
from interplay.challenge.app_state import lease_name
from interplay.challenge.http_app import build
from interplay.challenge.schema import submissions
from interplay.challenge.spec import Challenge
from interplay.errors import InterplayError
from interplay.server.app import Base
from interplay.server.clock import SystemClock
from interplay.server.database import Database
from interplay.server.lease import acquire
from interplay.server.serve import serving
from interplay.table import Table

PLAN = "A baseline of the host: {name}, as it comes with interplay, played once by the schedule."
HANABI = (
    "random", "hanabi/simple", "hanabi/outer", "hanabi/iggi", "hanabi/piers", "hanabi/holmes", "hanabi/smart",
    "hanabi/hgroup", "hanabi/hgroup-regular", "hanabi/hgroup-novice", "trained/hanabi/{setting}/ippo-1",
    "trained/hanabi/{setting}/bc-1",
)  # fmt: skip


def agents_by_setting(name: str, settings: Sequence[str]) -> dict[str, str]:
    """Return who plays in which setting; `{setting}` in a name stands for the setting."""
    return {setting: name.replace("{setting}", setting) for setting in settings}


def short_name(name: str) -> str:
    """Return a baseline's name on the leaderboard."""
    return name.removeprefix("trained/").replace("/{setting}", "")


def begun(database: Database, challenge: Challenge) -> dict[str, str]:
    """Return the baselines that stand on the leaderboard already, by name, with their state."""
    query = sa.select(submissions.c.agent, submissions.c.status).where(
        submissions.c.challenge == challenge.name, submissions.c.baseline, submissions.c.status != "void"
    )
    return dict(database.read(lambda tx: tx.execute(query).tuples().all()))


def run_baselines(
    challenge: Challenge,
    database: Database,
    names: Sequence[str],
    *,
    at_once: int = 64,
    tell: Callable[[str], None] = lambda text: None,
    progress: Callable[[int, int], Any] | None = None,
) -> Table:
    """Play every baseline that is not on the leaderboard yet, and return the leaderboard.

    Args:
        challenge: The challenge.
        database: Its database.
        names: Agents; `{setting}` in a name stands for the setting.
        at_once: Games in play at a time.
        tell: Hears of each baseline.
        progress: As for `client.play`.

    Raises:
        InterplayError: A baseline was begun before and not finished, or cannot play.
    """
    standing, settings = begun(database, challenge), [s.name for s in challenge.settings]
    left = [name for name in names if short_name(name) not in standing]
    stopped = [n for n, status in standing.items() if status == "playing"]
    if stopped:
        raise InterplayError(
            f"the baseline {stopped[0]!r} was begun and not finished, and its key is gone: strike it with `interplay "
            f"challenge books FILE --evaluation NAME --void unfinished`, and start again"
        )
    if left:
        base = Base(database, lease=acquire(database, lease_name(challenge)))
        with serving(build(challenge, base, sizes=(4, 64), capacity=256)) as (url, _):
            for name in left:
                tell(f"{short_name(name)}: {sum(s.games for s in challenge.settings)} games")
                _play(challenge, database, url, name, agents_by_setting(name, settings), at_once, progress)
            _settle(challenge, database)
    return board(challenge, database)


def _play(
    challenge: Challenge,
    database: Database,
    url: str,
    name: str,
    agents: Mapping[str, str],
    at_once: int,
    progress: Any,
) -> None:
    client.check_agents(url, agents)  # before anything is dealt
    keys = admin.issue(
        database, challenge, "host", "host", short_name(name), PLAN.format(name=name), baseline=True
    )  # fmt: skip
    client.play(url, keys["evaluation_key"], agents, at_once=at_once, seed=0, progress=progress)


def _settle(challenge: Challenge, database: Database, patience_s: float = 600.0) -> None:
    """Wait until the results of all games are computed."""
    end = time.monotonic() + patience_s
    while database.read(results.unsettled, challenge.name):
        if time.monotonic() > end:
            raise InterplayError("the results are still being computed; serve the challenge to have them finished")
        time.sleep(0.5)


def board(challenge: Challenge, database: Database) -> Table:
    """Return the leaderboard as a table: one row for each evaluation and setting."""
    rows = []
    for entry in database.read(leaderboard.entries, challenge, SystemClock().now()):
        for setting in entry.get("settings", ()):
            first, *rest = setting["by_seats"]
            several = rest[0] if rest else {"mean": None}
            rows.append(
                {
                    "setting": setting["setting"],
                    "agent": entry["agent"],
                    "baseline": entry["baseline"],
                    "games": first["games"],
                    "one_seat": first["mean"],
                    "low": first["mean_low"],
                    "high": first["mean_high"],
                    "several_seats": several["mean"],
                    "median": setting["median"],
                    "bombs": setting["bombs"],
                    **({"scoring": setting["scoring"]} if "scoring" in setting else {}),
                    "forfeits": setting["forfeits"],
                }
            )
    order = sorted(rows, key=lambda row: (row["setting"], -row["one_seat"]))
    return Table.of(order, f"{challenge.title} ({challenge.hash})")
