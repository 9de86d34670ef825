"""People who play together: waiting rooms, pairs, time-outs, someone who leaves; each sees what is theirs to see."""

from pathlib import Path

import numpy as np
import pytest

from interplay.agents.api import Identity
from interplay.errors import InterplayError
from interplay.rollout.episode import Episode
from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.study.db import game_rows, groups, participants
from interplay.study.db.groups import HERE_S
from interplay.study.db.schema import HISTORY, events, games, members, people
from interplay.study.http.app import build
from interplay.study.live.partner_engines import make_engine
from interplay.study.live.waiting_room import WaitingRooms
from interplay.study.protocol.flow import first_slots, pages
from interplay.study.protocol.reading import load, parse
from interplay.traces.replay import game_of, replay
from tests.manual_clock import ManualClock
from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.conftest import opened, serving
from tests.study.conftest import within_a_minute as run
from tests.study.texts import game, line_of, repeat, study
from tests.study.visitor import Visitor

STUDY = study(
    "pairs",
    "{kind: wait, id: lobby, title: Waiting, patience_s: 20, otherwise: bot}",
    game("one", "soups", "lobby"),
    repeat("rounds", game("game", "$layout", "lobby", "More")),
    games="""
  soups: {game: overcooked/cramped_room, options: {horizon: 30}, tick_hz: 10, seat: alternate, countdown_s: 0}
  ring: {game: overcooked/cramped_room, options: {horizon: 32}, tick_hz: 10, countdown_s: 0}""",
    partners="{bot: stay}",
    designs="{rounds: {factors: {layout: [soups, ring]}, order: latin}}",
    grace_s=0.6,
)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    with opened(parse(STUDY), tmp_path_factory.mktemp("pairs")) as found:
        yield found


async def _met(url, study):
    """Two people who have met in the waiting room."""
    one, two = Visitor(url, study), Visitor(url, study)
    for who in (one, two):
        await who.look()
        await who.answer(agree=True)
    assert one.page["kind"] == "wait"
    assert 0 < one.page["until_s"] <= 20
    await two.look()
    await one.look()
    assert one.page["kind"] == two.page["kind"] == "game"
    return one, two


@pytest.fixture(scope="module")
def played(pairs):
    """A pair's first game, played to its end; in the second, one of them leaves and a bot takes the seat."""

    async def play():
        one, two = await _met(pairs.url, "pairs")
        async with one, two:
            async with one.game() as first:
                await first.until("pause")  # the other has not come yet
                async with two.game() as second:
                    starts = [await line.until("start") for line in (first, second)]
                    for line, start in ((first, starts[0]), (second, starts[1])):
                        await line.until("tick")
                        await line.send(type="act", seq=start["seq"] + 1, action="north")
                        await line.until(lambda m, s=start: m["type"] == "ack" and m["seq"] == s["seq"] + 1)
                    ends = [await line.until("end") for line in (first, second)]
            pages = [await who.look() for who in (one, two)]
            async with one.game() as first, two.game() as second:
                await first.until(lambda m: m["type"] == "tick" and m["t"] == 2)
                await second.wire.close()
                await first.until(lambda m: m["type"] == "tick" and m["t"] == 5)
                pause = first.of("pause")[-1]
                async with two.game() as again:  # back before the end: the seat is theirs again
                    await again.until("end")
                await first.until("end")
            for who in (one, two):
                await who.look()
            async with one.game() as first:  # nobody comes any more
                async with two.game() as second:
                    await second.until(lambda m: m["type"] == "tick" and m["t"] == 1)
                await first.until("end")
            await one.look()
            await two.look()
            return starts, ends, pages, pause, one.page, two.page

    return run(play())


def test_two_people_meet_and_play_one_game(played, pairs):
    starts, ends, pages, _, _, _ = played
    assert {start["you"] for start in starts} == {0, 1}
    assert ends[0]["score"] == ends[1]["score"]
    assert pages[0]["id"] == pages[1]["id"]
    rows = [row for row in pairs.rows(games) if row["page"] == "one"]
    assert len(rows) == 2
    assert [row["joint"] for row in rows] == [None, rows[0]["id"]]
    assert {row["partner"] for row in rows} == {"lobby"}
    episode = game_rows.unpack(rows[0]["episode"])
    assert [agent.name for agent in episode.agents] == ["person", "person"]
    assert episode.agents[0].hash != episode.agents[1].hash
    again = replay(game_of(episode), episode)
    assert float(again.steps.reward.sum()) == episode.score == rows[1]["score"]


