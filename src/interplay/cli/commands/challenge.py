"""`interplay challenge ...`: host a challenge, and take part in one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from interplay.cli.bundled_examples import ExampleCommand
from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError
from interplay.progress import bar
from interplay.server.serve import Listen
from interplay.table import Table
from interplay.untrusted_files import read_text

if TYPE_CHECKING:
    from interplay.challenge.spec import Challenge
    from interplay.server.database import Database


def _key(key_option: str | None) -> str:
    key = key_option or os.environ.get("INTERPLAY_KEY")
    if not key:
        raise InterplayError("give your key: --key KEY, or better in the environment variable INTERPLAY_KEY")
    return key


@dataclass(frozen=True)
class _ChallengeFile:
    """A challenge that is served or looked over here."""

    challenge: Annotated[Path, tyro.conf.Positional]
    """The challenge file, or the name of a challenge that comes with the package (`interplay challenge example`)."""

    def _load(self) -> Challenge:
        from interplay.challenge.spec import load

        return load(self.challenge)


@dataclass(frozen=True)
class _HostedChallenge(_ChallengeFile):
    """A challenge with its database."""

    database: Annotated[str | None, tyro.conf.arg(aliases=["--db"])] = None
    """The database: a path (SQLite) or postgresql://...; by default NAME.db here."""

    def _open(self, challenge: Challenge) -> Database:
        from interplay.challenge import admin

        return admin.open_challenge_database(self.database or admin.default_address(challenge))


@dataclass(frozen=True, kw_only=True)
class _KeyOption:
    """What one of the team's or evaluation's keys opens."""

    url: str
    """The address of the server."""
    key: str | None = None
    """The team's key, or the evaluation's; by default from the environment variable INTERPLAY_KEY."""


@dataclass(frozen=True)
class ChallengeCheck(JsonOption, _ChallengeFile):
    """Look a challenge file over before it is served: its games and partners are made, and counts are told.

    Examples:
      interplay challenge check hanabi_proxies
    """

    def run(self) -> None:
        """Make the games and partners of every setting and print the counts."""
        from interplay.challenge.admin import describe_settings

        show(describe_settings(self._load()), json=self.json)


@dataclass(frozen=True)
class ChallengeExample(ExampleCommand):
    """Challenges that come with the package: list them, or write one as a file to change.

    Examples:
      interplay challenge example
      interplay challenge example hanabi_proxies --out mine.yaml
    """

    def run(self) -> None:
        """Write the example that is named, or list all."""
        from interplay.challenge.spec import load
        from interplay.server.examples import CHALLENGES

        if self.write_named(CHALLENGES, "interplay challenge check"):
            return
        rows = []
        for name, path in CHALLENGES.files().items():
            one = load(path)
            rows.append({"name": name, "title": one.title, "settings": ", ".join(s.name for s in one.settings)})
        show(Table.of(rows, "Challenges that come with interplay"), json=self.json)


@dataclass(frozen=True)
class ChallengeServe(Listen, _HostedChallenge):
    """Host a challenge: leaderboard, registration, games with hidden partners.

    Examples:
      interplay challenge serve hanabi_demo
      interplay challenge serve my.yaml --database postgresql://user@host/name --host 0.0.0.0 --port 443
        --certificate server.pem --private-key server.key
    """

    capacity: int = 512
    """Games in play at once, of each setting."""
    batch: tuple[int, ...] = (4, 64)
    """Numbers of games for which steps are compiled; fewer start sooner."""

    def run(self) -> None:
        """Serve the challenge until interrupted."""
        from interplay.challenge.app_state import lease_name
        from interplay.challenge.http_app import build
        from interplay.server.app import Base
        from interplay.server.lease import acquire
        from interplay.server.serve import check_listen, run

        challenge = self._load()
        check_listen(self)
        database = self._open(challenge)
        base = Base(database, lease=acquire(database, lease_name(challenge)))
        note(f"{challenge.title}: making partners and compiling, which takes a while the first time ...")
        app = build(challenge, base, sizes=self.batch, capacity=self.capacity)
        host = app.state.host
        for stage in host.stages.values():
            for encoding in stage.encodings:
                stage.engine.warm(encoding)
        note(f"serving {challenge.name} at {self.url}; database {database.engine.url}; stop with Ctrl-C")
        run(app, self, base=base)
        database.close()


@dataclass(frozen=True, kw_only=True)
class ChallengeRegister(JsonOption):
    """Register a team with a challenge. Its keys are shown once.

    Examples:
      interplay challenge register --url http://127.0.0.1:8000 --team ours --contact us@example.org
    """

    url: str
    """The address of the server."""
    team: str
    """The name under which results appear."""
    contact: str
    """Where the host can reach you; never shown."""

    def run(self) -> None:
        """Register the team and print its keys."""
        from interplay.challenge.client import call

        keys = call(self.url, "POST", "/api/v1/teams", team=self.team, contact=self.contact)
        show(Table.of([keys], "Keys, shown this once: keep them"), json=self.json)


