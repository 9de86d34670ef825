"""The study of seven partners in two kitchens: two languages, rankings by dragging and by keyboard."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from interplay.study.db.schema import answers, people
from tests.study.browser.conftest import quick

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(serve):
    return serve(quick("overcooked_ranking", steps=24), speed=4)


def order(me) -> list[str]:
    return [row.get_attribute("data-id") for row in me.page.locator(".ranking li").all()]


def drag_to_top(me) -> None:
    """Take the newcomer by the mouse and put it before all others; on a small screen the page scrolls along."""
    rows = me.page.locator(".ranking li")
    newcomer = me.page.locator(".ranking .movable").last
    name = newcomer.get_attribute("data-id")
    newcomer.scroll_into_view_if_needed()
    new = newcomer.bounding_box()
    top = rows.first.bounding_box()
    x = new["x"] + 150
    me.page.mouse.move(x, new["y"] + new["height"] / 2)
    me.page.mouse.down()
    me.page.mouse.move(x, (new["y"] + top["y"]) / 2, steps=6)
    me.page.mouse.move(x, max(top["y"], 50) + 4, steps=12)
    me.page.wait_for_function("id => document.querySelector('.ranking li').dataset.id === id", arg=name)
    if rows.count() == 4:
        me.picture_now("ranking-6-dragging")
    me.page.mouse.up()


def keys_to_second(me) -> None:
    """Take the newcomer by the keyboard and put it in the second place."""
    size = len(order(me))
    me.tab_to(".ranking li:last-child .handle")
    me.press("Space", *["ArrowUp"] * (size - 2), "Space")
    assert f"place {max(size - 1, 1) - max(size - 2, 0) + (size > 1)} of {size}" in me.page.inner_text("[aria-live]")


def test_the_whole_study(arrive, served):
    me = arrive(served, language="zh-CN")
    assert me.page.get_attribute("html", "lang") == "zh"  # as the browser asked for
    assert "实验说明" in me.page.inner_text("h1")
    me.picture("ranking-1-statement-zh")
    me.page.select_option("select[name=language]", "en")
    me.page.wait_for_selector("h1:text-is('Experimental statement')")
    me.picture("ranking-1-statement-en")
    me.consent()
    me.page.fill("[name=age]", "40")
    me.page.select_option("select[name=language]", "zh")
    me.page.wait_for_selector("h1:text-is('关于您')")
    assert me.page.input_value("[name=age]") == "40"  # what was filled in stays
    me.picture("ranking-2-about-you-zh")
    me.fill()
    me.go_on()
    me.picture("ranking-3-instructions-zh")
    me.go_on()
    me.playing()
    me.picture("ranking-4-warm-up-zh")
    me.over()
    me.page.select_option("select[name=language]", "en")
    me.left("warm_up")
    for kitchen in (1, 2):
        for turn in range(1, 8):
            one_partner(me, kitchen, turn)
        page = f"layouts.{kitchen}.confirm"
        assert me.at == page
        assert len(order(me)) == 7
        me.once("ranking-7-confirm")
        before = order(me)
        if kitchen == 2:  # a last thought
            me.page.locator(".ranking li").nth(3).locator(".up").click()
            assert order(me) != before
        me.go_on()
    assert me.kind == "done"
    assert "CNY 50.00" in me.page.inner_text("main")
    me.picture("ranking-8-done")
    check_the_books(me, served)


def one_partner(me, kitchen: int, turn: int) -> None:
    page = f"layouts.{kitchen}.agents.{turn}.round"
    assert me.at == page
    me.playing()
    if turn == 1:
        me.once("ranking-5-round")
    me.press("ArrowLeft", "Space")
    assert me.over() == me.stored(page)
    me.leave_by_key()
    assert me.at == page.replace("round", "insert")
    before = order(me)
    assert len(before) == turn
    if turn == 4:
        me.once("ranking-6-insert")
        me.page.click("main .primary")  # not before the newcomer is put somewhere
        assert "in its place first" in me.page.inner_text(".complaints")
    if turn > 1:
        (drag_to_top if kitchen == 1 else keys_to_second)(me)
    after = order(me)
    newcomer = before[-1]
    assert after.index(newcomer) == (0 if kitchen == 1 else min(1, turn - 1))
    assert [one for one in after if one != newcomer] == [one for one in before if one != newcomer]
    me.go_on()


def check_the_books(me, served) -> None:
    query = sa.select(answers.c.page, answers.c.answers).where(answers.c.person == me.public())
    held = {row.page: row.answers for row in served.base.database.read(lambda tx: tx.execute(query).all())}
    last = [held[f"layouts.{kitchen}.agents.7.insert"]["order"] for kitchen in (1, 2)]
    final = [held[f"layouts.{kitchen}.confirm"]["order"] for kitchen in (1, 2)]
    assert final[0] == last[0]
    assert final[1] == [*last[1][:2], last[1][3], last[1][2], *last[1][4:]]
    methods = ["cole", "e3t", "fcp", "hsp", "mep", "sp", "trajedi"]
    assert sorted(final[0]) == sorted(final[1]) == methods  # by their names in the study's file, which nobody was shown
    row = served.base.database.read(lambda tx: tx.execute(people.select().where(people.c.id == me.public())).one())
    assert (row.status, row.payment, row.language) == ("done", 50.0, "en")
    assert row.code == me.page.inner_text("output.code")


def test_rankings_fit_a_phone_and_follow_a_finger(arrive, served):
    me = arrive(served, phone=True)
    me.consent()
    me.fill()
    me.go_on()
    me.go_on()
    me.over()
    me.go_on()
    for turn in (1, 2):
        me.over()
        me.go_on()
        if turn == 2:
            me.page.tap(".ranking li:last-child .up")
            assert me.page.locator(".unplaced").count() == 0
            me.picture("ranking-9-finger")
        me.go_on()
    assert me.at == "layouts.1.agents.3.round"