def test_what_each_pressed_stands_in_the_trace_and_in_their_own_events(played, pairs):
    rows = [row for row in pairs.rows(games) if row["page"] == "one"]
    stored = pairs.rows(events)
    for row in rows:
        own = [e for e in stored if e["game"] == row["id"]]
        assert {e["person"] for e in own} == {row["person"]}
        taken = [seq for e in own for seq in e["payload"].get("seqs", ())]
        assert len(taken) == 1
    actions = game_rows.unpack(rows[0]["episode"]).actions
    assert [(actions[:, seat] == 0).sum() for seat in (0, 1)] == [1, 1]


def test_a_pair_goes_through_designs_in_one_order(played, pairs):
    rows = [row for row in pairs.rows(games) if row["page"].startswith("rounds")]
    by_page = {}
    for row in rows:
        by_page.setdefault(row["page"], set()).add(row["setting"])
    assert all(len(settings) == 1 for settings in by_page.values())
    assert len(by_page) == 2


def test_someone_who_leaves_is_waited_for_replaced_by_a_bot_and_may_come_back(played, pairs):
    _, _, _, pause, _, _ = played
    assert 0 < pause["grace_s"] <= 0.6
    rows = [row for row in pairs.rows(games) if row["page"] == "rounds.1.game"]
    episode = game_rows.unpack(rows[0]["episode"])
    kinds = [remark.kind for remark in episode.events]
    assert kinds.count("takeover") == kinds.count("back") == 1
    assert episode.length == (30 if rows[0]["setting"] == "soups" else 32)


def test_someone_who_left_for_good_plays_with_bots_from_then_on(played, pairs):
    *_, one, two = played
    assert one["kind"] == two["kind"] == "done"
    left = [row for row in pairs.rows(members) if row["left"]]
    assert len(left) == 1


def test_each_sees_only_their_own_view(pairs):
    """In Hanabi nobody is sent their own cards."""
    from interplay.games.registry import make
    from interplay.rollout.live import LiveTable, live_engine
    from interplay.study.live.browser_views import HANABI

    game = make("hanabi/2p")
    engine = live_engine(game, {}, sizes=(1,))
    try:
        table = LiveTable((1, 2), {}, HANABI.watch(game))
        engine.begin(table).result(60)
        for seat in (0, 1):
            hands = HANABI.view(game, table, seat)["hands"]
            assert all(card["colour"] is None and card["rank"] is None for card in hands[seat])
            assert all(card["rank"] is not None for card in hands[1 - seat])
    finally:
        engine.close()


# The waiting room alone, by a clock that is moved by hand.


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def made(request):
    """Makes a study without a server, on a database of each kind in turn."""
    held = []

    def make(text=STUDY):
        address = "sqlite://"
        if request.param == "postgresql":
            address = fresh_address(request.getfixturevalue("postgres"))
        held.append(_Room(text, address))
        return held[-1]

    yield make
    for room in held:
        room.base.database.close()


class _Room:
    def __init__(self, text, address):
        self.protocol, self.clock = parse(text), ManualClock()
        self.base = Base(open_database(address, (SERVER, HISTORY)), clock=self.clock)
        self.rooms = WaitingRooms(self.protocol, self.base)
        self.write(participants.open_study)

    def write(self, work, *args):
        return self.base.database.write(work, self.clock, self.protocol, *args)

    def someone(self):
        """A person who has consented, and now waits."""
        who, _, _ = self.write(participants.enter, "en", None)
        self.write(participants.submit, who.id, "consent", {"agree": True}, 1.0)
        return who.id

    async def ask(self, number):
        who = self.base.database.read(participants.person, number)
        return await self.rooms.attend(who)

    def rows(self, table):
        return self.base.database.read(lambda tx: [row._mapping for row in tx.execute(table.select())])


def test_whoever_waited_long_enough_goes_on_alone(made):
    async def wait():
        room = made()
        me = room.someone()
        assert await room.ask(me) == 20
        room.clock.advance(12)
        assert await room.ask(me) == 8
        # A server that is started again has forgotten who is here, not since when they wait.
        room.rooms = WaitingRooms(room.protocol, room.base)
        assert await room.ask(me) == 8
        room.clock.advance(9)
        assert await room.ask(me) is None
        (member,) = room.rows(members)
        assert member["person"] == me
        (dealt,) = [room.write(game_rows.begin_or_resume, me, {"soups": 2, "ring": 2})]
        assert (dealt.bots, len(dealt.people)) == ({1: "bot"}, 1)
        assert [row["partner"] for row in room.rows(games)] == ["bot"]

    run(wait())


