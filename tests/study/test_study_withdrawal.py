"""Someone stops taking part: from every page, once and for good; those who play along are told, and nothing is lost of
what the others did."""

import asyncio

import pytest
import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import audit
from interplay.server.database import SERVER, open_database
from interplay.study.db import game_rows, groups, participants, records, withdrawals
from interplay.study.db.schema import HISTORY, METADATA, events, games, members, people, slots
from interplay.study.protocol.reading import parse
from tests.manual_clock import ManualClock
from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.conftest import opened
from tests.study.conftest import within_a_minute as run
from tests.study.texts import game, line_of, repeat, study
from tests.study.visitor import Visitor

STUDY = study(
    "leavers",
    "{kind: wait, id: lobby, title: Waiting, patience_s: 300, otherwise: bot}",
    "{kind: instructions, id: how, title: How}",
    game("together", "soups", "lobby"),
    game("again", "soups", "lobby"),
    repeat("rounds", game("game", "soups", "$partner", "Alone")),
    games="{soups: {game: overcooked/cramped_room, options: {horizon: 60}, tick_hz: 20, countdown_s: 0}}",
    partners="{bot: stay}",
    designs="{rounds: {factors: {partner: [bot]}, order: latin}}",
    grace_s=30,
    after={
        "payment": '{currency: EUR, formula: "5 + games"}',
        "completion": '{url: "https://example.org/back?cc={code}", recruiter: prolific}',
        "withdrawal": '{text: You have **stopped**., code: PART, payment: "1 + 2 * games", erase: true}',
    },
)
PLAIN = STUDY[: STUDY.index("withdrawal:")].replace("name: leavers", "name: plain")


@pytest.fixture(scope="module")
def leavers(tmp_path_factory):
    with opened(parse(STUDY), tmp_path_factory.mktemp("leavers")) as found:
        yield found


def rows(served, table, who=None):
    found = served.rows(table)
    return found if who is None else [row for row in found if row["person"] == who]


def newest(served):
    """The number of whoever came last."""
    return served.rows(people)[-1]["id"]


async def someone(served):
    me = Visitor(served.url, served.host.protocol.name)
    await me.look()
    return me, newest(served)


async def met(served):
    """Two people who have met, before the page that comes before their game."""
    one, two = await someone(served), await someone(served)
    for me, _ in (one, two):
        await me.answer(agree=True)
    for me, _ in (two, one):
        assert (await me.look())["id"] == "how"
    return one, two


# The participants.


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def book(request):
    address = "sqlite://" if request.param == "sqlite" else fresh_address(request.getfixturevalue("postgres"))
    held = _Book(address)
    yield held
    held.database.close()


class _Book:
    def __init__(self, address, text=STUDY):
        self.protocol, self.clock = parse(text), ManualClock()
        self.database = open_database(address, (SERVER, HISTORY))
        self.write(participants.open_study)

    def write(self, work, *args):
        return self.database.write(work, self.clock, self.protocol, *args)

    def someone(self, consents=True):
        who, _, _ = self.write(participants.enter, "en", None)
        if consents:
            self.write(participants.submit, who.id, "consent", {"agree": True}, 1.0)
        return who.id

    def who(self, number):
        return self.database.read(participants.person, number)

    def rows(self, table):
        query = sa.select(table).order_by(table.c.id)
        return self.database.read(lambda tx: [row._mapping for row in tx.execute(query)])


def test_who_stops_is_noted_with_time_and_place_and_the_place_in_the_design_is_free(book):
    number = book.someone()
    book.clock.advance(90)
    book.write(withdrawals.withdraw, number)
    [row] = book.rows(people)
    assert (row["status"], row["finished"], row["code"], row["payment"]) == ("withdrawn", book.clock.now(), "PART", 1.0)
    assert [held["released"] for held in book.rows(slots)] == [True]
    [event] = [event for event in book.rows(events) if event["kind"] == "withdraw"]
    assert (event["at"], event["payload"], event["game"]) == (book.clock.now(), {"page": "lobby"}, None)
    [told] = records.read(book.database).participants
    assert (told["status"], told["stopped_on"], told["page"]) == ("withdrawn", "lobby", None)


