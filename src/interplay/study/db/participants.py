"""Rows of participants: who takes part, which page is open, what was answered.

Each function is one part of a transaction; its effects are durable once the enclosing `Database.write` returns.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import sessions
from interplay.server.api_error import ApiError
from interplay.server.clock import Clock, seconds_since, stamp
from interplay.server.database import Tx, insert
from interplay.study.db.earlier_answers import NO_FACTS, facts, inattentive, item_details
from interplay.study.db.schema import answers as answer_rows
from interplay.study.db.schema import consents, files, games, people, recruits, slots, waiting
from interplay.study.pages.page_type import Checked, PageVisit, page_type
from interplay.study.protocol import aliases
from interplay.study.protocol.answer_subjects import PlayedGame, about, played
from interplay.study.protocol.design import count, least_used, places
from interplay.study.protocol.flow import Page, first_slots, next_position, pages, partners_of, with_partners_met
from interplay.study.protocol.model import Protocol
from interplay.study.protocol.payment_formula import evaluate
from interplay.study.protocol.texts import PHRASES

NEW, ACTIVE, DONE, SCREENED, DROPPED = "new", "active", "done", "screened", "dropped"
WITHDRAWN = "withdrawn"  # stopped taking part, by their own choice
OVER = (DONE, SCREENED, DROPPED, WITHDRAWN)
SUBJECT = "person:"  # prefix of a participant's number in the subject of a session
# Asked several times in every transaction, so they are made once.
_ROW = sa.select(people).where(people.c.id == sa.bindparam("number"))
_LOCKED_ROW = _ROW.with_for_update()
_UPDATE = sa.update(people).where(people.c.id == sa.bindparam("number"))  # of the columns that are given
_SLOTS = sa.select(slots.c.key, slots.c.number).where(slots.c.person == sa.bindparam("number"))
_RECRUIT = sa.select(recruits.c.person).where(
    recruits.c.study == sa.bindparam("study"), recruits.c.hash == sa.bindparam("hash")
)
_NEW_PERSON = sa.insert(people).returning(people.c.id)
_NEW_ANSWERS, _NEW_CONSENT, _NEW_SLOT = sa.insert(answer_rows), sa.insert(consents), sa.insert(slots)
_BEGUN = (
    sa.select(games.c.page, games.c.setting, games.c.partner, games.c.practice)
    .where(games.c.person == sa.bindparam("number"))
    .order_by(games.c.started, games.c.id)
)
_USED = (
    sa.select(slots.c.number, sa.func.count())
    .where(slots.c.study == sa.bindparam("study"), slots.c.key == sa.bindparam("key"), slots.c.released.is_(False))
    .group_by(slots.c.number)
)
_LEAVE_ROOM = sa.delete(waiting).where(waiting.c.person == sa.bindparam("number"))
_PAID_GAMES = (
    sa.select(games.c.setting, games.c.score, games.c.status)
    .where(games.c.person == sa.bindparam("number"), games.c.practice.is_(False), games.c.score.is_not(None))
    .order_by(games.c.id)
)


class TurnedAway(ApiError):
    """Somebody who comes cannot take part; they are told why in their language.

    Args:
        code: As of every `ApiError`.
        reason: The phrase that tells why, one of `texts.PHRASES`.
    """

    def __init__(self, code: str, reason: str):
        super().__init__(code, PHRASES[reason]["en"])
        self.reason = reason


@dataclass(frozen=True)
class Person:
    """A participant."""

    id: int
    public: str  # the name under which researchers see them
    status: str
    language: str
    position: int  # of the open page
    tries: int  # used up at the open quiz
    seed: int
    slots: Mapping[str, int | None]  # by use of a design: the sequence; empty before the consent
    payment: float | None
    code: str | None
    test: bool = False  # came while the study was being tried out: not in the data
    page_opened: str | None = None  # when the open page was first shown, as `clock.stamp`
    _pages: list[Page] = field(default_factory=list, init=False, repr=False, compare=False)  # once they were asked for

    def pages(self, protocol: Protocol) -> list[Page]:
        """Return all pages of this participant, in order."""
        if not self._pages:
            self._pages.extend(pages(protocol, self.slots or first_slots(protocol), self.seed))
        return self._pages

    def aliases(self, protocol: Protocol) -> dict[str, aliases.Alias]:
        """Return the alias of each partner that this participant meets."""
        return aliases.draw(partners_of(protocol, self.pages(protocol)), self.seed, protocol.words)


def open_study(tx: Tx, clock: Clock, protocol: Protocol) -> None:
    """Store the study file when a study is served.

    Raises:
        InterplayError: The file has changed since people took part, which would mix two studies.
    """
    values = {"hash": protocol.hash, "protocol": protocol.model_dump(mode="json"), "opened": clock.now()}
    tx.execute(insert(tx, files).values(name=protocol.name, **values).on_conflict_do_nothing(index_elements=["name"]))
    row = tx.execute(sa.select(files).where(files.c.name == protocol.name)).one()
    if row.hash != protocol.hash:
        begun = tx.execute(
            sa.select(sa.func.count()).where(people.c.study == protocol.name, people.c.status != NEW)
        ).scalar_one()
        if begun:
            raise InterplayError(
                f"the file of {protocol.name!r} has changed since {begun} people took part: give the study another "
                "name or another database, or bring the old file back"
            )
        tx.execute(sa.update(files).where(files.c.name == protocol.name).values(**values))


def enter(
    tx: Tx, clock: Clock, protocol: Protocol, language: str, recruit: str | None, *, test: bool = False
) -> tuple[Person, sessions.LoginSession, str]:
    """Create a participant and the session of their visit.

    A recruiter's id belongs to whoever consents with it first, not to whoever comes first: until then everyone who
    comes with it is somebody else, so that a visit with another's id shares nothing with theirs.

    Args:
        tx: The transaction.
        clock: Gives the time that is noted.
        protocol: The study.
        language: The language in which pages are shown.
        recruit: The keyed hash of a recruiter's id; None without a recruiter.
        test: Whether the study is only tried out.

    Returns:
        The participant, the session, and the session's cookie.

    Raises:
        TurnedAway: A participant with this recruiter's id has begun already.
    """
    _check_recruit(tx, protocol, recruit)
    now = clock.now()
    row = {"public": secrets.token_hex(6), "study": protocol.name, "status": NEW, "language": language, "position": 0}
    row |= {"tries": 0, "seed": secrets.randbits(31), "created": now, "seen": now, "test": test}
    number = tx.execute(_NEW_PERSON, row).scalar_one()
    data = {"study": protocol.name} | ({} if recruit is None else {"recruit": recruit})
    session, token = sessions.begin(tx, clock, f"{SUBJECT}{number}", data)
    who = Person(number, row["public"], NEW, language, 0, 0, row["seed"], {}, None, None, test)
    return who, session, token


def _check_recruit(tx: Tx, protocol: Protocol, recruit: str | None) -> None:
    if recruit is not None and tx.execute(_RECRUIT, {"study": protocol.name, "hash": recruit}).first() is not None:
        raise TurnedAway("conflict", "begun")


def person_of_session(
    tx: Tx, clock: Clock, protocol: Protocol, token: str | None
) -> tuple[Person, sessions.LoginSession] | None:
    """Return the participant and session that a cookie belongs to; None if it is not valid in this study."""
    session = sessions.find(tx, clock, token)
    if session is None or not session.subject.startswith(SUBJECT) or session.data.get("study") != protocol.name:
        return None
    return person(tx, int(session.subject.removeprefix(SUBJECT))), session


def person(tx: Tx, number: int, *, lock: bool = False) -> Person:
    """Return a participant by number, with their row locked if asked for."""
    row = tx.execute(_LOCKED_ROW if lock else _ROW, {"number": number}).one()
    slot_rows = tx.execute(_SLOTS, {"number": number})
    return Person(
        row.id, row.public, row.status, row.language, row.position, row.tries, row.seed,
        {r.key: r.number for r in slot_rows}, row.payment, row.code, row.test, row.page_opened,
    )  # fmt: skip


def set_language(tx: Tx, number: int, language: str) -> Person:
    """Set the language in which a participant sees the pages."""
    tx.execute(sa.update(people).where(people.c.id == number).values(language=language))
    return person(tx, number)


def submit(
    tx: Tx,
    clock: Clock,
    protocol: Protocol,
    number: int,
    page_id: str,
    submitted: Mapping[str, Any],
    seconds: float | None,
    tries_left: int | None = None,
    items: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    recruit: str | None = None,
    timed_out: bool = False,
) -> dict[str, str]:
    """Store the answers to a participant's open page, and move on if they pass.

    Answers that were stored before may be sent again, since the reply can get lost.

    Args:
        tx: The transaction.
        clock: Gives the time that is noted.
        protocol: The study.
        number: The participant.
        page_id: The page that is answered.
        submitted: The answers by question.
        seconds: How long the page was open; None if unknown.
        tries_left: What a quiz showed, to tell a repeated try from a new one.
        items: By question: when it was answered and how often that was changed, as the browser saw it.
        recruit: The keyed hash of the recruiter's id with which the participant came; it is theirs once they consent.
        timed_out: Whether the page's time was over: then questions may be left open.

    Returns:
        What is wrong, by question; empty if the answers were taken.

    Raises:
        ApiError: The page is not open, or was answered differently before.
    """
    who = person(tx, number, lock=True)
    all_pages = who.pages(protocol)
    page = None if who.status in OVER else all_pages[who.position]
    if page is None or page.id != page_id or _is_old_try(page, who, tries_left):
        _check_repeated(tx, protocol, who, all_pages, page_id, submitted)
        return {}
    begun = [] if who.status == NEW else begun_games(tx, number)
    page = with_partners_met(page, all_pages, {game.page for game in begun})
    clean, errors = _read(protocol, who, page, submitted, NO_FACTS if who.status == NEW else facts(tx, number))
    if errors and timed_out and _time_is_over(clock, who, page):
        clean, errors = {name: value for name, value in clean.items() if name not in errors}, {}
    if errors:
        return errors
    kind = page_type(page.item.kind)
    passed = kind.passed(page.item, clean)
    tries, most = 0 if passed else who.tries + 1, kind.tries(page.item)
    row = {"person": number, "page": page_id, "answers": clean, "passed": passed, "at": clock.now()}
    subject = about(page_id, begun, page.values.get("partner"))
    row |= {"seconds": seconds, "about": subject._asdict()}
    tx.execute(_NEW_ANSWERS, row | {"items": item_details(page, who.seed, clean, items or {})})
    tx.execute(_UPDATE, {"number": number, "tries": tries, "seen": clock.now()})
    if page.item.kind == "consent":
        _begin(tx, clock, protocol, who, page, recruit)
        who = person(tx, number)
    if page.item.kind == "form" and inattentive(tx, protocol, number, all_pages):
        end(tx, clock, protocol, who, SCREENED)
    elif passed:
        advance(tx, clock, protocol, who)
    elif most is not None and tries >= most:
        end(tx, clock, protocol, who, SCREENED)
    return {}


def _time_is_over(clock: Clock, who: Person, page: Page) -> bool:
    passed = seconds_since(clock, who.page_opened)
    return page.item.limit_s is not None and passed is not None and passed >= page.item.limit_s - 1


def time_left(clock: Clock, who: Person, page: Page) -> float | None:
    """Return the seconds left for the open page; None if it has no limit."""
    if page.item.limit_s is None:
        return None
    return max(0.0, page.item.limit_s - (seconds_since(clock, who.page_opened) or 0.0))


def opened_page(tx: Tx, clock: Clock, number: int) -> Person:
    """Note that a page with a time limit is shown for the first time, or since the machine was started."""
    tx.execute(sa.update(people).where(people.c.id == number).values(page_opened=stamp(clock)))
    return person(tx, number)


def begun_games(tx: Tx, number: int) -> list[PlayedGame]:
    """Return the games that a participant has begun, in that order."""
    return played(tx.execute(_BEGUN, {"number": number}).tuples())


def _is_old_try(page: Page, who: Person, tries_left: int | None) -> bool:
    most = page_type(page.item.kind).tries(page.item)
    return most is not None and tries_left is not None and tries_left != most - who.tries


def _read(
    protocol: Protocol, who: Person, page: Page, submitted: Mapping[str, Any], known: Mapping[str, Any]
) -> Checked:
    """Return what is to be stored of the answers to a page, and what is wrong with them."""
    kind = page_type(page.item.kind)
    if not kind.answered:
        raise ApiError("conflict", "a game is played, not answered")
    visit = PageVisit(protocol, page, who.language, who.aliases(protocol), seed=who.seed, facts=known)
    return kind.check(page.item, visit, submitted)


def _check_repeated(
    tx: Tx, protocol: Protocol, who: Person, all_pages: list[Page], page_id: str, submitted: Mapping[str, Any]
) -> None:
    """Raise an `ApiError` unless the page was last answered with exactly these answers."""
    query = sa.select(answer_rows).where(answer_rows.c.person == who.id, answer_rows.c.page == page_id)
    stored = tx.execute(query.order_by(answer_rows.c.id.desc()).limit(1)).one_or_none()
    page = next((page for page in all_pages if page.id == page_id), None)
    if stored is None or page is None:
        raise ApiError("conflict", "this page is not the one that is open: load it again")
    page = with_partners_met(page, all_pages, {game.page for game in begun_games(tx, who.id)})
    clean, errors = _read(protocol, who, page, submitted, facts(tx, who.id, before=stored.id))
    if errors or clean != stored.answers:
        raise ApiError("conflict", "this page was answered before, and otherwise: the first answers count")


def _begin(tx: Tx, clock: Clock, protocol: Protocol, who: Person, page: Page, recruit: str | None) -> None:
    """Store the consent, take the recruiter's id and assign a sequence of every design."""
    from interplay.study.db.admission import require_open

    # Locks the study's row: two people who consent at the same time must not get the same least-used sequence.
    agreed = require_open(tx, clock, protocol, who)
    _check_recruit(tx, protocol, recruit)
    if recruit is not None:
        tx.execute(sa.insert(recruits).values(study=protocol.name, hash=recruit, person=who.id))
    row = {"version": page.item.version, "language": who.language, "protocol": agreed, "at": clock.now()}
    tx.execute(_NEW_CONSENT, row | {"person": who.id})
    chance = random.Random(f"{who.seed}/slots")
    for place in places(protocol):
        size = count(protocol.designs[place.design])
        number = None
        if size is not None:
            used = tx.execute(_USED, {"study": protocol.name, "key": place.key})
            number = least_used({r[0]: r[1] for r in used}, size, chance)
        # Who only tries the study out takes no place in the design.
        row = {"study": protocol.name, "key": place.key, "number": number, "person": who.id, "released": who.test}
        tx.execute(_NEW_SLOT, row)
    tx.execute(_UPDATE, {"number": who.id, "status": ACTIVE})