@dataclass(frozen=True, kw_only=True)
class ChallengeEnter(JsonOption, _KeyOption):
    """Begin an evaluation: your plan is stored, hashed and dated, the schedule is fixed, and a key is shown once.

    Examples:
      interplay challenge enter --url http://127.0.0.1:8000 --key TEAM_KEY --name my-agent --plan plan.md
    """

    name: str
    """The name of the agent on the leaderboard."""
    plan: Path
    """The pre-registration: a text that says what is evaluated and what you expect."""

    def run(self) -> None:
        """Begin the evaluation and print its key."""
        from interplay.challenge.client import call

        text = read_text(self.plan)
        evaluation = call(self.url, "POST", "/api/v1/evaluations", _key(self.key), agent=self.name, plan=text)
        show(Table.of([evaluation], "The evaluation and its key, shown this once: keep it"), json=self.json)


@dataclass(frozen=True, kw_only=True)
class ChallengePlay(JsonOption, _KeyOption):
    """Play an evaluation with any agent of interplay: all games that are left, many at once.

    Stop it and start it again as you like; no game is lost and none is played twice.

    Examples:
      interplay challenge play --url http://127.0.0.1:8000 --key EVALUATION_KEY --agent hanabi/smart
      interplay challenge play --url https://host --agent 2p=two.safetensors 3p=three.safetensors --predict
    """

    agent: tuple[str, ...]
    """An agent for all settings, or SETTING=AGENT for each."""
    at_once: int = 64
    """Games in play at a time."""
    connections: int = 2
    """Connections that share them."""
    games: int | None = None
    """Stop after so many games; by default when all are played."""
    predict: bool = False
    """Go on with the action prediction when all games are played."""
    seed: int | None = None
    """Seed of the agent's own chances; by default a random one."""

    def run(self) -> None:
        """Play, predict if asked for, and print where the evaluation stands."""
        from interplay.challenge import client

        key, agents = _key(self.key), client.read_agents(self.agent)
        for name, value in (("--at-once", self.at_once), ("--connections", self.connections)):
            if value < 1:
                raise InterplayError(f"{name} {value}: at least 1")
        with _progress("playing") as progress:
            standing = client.play(
                self.url, key, agents, at_once=self.at_once, connections=self.connections, seed=self.seed,
                most=self.games, progress=progress,
            )  # fmt: skip
        if self.predict and standing["status"] != "playing":
            with _progress("predicting") as progress:
                standing = client.predict(self.url, key, agents, at_once=self.at_once, progress=progress)
        row = {k: standing[k] for k in ("evaluation", "agent", "status")} | standing["games"]
        show(Table.of([row], "Where the evaluation stands"), json=self.json)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], Callable[[int], None]]]:
    """A bar whose length is known only when the server has told it."""
    opened: list[Any] = []

    def begin(left: int, done: int) -> Callable[[int], None]:
        if done:
            note(f"{done} are done already")
        progress_bar = bar(what, left)
        opened.append(progress_bar)
        return progress_bar.__enter__()

    try:
        yield begin
    finally:
        for progress_bar in opened:
            progress_bar.__exit__(*sys.exc_info())


@dataclass(frozen=True, kw_only=True)
class ChallengeResult(_KeyOption):
    """Fetch the signed result of your evaluation, and its traces once they are given out.

    Examples:
      interplay challenge result --url http://127.0.0.1:8000 --key KEY --evaluation 0a1b2c3d4e5f --out result.json
    """

    evaluation: str
    """The evaluation's name, as `interplay challenge enter` told it."""
    out: Path
    """Where to write the result."""
    traces: Path | None = None
    """Where to write the traces, as JSON lines."""

    def run(self) -> None:
        """Fetch the result, and the traces if asked for."""
        from interplay.challenge.client import call, save

        path = f"/api/v1/evaluations/{self.evaluation}"
        save(call(self.url, "GET", f"{path}/result", _key(self.key)), self.out)
        note(f"result: {self.out}")
        if self.traces:
            self.traces.write_bytes(call(self.url, "GET", f"{path}/traces", _key(self.key)).content)
            note(f"traces: {self.traces}")


@dataclass(frozen=True)
class ChallengeVerify(JsonOption):
    """Check a result or a leaderboard: was it signed by the server, and, with traces, do they give its numbers?

    Exit code 1 if anything is wrong.

    Examples:
      interplay challenge verify result.json --public-key KEY
      interplay challenge verify result.json --url https://host --traces traces.jsonl
    """

    file: Annotated[Path, tyro.conf.Positional]
    """The signed JSON."""
    public_key: str | None = None
    """The public key that you trust."""
    url: str | None = None
    """Or the server that you trust, which is asked for its key."""
    traces: Path | None = None
    """The traces that belong to the result: replayed, and compared with it game by game."""

    def run(self) -> int:
        """Check the file, print what was checked, and return the exit code."""
        from interplay.challenge.client import call
        from interplay.challenge.verify_result import check

        trusted = self.public_key or (call(self.url, "GET", "/api/v1/challenge")["public_key"] if self.url else None)
        checks = check(self.file, trusted, self.traces)
        show(checks, json=self.json)
        return 0 if all(row["fine"] for row in checks) else 1