def test_a_browser_that_has_gone_is_not_paired(made):
    async def wait():
        room = made()
        first, second, third = (room.someone() for _ in range(3))
        assert await room.ask(first)
        room.clock.advance(HERE_S + 1)
        assert await room.ask(second)
        assert await room.ask(third) is None
        assert [row["person"] for row in room.rows(members)] == [second, third]
        assert await room.ask(second) is None  # it is on the next page by now
        assert await room.ask(first)

    run(wait())


def test_those_who_wait_longest_go_first_and_nobody_is_in_two_pairs(made):
    async def wait():
        room = made(STUDY.replace("otherwise: bot}", "otherwise: bot, people: 3}"))
        everyone = [room.someone() for _ in range(7)]
        for number in everyone:
            await room.ask(number)
            room.clock.advance(0.1)
        held = room.rows(members)
        groups_of = {}
        for row in held:
            groups_of.setdefault(row["group"], []).append(row["person"])
        assert list(groups_of.values()) == [everyone[:3], everyone[3:6]]

    run(wait())


def test_a_game_ends_with_its_score_where_the_study_says_so(tmp_path):
    text = STUDY.replace("otherwise: bot}", "otherwise: bot, someone_leaves: end}").replace("name: pairs", "name: ends")
    database = open_database(str(tmp_path / "e.db"), (SERVER, HISTORY))
    base = Base(database)

    async def play(url):
        one, two = await _met(url, "ends")
        async with one, two, one.game() as first:
            async with two.game() as second:
                await second.until(lambda m: m["type"] == "tick" and m["t"] == 3)
            return await first.until("end"), await one.look()

    with serving(build(parse(text), base, sizes=(1,)), base) as served:
        end, page = run(play(served.url))
        assert page["id"] == "rounds.1.game"
        row = served.rows(games)[0]
        episode = game_rows.unpack(row["episode"])
        assert 3 <= episode.length < 30
        assert end["score"] == episode.score == row["score"]
        assert [r.payload for r in episode.events if r.kind == "end"] == [{"reason": "left"}]
        assert float(replay(game_of(episode), episode).steps.reward.sum()) == episode.score
        assert served.rows(people)[1]["position"] == 3
    database.close()


