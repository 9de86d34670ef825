"""A person in the kitchen of language models: acts and talk reach the partner, a slow model holds nobody up for long,
and a server that is started again goes on where it was."""

import asyncio

import pytest

from interplay import trust
from interplay.agents.llm.scripted.reference import Reference
from interplay.agents.llm.scripted.simple import Idle
from interplay.games.collab_kitchen.lineage import executions
from interplay.games.registry import make
from interplay.server.api_error import ApiError
from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.study.db import game_rows
from interplay.study.db.schema import HISTORY, events, games
from interplay.study.http.app import build
from interplay.study.live.kitchen_view import ENGLISH, CookMemory, readable, units
from interplay.study.protocol.reading import parse
from interplay.traces.replay import game_of, replay
from tests.study.conftest import serving
from tests.study.texts import game, study
from tests.study.visitor import Visitor

HERE = "llm:tests.study.test_study_games_kitchen"
trust.admit([f"{HERE}:Sluggish", f"{HERE}:Broken"])  # as --trust would
STUDY = study(
    "cooks",
    game("one", "nrc", "model"),
    game("two", "hurried", "slow"),
    game("three", "hurried", "broken"),
    game("four", "hurried", "plain"),
    games="""
  nrc: {game: kitchen/nrc, options: {horizon: 60}, partner_delay_s: 0.01, think_s: 5}
  hurried: {game: kitchen/nrc, options: {horizon: 6}, partner_delay_s: 0.01, think_s: 0.2}""",
    partners=f'{{model: "llm:scripted/reference", slow: "{HERE}:Sluggish", broken: "{HERE}:Broken", plain: stay}}',
    grace_s=30,
)
RECIPE = ("put_obj_in_utensil(pot)", "cook(pot)", "wait(3)", "pickup(boiled(egg), pot)", "deliver()")


class Sluggish(Idle):
    async def chat(self, ask):
        await asyncio.sleep(0.7)
        return await super().chat(ask)


class Broken(Reference):
    async def chat(self, ask):
        raise RuntimeError("no such model today")


def run(work):
    return asyncio.run(asyncio.wait_for(work, 100))


def _app(path):
    database = open_database(str(path), (SERVER, HISTORY))
    base = Base(database)
    return build(parse(STUDY), base, sizes=(1,)), base, database


async def _do(line, seq, action):
    """Choose an act, and wait until it is done."""
    at = len(line.heard)
    await line.send(type="act", seq=seq, action=action)
    begun = await line.until(lambda m: m["type"] == "tick" and not m["view"]["your_turn"], since=at)
    await line.until(lambda m: m["type"] == "tick" and m["view"]["your_turn"], since=line.place(begun))
    await line.until(lambda m: m["type"] == "ack" and m["seq"] == seq)


