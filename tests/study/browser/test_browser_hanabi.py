"""The study of two Hanabi bots: quiz with feedback and screen-out, questionable moves, two-sided scales, payment."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from interplay.study.db.schema import answers, events, games, people
from tests.study.browser.conftest import quick

pytestmark = pytest.mark.browser

RIGHT = {"see": "partner", "playable": "b1", "next": "b2", "tokens": "seven", "token": "discard", "wrong": "life"}
MOVED = """n => document.querySelectorAll('.history li').length > n
    || document.querySelector('.game-end:not([hidden])') !== null"""
COMPLETION = {"url": "https://recruiter.example/back?cc={code}", "recruiter": "prolific", "screened_code": "NOFIT"}


@pytest.fixture(scope="module")
def served(serve):
    return serve(quick("hanabi_preference", completion=COMPLETION), speed=20)


def to_the_quiz(me) -> None:
    me.consent()
    me.go_on()
    assert me.at == "quiz"


def tick(me, question: str, value: int) -> None:
    me.page.locator(f"input[name={question}]").nth(value).check()


def pass_the_quiz(me) -> None:
    for question, value in RIGHT.items():
        me.page.check(f"input[name={question}][value={value}]")
    me.go_on()


def play_by_mouse(me, most: int = 200) -> float:
    """Play the first card, turn by turn, until all lives are lost or the game is over."""
    me.playing()
    for _ in range(most):
        found = me.page.wait_for_selector(".turn.yours, .game-end:visible .primary")
        if "turn" not in (found.get_attribute("class") or ""):
            break
        done = me.page.locator(".history li").count()
        card = me.page.locator("[aria-label='Your hand'] .card").first
        card.click()
        me.page.locator(".play > .moves button[data-action^=play]").click()
        me.page.wait_for_function(MOVED, arg=done)
    return me.over()


def test_the_whole_study(arrive, served):
    me = arrive(served, query="?PROLIFIC_PID=5f0c")
    me.picture("hanabi-1-consent")
    me.consent()
    me.picture("hanabi-2-rules")
    me.go_on()
    me.picture("hanabi-3-quiz")
    assert "Partner played blue 1" in me.page.inner_text(".position >> nth=1")
    for question in RIGHT:
        tick(me, question, 0)
    me.page.click("main .primary")
    me.page.wait_for_selector(".feedback")
    assert me.page.inner_text(".tries") == "Tries left: 1"
    assert len(me.page.locator(".feedback").all()) == len(RIGHT) - 1  # one was right by chance
    me.picture("hanabi-3-quiz-feedback")
    pass_the_quiz(me)
    me.picture("hanabi-4-familiarity")
    me.fill(3)
    me.go_on()
    shown = {}
    for bot in (1, 2):
        for game in range(1, 5):
            page = f"bots.{bot}.games.{game}.game"
            assert me.at == page
            me.playing()
            assert me.page.locator(".practice").count() == (game == 1)
            if (bot, game) == (1, 1):
                look_at_the_table(me)
            shown[page] = play_by_mouse(me)
            if (bot, game) == (1, 1):
                me.picture("hanabi-6-over")
            me.go_on()
        me.once("hanabi-7-block")
        me.fill(4)
        me.go_on()
    me.picture("hanabi-8-both")
    me.fill(5)
    me.go_on()
    assert me.kind == "done"
    me.picture("hanabi-9-done")
    check_the_books(me, served, shown)


def look_at_the_table(me) -> None:
    """A flag, a note, a chosen card, a reload: all of it is still there, and the game goes on."""
    me.page.wait_for_selector(".turn.yours")
    me.page.locator(".note").nth(2).fill("five?")
    me.page.locator(".all-moves summary").click()
    hint = me.page.locator(".all-moves button[data-action^='hint']").first
    hint.click()
    me.page.wait_for_selector(".history li >> nth=1")
    me.page.wait_for_selector(".turn.yours")
    me.page.click(".flag")
    me.page.wait_for_selector("text=Noted: Partner's last move was questionable")
    me.page.locator("[aria-label='Your hand'] .card").nth(1).click()
    me.picture("hanabi-5-game")
    lines = me.page.locator(".history li").all_inner_texts()
    me.page.reload()
    me.page.wait_for_selector(".turn.yours")
    assert me.page.locator(".history li").all_inner_texts()[: len(lines)] == lines
    assert me.page.locator(".note").nth(2).input_value() == "five?"


def check_the_books(me, served, shown) -> None:
    who, read = me.public(), served.base.database.read
    rows = read(lambda tx: tx.execute(sa.select(games).where(games.c.person == who).order_by(games.c.id)).all())
    assert {row.page: row.score for row in rows} == shown
    assert [row.practice for row in rows] == [True, False, False, False] * 2
    assert len({row.partner for row in rows}) == 2
    assert {row.seat for row in rows} == {0, 1}
    counted = [row.score for row in rows if not row.practice]
    paid = round(min(30.0, 5 + sum(counted) / 6), 2)
    row = read(lambda tx: tx.execute(people.select().where(people.c.id == who)).one())
    assert (row.status, row.payment) == ("done", paid)
    assert f"USD {paid:.2f}" in me.page.inner_text("main")
    assert me.page.inner_text("output.code") == row.code
    assert me.page.get_attribute("a.button", "href") == f"https://recruiter.example/back?cc={row.code}"
    flags = read(lambda tx: tx.execute(events.select().where(events.c.person == who, events.c.kind == "flag")).all())
    assert [flag.payload["id"] for flag in flags] == ["questionable"]
    given = {
        r.page: r.answers for r in read(lambda tx: tx.execute(answers.select().where(answers.c.person == who)).all())
    }
    assert given["both"] == {f"p{i}": 6 for i in range(1, 8)}
    assert given["bots.2.block"] == {f"b{i}": 5 for i in range(1, 9)}


def test_who_fails_the_quiz_twice_is_thanked_and_sent_away(arrive, served):
    me = arrive(served, query="?PROLIFIC_PID=aa01")
    to_the_quiz(me)
    for left in (1, 0):
        for question in RIGHT:
            tick(me, question, 0)
        me.page.click("main .primary")
        if left:
            me.page.wait_for_selector(".feedback")
    me.left("quiz")
    assert me.kind == "done"
    assert me.page.inner_text("output.code") == "NOFIT"
    assert "Payment" not in me.page.inner_text("main")
    me.picture("hanabi-10-screened")
    me.page.reload()
    me.page.wait_for_selector("text=NOFIT")
    me.page.goto(me.page.url.partition("?")[0] + "?new=1")  # the next person before the same computer
    me.page.wait_for_selector("main[data-page=consent]")
    me.consent()
    assert "new" not in me.page.url
    me.page.reload()
    me.page.wait_for_selector("main[data-page=rules]")


def test_who_was_here_before_is_told_so_in_another_browser(arrive, served):
    first = arrive(served, query="?PROLIFIC_PID=aa02")
    first.consent()
    second = first.page.context.browser.new_context().new_page()
    second.goto(f"{served.url}/study/{served.host.protocol.name}?PROLIFIC_PID=aa02")
    second.wait_for_selector("main[data-page=begun]")
    assert "begun this study already" in second.inner_text("main")
    second.context.close()


def test_a_game_by_keyboard_alone(arrive, served):
    me = arrive(served)
    to_the_quiz(me)
    pass_the_quiz(me)
    me.fill(3)
    me.go_on()
    me.playing()
    me.page.wait_for_selector(".turn.yours")
    me.tab_to("[aria-label='Your hand'] .card")
    me.press("ArrowRight", "Enter")
    me.tab_to(".play > .moves [data-action^=discard], .play > .moves [data-action^=play]")
    lines = me.page.locator(".history li").count()
    me.press("Enter")
    me.page.wait_for_function("n => document.querySelectorAll('.history li').length > n", arg=lines)
    assert "You" in me.page.locator(".history li").nth(lines).inner_text()
    me.tab_to(".flag")
    me.press("Enter")
    me.page.wait_for_selector("text=Noted")
