"""Games over real sockets: ticks, keys, acknowledgements, pauses, partners of every kind, and the trace of it all."""

import asyncio
import time

import numpy as np
import pytest

from interplay import trust
from interplay.agents.api import FunctionPlayer, Move, TraceEvent
from interplay.errors import InterplayError
from interplay.games.overcooked.state import ACTIONS
from interplay.games.registry import make
from interplay.games.rescue.state import WALL
from interplay.study.db import game_rows
from interplay.study.db.schema import events, games
from interplay.study.live.browser_views import RESCUE
from interplay.study.live.partner_engines import make_engine
from interplay.study.protocol.reading import parse
from interplay.traces import TraceSet
from interplay.traces.replay import game_of, replay
from tests.study.conftest import opened
from tests.study.conftest import within_a_minute as run
from tests.study.texts import game, study
from tests.study.visitor import Visitor

HERE = "tests.study.test_study_games"
trust.admit([f"{HERE}:Slow", f"{HERE}:quick"])  # as --trust would
STUDY = study(
    "arcade",
    game("one", "calm", "still", flags="[{id: odd, label: Odd}]"),
    game("two", "soups", "slow"),
    game("three", "soups", "quick"),
    game("four", "house", "still"),
    game("five", "cards", "slow"),
    games="""
  calm: {game: overcooked/cramped_room, options: {horizon: 9}, tick_hz: 3, countdown_s: 0}
  soups: {game: overcooked/cramped_room, options: {horizon: 24}, tick_hz: 15, countdown_s: 0}
  house: {game: rescue/two_rooms, options: {horizon: 10}, tick_hz: 20, countdown_s: 0}
  cards: {game: hanabi/2p, partner_delay_s: 0, think_s: 0.3}""",
    partners=f'{{still: stay, slow: "{HERE}:Slow", quick: "{HERE}:quick"}}',
    grace_s=5,
)
INTERACT, NORTH = ACTIONS.index("interact"), ACTIONS.index("north")


class Slow:
    """Takes longer for every choice than a tick has."""

    encoding, deadline_s, default_action = "nothing", None, None

    def begin(self, game, seat, seed):
        return self

    async def act(self, view):
        time.sleep(0.4 if len(view.legal) == len(ACTIONS) else 0.8)
        return NORTH


def quick():
    return FunctionPlayer(lambda seen, legal: INTERACT, encoding="nothing")


@pytest.fixture(scope="module")
def arcade(tmp_path_factory):
    protocol = parse(STUDY.replace("rescue/two_rooms", f"rescue/{_small_house()}"))
    with opened(protocol, tmp_path_factory.mktemp("arcade")) as found:
        yield found


def _small_house():
    from interplay.games.rescue.layouts import HOUSES

    return min(HOUSES, key=lambda name: len(HOUSES[name]))


@pytest.fixture(scope="module")
def walked(arcade):
    """One person through all games; what was heard on each line."""

    async def walk():
        lines = {}
        async with Visitor(arcade.url, "arcade") as me:
            await me.answer(agree=True)
            for play in (_keys, _hasty, _quiet, _quiet, _cards):
                name = me.page["id"]
                lines[name] = await play(me)
                await me.look()
            assert me.page["kind"] == "done"
        return lines

    return run(walk())


async def _keys(me):
    """Three keys within a tick, one of them sent again; a flag; pings; a hidden tab; and a reload in mid-game."""
    async with me.game() as line:
        start = await line.until("start")
        assert "still" not in str(line.heard)
        seq = start["seq"] + 1
        await line.until(lambda m: m["type"] == "tick" and m["t"] == 2)
        for offset, action in enumerate(("north", "south", "interact")):
            await line.send(type="act", seq=seq + offset, action=action)
        await line.send(type="act", seq=seq, action="west")
        await line.send(type="flag", seq=seq + 3, id="odd", t=1)
        await line.send(type="ping", at=7, rtt_ms=12.5)
        await line.send(type="visibility", hidden=True)
        await line.send(type="act", seq=seq + 4, action="fly")
        await line.until(lambda m: m["type"] == "ack" and m["seq"] == seq + 2)
        await line.until(lambda m: m["type"] == "ack" and m["seq"] == seq + 3)
        assert (await line.until("pong"))["at"] == 7
        assert "no such action" in (await line.until("error"))["message"]
        before = line.heard
    await asyncio.sleep(1)
    async with me.game() as line:
        again = await line.until("start")
        assert again["seq"] == seq + 3
        first = await line.until("tick")
        last = [m["t"] for m in before if m["type"] == "tick"][-1]
        assert last <= first["t"] <= last + 2, "the game went on without its person"
        await line.send(type="act", seq=seq, action="west")  # long taken, and told so again
        await line.until(lambda m: m["type"] == "ack" and m["seq"] == seq)
        line.end = await line.until("end")
        line.heard = [*before, *line.heard]
        return line