def test_stopping_twice_is_stopping_once_and_who_is_done_stays_done(book):
    number = book.someone()
    book.write(withdrawals.withdraw, number)
    then = book.rows(people)
    book.clock.advance(60)
    assert book.write(withdrawals.withdraw, number) is True
    assert book.rows(people) == then
    assert len([event for event in book.rows(events) if event["kind"] == "withdraw"]) == 1
    other = book.someone()
    book.database.write(lambda tx: tx.execute(sa.update(people).where(people.c.id == other).values(status="done")))
    assert book.write(withdrawals.withdraw, other) is False
    assert book.who(other).status == "done"


def test_who_declines_the_consent_is_owed_nothing(book):
    number = book.someone(consents=False)
    book.write(withdrawals.withdraw, number)
    who = book.who(number)
    assert (who.status, who.code, who.payment) == ("withdrawn", None, None)
    [told] = records.read(book.database).participants
    assert (told["stopped_on"], told["consented"]) == ("consent", None)


def test_a_partner_is_not_paid_less_because_someone_stopped(book):
    one = book.someone()

    def played(tx, *scores):
        row = {"person": one, "setting": "soups", "partner": "lobby", "seat": 0, "practice": False, "chance": [1, 2]}
        row |= {"started": book.clock.now()}
        for at, (score, status) in enumerate(scores):
            tx.execute(sa.insert(games).values(**row, page=f"p{at}", score=score, status=status))

    book.database.write(played, (20.0, "done"), (0.0, "abandoned"), (None, "playing"))
    for formula, amount in (("mean(scores)", 20.0), ("5 + games", 7.0), ("sum(scores)", 20.0)):
        assert book.database.read(participants.payment, formula, one) == amount


def test_who_asks_again_for_a_games_end_hears_of_another_who_stopped_and_of_nobody_else(book):
    """The browser asks again where the message of the end was lost."""
    stays, stopped = book.someone(), book.someone()
    book.write(withdrawals.withdraw, stopped)

    def played(tx):
        row = {"setting": "soups", "partner": "lobby", "seat": 0, "practice": False, "chance": [1, 2]}
        row |= {"started": book.clock.now(), "score": 20.0}
        for person, page, status in (
            (stays, "whole", "done"),
            (stays, "broken", "abandoned"),
            (stopped, "broken", "abandoned"),
        ):
            tx.execute(sa.insert(games).values(**row, person=person, page=page, status=status))

    book.database.write(played)
    ends = [(stays, "whole"), (stays, "broken"), (stopped, "broken")]
    assert [book.database.read(game_rows.ended, *end) for end in ends] == [(20.0, False), (20.0, True), (20.0, False)]
    assert book.database.read(game_rows.ended, stays, "another") is None


def test_an_own_game_that_is_not_in_memory_is_abandoned(book):
    """As after a restart of the server; the partner, who comes back, is not left waiting."""
    one, two = book.someone(), book.someone()
    book.write(lambda tx, clock, protocol: groups.join(tx, clock, protocol, [one, two], "lobby"))
    for number in (one, two):
        book.write(participants.submit, number, "how", {}, 1.0)
    dealt = book.write(game_rows.begin_or_resume, one, {"soups": 2})
    book.write(withdrawals.withdraw, one, 3)
    assert [(row["person"], row["status"]) for row in book.rows(games)] == [(one, "abandoned"), (two, "playing")]
    [event] = [event for event in book.rows(events) if event["kind"] == "withdraw"]
    assert (event["game"], event["t"], event["payload"]) == (dealt.id, 3, {"page": "together"})
    again = book.write(game_rows.begin_or_resume, two, {"soups": 2})
    assert [(seated.person, seated.stopped) for seated in again.people] == [(one, True), (two, False)]


# On a real server.


def test_someone_leaves_the_waiting_room(leavers):
    async def walk():
        (one, first), (two, _), (three, third) = [await someone(leavers) for _ in range(3)]
        async with one, two, three:
            await one.answer(agree=True)
            assert one.page["kind"] == "wait"
            assert (await one.send("withdraw")).status_code == 200
            assert one.page["kind"] == "done"
            await two.answer(agree=True)
            assert (await two.look())["kind"] == "wait"  # nobody is there any more
            await three.answer(agree=True)
            assert (await two.look())["id"] == three.page["id"] == "how"
            return first, third, one.page, await one.look()

    first, third, page, later = run(walk())
    assert page == later
    assert page["text"] == "<p>You have <strong>stopped</strong>.</p>"
    assert (page["code"], page["payment"], page["erasable"]) == ("PART", "EUR 1.00", True)
    assert page["url"] == "https://example.org/back?cc=PART"
    assert [row["person"] for row in rows(leavers, members, first)] == []
    assert len(rows(leavers, members, third)) == 1