@dataclass(frozen=True, kw_only=True)
class ChallengeIssue(JsonOption, _HostedChallenge):
    """The host hands out an evaluation, to a team or as a baseline, which takes no rank and no quota.

    Examples:
      interplay challenge issue challenges/hanabi_demo.yaml --agent smart --baseline
    """

    agent: str
    """The name of the agent on the leaderboard."""
    team: str = "host"
    """The team; made if it is new."""
    contact: str = "host"
    """Where the team can be reached."""
    plan: Path | None = None
    """The pre-registration."""
    baseline: bool = False
    """Mark the evaluation as a baseline."""

    def run(self) -> None:
        """Issue the evaluation and print its keys."""
        from interplay.challenge.admin import issue

        challenge = self._load()
        text = read_text(self.plan) if self.plan else f"Issued by the host for {self.agent}."
        database = self._open(challenge)
        keys = issue(database, challenge, self.team, self.contact, self.agent, text, baseline=self.baseline)
        database.close()
        show(Table.of([keys], "Keys, shown this once"), json=self.json)


@dataclass(frozen=True)
class ChallengeBaselines(JsonOption, _HostedChallenge):
    """Fill the leaderboard: every baseline plays an evaluation over the wire, by the schedule that everybody gets.

    Baselines that stand there already are left out, so that the command may be stopped between two and started again.

    Examples:
      interplay challenge baselines hanabi_proxies
      interplay challenge baselines hanabi_demo --agents random hanabi/iggi --database demo.db
      interplay challenge baselines hanabi_proxies --agents "trained/hanabi/{setting}/ippo-1"
    """

    agents: tuple[str, ...] = ()
    """Who plays; {setting} stands for the setting's name. By default a dozen that come with interplay (Hanabi)."""
    games: int | None = None
    """Games of each setting, for a trial: this is then another challenge, with another hash."""
    at_once: int = 64
    """Games in play at a time."""

    def run(self) -> None:
        """Play all baselines and print the leaderboard."""
        from interplay.challenge import baselines

        challenge = self._load()
        if self.games is not None:
            fewer = tuple(s.model_copy(update={"games": self.games}) for s in challenge.settings)
            challenge = challenge.model_copy(update={"settings": fewer, "name": f"{challenge.name}-{self.games}"})
        hanabi = all(s.game.startswith("hanabi/") for s in challenge.settings)
        if not self.agents and not hanabi:
            raise InterplayError("name the baselines: --agents AGENT ...")
        database = self._open(challenge)
        try:
            with _progress("playing") as progress:
                table = baselines.run_baselines(
                    challenge, database, self.agents or baselines.HANABI, at_once=self.at_once, tell=note,
                    progress=progress,
                )  # fmt: skip
        finally:
            database.close()
        show(table, json=self.json)


@dataclass(frozen=True)
class DatabaseCommand(JsonOption, _HostedChallenge):
    """The host's view of a challenge's database: read the audit log, export traces, strike an evaluation.

    Examples:
      interplay challenge books challenges/hanabi_demo.yaml
      interplay challenge books challenges/hanabi_demo.yaml --evaluation 0a1b2c3d4e5f --out traces
      interplay challenge books challenges/hanabi_demo.yaml --evaluation 0a1b2c3d4e5f --void "found to cheat"
      interplay challenge books hanabi_proxies --review
      interplay challenge books hanabi_proxies --evaluation 0a1b2c3d4e5f --approve
    """

    evaluation: str | None = None
    """An evaluation."""
    out: Path | None = None
    """Folder for its traces, with the hidden partners' names: a trace set for `interplay measure` and `report`."""
    void: str | None = None
    """Strike the evaluation from the table, for this reason."""
    approve: bool = False
    """Approve the plan of the evaluation, so that it can be played (challenges with `plans: reviewed`)."""
    review: bool = False
    """Print the plans that wait for the host."""
    revoke: str | None = None
    """Make a key useless; give the part of it between the two dots."""

    def run(self) -> None:
        """Export, strike or revoke what is named; otherwise print the audit log."""
        from interplay.challenge import admin, repository
        from interplay.server import api_keys as keys
        from interplay.server import audit
        from interplay.server.clock import SystemClock

        challenge = self._load()
        database = self._open(challenge)
        if (self.out or self.void or self.approve) and not self.evaluation:
            raise InterplayError("name the evaluation: --evaluation NAME")
        if self.out and self.evaluation:
            note(f"traces: {admin.traces(database, challenge, self.evaluation, self.out).path}")
        if self.void and self.evaluation:
            database.write(repository.void, SystemClock(), self.evaluation, self.void)
        if self.approve and self.evaluation:
            database.write(repository.approve, SystemClock(), self.evaluation)
        if self.review:
            show(Table.of(database.read(repository.under_review, challenge), "Plans under review"), json=self.json)
        if self.revoke and not database.write(keys.revoke, SystemClock(), self.revoke):
            raise InterplayError(f"there is no key {self.revoke!r} that could be revoked")
        if not (self.out or self.void or self.revoke or self.approve or self.review):
            show(database.read(audit.read), json=self.json)
        database.close()
