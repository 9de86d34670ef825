"""The state of a running challenge: joins the database (what is allowed) and the engines (what is played).

Every game in play is a `Match`. A match belongs to the key that it was dealt to and is held by at most one connection
at a time; its moves are numbered, and its deadline runs whether a connection holds it or not.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import jax
import orjson

from interplay.agents.api import Agent, Identity, as_agent
from interplay.agents.registry import agent as find_agent
from interplay.challenge import repository
from interplay.challenge.array_encoding import pack_tree
from interplay.challenge.candidate_table import CandidateTable, CandidateView
from interplay.challenge.repository import Claim, Submission
from interplay.challenge.schedule import Seats, line_ups
from interplay.challenge.spec import Challenge, ChallengeSetting
from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.games.registry import make_recorded
from interplay.partners.panels import panel
from interplay.rollout.live import LiveEngine, PartnerFault, live_engine
from interplay.rollout.live_python import TEXT
from interplay.server.api_error import ApiError
from interplay.server.api_keys import Key
from interplay.server.app import Base
from interplay.server.database import DatabaseUnavailable, repeat
from interplay.traces.export import to_record

T = TypeVar("T")
LOG = logging.getLogger("interplay.challenge")
TEST_PARTNER = "random"  # whom test keys play with
SIZES = (4, 64)  # of compiled batches
KEPT = 1024  # games whose last answer can be given again
TEST_SHARE = 0.5  # of all games in play, tests may be so many: evaluations always find room
PATIENCE_S = 5.0  # how long a client waits for a result to be booked before it is told to ask again


@dataclass(frozen=True)
class PreparedSetting:
    """A setting made ready: its game, its hidden partners, its line-ups, its engines."""

    setting: ChallengeSetting
    game: Game
    partners: tuple[Agent, ...]
    identities: tuple[Identity, ...]
    choices: tuple[Seats, ...]
    engine: LiveEngine
    tests: LiveEngine

    @functools.cached_property
    def encodings(self) -> tuple[str, ...]:
        """What a candidate may read: no privileged views, and only what can be sent."""
        state = self.game.init(jax.random.key(0))
        names = []
        for name, encoding in self.game.encodings.items():
            if not encoding.privileged and _can_be_sent(self.game.observe(state, name)):
                names.append(name)
        return tuple(names) if is_jax(self.game) else (*names, TEXT)


@dataclass
class Match:
    """A game in play. `seq` counts the candidate's moves; the answer to the last one is kept, to be given again."""

    id: str
    stage: PreparedSetting
    table: CandidateTable
    engine: LiveEngine
    key: str
    team: int
    claim: Claim | None = None  # None: a test, which is not booked
    submission: Submission | None = None
    seq: int = 0
    history: list[CandidateView] = field(default_factory=list)
    last_actions: dict[int, int] | None = None
    last_views: list[CandidateView] = field(default_factory=list)
    holder: Any = None  # the connection that plays it
    deadline: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    over: bool = False
    booking: asyncio.Task[None] | None = None  # from the end of the game on, until the result is stored

    @property
    def view(self) -> CandidateView:
        """What the candidate's seats see now."""
        return self.history[-1]


