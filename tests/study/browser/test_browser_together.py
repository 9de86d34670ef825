"""People with people, beside a partner that talks, and in a house on fire: the other studies in a real browser."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

from interplay.study.db import game_rows
from interplay.study.db.schema import events, games, people
from tests.study.browser.conftest import quick
from tests.study.texts import game, study

pytestmark = pytest.mark.browser

HOUSE = study(
    "house",
    game("house", "house", "helper", "The house"),
    games="{house: {game: rescue/hallway, options: {horizon: 60}}}",
    partners="{helper: rescue/helper}",
)


def to_the_room(me) -> None:
    me.consent()
    me.go_on()


def test_two_people_meet_and_cook_one_soup_together(arrive, serve):
    served = serve(quick("human_human", steps=60), speed=2)
    one, two = arrive(served), arrive(served)
    to_the_room(one)
    assert one.kind == "wait"
    one.picture("together-1-waiting")
    to_the_room(two)
    one.left("partner")
    for turn in (1, 2):
        page = f"rounds.{turn}.round"
        for me in (one, two):
            assert me.at == page
            me.playing()
        if turn == 1:
            one.picture("together-2-round")
        one.press("ArrowLeft", "Space")
        two.press("ArrowRight", "Space")
        scores = {me.over() for me in (one, two)}
        assert scores == {one.stored(page)} == {two.stored(page)}
        for me in (one, two):
            me.go_on()
            me.fill(3)
            me.go_on()
    assert (one.kind, two.kind) == ("done", "done")
    assert one.page.inner_text("strong") == two.page.inner_text("strong")  # the payment goes by the common score
    seats = sa.select(games.c.seat).where(games.c.page == "rounds.1.round")
    assert sorted(served.base.database.read(lambda tx: tx.execute(seats).scalars().all())) == [0, 1]


def test_who_stops_by_keyboard_ends_the_game_for_both(arrive, serve):
    """The one who stays is told, and cooks on with a bot; the one who stops is owed a part, and is erased."""
    served = serve(quick("human_human", steps=400, name="stops"), speed=2)
    one, two = arrive(served), arrive(served, phone=True)
    for me in (one, two):
        to_the_room(me)
    one.left("partner")
    for me in (one, two):
        me.playing()
    number = one.public()
    one.tab_to("header .stop")
    one.press("Enter")
    one.page.wait_for_selector("dialog h2")
    one.picture("stop-1-asked")
    one.press("Tab", "Enter")
    one.left("rounds.1.round")
    assert "stopped taking part" in one.page.inner_text("main")
    one.picture("stop-2-last-page")
    two.page.wait_for_selector("text=Your partner has stopped taking part, so the game ends here.")
    two.picture_now("stop-3-partner")
    two.page.tap(".game-end .primary")
    two.left("rounds.1.round")
    assert two.at == "rounds.1.after"
    two.fill(3)
    two.go_on()
    two.playing()
    query = sa.select(games.c.page, games.c.status, games.c.partner).where(games.c.person == two.public())
    held = served.base.database.read(lambda tx: tx.execute(query.order_by(games.c.id)).all())
    assert held == [("rounds.1.round", "abandoned", "partner"), ("rounds.2.round", "playing", "bot")]
    one.page.click(".erase button")
    one.page.click("dialog .grave")
    one.page.wait_for_selector("text=What was stored of you is erased.")
    assert (
        served.base.database.read(lambda tx: tx.execute(sa.select(people.c.id).where(people.c.id == number)).first())
        is None
    )
    two.page.tap("header .stop")
    two.page.tap("dialog .grave")
    two.left("rounds.2.round")


def test_who_waits_in_vain_cooks_with_a_bot(arrive, serve):
    text = quick("human_human", steps=24, name="in_vain").replace("patience_s: 120", "patience_s: 8")
    me = arrive(serve(text, speed=2))
    to_the_room(me)
    assert "more" in me.page.inner_text("main")  # how long at most
    me.left("partner")
    assert me.at == "rounds.1.round"
    assert me.over() == me.stored("rounds.1.round")


def test_cooking_beside_a_partner_that_talks(arrive, serve):
    served = serve(quick("kitchen_chat", steps=16), speed=10)
    me = arrive(served)
    me.consent()
    me.picture("kitchen-1-rules")
    me.go_on()
    act_until_over(me)
    me.go_on()
    assert me.at == "rounds.1.dish"
    me.playing()
    me.page.wait_for_selector(".kitchen-board[data-t]")
    me.page.fill("#chat", "Please <b>bring</b> me an egg.")
    me.press("Enter")
    me.page.wait_for_selector(".talk .mine >> text=Please <b>bring</b> me an egg.")
    me.picture("kitchen-2-dish")
    lines = me.page.locator(".talk li").count()
    me.page.reload()
    me.page.wait_for_selector(".talk .mine")
    assert me.page.locator(".talk li").count() >= lines
    heard = 0
    for turn in (1, 2):
        act_until_over(me)
        heard += me.page.locator(".talk .theirs").count()
        me.go_on()
        assert me.at == f"rounds.{turn}.after"
        me.fill(5)
        me.go_on()
    assert heard > 0  # as the chef the model asks for things
    query = sa.select(games.c.episode, games.c.id).where(games.c.person == me.public(), games.c.page == "rounds.1.dish")
    row = served.base.database.read(lambda tx: tx.execute(query).one())
    said = [remark for remark in game_rows.unpack(row.episode).events if remark.kind == "message"]
    assert any("bring" in str(remark.payload) for remark in said)


def test_the_kitchen_speaks_chinese_and_what_the_file_says(arrive, serve):
    words = {"Wait": {"zh": "歇一会儿"}}
    text = quick("kitchen_chat", steps=8, name="kitchen_zh", languages=["en", "zh"], words=words)
    me = arrive(serve(text, speed=10), language="zh-CN")
    me.consent()
    me.go_on()
    me.playing()
    me.page.wait_for_selector(".kitchen-board[data-t]")
    me.picture("kitchen-3-zh")
    shown = me.page.inner_text(".kitchen-board")
    assert "歇一会儿" in shown
    assert "您的角色：主厨。 订单：煮鸡蛋" in shown
    assert not re.search("[A-Za-z]{3,}", shown)
    me.page.select_option("select[name=language]", "en")
    me.page.wait_for_selector("text=You are the chef.")
    assert "Take" in me.page.inner_text(".kitchen-board")


def act_until_over(me) -> None:
    """Choose the first thing that is offered, step by step."""
    me.playing()
    for _ in range(40):
        found = me.page.wait_for_selector(".game-end:visible .primary, .kitchen-board .turn.yours")
        if "primary" in (found.get_attribute("class") or ""):
            break
        before = me.page.get_attribute(".kitchen-board", "data-t")
        me.page.locator(".kitchen-board .moves button[data-action]:visible").first.click()
        me.page.wait_for_function(
            """t => document.querySelector('.kitchen-board').dataset.t !== t
                || document.querySelector('.game-end:not([hidden])') !== null""",
            arg=before,
        )
    me.over()


def test_a_house_on_fire(arrive, serve):
    served = serve(HOUSE, speed=2)
    me = arrive(served)
    me.consent()
    me.playing()
    me.press("ArrowRight", "ArrowDown", "Space")
    me.picture("house-1-game")
    assert me.over() == me.stored("house")
    query = sa.select(events.c.payload).where(events.c.person == me.public(), events.c.kind == "step")
    steps = served.base.database.read(lambda tx: tx.execute(query).scalars().all())
    assert len(steps) == 60
    assert sum(len(step.get("seqs", ())) for step in steps) == 3