def advance(tx: Tx, clock: Clock, protocol: Protocol, who: Person) -> None:
    """Move a participant on to the next page; after the last one the study is done for them."""
    all_pages = who.pages(protocol)
    asked = any(page.when or page.ends for page in all_pages)
    position = next_position(all_pages, who.position, facts(tx, who.id) if asked else {})
    if position >= len(all_pages):
        end(tx, clock, protocol, who, DONE)
        return
    values = {"position": position, "tries": 0, "seen": clock.now(), "page_opened": None}
    tx.execute(_UPDATE, values | {"number": who.id})


def end(tx: Tx, clock: Clock, protocol: Protocol, who: Person, status: str) -> None:
    """End a participant's study: store payment and code, and release the sequences of those who did not finish."""
    code = paid = None
    tx.execute(_LEAVE_ROOM, {"number": who.id})
    if status == DONE:
        code = protocol.completion.code or secrets.token_hex(4).upper()
        paid = payment(tx, protocol.payment.formula, who.id)
    elif status == SCREENED:
        code = protocol.completion.screened_code
    elif status == WITHDRAWN and who.status == ACTIVE:  # who never consented took no part that could be paid
        code, formula = protocol.withdrawal.code, protocol.withdrawal.payment
        paid = payment(tx, formula, who.id) if formula is not None else None
    elif status == DROPPED:
        rule, other = protocol.dropout, protocol.withdrawal
        code = rule.code or other.code or secrets.token_hex(4).upper()
        formula = other.payment if rule.payment is None else rule.payment
        paid = payment(tx, formula, who.id) if formula is not None else None
    values = {"status": status, "finished": clock.now(), "payment": paid, "code": code}
    tx.execute(_UPDATE, values | {"number": who.id})
    if status != DONE:
        tx.execute(sa.update(slots).where(slots.c.person == who.id).values(released=True))