async def _hasty(me):
    async with me.game() as line:
        line.began = time.monotonic()
        line.end = await line.until("end")
        line.took = time.monotonic() - line.began
        return line


async def _quiet(me):
    async with me.game() as line:
        line.end = await line.until("end")
        return line


async def _cards(me):
    """Plays the first card whenever it can, which ends the game soon."""
    async with me.game() as line:
        seq, at = (await line.until("start"))["seq"], 0
        while True:
            turn = await line.until(
                lambda m: m["type"] == "end" or (m["type"] == "tick" and m["view"]["your_turn"]), since=at
            )
            if turn["type"] == "end":
                line.end = turn
                return line
            at, seq = line.place(turn), seq + 1
            await line.send(type="act", seq=seq, action="play 0")


def _of(arcade, page):
    (game,) = [row for row in arcade.rows(games) if row["page"] == page]
    return game, [row for row in arcade.rows(events) if row["game"] == game["id"]]


def test_the_latest_key_counts_once_and_all_are_acknowledged(walked, arcade):
    _, stored = _of(arcade, "one")
    pressed = [row for row in stored if row["kind"] == "step" and row["payload"].get("seqs")]
    (step,) = pressed
    assert len(step["payload"]["seqs"]) == 3
    assert step["payload"]["joint"][0] == INTERACT
    acks = [m["seq"] for m in walked["one"].of("ack")]
    assert set(step["payload"]["seqs"]) <= set(acks)


def test_round_trips_tabs_flags_and_comings_and_goings_are_stored(walked, arcade):
    _, stored = _of(arcade, "one")
    kinds = [row["kind"] for row in stored]
    assert [row["payload"] for row in stored if row["kind"] == "rtt"] == [{"ms": 12.5}]
    assert [row["payload"] for row in stored if row["kind"] == "visibility"] == [{"hidden": True}]
    assert kinds.count("join") == 2
    assert kinds.count("leave") >= 1
    (flag,) = [row for row in stored if row["kind"] == "flag"]
    assert flag["payload"]["seen"] == 1


@pytest.mark.parametrize("page", ["one", "two", "three", "four", "five"])
def test_games_end_on_their_tick_with_the_replayed_score(walked, arcade, page, tmp_path):
    game, stored = _of(arcade, page)
    episode = game_rows.unpack(game["episode"])
    assert game["length"] == episode.length
    assert episode.length == {"one": 9, "four": 10, "five": episode.length}.get(page, 24)
    steps = [row for row in stored if row["kind"] == "step"]
    assert [row["t"] for row in steps] == list(range(episode.length))
    assert [row["payload"]["joint"] for row in steps] == episode.actions.tolist()
    assert all(row["payload"]["late_ms"] >= 0 for row in steps)
    again = replay(game_of(episode), episode)
    assert float(again.steps.reward.sum()) == episode.score == game["score"] == walked[page].end["score"]
    traces = TraceSet.create(tmp_path / "traces", {})
    traces.append([episode])
    assert [agent.name for agent in episode.agents].count("person") == 1


def test_a_partner_that_is_too_slow_stays_and_holds_nobody_up(walked, arcade):
    game, stored = _of(arcade, "two")
    missed = [row["payload"].get("missed") for row in stored if row["kind"] == "step"]
    assert missed.count([1]) >= 6
    assert missed.count(None) >= 1, "it is heard once it has chosen"
    episode = game_rows.unpack(game["episode"])
    assert sum(remark.kind == "deadline" for remark in episode.events) == missed.count([1])
    stay = ACTIONS.index("stay")
    for joint, late in zip(episode.actions.tolist(), missed, strict=True):
        assert joint[1] == (stay if late else NORTH)
    assert walked["two"].took < 24 * 0.4, "the game kept its time"


def test_in_turns_a_partner_is_waited_for_only_so_long(walked, arcade):
    """Its default move is made; while it is still at the old question it is not waited for again."""
    game, stored = _of(arcade, "five")
    steps = [row["payload"] for row in stored if row["kind"] == "step"]
    episode = game_rows.unpack(game["episode"])
    theirs = [step.get("missed") for step in steps if step["joint"][1] != len(game_of(episode).action_names) - 1]
    assert theirs
    assert set(map(str, theirs)) == {"[1]"}