def test_a_partner_is_told_and_the_game_is_abandoned(leavers):
    async def play():
        (one, first), (two, second) = await met(leavers)
        async with one, two:
            for me in (one, two):
                await me.answer()
            async with one.game() as mine, two.game() as theirs:
                for line in (mine, theirs):
                    await line.until(lambda m: m["type"] == "tick" and m["t"] >= 4)
                await one.send("withdraw")
                pause = await theirs.until(lambda m: m["type"] == "pause" and m["reason"] == "stopped")
                end = await theirs.until("end")
                own = await mine.until("end")
            assert one.page["kind"] == "done"
            after = await two.look()
            async with two.game() as theirs:  # with a bot, and nobody is waited for
                await theirs.until(lambda m: m["type"] == "tick" and m["t"] >= 2)
            # The browser that missed the end asks for it again.
            two.state["page"] = {**two.page, "id": "together"}
            async with two.game() as line:
                late = await line.until("end")
            return first, second, pause, end, own, after, late

    first, second, pause, end, own, after, late = run(play())
    assert pause["grace_s"] == 0
    assert end["reason"] == late["reason"] == "stopped"
    assert "reason" not in own
    assert after["id"] == "again"
    stored = [row for number in (first, second) for row in rows(leavers, games, number) if row["page"] == "together"]
    assert [row["status"] for row in stored] == ["abandoned"] * 2
    assert stored[0]["score"] == stored[1]["score"] == end["score"] == late["score"]
    assert 4 <= stored[0]["length"] < 60
    episode = game_rows.unpack(stored[0]["episode"])
    assert [(r.kind, r.payload) for r in episode.events if r.kind == "end"] == [("end", {"reason": "stopped"})]
    [event] = [event for event in rows(leavers, events, first) if event["kind"] == "withdraw"]
    assert event["payload"] == {"page": "together"}
    assert 4 <= event["t"] <= episode.length
    held = records.read(leavers.base.database)
    mine = [row for row in held.games if row["game"] in {row["id"] for row in stored}]
    assert [(row["status"], row["episode"]) for row in mine] == [("abandoned", None)] * 2
    assert [row["left"] for row in rows(leavers, members, first)] == [True]
    again = [row for row in rows(leavers, games, second) if row["page"] == "again"]
    assert [row["partner"] for row in again] == ["bot"]


def test_for_someone_who_never_came_to_the_game_a_bot_sits_down(leavers):
    async def play():
        (one, first), (two, second) = await met(leavers)
        async with one, two:
            await one.answer()
            async with one.game() as mine:
                await mine.until("pause")  # for up to five minutes, since the other may be reading
                await two.send("withdraw")
                end = await mine.until("end")
            assert "reason" not in end
            return first, second

    first, second = run(play())
    [row] = [row for row in rows(leavers, games) if row["person"] in (first, second)]
    assert (row["person"], row["status"], row["length"]) == (first, "done", 60)
    [event] = [event for event in rows(leavers, events, second) if event["kind"] == "withdraw"]
    assert (event["payload"], event["game"]) == ({"page": "how"}, None)


def test_a_game_whose_partner_stopped_while_the_server_was_down_is_abandoned(leavers):
    """The withdrawal is in the participants, and the game's end is not: whoever comes back ends it."""

    async def play():
        (one, first), (two, _) = await met(leavers)
        async with one, two:
            for me in (one, two):
                await me.answer()
            async with one.game() as mine, two.game() as theirs:
                for line in (mine, theirs):
                    await line.until(lambda m: m["type"] == "tick" and m["t"] >= 3)
            host = leavers.host
            while (live := host.games_by_person.get(first)) is not None and live.present:
                await asyncio.sleep(0.02)
            leavers.loop.call_soon_threadsafe(host.release, live)
            await asyncio.to_thread(
                leavers.base.database.write, withdrawals.withdraw, leavers.base.clock, host.protocol, first
            )
            while first in host.games_by_person:
                await asyncio.sleep(0.02)
            async with two.game() as theirs:
                return await theirs.until("end"), await two.look()

    end, page = run(play())
    assert (end["reason"], page["id"]) == ("stopped", "again")