@pytest.fixture(scope="module")
def cooked(tmp_path_factory):
    """The person asks for an egg and cooks it, over a restart of the server; then three short games."""
    path = tmp_path_factory.mktemp("cooks") / "c.db"
    me, heard = None, {}

    async def first(url):
        nonlocal me
        me = Visitor(url, "cooks")
        await me.look()
        await me.answer(agree=True)
        async with me.game() as line:
            start = await line.until("start")
            seq = start["seq"]
            view = (await line.until("tick"))["view"]
            assert view["your_turn"]
            assert view["order"][0] == "boiled egg"
            assert view["svg"].startswith("<svg")
            assert {"action", "label"} <= set(view["legal"][0])
            await line.send(type="act", seq=seq + 1, action="deliver()")
            await line.until(lambda m: m["type"] == "error" and "cannot be done" in m["message"])
            request = next(r for r in view["requests"] if "pickup(egg" in r["action"])
            await line.send(type="chat", seq=seq + 2, text=f"Hello! {request['action']}")
            await line.send(type="chat", seq=seq + 3, text="request('place_obj_on_counter()')")
            await line.send(type="chat", seq=seq + 4, text="x" * 501)
            await line.until(lambda m: m["type"] == "ack" and m["seq"] == seq + 3)
            await line.until(lambda m: m["type"] == "error" and "500 characters" in m["message"])
            await _do(line, seq + 5, "wait(8)")
            heard["before"] = line.heard

    async def second(url):
        nonlocal me
        before, me = me, Visitor(url, "cooks")
        me.client.cookies, me.state = before.client.cookies, before.state
        async with me.game() as line:
            start = await line.until("start")
            view = (await line.until("tick"))["view"]
            assert view["messages"][0]["text"].startswith("Hello! Please: Take egg")
            seq = start["seq"] + 1
            while not any(a["action"].startswith("pickup(egg, counter") for a in view["legal"]):
                await _do(line, seq, "wait(2)")
                view, seq = line.view, seq + 1
            egg = next(a["action"] for a in view["legal"] if a["action"].startswith("pickup(egg, counter"))
            await _do(line, seq, egg)
            for offset, act in enumerate(RECIPE[:-1], start=1):
                await _do(line, seq + offset, act)
            await line.send(type="act", seq=seq + 10, action=RECIPE[-1])
            heard["one"] = await line.until("end")
        for name in ("two", "three", "four"):
            await me.look()
            assert me.page["id"] == name
            async with me.game() as line:
                start = await line.until("start")
                await line.send(type="act", seq=start["seq"] + 1, action="wait(6)")
                heard[name] = await line.until("end")
                assert "slow" not in str(line.heard)
                assert "Sluggish" not in str(line.heard)
        await me.client.aclose()

    for part in (first, second):
        app, base, database = _app(path)
        with serving(app, base) as served:
            run(part(served.url))
            rows = served.rows(games), served.rows(events)
        database.close()
    return heard, *rows


def _episode(cooked, page):
    (row,) = [row for row in cooked[1] if row["page"] == page]
    return row, game_rows.unpack(row["episode"])


@pytest.mark.parametrize("page", ["one", "two", "three", "four"])
def test_kitchen_games_are_ordinary_traces(cooked, page):
    row, episode = _episode(cooked, page)
    again = replay(game_of(episode), episode)
    assert float(again.steps.reward.sum()) == episode.score == row["score"] == cooked[0][page]["score"]
    assert episode.agents[0].name == "person"
    steps = [e for e in cooked[2] if e["game"] == row["id"] and e["kind"] == "step"]
    assert [e["payload"]["joint"] for e in steps] == episode.actions.tolist()


def test_the_dish_is_served_and_the_partner_did_what_it_was_asked(cooked):
    _, episode = _episode(cooked, "one")
    assert episode.score == 20
    game = game_of(episode)
    deeds = executions(game, [game.init()], episode.actions)
    partner = [(deed.verb, deed.object) for deed in deeds if deed.seat == 1]
    # Once each: after the restart it knows what it was asked and what it has done.
    assert partner == [("pickup", "egg"), ("place_obj_on_counter", "egg")]
    assert ("pickup", "egg") in [(deed.verb, deed.object) for deed in deeds if deed.seat == 0]


def test_what_was_said_and_planned_stands_in_the_trace_as_models_remarks_do(cooked):
    _, episode = _episode(cooked, "one")
    said = [r for r in episode.events if r.kind == "message" and r.seat == 0]
    assert [r.payload["units"][0]["verb"] for r in said] == ["pickup", "place_obj_on_counter"]
    assert said[0].payload["to"] == 1
    mine = [r.kind for r in episode.events if r.seat == 0]
    assert mine.count("plan") == mine.count("attempt") >= 7
    assert any(r.kind == "call" and r.seat == 1 for r in episode.events), "the model's calls are kept too"
    keys = [(r.t, r.seq) for r in episode.events]
    assert keys == sorted(set(keys))


def test_a_model_that_is_too_slow_waits_and_the_game_goes_on(cooked):
    row, episode = _episode(cooked, "two")
    steps = [e["payload"] for e in cooked[2] if e["game"] == row["id"] and e["kind"] == "step"]
    missed = [step.get("missed") for step in steps]
    assert missed[0] == [1]
    assert missed.count([1]) >= 2, "while it is still at an old question it is not waited for again"
    assert (episode.actions[:, 1] == 0).all()
    assert sum(r.kind == "deadline" for r in episode.events) == missed.count([1])


