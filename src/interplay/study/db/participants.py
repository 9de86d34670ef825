"""The books of a study: who takes part, where they stand, what they answered. Each function is one piece of a
transaction; what it returned from inside `write` is on disk."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import sessions
from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.study.db.schema import answers as given_answers
from interplay.study.db.schema import consents, files, games, people, recruits, slots
from interplay.study.protocol import aliases, answers
from interplay.study.protocol.design import count, least_used, places
from interplay.study.protocol.flow import Page, first_slots, pages, partners_of
from interplay.study.protocol.model import Protocol
from interplay.study.protocol.payment import evaluate

NEW, ACTIVE, DONE, SCREENED, DROPPED = "new", "active", "done", "screened", "dropped"
WITHDRAWN = "withdrawn"  # stopped taking part, by their own choice
OVER = (DONE, SCREENED, DROPPED, WITHDRAWN)
SUBJECT = "person:"  # before a person's number, in a session


@dataclass(frozen=True)
class Person:
    id: int
    public: str
    status: str
    language: str
    position: int
    tries: int
    seed: int
    slots: Mapping[str, int | None]
    payment: float | None
    code: str | None

    def pages(self, protocol: Protocol) -> list[Page]:
        return pages(protocol, self.slots or first_slots(protocol), self.seed)

    def aliases(self, protocol: Protocol) -> dict[str, aliases.Alias]:
        return aliases.draw(partners_of(protocol, self.pages(protocol)), self.seed)


def open_study(tx: Tx, clock: Clock, protocol: Protocol) -> None:
    """Note the file. One that has changed since people took part would mix two studies."""
    row = tx.execute(sa.select(files).where(files.c.name == protocol.name)).one_or_none()
    values = {"hash": protocol.hash, "protocol": protocol.model_dump(mode="json"), "opened": clock.now()}
    if row is None:
        tx.execute(sa.insert(files).values(name=protocol.name, **values))
    elif row.hash != protocol.hash:
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
    tx: Tx, clock: Clock, protocol: Protocol, language: str, recruit: str | None
) -> tuple[Person, sessions.LoginSession, str]:
    """A new visitor and the cookie of the visit. `recruit` is the keyed hash of a recruiter's id."""
    if recruit is not None:
        query = sa.select(recruits.c.person).where(recruits.c.study == protocol.name, recruits.c.hash == recruit)
        known = tx.execute(query).scalar_one_or_none()
        if known is not None:
            before = person(tx, known, lock=True)
            if before.status != NEW:
                raise ApiError("conflict", "you have begun this study already: go on in the browser in which you began")
            # The cookie of the first visit may have got lost on its way, and nothing was agreed to or answered yet.
            session, token = sessions.begin(tx, clock, f"{SUBJECT}{known}", {"study": protocol.name})
            return before, session, token
    now = clock.now()
    row = {"public": secrets.token_hex(6), "study": protocol.name, "status": NEW, "language": language, "position": 0}
    row |= {"tries": 0, "seed": secrets.randbits(31), "created": now, "seen": now}
    number = tx.execute(sa.insert(people).values(**row).returning(people.c.id)).scalar_one()
    if recruit is not None:
        tx.execute(sa.insert(recruits).values(study=protocol.name, hash=recruit, person=number))
    session, token = sessions.begin(tx, clock, f"{SUBJECT}{number}", {"study": protocol.name})
    return person(tx, number), session, token


def person_of_session(
    tx: Tx, clock: Clock, protocol: Protocol, token: str | None
) -> tuple[Person, sessions.LoginSession] | None:
    """Whose cookie this is, in this study."""
    session = sessions.find(tx, clock, token)
    if session is None or not session.subject.startswith(SUBJECT) or session.data.get("study") != protocol.name:
        return None
    return person(tx, int(session.subject.removeprefix(SUBJECT))), session


def person(tx: Tx, number: int, *, lock: bool = False) -> Person:
    query = sa.select(people).where(people.c.id == number)
    row = tx.execute(query.with_for_update() if lock else query).one()
    held = tx.execute(sa.select(slots.c.key, slots.c.number).where(slots.c.person == number))
    return Person(
        row.id, row.public, row.status, row.language, row.position, row.tries, row.seed,
        {r.key: r.number for r in held}, row.payment, row.code,
    )  # fmt: skip


