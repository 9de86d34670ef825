"""The books of games: begun, taken up again after a crash, and finished."""

from __future__ import annotations

import secrets
import zlib
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from interplay.play.episodes import Episode
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.refusal import Refusal
from interplay.study.books import OVER, advance, person
from interplay.study.flow import Page
from interplay.study.protocol import Protocol
from interplay.study.tables import events, games, people
from interplay.traces.export import from_record, to_record

PLAYING, DONE = "playing", "done"


@dataclass(frozen=True)
class Dealt:
    """A game that is in play, with all that was stored of it."""

    id: int
    person: int
    page: Page
    setting: str
    partner: str
    seat: int
    chance: tuple[int, int]
    joints: list[list[int]]  # by step
    seqs: frozenset[int]  # the person's numbers that were taken
    remarks: list[tuple[int, str, dict[str, Any]]]  # step, kind, payload

    @property
    def seq(self) -> int:
        return max(self.seqs, default=-1)


def deal(
    tx: Tx, clock: Clock, protocol: Protocol, number: int, seats: dict[str, int], shown: str | None = None
) -> Dealt:
    """The game of the page that a person sees: a new one, or the one that was begun. `seats`: how many a game has;
    `shown`: the page that the browser shows, where it told."""
    who = person(tx, number, lock=True)
    held = who.pages(protocol)
    due = None if who.status in OVER else held[who.position]
    if due is None or due.item.kind != "game" or shown not in (None, due.id):
        raise Refusal("conflict", "there is no game to play now: load the page again")
    page = held[who.position]
    row = tx.execute(sa.select(games).where(games.c.person == number, games.c.page == page.id)).one_or_none()
    if row is None:
        setting = page.value(page.item.game)
        place = protocol.games[setting].seat
        before = sum(p.item.kind == "game" for p in held[: who.position])
        values = {
            "person": number,
            "page": page.id,
            "setting": setting,
            "partner": page.value(page.item.partner),
            "seat": before % seats[setting] if place == "alternate" else place,
            "practice": page.practice,
            "chance": [secrets.randbits(32), secrets.randbits(32)],
            "status": PLAYING,
            "started": clock.now(),
        }
        tx.execute(sa.insert(games).values(**values))
        row = tx.execute(sa.select(games).where(games.c.person == number, games.c.page == page.id)).one()
    joints, seqs, remarks = _happened(tx, row.id)
    return Dealt(
        row.id, number, page, row.setting, row.partner, row.seat, (row.chance[0], row.chance[1]), joints, seqs, remarks
    )


def _happened(tx: Tx, game: int) -> tuple[list[list[int]], frozenset[int], list[tuple[int, str, dict[str, Any]]]]:
    joints: list[list[int]] = []
    seqs: set[int] = set()
    remarks: list[tuple[int, str, dict[str, Any]]] = []
    query = sa.select(events.c.kind, events.c.t, events.c.payload).where(events.c.game == game).order_by(events.c.id)
    for kind, t, payload in tx.execute(query):
        if kind == "step":
            if t != len(joints):
                raise RuntimeError(f"game {game}: step {t} is stored where step {len(joints)} is due")
            joints.append(payload["joint"])
            if payload.get("missed"):
                remarks.append((t, "deadline", {"late": True}))
        elif kind in ("flag", "chat"):
            remarks.append((t, kind, payload))
        seqs.update(payload.get("seqs", ()))
    return joints, frozenset(seqs), remarks


def ended(tx: Tx, number: int, page: str) -> float | None:
    """The stored score of a person's game on a page, once it is over."""
    query = sa.select(games.c.score).where(games.c.person == number, games.c.page == page, games.c.status == DONE)
    return tx.execute(query).scalar_one_or_none()


def finish(tx: Tx, clock: Clock, protocol: Protocol, game: int, episode: Episode) -> float:
    """The game is over: its trace is stored and its person goes on to the next page, in one transaction. The score."""
    packed = zlib.compress(orjson.dumps(to_record(episode, 0)), 6)
    row = tx.execute(sa.select(games).where(games.c.id == game)).one()
    if row.status == DONE:
        return row.score
    values = {"status": DONE, "score": episode.score, "length": episode.length, "finished": clock.now()}
    tx.execute(sa.update(games).where(games.c.id == game).values(**values, episode=packed))
    who = person(tx, row.person, lock=True)
    if who.status not in OVER and who.pages(protocol)[who.position].id == row.page:
        advance(tx, clock, protocol, who)
    return episode.score


def touch(tx: Tx, clock: Clock, number: int) -> None:
    tx.execute(sa.update(people).where(people.c.id == number).values(seen=clock.now()))


def unpack(packed: bytes) -> Episode:
    return from_record(orjson.loads(zlib.decompress(packed)))