def payment(tx: Tx, formula: str, number: int) -> float:
    """Return what a formula pays for a participant's games that count.

    A game that ended early because a partner stopped taking part is counted only if that gives more, so that nobody is
    paid less for what another did.
    """
    rows = tx.execute(_PAID_GAMES, {"number": number}).all()
    return max(_amount(formula, [row for row in rows if row.status == "done"]), _amount(formula, rows))


def _amount(formula: str, rows: Sequence[Any]) -> float:
    by_game: dict[str, list[float]] = {}
    for row in rows:
        by_game.setdefault(row.setting, []).append(row.score)
    scores = [score for game_scores in by_game.values() for score in game_scores]
    return evaluate(formula, scores, by_game)


def drop_away(tx: Tx, clock: Clock, protocol: Protocol) -> int:
    """End the study for those who have been away for too long, and return how many they were."""
    before = clock.now() - timedelta(minutes=protocol.away_min)
    query = sa.select(people.c.id).where(
        people.c.study == protocol.name, people.c.status == ACTIVE, people.c.seen < before
    )
    gone = [person(tx, number, lock=True) for number in sorted(tx.execute(query).scalars())]
    gone = [who for who in gone if who.status == ACTIVE]  # another process may have been first
    for who in gone:
        end(tx, clock, protocol, who, DROPPED)
    return len(gone)