def set_language(tx: Tx, number: int, language: str) -> Person:
    tx.execute(sa.update(people).where(people.c.id == number).values(language=language))
    return person(tx, number)


def submit(
    tx: Tx,
    clock: Clock,
    protocol: Protocol,
    number: int,
    page_id: str,
    given: Mapping[str, Any],
    seconds: float | None,
    tries_left: int | None = None,
) -> answers.Errors:
    """Take the answers to the page that a person sees; `tries_left` is what a quiz showed. What was taken before may
    be sent again, since its reply can get lost; other answers to a page that was answered are a conflict."""
    who = person(tx, number, lock=True)
    held = who.pages(protocol)
    page = None if who.status in OVER else held[who.position]
    if page is None or page.id != page_id or (page.item.kind == "quiz" and _an_old_try(page, who, tries_left)):
        _taken_before(tx, protocol, who, held, page_id, given)
        return {}
    clean, errors = _read(protocol, who, page, given)
    if errors:
        return errors
    passed, tries = True, 0
    if page.item.kind == "quiz":
        passed = len(answers.wrong_answers(page.item, clean)) <= page.item.most_wrong
        tries = 0 if passed else who.tries + 1
    row = {"person": number, "page": page_id, "answers": clean, "passed": passed, "at": clock.now()}
    tx.execute(sa.insert(given_answers).values(**row, seconds=seconds))
    tx.execute(sa.update(people).where(people.c.id == number).values(tries=tries, seen=clock.now()))
    if page.item.kind == "consent":
        _begin(tx, clock, protocol, who, page)
    if passed:
        advance(tx, clock, protocol, person(tx, number))
    elif tries >= page.item.tries:
        end(tx, clock, protocol, who, SCREENED)
    return {}


def _an_old_try(page: Page, who: Person, tries_left: int | None) -> bool:
    return tries_left is not None and tries_left != page.item.tries - who.tries


def _read(
    protocol: Protocol, who: Person, page: Page, given: Mapping[str, Any]
) -> tuple[dict[str, Any], answers.Errors]:
    """What is to be stored of the answers to a page, and what is wrong with them."""
    match page.item.kind:
        case "consent":
            return {box.id: True for box in page.item.checkboxes}, answers.check_consent(page.item, given, who.language)
        case "form" | "quiz":
            return answers.check_form(protocol, page.item.questions, given, who.language)
        case "ranking":
            known = {alias.id: name for name, alias in who.aliases(protocol).items() if name in page.met}
            order, errors = answers.check_order(list(known), given, who.language)
            return {"order": [known[one] for one in order]}, errors
        case "instructions":
            return {}, {}
    raise ApiError("conflict", "a game is played, not answered")


def _taken_before(
    tx: Tx, protocol: Protocol, who: Person, held: list[Page], page_id: str, given: Mapping[str, Any]
) -> None:
    """Nothing, if this is what the page was last answered with; a refusal otherwise."""
    query = sa.select(given_answers.c.answers).where(given_answers.c.person == who.id, given_answers.c.page == page_id)
    stored = tx.execute(query.order_by(given_answers.c.id.desc()).limit(1)).scalar_one_or_none()
    page = next((page for page in held if page.id == page_id), None)
    if stored is None or page is None:
        raise ApiError("conflict", "this page is not the one that is open: load it again")
    clean, errors = _read(protocol, who, page, given)
    if errors or clean != stored:
        raise ApiError("conflict", "this page was answered before, and otherwise: the first answers count")


def _begin(tx: Tx, clock: Clock, protocol: Protocol, who: Person, page: Page) -> None:
    """Consent: its version is noted, and the places in all designs are given out, all in this one transaction."""
    row = {"version": page.item.version, "language": who.language, "protocol": protocol.hash, "at": clock.now()}
    tx.execute(sa.insert(consents).values(person=who.id, **row))
    # Whoever consents at the same time waits here, so that two people cannot take the same least-used place.
    tx.execute(sa.select(files.c.name).where(files.c.name == protocol.name).with_for_update()).one()
    chance = random.Random(f"{who.seed}/slots")
    for place in places(protocol):
        size = count(protocol.designs[place.design])
        number = None
        if size is not None:
            query = (
                sa.select(slots.c.number, sa.func.count())
                .where(slots.c.study == protocol.name, slots.c.key == place.key, slots.c.released.is_(False))
                .group_by(slots.c.number)
            )
            number = least_used({r[0]: r[1] for r in tx.execute(query)}, size, chance)
        row = {"study": protocol.name, "key": place.key, "number": number, "person": who.id, "released": False}
        tx.execute(sa.insert(slots).values(**row))
    tx.execute(sa.update(people).where(people.c.id == who.id).values(status=ACTIVE))


