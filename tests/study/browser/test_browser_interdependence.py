"""The study of sixteen rounds in a real browser, from the statement to the code, by keyboard alone."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from interplay.study.db import game_rows
from interplay.study.db.schema import answers, events, games
from interplay.traces.replay import game_of, replay
from tests.study.browser.conftest import quick

pytestmark = pytest.mark.browser

KEYS = ("ArrowUp", "ArrowLeft", "Space", "ArrowDown", "ArrowRight", "Space")


@pytest.fixture(scope="module")
def served(serve):
    return serve(quick("overcooked_interdependence", steps=60), speed=3)


def cook(me, keys=KEYS) -> float:
    """Press keys until the game is over; the score that is shown then."""
    me.playing()
    for key in keys:
        me.press(key)
        me.page.wait_for_timeout(60)
    return me.over()


def test_the_whole_study_by_keyboard_alone(arrive, served):
    me = arrive(served)
    assert me.at == "statement"
    me.picture("interdependence-1-statement")
    me.tab_to("#q-agree")
    me.press("Space")
    me.send_by_keys()
    me.picture("interdependence-2-about-you")
    me.fill_by_keys()
    me.send_by_keys()
    me.picture("interdependence-3-instructions")
    me.send_by_keys()
    assert (me.at, me.kind) == ("trial", "game")
    me.playing()
    assert me.page.inner_text(".practice") == "Practice"
    me.picture("interdependence-4-trial")
    shown = {"trial": me.over()}
    me.picture("interdependence-5-trial-over")
    me.leave_by_key()
    for turn in range(1, 17):
        page = f"rounds.{turn}.round"
        assert me.at == page
        if turn == 2:
            reload_in_the_middle(me, page)
        if turn == 1:
            me.playing()
            me.picture("interdependence-6-round")
        shown[page] = cook(me)
        me.leave_by_key()
        if turn == 1:
            me.picture("interdependence-7-questions")
        me.fill_by_keys(turn % 5)
        me.send_by_keys()
    assert me.kind == "done"
    me.picture("interdependence-8-done")
    check_the_books(me, served, shown)


def reload_in_the_middle(me, page: str) -> None:
    """The game stands still meanwhile and goes on from where it was, as the first thing that is shown."""
    me.page.wait_for_function("() => Number(document.querySelector('.grid-board')?.dataset.t) > 8")
    live = me.served.host.games_by_person[me.public()]
    before = live.table.t
    me.page.reload()
    me.page.wait_for_selector(".grid-board[data-t]")
    first = int(me.page.get_attribute(".grid-board", "data-t"))
    assert me.at == page
    assert before <= first < live.engine.game.horizon
    assert me.served.host.games_by_person[me.public()] is live


def check_the_books(me, served, shown) -> None:
    who = me.public()
    query = sa.select(games).where(games.c.person == who).order_by(games.c.id)
    rows = served.base.database.read(lambda tx: tx.execute(query).all())
    assert {row.page: row.score for row in rows} == shown
    assert len(rows) == 17
    for row in rows:
        episode = game_rows.unpack(row.episode)
        assert episode.length == 60
        assert float(replay(game_of(episode), episode).steps.reward.sum()) == row.score
    cells = {(row.setting, row.partner) for row in rows if not row.practice}
    assert len(cells) == 8
    query = sa.select(answers.c.page, answers.c.answers, answers.c.seconds).where(answers.c.person == who)
    given = {row.page: row for row in served.base.database.read(lambda tx: tx.execute(query).all())}
    assert given["about_you"].answers == {"age": 31, "gender": "female", "played": "yes"}
    for turn in range(1, 17):
        assert given[f"rounds.{turn}.questions"].answers == {f"q{i}": turn % 5 + 1 for i in range(1, 7)}
        assert given[f"rounds.{turn}.questions"].seconds > 0
    reloaded = next(row.id for row in rows if row.page == "rounds.2.round")
    query = sa.select(events.c.payload).where(events.c.game == reloaded, events.c.kind == "join")
    joins = served.base.database.read(lambda tx: tx.execute(query.order_by(events.c.id)).scalars().all())
    assert [join["seen"] for join in joins] == [-1, -1]
    keys = sa.select(events.c.payload).where(events.c.person == who, events.c.kind == "step")
    pressed = [p for p in served.base.database.read(lambda tx: tx.execute(keys).scalars().all()) if p.get("seqs")]
    assert len(pressed) >= 16 * 3  # a key may replace the one before it, if both came in one tick


def test_two_windows_of_one_person_do_not_fight(arrive, served):
    me = arrive(served)
    me.consent()
    me.fill()
    me.go_on()
    me.go_on()
    me.playing()
    other = me.page.context.new_page()
    other.goto(me.page.url)
    other.wait_for_selector(".grid-board[data-t]")
    me.page.wait_for_selector("text=This game goes on in another window.")
    other.wait_for_selector(".game-end:visible .primary")
    assert me.stored("trial") == float(other.inner_text(".game-info output"))
    me.page.click("text=Play here instead")
    me.page.wait_for_selector("main[data-page='rounds.1.round']")


def test_an_end_that_got_lost_is_told_again(arrive, served):
    """The line breaks in the last tick: the browser comes back for a game that is over, and gets its stored score."""
    me = arrive(served)
    me.consent()
    me.fill()
    me.go_on()
    me.page.add_init_script("""
        const Real = window.WebSocket;
        window.WebSocket = class extends Real {
          constructor(...given) {
            super(...given);
            this.addEventListener('message', (event) => {
              if (window.deaf !== false && JSON.parse(event.data).type === 'end') {
                event.stopImmediatePropagation();
                window.deaf = false;
              }
            });
          }
        };""")
    me.page.reload()
    me.go_on()
    assert me.over() == me.stored("trial")
    assert me.page.evaluate("window.deaf") is False
    me.go_on()
    assert me.at == "rounds.1.round"


def test_by_finger_on_a_phone(arrive, served, monkeypatch):
    monkeypatch.setattr(served.host, "speed", 1.0)  # so that the game still runs after the picture
    me = arrive(served, phone=True)
    me.page.tap("#q-agree")
    me.page.tap("main .primary")
    me.left("statement")
    me.fill()
    me.page.tap("main .primary")
    me.left("about_you")
    me.page.tap("main .primary")
    me.left("instructions")
    me.playing()
    me.picture("interdependence-9-finger")
    canvas, pad = me.page.locator("canvas").bounding_box(), me.page.locator(".pad").bounding_box()
    assert canvas["x"] >= 0
    assert canvas["x"] + canvas["width"] <= 390
    assert pad["y"] + pad["height"] <= 844  # the game and its buttons fit the screen together
    for button in ("left", "up", "interact"):
        me.page.tap(f".pad .{button}")
    assert me.over() == me.stored("trial")
    query = sa.select(events.c.payload).where(events.c.person == me.public(), events.c.kind == "step")
    steps = served.base.database.read(lambda tx: tx.execute(query).scalars().all())
    assert sum(len(step.get("seqs", ())) for step in steps) == 3