@pytest.mark.parametrize(
    ("old", "new", "where", "told"),
    [
        ("otherwise: bot}", "otherwise: nobody}", "kind: wait", "otherwise: partner 'nobody' is not known"),
        ("partner: lobby}\n  - kind", "partner: lobbi}\n  - kind", "id: one", "'lobbi' is not known; there is bot"),
        ("order: latin", "order: shuffle", "id: game", "share an order"),
        ("patience_s: 20", "patience_s: -1", "kind: wait", "greater than 0"),
        ("partners: {bot: stay}", "partners: {bot: stay, lobby: stay}", "kind: wait", "give one of them another"),
        ("pages:\n", "pages:\n      - {kind: wait, id: w, title: W, otherwise: bot}\n", "id: w,", "outside of"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(old, new, where, told):
    assert old in STUDY
    text = STUDY.replace(old, new, 1)
    with pytest.raises(InterplayError) as caught:
        parse(text, "pairs.yaml")
    assert told in str(caught.value)
    assert f"line {line_of(text, where)}:" in str(caught.value)


@pytest.mark.parametrize("name", ["human_human", "kitchen_chat"])
def test_the_examples_are_whole(name):
    protocol = load(Path(__file__).parents[2] / "studies" / f"{name}.yaml")
    for setting in protocol.games:
        make_engine(protocol, setting, (1,)).close()
    found = [page.id for page in pages(protocol, first_slots(protocol), 1)]
    assert len(set(found)) == len(found)


def test_more_people_than_seats_are_told():
    with pytest.raises(InterplayError, match="3 people of 'lobby' cannot sit in 2 seats"):
        build(
            parse(STUDY.replace("otherwise: bot}", "otherwise: bot, people: 3}")),
            Base(open_database("sqlite://", (SERVER, HISTORY))),
            sizes=(1,),
        )


def test_someone_who_dropped_out_is_not_waited_for(made):
    room = made()
    one, two = room.someone(), room.someone()

    def meet(tx, clock, protocol):
        return groups.join(tx, clock, protocol, [one, two], "lobby")

    assert room.write(meet) == []
    room.base.database.write(lambda tx: tx.execute(people.update().where(people.c.id == two).values(status="dropped")))
    dealt = room.write(game_rows.begin_or_resume, one, {"soups": 2, "ring": 2})
    assert [seated.person for seated in dealt.people] == [one]


def test_a_game_of_two_is_taken_up_where_it_was(made):
    """After a crash: steps, numbers, words and who sits where, from the journal of both."""
    room = made()
    one, two = room.someone(), room.someone()
    room.write(lambda tx, clock, protocol: groups.join(tx, clock, protocol, [one, two], "lobby"))
    seats = {"soups": 2, "ring": 2}
    begun = room.write(game_rows.begin_or_resume, two, seats)
    lead, mate = begun.people
    assert (lead.person, mate.person, begun.bots) == (two, one, {})  # whoever comes first leads
    assert (lead.seat, mate.seat) == (1, 0)
    assert begun.room.directly, "nobody can be busy elsewhere: who does not come now has gone"
    happened = [
        (lead, 0, "step", {"joint": [4, 4], "seqs": [3, 4], "missed": [1]}),
        (mate, 1, "press", {"action": 0, "seqs": [7]}),
        (lead, 1, "step", {"joint": [4, 0]}),
        (mate, 2, "flag", {"id": "odd", "seen": 1, "seqs": [8]}),
        (lead, 2, "takeover", {"seat": mate.seat, "partner": "bot"}),
        (lead, 2, "join", {}),
        (lead, 2, "remark", {"seat": 1, "what": "message", "payload": {"text": "hi"}}),
    ]
    for who, t, kind, payload in happened:
        row = {"person": who.person, "game": who.game, "t": t, "kind": kind, "payload": payload}
        room.base.database.write(lambda tx, row=row: tx.execute(events.insert().values(**row, at=room.clock.now())))
    again = room.write(game_rows.begin_or_resume, one, seats)
    assert again.id == begun.id == lead.game
    assert again.joints == [[4, 4], [4, 0]]
    assert [sorted(seated.seqs) for seated in again.people] == [[3, 4], [7, 8]]
    assert again.taken == {mate.seat}
    assert [seated.came for seated in again.people] == [True, False]
    assert [(t, seat, kind) for t, seat, kind, _ in again.remarks] == [
        (0, 1, "deadline"), (2, mate.seat, "flag"), (2, mate.seat, "takeover"), (2, 1, "message"),
    ]  # fmt: skip
    room.base.database.write(
        lambda tx: tx.execute(
            events.insert().values(
                person=two, game=lead.game, t=2, kind="back", payload={"seat": mate.seat}, at=room.clock.now()
            )
        )
    )
    assert room.write(game_rows.begin_or_resume, two, seats).taken == frozenset()


def test_who_never_came_to_a_game_plays_it_later_alone(made):
    """The other has finished it with a bot by then: the trace names the bot, and nobody is stuck."""
    room = made()
    one, two = room.someone(), room.someone()
    room.write(lambda tx, clock, protocol: groups.join(tx, clock, protocol, [one, two], "lobby"))
    seats = {"soups": 2, "ring": 2}
    dealt = room.write(game_rows.begin_or_resume, one, seats)
    episode = _episode()
    gone = game_rows.DepartedPerson(dealt.room, [two], [two])
    assert room.write(game_rows.finish, dealt.id, episode, gone) == episode.score
    assert [row["person"] for row in room.rows(games)] == [one]
    later = room.write(game_rows.begin_or_resume, two, seats)
    assert [seated.person for seated in later.people] == [two]
    assert list(later.bots.values()) == ["bot"]
    room.write(game_rows.finish, later.id, episode)
    assert [row["position"] for row in room.rows(people)] == [3, 3]


def _episode():
    """Any trace."""
    return Episode(
        game_id="overcooked/cramped_room", options={}, rules_version="", agents=(Identity("x", "", False),) * 2, seed=0,
        index=0, start={}, actions=np.zeros((1, 2), np.int16), check_steps=np.array([0, 1], np.int32),
        checks=np.zeros(2, np.uint32), rewards=np.array([20.0, 0.0]), terminated=False,
    )  # fmt: skip