def advance(tx: Tx, clock: Clock, protocol: Protocol, who: Person) -> None:
    """On to the next page; past the last one the study is done."""
    position = who.position + 1
    if position >= len(who.pages(protocol)):
        end(tx, clock, protocol, who, DONE)
        return
    tx.execute(sa.update(people).where(people.c.id == who.id).values(position=position, tries=0, seen=clock.now()))


def end(tx: Tx, clock: Clock, protocol: Protocol, who: Person, status: str) -> None:
    """It is over for someone: what they are owed and their code are worked out, a place they did not fill is free."""
    code = paid = None
    if status == DONE:
        code = protocol.completion.code or secrets.token_hex(4).upper()
        paid = payment(tx, protocol.payment.formula, who.id)
    elif status == SCREENED:
        code = protocol.completion.screened_code
    elif status == WITHDRAWN and who.status == ACTIVE:  # who never consented took no part that could be paid
        code, formula = protocol.withdrawal.code, protocol.withdrawal.payment
        paid = payment(tx, formula, who.id) if formula is not None else None
    values = {"status": status, "finished": clock.now(), "payment": paid, "code": code}
    tx.execute(sa.update(people).where(people.c.id == who.id).values(**values))
    if status != DONE:
        tx.execute(sa.update(slots).where(slots.c.person == who.id).values(released=True))


def payment(tx: Tx, formula: str, number: int) -> float:
    """What a formula gives for the games that count. One that ended early because a partner stopped taking part counts
    where that gives more: nobody is paid less for what another did."""
    query = sa.select(games.c.setting, games.c.score, games.c.status).where(
        games.c.person == number, games.c.practice.is_(False), games.c.score.is_not(None)
    )
    rows = tx.execute(query.order_by(games.c.id)).all()
    return max(_amount(formula, [row for row in rows if row.status == "done"]), _amount(formula, rows))


def _amount(formula: str, rows: Sequence[Any]) -> float:
    by_game: dict[str, list[float]] = {}
    for row in rows:
        by_game.setdefault(row.setting, []).append(row.score)
    scores = [score for held in by_game.values() for score in held]
    return evaluate(formula, scores, by_game)


def drop_away(tx: Tx, clock: Clock, protocol: Protocol) -> int:
    """Give the places of those who have been away for too long to others; how many they were."""
    before = clock.now() - timedelta(minutes=protocol.away_min)
    query = sa.select(people.c.id).where(
        people.c.study == protocol.name, people.c.status == ACTIVE, people.c.seen < before
    )
    gone = [row.id for row in tx.execute(query)]
    for number in gone:
        end(tx, clock, protocol, person(tx, number, lock=True), DROPPED)
    return len(gone)


@dataclass(frozen=True)
class ParticipantContext:
    """What a page shows of what went before it."""

    failed: Mapping[str, Any] | None = None  # the answers of the last try at this quiz
    order: tuple[str, ...] = ()  # the ranking so far


def context(tx: Tx, protocol: Protocol, who: Person) -> ParticipantContext:
    if who.status in OVER:
        return ParticipantContext()
    held = who.pages(protocol)
    page, found = held[who.position], ParticipantContext()
    if page.item.kind == "quiz" and who.tries:
        query = sa.select(given_answers.c.answers).where(
            given_answers.c.person == who.id, given_answers.c.page == page.id
        )
        found = replace(found, failed=tx.execute(query.order_by(given_answers.c.id.desc()).limit(1)).scalar_one())
    if page.item.kind == "ranking":
        same = [p.id for p in held[: who.position] if p.item.kind == "ranking" and p.loop == page.loop]
        query = sa.select(given_answers.c.answers).where(
            given_answers.c.person == who.id, given_answers.c.page.in_(same[-1:])
        )
        last = tx.execute(query.order_by(given_answers.c.id.desc()).limit(1)).scalar_one_or_none()
        found = replace(found, order=tuple(last["order"]) if last else ())
    return found