def test_who_plays_with_a_bot_stops_alone_and_may_be_erased(leavers):
    async def play():
        (one, first), (two, _) = await met(leavers)
        async with one, two:
            await two.send("withdraw")
            await one.answer()
            async with one.game() as mine:
                await mine.until(lambda m: m["type"] == "tick" and m["t"] >= 2)
                refused = await one.send("erase")
                await one.send("withdraw")
                await mine.until("end")
            assert one.page["payment"] == "EUR 1.00"  # for the game that was not finished there is nothing
            public = next(row["public"] for row in leavers.rows(people) if row["id"] == first)
            [game] = rows(leavers, games, first)
            reply = await one.send("erase")
            return first, public, game, refused, reply, one.page, dict(one.client.cookies)

    first, public, game, refused, reply, page, cookies = run(play())
    assert refused.status_code == 409
    assert "ask the researchers" in refused.json()["message"]
    assert game["status"] == "abandoned"
    assert reply.status_code == 200
    assert not any(name.startswith("interplay_study") for name in cookies)
    assert (page["id"], page["code"], page["payment"], page["erasable"]) == ("erased", "PART", None, False)
    for table in METADATA.sorted_tables:
        column = table.c.get("person") if table.name != "study_people" else table.c.id
        assert column is None or first not in [row[column.name] for row in leavers.rows(table)], table.name
    [line] = [row for row in leavers.base.database.read(audit.read, action="erase").rows if row["subject"] == public]
    assert line["actor"] == "the participant"


def test_only_ones_own_page_can_stop_one(leavers):
    async def walk():
        me, number = await someone(leavers)
        async with me:
            await me.answer(agree=True)
            csrf, me.state["csrf"] = me.state["csrf"], "0" * 32
            replies = [await me.send(what) for what in ("withdraw", "erase")]
            me.state["csrf"], me.url = csrf, "https://elsewhere.example"
            replies += [await me.send(what) for what in ("withdraw", "erase")]
            return number, replies

    number, replies = run(walk())
    assert [reply.status_code for reply in replies] == [403] * 4
    assert leavers.base.database.read(participants.person, number).status == "active"


def test_what_a_study_says_nothing_of_has_sensible_defaults():
    book = _Book("sqlite://", PLAIN)
    number = book.someone()
    book.write(withdrawals.withdraw, number)
    from interplay.study.http import page_views

    page = page_views.done(book.protocol, book.who(number))
    assert "stopped taking part" in page["text"]
    assert (page["code"], page["payment"], page["erasable"]) == (None, None, False)
    unasked = book.someone(consents=False)
    book.write(withdrawals.withdraw, unasked)
    assert "not to take part" in page_views.done(book.protocol, book.who(unasked))["text"]
    book.database.close()


def test_the_hash_of_files_that_say_nothing_of_it_is_as_before():
    """Studies that began with an older version go on."""
    assert parse(PLAIN).hash == parse(PLAIN + "withdrawal: {}\n").hash
    assert parse(PLAIN).hash != parse(PLAIN + "withdrawal: {erase: true}\n").hash


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"1 + 2 * games"', '"-1"', "people cannot be charged"),
        ('"1 + 2 * games"', "sum(scores_stews)", "there is no game 'stews'"),
        ("code: PART", 'code: "a b"', "pattern"),
        ("text: You have **stopped**.", "text: {de: Ende}", "withdrawal: text is not written in en"),
        ("erase: true", "erase: perhaps", "boolean"),
        ("erase: true", "erases: true", "withdrawal.erases: is not known here"),
    ],
)
def test_mistakes_are_told_with_their_line(old, new, told):
    assert old in STUDY
    with pytest.raises(InterplayError, match=f"line {line_of(STUDY, 'withdrawal:')}: .*{told}"):
        parse(STUDY.replace(old, new))
