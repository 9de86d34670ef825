"""Rows of games: begin a game, resume it after a crash, and finish it."""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from interplay.rollout.episode import Episode
from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.lease import expire, of_owner, with_prefix
from interplay.study.db.game_events import GameEvents, StoredEvent, same_game, stored_events
from interplay.study.db.groups import Room, leave, present, room_of
from interplay.study.db.participants import OVER, WITHDRAWN, Person, advance, person
from interplay.study.db.schema import events, games, people
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import Protocol
from interplay.traces.export import from_record, to_record
from interplay.untrusted_files import inflate, parse_json

PLAYING, DONE = "playing", "done"
ABANDONED = "abandoned"  # ended early, because someone in it stopped taking part
# Asked for every game, so they are made once.
_ON_PAGE = sa.select(games).where(games.c.person == sa.bindparam("number"), games.c.page == sa.bindparam("page"))
_LEAD = sa.bindparam("lead")
_ALL_ROWS = sa.select(games).where(same_game(_LEAD)).order_by(games.c.id).with_for_update()
_NEW_GAME = sa.insert(games).returning(games.c.id)
_UPDATE = sa.update(games).where(games.c.id.in_(sa.bindparam("numbers", expanding=True)))
_ENDED = (
    sa.select(games.c.score, games.c.status, people.c.status.label("person"))
    .join(people)
    .where(games.c.person == sa.bindparam("number"), games.c.page == sa.bindparam("page"))
)
_SEEN = sa.update(people).where(people.c.id == sa.bindparam("number"))
# Asked with every commit of games' events.
_OWNED = sa.select(games.c.id).where(
    games.c.id.in_(sa.bindparam("numbers", expanding=True)), games.c.owner == sa.bindparam("of")
)


class SeatedPerson(NamedTuple):
    """A participant's place in a game, and the numbers of their messages that were taken."""

    person: int
    public: str
    game: int  # the row of this person's game
    seat: int
    page: Page
    seqs: frozenset[int] = frozenset()
    came: bool = False  # whether they ever connected to this game
    stopped: bool = False  # whether they have stopped taking part since


class DepartedPerson(NamedTuple):
    """The participants of a shared game who were away at its end."""

    room: Room
    left: Sequence[int]  # all of them
    never: Sequence[int]  # those who never connected to the game; each plays it alone later


@dataclass(frozen=True)
class GameRecord:
    """A game that is in play, with everything that is stored of it."""

    id: int  # the first person's row
    people: tuple[SeatedPerson, ...]
    setting: str
    bots: Mapping[int, str]  # by seat: the partners
    chance: tuple[int, int]
    joints: list[list[int]]  # by step
    remarks: list[StoredEvent]
    room: Room | None = None  # the waiting room in which its people met
    taken: frozenset[int] = frozenset()  # seats of people who left, in which bots play
    doing: Mapping[int, str | None] = field(default_factory=dict)  # by seat: the macro action under way
    stored: GameEvents = field(default_factory=GameEvents)  # all of it, to be folded on


class GameElsewhere(ApiError):
    """The game is played by another server that is alive."""

    def __init__(self, owner: str):
        super().__init__("too_many", "another server plays this game: try again in a moment")
        self.owner = owner