class ChallengeState:
    """Everything that a running challenge holds in memory."""

    def __init__(self, challenge: Challenge, base: Base, *, sizes: Sequence[int] | None = None, capacity: int = 512):
        self.challenge, self.base = challenge, base
        self.stages = {s.name: make_stage(s, sizes=sizes) for s in challenge.settings}
        self.matches: dict[str, Match] = {}
        self._finished: dict[str, Match] = {}
        self._next_test = 0
        self._watch: asyncio.Task | None = None
        self._capacity, self._most_tests = capacity, max(1, int(capacity * TEST_SHARE))
        self._bookings: set[asyncio.Task[None]] = set()
        self.played: Callable[[Submission], None] = lambda submission: None  # told when all games are booked

    @property
    def choices(self) -> dict[str, Sequence[Seats]]:
        """The line-ups of every setting."""
        return {name: stage.choices for name, stage in self.stages.items()}

    async def open(self) -> None:
        """Begin: what was in play when the last server stopped is dealt anew."""
        await self.base.own(lease_name(self.challenge))
        lost = await self.base.database.awrite(repository.restart, self.base.clock, self.challenge)
        if lost:
            LOG.warning("%d games were in play when the server stopped; they are dealt anew", lost)
        every_s = min(1.0, self.challenge.rules.move_deadline_s / 4)
        self._watch = asyncio.create_task(repeat(every_s, self.end_late, "looking after deadlines", LOG))

    async def close(self) -> None:
        """Stop the deadline watch and bookings, and close all engines."""
        for task in [self._watch, *self._bookings]:
            if task is not None:
                task.cancel()
        for stage in self.stages.values():
            stage.engine.close()
            stage.tests.close()
        await self.base.disown()

    # Dealing.

    async def deal(
        self, key: Key, submission: Submission, count: int, encoding: str | None, holder: Any, skip: bool
    ) -> list[Match]:
        """Games for a connection: first those that nobody holds any more, then new ones from the schedule."""
        views = {name: self.encoding(stage, encoding) for name, stage in self.stages.items()}
        resumed = [
            m
            for m in self.matches.values()
            if m.key == key.name and m.holder is None and not m.over and m.table.encoding == views[m.stage.setting.name]
        ][:count]
        for match in resumed:
            match.holder = holder
        room = self._capacity - len(self.matches)
        if room <= 0 and not resumed:
            raise ApiError("unavailable", "the server is full: try again in a while")
        most = self.challenge.rules.concurrency
        claims = await self.base.database.awrite(
            repository.claim, self.base.clock, self.challenge, submission, min(count - len(resumed), room), most
        )
        new = []
        for claim in claims:
            stage = self.stages[claim.setting]
            name = f"{submission.public}-{claim.number}-{claim.attempt}"
            table = CandidateTable(claim.seats, claim.chance, views[claim.setting])
            new.append(
                Match(name, stage, table, stage.engine, key.name, submission.team, claim, submission, holder=holder)
            )
        await self._begin(new, skip)
        return resumed + [m for m in new if m.history]

    def encoding(self, stage: PreparedSetting, name: str | None) -> str:
        """The encoding that a candidate reads: the one it names, which must be one it may read, or the challenge's."""
        wanted = name or self.challenge.published_protocol or stage.encodings[0]
        if wanted not in stage.encodings:
            raise ApiError("bad_request", f"encoding {wanted[:40]!r}: one of {', '.join(stage.encodings)}")
        return wanted

    async def test(
        self, key: Key, setting: Any, seats: Sequence[int], encoding: str | None, holder: Any, skip: bool
    ) -> Match:
        """A game with random partners, which counts nowhere."""
        stage = self.stages.get(setting) if isinstance(setting, str) else None
        if stage is None:
            raise ApiError("bad_request", f"setting: one of {', '.join(self.stages)}")
        own = set(seats)
        if not own or not own <= set(range(stage.game.num_seats)) or len(own) != len(seats):
            raise ApiError("bad_request", f"seats: some of 0 to {stage.game.num_seats - 1}, each once")
        team = int(key.subject.partition(":")[2])
        tests = [match for match in self.matches.values() if match.claim is None]
        if sum(match.team == team for match in tests) >= self.challenge.rules.concurrency:
            raise ApiError("too_many", f"a team plays at most {self.challenge.rules.concurrency} tests at a time")
        if len(tests) >= self._most_tests or len(self.matches) >= self._capacity:
            raise ApiError("unavailable", "the server is full of tests: try again in a while")
        view = self.encoding(stage, encoding)
        chance = (secrets.randbits(32), secrets.randbits(32))
        placed = tuple(None if seat in own else 0 for seat in range(stage.game.num_seats))
        self._next_test += 1
        table = CandidateTable(placed, chance, view)
        match = Match(f"test-{self._next_test}", stage, table, stage.tests, key.name, team, holder=holder)
        await self._begin([match], skip)
        if not match.history:
            raise ApiError("unavailable", "this game could not be dealt; try again")
        return match

    async def _begin(self, new: Sequence[Match], skip: bool) -> None:
        for match in new:
            self.matches[match.id] = match
            match.deadline = float("inf")  # until it is dealt
        going = (asyncio.shield(asyncio.ensure_future(self._dealt(m, skip))) for m in new)
        await asyncio.gather(*going, return_exceptions=True)

    async def _dealt(self, match: Match, skip: bool) -> None:
        async with match.lock:
            await self._play(match, match.table.begin(match.engine, skip))

    # Playing.

    def mine(self, key: Key, game: Any) -> Match:
        """A match of this key."""
        match = (self.matches.get(game) or self._finished.get(game)) if isinstance(game, str) else None
        if match is None or match.key != key.name:
            raise ApiError("gone", "this game is not in play: it is over, was dealt anew, or is not yours")
        return match

    def take_over(self, key: Key, game: Any, holder: Any) -> Match:
        """Hold a match, whoever held it before."""
        match = self.mine(key, game)
        if match.over:
            raise ApiError("gone", "this game is over")
        match.holder = holder
        return match

    def release(self, holder: Any) -> None:
        """A connection has ended: what it held may be resumed until its deadline."""
        for match in list(self.matches.values()):
            if match.holder is holder:
                match.holder = None
                if match.claim is None and not match.lock.locked():
                    self._end(match)  # tests are not kept

    async def move(
        self, match: Match, seq: int, actions: Mapping[int, int], skip: bool, holder: Any
    ) -> list[CandidateView]:
        """The candidate's move number `seq`. The same move again gives the same answer; another one is refused."""
        # Shielded: a move that was taken is played, whatever happens to the connection that brought it.
        return await asyncio.shield(asyncio.ensure_future(self._move(match, seq, dict(actions), skip, holder)))

    async def _move(
        self, match: Match, seq: int, actions: dict[int, int], skip: bool, holder: Any
    ) -> list[CandidateView]:
        async with match.lock:
            # The answer to the last move of a game may get lost with its connection: any other may ask again.
            if match.holder is not holder and not match.over:
                raise ApiError("not_yours", "another connection plays this game; `resume` takes it over")
            if seq == match.seq - 1 and match.last_views and match.last_actions is not None:
                if actions != match.last_actions:
                    raise ApiError("conflict", f"move {seq} was made already, and was another")
                await self._wait_booked(match)
                return match.last_views
            if match.over:
                raise ApiError("gone", "this game is over")
            if seq != match.seq:
                raise ApiError("conflict", f"move {seq} is out of order: this game waits for move {match.seq}")
            self._check(match, actions)
            match.deadline = float("inf")  # the server's own time does not count
            match.last_actions, match.seq = actions, match.seq + 1
            return await self._play(match, match.table.advance(match.engine, actions, skip))

    def _check(self, match: Match, actions: Mapping[int, int]) -> None:
        view, own = match.view, set(match.table.candidate)
        if set(actions) - own:
            raise ApiError("wrong_seat", f"your seats in this game are {sorted(own)}")
        for seat in own:
            if seat not in actions:
                if view.turn[seat]:
                    raise ApiError("bad_request", f"seat {seat} is to move: give its action")
                continue
            action, legal = actions[seat], view.legal[seat]
            if not (0 <= action < len(legal) and legal[action]):
                why = "is not legal now" if view.turn[seat] else "is out of turn: only the no-op is legal"
                raise ApiError("illegal_action", f"action {action} of seat {seat} {why}")

    async def _play(self, match: Match, going: Any) -> list[CandidateView]:
        try:
            views = await going
        except PartnerFault as fault:
            await self._put_back(match, str(fault), abandoned=False)
            raise ApiError("gone", f"{fault}; the game does not count and will be dealt anew") from None
        match.history += views
        match.last_views = views
        match.deadline = self.base.clock.monotonic() + self.challenge.rules.move_deadline_s
        if match.view.done:
            await self._store_result(match)
        return views

    # Ending.

    async def _store_result(self, match: Match, forfeit: bool = False) -> None:
        """Write the result down; only then is it told.

        Raises:
            DatabaseUnavailable: It could not be stored yet. It is tried again until it can.
            ApiError: It can never be stored; the game is dealt anew.
        """
        match.over = True
        if match.claim is None:
            self._end(match)
            return
        match.booking = asyncio.create_task(self._stored(match, match.claim, forfeit))
        self._bookings.add(match.booking)
        match.booking.add_done_callback(self._bookings.discard)
        await self._wait_booked(match)

    async def _wait_booked(self, match: Match) -> None:
        """Wait until the result of a game that is over is stored, as long as a client can be made to wait."""
        if match.booking is not None:
            done, _ = await asyncio.wait({match.booking}, timeout=PATIENCE_S)
            if not done:
                raise DatabaseUnavailable
            match.booking.result()

    async def _stored(self, match: Match, claim: Claim, forfeit: bool) -> None:
        """Store the result of a game, however long the database is away; if it cannot be stored, put the game back."""
        assert match.submission is not None
        score = self.challenge.rules.forfeit_score if forfeit else match.table.live.score
        try:
            packed = await asyncio.to_thread(pack_episode, match)
            last = await self.base.database.awrite_patiently(
                repository.finish, self.base.clock, match.submission, claim, score=score, length=match.table.live.t,
                episode=packed, forfeit=forfeit,
            )  # fmt: skip
            self._remember(match)
            if last:
                self.played(match.submission)
        except ApiError:
            raise
        except Exception as error:
            LOG.exception("game %s could not be booked", match.id)
            await self._put_back(match, f"not booked: {type(error).__name__}", abandoned=False)
            raise ApiError("gone", "the server could not keep this game; it will be dealt anew") from None
        finally:
            self._end(match)

    def _remember(self, match: Match) -> None:
        """Keep the last answer of a booked game for a while."""
        match.history = match.history[-1:]
        self._finished[match.id] = match
        while len(self._finished) > KEPT:
            del self._finished[next(iter(self._finished))]

    def _end(self, match: Match) -> None:
        match.over = True
        self.matches.pop(match.id, None)
        match.table.live.close()

    async def _put_back(self, match: Match, why: str, *, abandoned: bool) -> None:
        self._end(match)
        LOG.warning("game %s is dealt anew: %s", match.id, why)
        if match.claim is not None:
            write = self.base.database.awrite_patiently
            await write(repository.put_back, self.base.clock, match.claim, why, abandoned=abandoned)

    async def end_late(self) -> None:
        """End the games whose candidate did not move in time."""
        now = self.base.clock.monotonic()
        late = [match for match in self.matches.values() if match.deadline < now and not match.over]
        for outcome in await asyncio.gather(*(self._end_if_late(match, now) for match in late), return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, ApiError):
                raise outcome

    async def _end_if_late(self, match: Match, now: float) -> None:
        async with match.lock:
            if not match.over and match.deadline < now:
                await self._abandon(match)

    async def _abandon(self, match: Match) -> None:
        rules = self.challenge.rules
        deadline = {"seconds": rules.move_deadline_s, "policy": rules.abandoned}
        match.table.live.add_event(None, "deadline", deadline)
        failed_start = match.seq == 0  # the client never moved: it may have failed before its agent could play
        if match.claim is not None and (rules.abandoned == "void" or failed_start):
            voids = await self.base.database.aread(repository.voids, match.claim)
            if voids < rules.most_voids:
                why = "made no move at all" if failed_start else "did not move in time"
                await self._put_back(match, f"the candidate {why}", abandoned=True)
                return
        await self._store_result(match, forfeit=True)