def test_a_partner_that_hangs_holds_up_no_other_table(walked, arcade):
    from interplay.rollout.live import LiveTable

    arena = arcade.host.engines["soups"]
    slow, quick = LiveTable((1, 2), {1: "slow"}), LiveTable((3, 4), {1: "quick"})
    for table in (slow, quick):
        arena.begin(table).result(20)
    began = time.monotonic()
    for _ in range(5):
        arena.step(quick, np.array([4, 4])).result(20)
        quick.pending[1].result(20)
    arena.step(slow, np.array([4, 4])).result(20)
    assert time.monotonic() - began < 0.4 * 5
    for table in (slow, quick):
        table.close()


def test_a_plain_function_can_be_a_partner(walked, arcade):
    _, stored = _of(arcade, "three")
    chosen = [row["payload"]["joint"][1] for row in stored if row["kind"] == "step" and "missed" not in row["payload"]]
    assert len(chosen) >= 5
    assert set(chosen) == {INTERACT}


def test_rescue_is_shown_as_a_seat_knows_it(walked):
    import jax

    game = make("rescue/hallway")
    rng = np.random.default_rng(0)
    state = game.init(jax.random.key(1))
    for _ in range(25):
        known = game.observe(state, "knowledge")
        host = jax.tree_util.tree_map(np.asarray, state)
        for seat in range(game.num_seats):
            view = RESCUE.view(game, _Shown(host), seat)
            height = game.rules.height
            victims = {(i["x"], i["y"]): i["detail"] for i in view["items"] if i["kind"] == "victim"}
            seen = {divmod(int(c), height) for c in np.flatnonzero(np.asarray(known.victims[seat]))}
            assert set(victims) == seen
            unseen = ~np.asarray(known.sight[seat]) & (host.terrain != WALL)
            dark = {divmod(int(c), height) for c in np.flatnonzero(unseen)}
            assert {tuple(cell) for cell in view["unseen"]} == dark
            assert [c["guarded"] for c in view["chefs"]] == np.asarray(known.guarded[seat]).tolist()
        joint = rng.integers(0, len(game.action_names), game.num_seats)
        state, _ = game.step(state, joint, None)
    last = walked["four"].view
    assert {"width", "height", "terrain", "chefs", "items", "pots", "unseen"} <= set(last)
    assert len(last["terrain"]) == last["height"]


class _Shown:
    def __init__(self, state):
        self.state = state


def test_a_panel_gives_each_game_one_of_its_partners():
    text = STUDY.replace("still: stay", 'still: "panel:scripted"').replace("house: {game", "house: {game", 1)
    arena = make_engine(parse(text.replace("rescue/two_rooms", f"rescue/{_small_house()}")), "house", (1,))
    try:
        names = {identity.name for identity in arena.registry.identities.values()}
        assert {"rescue/helper", "stay"} <= names
        from interplay.rollout.live import LiveTable

        seated = [LiveTable((chance, 0), {1: "still"}) for chance in range(len(names))]
        met = {arena.registry.agent(arena.registry.at(table, 1)).name for table in seated}
        assert met == names
    finally:
        arena.close()


def test_a_partner_that_cannot_play_is_told_before_the_study_begins():
    text = STUDY.replace("still: stay", "still: hanabi/simple")
    with pytest.raises(InterplayError, match="game 'calm'"):
        make_engine(parse(text), "calm", (1,))


def test_remarks_of_players_go_into_the_trace():
    """What a player says beside its move is kept, and a player that fails does not end a person's game."""
    from interplay.agents.api import Agent
    from interplay.rollout.worker_threads import PlayerWorker

    class Talkative(Slow):
        async def act(self, view):
            if view.t:
                raise ValueError("out of words")
            return Move(NORTH, [TraceEvent("thought", {"text": "north"})])

    game = make("overcooked/cramped_room", horizon=4)
    import jax

    state = game.init(jax.random.key(0))
    seat = PlayerWorker(game, Agent("talkative", Talkative()), 1, jax.random.key(0), latched=False)
    legal = np.asarray(game.legal(state))[1]
    choice = seat.ask(state, 0, legal, True).result(10)
    assert (choice.action, choice.events[0].kind) == (NORTH, "thought")
    assert isinstance(seat.ask(state, 1, legal, True).exception(10), ValueError)
    seat.close()