def begin_or_resume(
    tx: Tx,
    clock: Clock,
    protocol: Protocol,
    number: int,
    seats: dict[str, int],
    shown_page: str | None = None,
    owner: str | None = None,
) -> GameRecord:
    """Return the game of a participant's open page: the one that was begun, or a new one.

    The game belongs to `owner` from then on.

    Args:
        tx: The transaction.
        clock: Gives the time at which a new game starts.
        protocol: The study.
        number: The participant.
        seats: How many seats each of the study's games has.
        shown_page: The page that the browser shows; None if it did not say.
        owner: The owner of the lease of the server that plays it; None if no server does.

    Raises:
        GameElsewhere: Another server owns the game, and its lease.
        ApiError: The open page is not a game, or not the page that the browser shows.
    """
    who = person(tx, number, lock=True)
    all_pages = who.pages(protocol)
    due = None if who.status in OVER else all_pages[who.position]
    if due is None or due.item.kind != "game" or shown_page not in (None, due.id):
        raise ApiError("conflict", "there is no game to play now: load the page again")
    room = room_of(all_pages, who.position, due.value(due.item.partner))
    together = present(tx, number, room) if room else [number]
    own = {"number": number, "page": due.id}
    row = tx.execute(_ON_PAGE, own).one_or_none()
    begun = row is not None
    if row is None:
        _begin(tx, clock, protocol, who, together, room, seats, owner)
        row = tx.execute(_ON_PAGE, own).one()
    lead = row.joint or row.id
    game_rows = tx.execute(_ALL_ROWS, {"lead": lead}).all()
    _own(tx, game_rows, owner)
    seated = [_seated_person(protocol, r, who if r.person == number else person(tx, r.person)) for r in game_rows]
    partner = room.item.otherwise if room else row.partner
    bots = {seat: partner for seat in range(seats[row.setting]) if all(player.seat != seat for player in seated)}
    record = GameRecord(lead, tuple(seated), row.setting, bots, (row.chance[0], row.chance[1]), [], [], room)
    return _with_events(tx, record) if begun else record


def _own(tx: Tx, rows: Sequence[Any], owner: str | None) -> None:
    """Make a server the owner of a game, unless another one owns it whose lease was not taken or given back."""
    for other in {row.owner for row in rows} - {owner, None}:
        lease = of_owner(tx, other)
        if lease is not None and not (lease.ended and expire(tx, lease)):
            raise GameElsewhere(other)
    if {row.owner for row in rows} != {owner}:
        tx.execute(_UPDATE, {"numbers": [row.id for row in rows], "owner": owner})


def placed(tx: Tx, prefix: str, number: int, page: str) -> int | None:
    """Return the number of the process that plays a participant's game, or that is to play it: the one with the fewest.

    Args:
        tx: The transaction.
        prefix: How the names of the processes' leases begin; their numbers follow.
        number: The participant.
        page: The page of the game.

    Returns:
        The process's number; None if no process is known.
    """
    slots = {row.owner: int(row.name.removeprefix(prefix)) for row in with_prefix(tx, prefix) if not row.ended}
    query = sa.select(games.c.owner).where(games.c.person == number, games.c.page == page)
    owner = tx.execute(query).scalar_one_or_none()
    if owner in slots:
        return slots[owner]
    busy = sa.select(games.c.owner, sa.func.count()).where(games.c.status == PLAYING, games.c.owner.in_(slots))
    load = {row[0]: row[1] for row in tx.execute(busy.group_by(games.c.owner))}
    return min(((load.get(name, 0), slot) for name, slot in slots.items()), default=(0, None))[1]


def in_play(tx: Tx, number: int) -> bool:
    """Return whether a participant's game has begun and its end is not stored."""
    query = sa.select(games.c.id).where(games.c.person == number, games.c.score.is_(None), games.c.owner.is_not(None))
    return tx.execute(query).first() is not None


def check_owner(tx: Tx, numbers: Iterable[int], owner: str) -> None:
    """Make a transaction fail unless a server owns all of these games.

    Raises:
        GameElsewhere: One of them belongs to another server, or was erased.
    """
    wanted = set(numbers)
    if len(tx.execute(_OWNED, {"numbers": list(wanted), "of": owner}).all()) != len(wanted):
        raise GameElsewhere("")


def _begin(
    tx: Tx,
    clock: Clock,
    protocol: Protocol,
    who: Person,
    together: Sequence[int],
    room: Room | None,
    seats: Any,
    owner: str | None,
) -> None:
    """Insert a row for each participant of a new game, the given one first; those who play together share the page."""
    all_pages = who.pages(protocol)
    page = all_pages[who.position]
    setting = page.value(page.item.game)
    place = protocol.games[setting].seat
    base = sum(p.item.kind == "game" for p in all_pages[: who.position]) if place == "alternate" else place
    values = {
        "page": page.id,
        "setting": setting,
        "partner": room.item.otherwise if room and len(together) == 1 else page.value(page.item.partner),
        "practice": page.practice,
        "chance": [secrets.randbits(32), secrets.randbits(32)],
        "status": PLAYING,
        "started": clock.now(),
        "owner": owner,
    }
    lead = None
    for number in sorted(together, key=lambda number: number != who.id):
        row = {**values, "person": number, "joint": lead}
        row["seat"] = (base + together.index(number)) % seats[setting]
        game = tx.execute(_NEW_GAME, row).scalar_one()
        lead = lead or game