def lease_name(challenge: Challenge) -> str:
    """Return the name of a challenge's lease, which one server at a time owns."""
    return f"challenge {challenge.name}"


def _can_be_sent(observation: Any) -> bool:
    try:
        pack_tree(observation, "base64")
    except InterplayError:
        return False
    return True


def pack_episode(match: Match) -> bytes:
    """The trace of a game, for the repository."""
    candidate = Identity("candidate", "", False)
    index = match.claim.number if match.claim else 0
    episode = match.table.episode(match.stage.identities, candidate, index)
    return zlib.compress(orjson.dumps(to_record(episode, index)), 6)


def make_stage(setting: ChallengeSetting, *, sizes: Sequence[int] | None = None) -> PreparedSetting:
    """A setting with its game and partners made; an error says what is wrong with it."""
    try:
        game = make_recorded(setting.game, setting.options)
        if setting.panel is not None:
            partners = panel(game, setting.panel).partners
        else:
            partners = tuple(as_agent(name, game=game) for name in setting.partners)
        identities = tuple(agent.identity(game) for agent in partners)
        choices = tuple(line_ups(game.num_seats, len(partners), setting.several_seats))
        engine = live_engine(game, _numbered(partners), sizes=sizes or SIZES)
        tests = live_engine(game, _numbered([find_agent(TEST_PARTNER)]), sizes=sizes or SIZES)
    except InterplayError as error:
        raise InterplayError(f"setting {setting.name!r}: {error}") from error
    return PreparedSetting(setting, game, partners, identities, choices, engine, tests)


def _numbered(partners: Sequence[Agent]) -> dict[str, Agent]:
    """Hidden partners go by their number."""
    return {str(number): agent for number, agent in enumerate(partners)}