def test_a_model_that_fails_is_told_in_the_trace_and_its_game_ends_as_others_do(cooked):
    _, episode = _episode(cooked, "three")
    assert episode.length == 6
    (error, *_) = [r.payload for r in episode.events if r.kind == "partner_error"]
    assert error["error"] == "RuntimeError"


def test_acts_are_carried_out_step_by_step_and_given_up_when_they_cannot_be_done():
    game = make("kitchen/nrc")
    cook, state = CookMemory(game, 0), game.init()
    with pytest.raises(ApiError, match="holds nothing"):
        cook.choose(state, "deliver()")
    with pytest.raises(ApiError, match="no such act"):
        cook.choose(state, "fly(home)")
    with pytest.raises(ApiError, match="no such act"):
        cook.choose(state, "request('cook(pot)')")
    cook.choose(state, "pickup(dish, dish_dispenser)")
    steps = 0
    while cook.act is not None:
        joint = [cook.next(state), 0]
        after, _ = game.step(state, joint)
        cook.stepped(state, after, joint)
        state, steps = after, steps + 1
    assert state.world.hands[0].on_dish
    assert steps > 3
    cook.choose(state, "place_obj_on_counter()")
    hands = state.world._replace(hands=(None, None))
    dropped = cook.dropped(state._replace(world=hands))
    assert dropped is not None
    assert (dropped.payload["ok"], dropped.payload["error"]) == (False, "hands_empty")
    assert cook.act is None


def test_words_for_people():
    assert units("please cook(pot), then pickup(boiled(egg), pot)!") == [
        {"verb": "cook", "object": None, "place": "pot"},
        {"verb": "pickup", "object": "boiled(egg)", "place": "pot"},
    ]
    assert units("I will wait(3). cook the egg (soon)") == []
    assert (
        readable("Chef: request('pickup(tofu~slices, counter)')") == "Chef: Please: Take tofu slices from the counter."
    )
    game = make("kitchen/original")
    from interplay.games.collab_kitchen.macros import legal_macros

    labels = [ENGLISH.act(m, None) for m in legal_macros(game, game.init(), 1)]
    assert len(set(labels)) == len(labels)
    assert not any("_" in one or "~" in one for one in labels)


PAIR = study(
    "pair",
    "{kind: wait, id: lobby, title: Waiting, otherwise: plain}",
    game("one", "dish", "lobby"),
    games="{dish: {game: kitchen/rc, options: {horizon: 12}, partner_delay_s: 0.01, move_s: 2}}",
    partners="{plain: stay}",
)


def test_two_people_cook_and_talk_and_nobody_waits_for_ever(tmp_path):
    database = open_database(str(tmp_path / "p.db"), (SERVER, HISTORY))
    base = Base(database)

    async def play(url):
        chef, helper = Visitor(url, "pair"), Visitor(url, "pair")
        for who in (chef, helper):
            await who.look()
            await who.answer(agree=True)
        await chef.look()
        async with chef, helper, chef.game() as one, helper.game() as two:
            roles = [(await line.until("tick"))["view"] for line in (one, two)]
            assert bool(roles[0]["order"]) != bool(roles[1]["order"]), "one of them knows the recipe"
            await one.send(type="chat", seq=1, text="👨‍🍳 Would you bring me an egg?")
            heard = await two.until(lambda m: m["type"] == "tick" and m["view"]["messages"])
            assert heard["view"]["messages"][0]["text"] == "👨‍🍳 Would you bring me an egg?"
            await one.send(type="act", seq=2, action="wait(2)")
            await two.send(type="act", seq=1, action="wait(2)")
            await two.until(lambda m: m["type"] == "tick" and m["t"] == 2)
            await one.send(type="act", seq=3, action="wait(10)")  # the other says nothing more
            await two.send(type="act", seq=2, action="wait(9)")
            return await one.until("end"), await two.until("end")

    with serving(build(parse(PAIR), base, sizes=(1,)), base) as served:
        ends = run(play(served.url))
        assert [end["score"] for end in ends] == [0, 0]
        row = served.rows(games)[0]
        episode = game_rows.unpack(row["episode"])
        assert [agent.name for agent in episode.agents] == ["person", "person"]
        assert [r.kind for r in episode.events].count("timeout") >= 1
        assert episode.length == 12
    database.close()