def _seated_person(protocol: Protocol, row: Any, who: Person) -> SeatedPerson:
    page = next(page for page in who.pages(protocol) if page.id == row.page)
    return SeatedPerson(who.id, who.public, row.id, row.seat, page, stopped=who.status == WITHDRAWN)


def _with_events(tx: Tx, record: GameRecord) -> GameRecord:
    """Return a game's record with its stored steps and events."""
    stored = stored_events(tx, record.id)
    seated = tuple(
        player._replace(seqs=frozenset(stored.seqs.get(player.game, ())), came=player.game in stored.came)
        for player in record.people
    )
    return replace(
        record, people=seated, joints=list(stored.joints), remarks=list(stored.remarks), taken=frozenset(stored.taken),
        doing=dict(stored.doing), stored=stored,
    )  # fmt: skip


class Ended(NamedTuple):
    """How a game ended for a participant."""

    score: float
    left: bool  # whether it ended because someone else stopped taking part


def ended(tx: Tx, number: int, page: str) -> Ended | None:
    """Return how a participant's game on a page ended; None until it is over and stored."""
    row = tx.execute(_ENDED, {"number": number, "page": page}).one_or_none()
    if row is None or row.score is None:
        return None
    return Ended(row.score, row.status == ABANDONED and row.person != WITHDRAWN)


def finish(
    tx: Tx,
    clock: Clock,
    protocol: Protocol,
    game: int,
    episode: Episode,
    gone: DepartedPerson | None = None,
    status: str = DONE,
    owner: str | None = None,
) -> float:
    """Store the trace of a game and move its participants on to the next page, in one transaction.

    A game that is already finished is left as it is.

    Args:
        tx: The transaction.
        clock: Gives the time of the end.
        protocol: The study.
        game: The row of the game's first participant.
        episode: The trace.
        gone: The participants of a shared game who were away at its end.
        status: `DONE` or `ABANDONED`.
        owner: The owner of the lease of the server that played it; None if no server did.

    Returns:
        The score that is stored.

    Raises:
        GameElsewhere: Another server owns the game.
    """
    rows = tx.execute(_ALL_ROWS, {"lead": game}).all()
    if owner is not None and (not rows or any(row.owner != owner for row in rows)):
        raise GameElsewhere("")
    if rows[0].score is not None:
        return rows[0].score
    if gone is not None:
        leave(tx, gone.left, gone.room)
        never = [row.id for row in rows if row.person in gone.never]
        for table, column in ((events, events.c.game), (games, games.c.id)):
            tx.execute(sa.delete(table).where(column.in_(never)))
        rows = [row for row in rows if row.id not in never]
        first, *others = [row.id for row in rows]  # the first row may have been deleted, if the server was restarted
        tx.execute(sa.update(games).where(games.c.id == first).values(joint=None))
        tx.execute(sa.update(games).where(games.c.id.in_(others)).values(joint=first))
    score = episode.score
    values = {"status": status, "score": score, "length": episode.length, "finished": clock.now()}
    tx.execute(_UPDATE, values | {"numbers": [row.id for row in rows], "episode": pack(episode)})
    for row in sorted(rows, key=lambda row: row.person):
        who = person(tx, row.person, lock=True)
        if who.status not in OVER and who.pages(protocol)[who.position].id == row.page:
            advance(tx, clock, protocol, who)
    return score


def touch(tx: Tx, clock: Clock, number: int) -> None:
    """Note that a participant was seen now."""
    tx.execute(_SEEN, {"number": number, "seen": clock.now()})


def pack(episode: Episode) -> bytes:
    """Return an episode as the compressed bytes that the database stores."""
    return zlib.compress(orjson.dumps(to_record(episode, 0)), 6)


def unpack(packed: bytes) -> Episode:
    """Return the episode from the compressed bytes that the database stores."""
    return from_record(parse_json(inflate(packed, "a stored game"), "a stored game"))