@dataclass(frozen=True)
class ParticipantContext:
    """Earlier answers that the open page shows."""

    failed: Mapping[str, Any] | None = None  # the answers of the last try at this page
    earlier: Mapping[str, Any] | None = None  # the answers to the last page of its type in the same repeat
    facts: Mapping[str, Any] = field(default_factory=dict)  # the last answer to every question, and scores
    begun: frozenset[str] = frozenset()  # pages of the games that were begun; conditions may have left out others


def context(tx: Tx, protocol: Protocol, who: Person) -> ParticipantContext:
    """Return the earlier answers that a participant's open page shows."""
    if who.status in OVER:
        return ParticipantContext()
    if who.status == NEW:
        return ParticipantContext(facts=NO_FACTS)
    all_pages = who.pages(protocol)
    page = all_pages[who.position]

    def last(*ids: str) -> Mapping[str, Any] | None:
        query = sa.select(answer_rows.c.answers).where(answer_rows.c.person == who.id, answer_rows.c.page.in_(ids))
        return tx.execute(query.order_by(answer_rows.c.id.desc()).limit(1)).scalar_one_or_none()

    before = [p.id for p in all_pages[: who.position] if p.item.kind == page.item.kind and p.loop == page.loop]
    failed = last(page.id) if who.tries else None
    earlier = last(*before[-1:]) if before and page.item.kind != "game" else None
    begun = frozenset(game.page for game in begun_games(tx, who.id))
    return ParticipantContext(failed, earlier, facts(tx, who.id), begun)
