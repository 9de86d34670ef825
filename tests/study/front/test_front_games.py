"""Games in a real Chromium: keys, touch, turns, flags, chat, a reload in the middle, a lost line, a pause, the end."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from tests.study.front import pages as p
from tests.study.security.test_study_hostile_texts import TEXTS

pytestmark = pytest.mark.browser

AFTER = p.base("done", "The end", code=None, url=None, payment=None)
REAL_TIME = ("overcooked", "rescue")


def until(page, reached, what: str) -> None:
    for _ in range(300):
        if reached():
            return
        page.wait_for_timeout(30)
    raise AssertionError(f"never came: {what}")


def playing(page, mock) -> None:
    page.wait_for_selector(".line-state", state="hidden")
    t = mock.game.t
    until(page, lambda: mock.game.t > t + 1, "the game's ticks")


def actions(mock) -> list[str]:
    return [frame["action"] for frame in mock.sent("act")]


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["overcooked", "rescue", "hanabi", "kitchen"])
def test_every_game_is_shown(visit, mock, keep, name, phone):
    page = visit([p.game(name, practice=name == "hanabi"), AFTER], phone=phone)
    playing(page, mock)
    keep(page, f"game-{name}-{'phone' if phone else 'desktop'}")
    assert "Blue" in page.inner_text(".game-info")
    assert page.locator(".pad").count() == (name in REAL_TIME)


@pytest.mark.parametrize("name", REAL_TIME)
def test_keys_move_and_repeats_do_not_count(visit, mock, name):
    page = visit([p.game(name), AFTER])
    playing(page, mock)
    page.keyboard.press("ArrowRight")
    until(page, lambda: mock.game.where == (2, 1), "the first step")
    page.keyboard.down("ArrowLeft")
    for _ in range(5):
        page.keyboard.down("ArrowLeft")  # what a held key sends
    page.keyboard.up("ArrowLeft")
    until(page, lambda: mock.game.where == (1, 1), "the step back")
    page.keyboard.press("Space")
    page.wait_for_selector("text=You hold: onion")
    until(page, lambda: page.inner_text("output") == "1", "the score")
    right, left = ("east", "west") if name == "overcooked" else ("right", "left")
    assert actions(mock) == [right, left, "interact"]
    numbers = [frame["seq"] for frame in mock.sent("act")]
    assert numbers == sorted(set(numbers))


def test_a_stray_click_does_not_take_the_keys_away(visit, mock):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    page.click("h1")
    page.mouse.click(5, 500)
    page.keyboard.press("ArrowRight")
    until(page, lambda: mock.game.where == (2, 1), "the step")
    page.locator("select[name=language]").focus()
    page.keyboard.press("ArrowRight")  # changes the language, and moves nobody
    page.wait_for_selector("text=搭档")
    assert actions(mock) == ["east"]


def test_the_picture_follows_the_server(visit, mock):
    """The canvas changes where the chef went, and not before the server said so."""
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)

    def pixel(x, y):
        """Below the middle of a cell, where a chef's body is, whichever way it faces."""
        picture = Image.open(io.BytesIO(page.locator("canvas").screenshot())).convert("RGB")
        cell = picture.width / 5
        return picture.getpixel((round((x + 0.5) * cell), round((y + 0.68) * cell)))

    floor, chef = pixel(3, 1), pixel(1, 1)
    assert floor != chef
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        before = mock.game.t
        until(page, lambda before=before: mock.game.t > before + 1, "a tick")
    until(page, lambda: pixel(3, 1) != floor, "the chef at (3, 1)")
    assert pixel(1, 1) == floor


def test_touch_buttons(visit, mock):
    page = visit([p.game("overcooked"), AFTER], phone=True)
    playing(page, mock)
    page.tap(".pad .down")
    until(page, lambda: mock.game.where == (1, 2), "the step down")
    page.tap(".pad .interact")
    page.wait_for_selector("text=You hold: onion")
    assert actions(mock) == ["south", "interact"]


def test_a_flag_carries_its_tick_and_gives_the_keys_back(visit, mock):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    before = mock.game.t
    page.click(".flag")
    until(page, lambda: mock.sent("flag"), "the flag")
    flag = mock.sent("flag")[0]
    assert flag["id"] == "questionable"
    assert before - 2 <= flag["t"] <= mock.game.t
    page.keyboard.press("ArrowRight")
    until(page, lambda: mock.game.where == (2, 1), "a step after the flag")
    assert len(mock.sent("flag")) == 1


def test_a_reload_in_the_middle_of_a_game(visit, mock):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    page.keyboard.press("Space")
    page.wait_for_selector("text=You hold: onion")
    page.reload()
    page.wait_for_selector("text=You hold: onion")
    assert page.inner_text("output") == "1"
    page.keyboard.press("ArrowRight")
    until(page, lambda: mock.game.where == (2, 1), "a step after the reload")
    numbers = [frame["seq"] for frame in mock.sent("act")]
    assert numbers == sorted(set(numbers))
    assert [frame["seen"] for frame in mock.sent("hello")] == [-1, -1]


def test_a_lost_line_is_told_and_taken_up_again(visit, mock, keep):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    mock.shut(1011)
    page.wait_for_selector("text=Connection lost")
    keep(page, "game-lost-desktop")
    playing(page, mock)
    hello = mock.sent("hello")
    assert len(hello) >= 2
    assert hello[-1]["seen"] > 0
    page.keyboard.press("ArrowRight")
    until(page, lambda: mock.game.where == (2, 1), "a step after the loss")


def test_a_refusal_is_told_and_not_tried_again(visit, mock):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    mock.shut(1008)
    page.wait_for_selector("text=The server has closed this game")
    page.wait_for_timeout(800)
    assert len(mock.sent("hello")) == 1
    assert page.locator(".flag").is_disabled()


def test_a_pause_stops_the_keys_until_it_is_over(visit, mock):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    mock.game.paused = True
    page.wait_for_selector("text=Paused: your partner is away")
    page.keyboard.press("ArrowRight")
    mock.game.paused = False
    playing(page, mock)
    assert actions(mock) == []
    page.keyboard.press("ArrowRight")
    until(page, lambda: mock.game.where == (2, 1), "a step after the pause")


def test_the_end_leads_on_by_one_key(visit, mock, keep):
    page = visit([p.game("overcooked"), AFTER], ticks=14)
    page.wait_for_selector("text=Final score: 0")
    assert page.locator(".flag").is_disabled()
    keep(page, "game-end-desktop")
    page.keyboard.press("Enter")  # too early: it may be a key of the game
    page.wait_for_selector(".game-end .primary:focus")
    assert page.locator("main.is-game").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text-is('The end')")


def test_tab_visibility_and_round_trip_are_reported(visit, mock):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    assert mock.sent("visibility") == [{"type": "visibility", "hidden": False}]
    page.evaluate("""() => { Object.defineProperty(document, 'hidden', { value: true, configurable: true });
        document.dispatchEvent(new Event('visibilitychange')); }""")
    until(page, lambda: mock.sent("visibility")[-1]["hidden"] is True, "the hidden tab")
    assert mock.sent("ping")[0]["rtt_ms"] is None
    until(page, lambda: len(mock.sent("ping")) > 1, "the second ping")
    assert 0 <= mock.sent("ping")[1]["rtt_ms"] < 5000


def test_hanabi_by_mouse(visit, mock):
    page = visit([p.game("hanabi"), AFTER])
    playing(page, mock)
    page.locator("[aria-label='Your hand'] .card").nth(2).click()
    assert page.locator(".play > .moves button").all_inner_texts() == ["Play card 3", "Discard card 3"]
    page.click("text=Discard card 3 >> visible=true")
    until(page, lambda: actions(mock) == ["discard 2"], "the discard")
    page.wait_for_selector(".history >> text=discard 2")
    page.locator('[aria-label="Partner\'s hand"] .card').nth(0).click()
    assert page.locator(".play > .moves button").all_inner_texts() == ["Hint red", "Hint 1"]
    page.click(".play > .moves >> text=Hint red")
    until(page, lambda: actions(mock) == ["discard 2", "hint R"], "the hint")


def test_hanabi_in_another_language(visit, mock, keep):
    page = visit([p.game("hanabi"), AFTER])
    playing(page, mock)
    mock.game.history += [
        {"t": 1, "seat": 1, "kind": "play", "card": {"colour": "R", "rank": 2}, "fits": False, "text": "play 0"},
        {"t": 2, "seat": 0, "kind": "hint_colour", "value": "W", "target": 1, "cards": [5], "text": "hint W"},
    ]
    page.wait_for_selector(".history >> text=played red 2, which did not fit")
    page.wait_for_selector(".history >> text=hinted white: card 5")
    page.select_option("select[name=language]", "zh")
    page.wait_for_selector(".history >> text=提示了白：第 5 张牌")
    page.locator("[aria-label='您的手牌'] .card").nth(2).click()
    assert page.locator(".play > .moves button").all_inner_texts() == ["打出第 3 张牌", "弃掉第 3 张牌"]
    keep(page, "game-hanabi-zh-desktop")


def test_hanabi_by_keyboard_alone(visit, mock):
    page = visit([p.game("hanabi"), AFTER])
    playing(page, mock)
    page.locator("[aria-label='Your hand'] .card").first.focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.locator(".card[aria-pressed=true] .unseen").text_content().startswith("Card 4")
    page.keyboard.press("Escape")
    assert page.locator(".card[aria-pressed=true]").count() == 0
    page.keyboard.press("Enter")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.action") == "play 3":
            break
    page.keyboard.press("Enter")
    until(page, lambda: actions(mock) == ["play 3"], "the move")


def test_notes_stay_with_their_card_over_moves_and_reloads(visit, mock):
    page = visit([p.game("hanabi"), AFTER])
    playing(page, mock)
    notes = page.locator(".note")
    notes.nth(3).fill("finesse?")
    page.locator("[aria-label='Your hand'] .card").nth(0).click()
    page.click(".play > .moves >> text=Play card 1")
    page.wait_for_selector(".history >> text=play 0")
    until(page, lambda: notes.nth(2).input_value() == "finesse?", "the note one place on")
    page.reload()
    playing(page, mock)
    assert [note.input_value() for note in notes.all()] == ["", "", "finesse?", "", ""]


def test_hints_are_told_in_history_and_on_the_cards(visit, mock):
    page = visit([p.game("hanabi"), AFTER])
    playing(page, mock)
    assert page.inner_text(".history") == "Blue hints red: your cards 1 and 3"
    mine = page.locator("[aria-label='Your hand'] .card")
    names = [card.locator(".unseen").inner_text() for card in mine.all()[:2]]
    assert names == ["Card 1: unknown. known: R", "Card 2: unknown. known: ?"]


def test_a_move_made_while_the_line_is_lost_arrives_once(visit, mock):
    page = visit([p.game("kitchen"), AFTER])
    playing(page, mock)
    page.fill("#chat", "are you there?")
    mock.shut(1011)
    page.wait_for_selector("text=Connection lost")
    page.click(".flag")  # flags are taken at any time
    playing(page, mock)
    until(page, lambda: len(mock.sent("flag")) == 1, "the flag after the loss")
    page.keyboard.press("Tab")
    page.click("text=Send")
    page.wait_for_selector(".talk .mine >> text=are you there?")
    assert [frame["text"] for frame in mock.sent("chat")] == ["are you there?"]


def test_kitchen_actions_and_talk(visit, mock):
    page = visit([p.game("kitchen"), AFTER])
    playing(page, mock)
    assert page.get_attribute(".scene img", "alt") == "Two chefs"
    page.click("text=Chop onion")
    until(page, lambda: actions(mock) == ["chop onion"], "the action")
    page.fill("#chat", "<b>plates</b> please")
    page.keyboard.press("Enter")
    page.wait_for_selector(".talk .mine")
    assert page.locator(".talk li").all_inner_texts() == ["Blue I will chop the onions.", "You <b>plates</b> please"]
    assert page.input_value("#chat") == ""
    assert page.locator(".talk b").count() == 0


def test_what_a_partner_says_is_shown_as_text(visit, mock):
    page = visit([p.game("kitchen"), AFTER])
    playing(page, mock)
    mock.game.messages += [{"seat": 1, "text": text} for text in TEXTS]
    page.fill("#chat", TEXTS[1])
    page.keyboard.press("Enter")
    page.wait_for_selector(".talk .mine")
    told = "\n".join(page.locator(".talk li").all_text_contents())
    assert all(text in told for text in TEXTS)
    assert page.locator(".talk :is(script, img, svg, iframe, textarea)").count() == 0


def test_a_move_that_is_turned_down_can_be_made_again(visit, mock):
    page = visit([p.game("hanabi"), AFTER])
    playing(page, mock)
    mock.game.refuse = True
    for _ in range(2):
        page.locator("[aria-label='Your hand'] .card").nth(0).click()
        page.click(".play > .moves >> text=Play card 1")
        until(page, lambda: mock.game.refuse is False, "the refusal")
    page.wait_for_selector(".history >> text=play 0")
    assert actions(mock) == ["play 0", "play 0"]
    assert mock.game.hand[0]["id"] == 1  # played once
    page.wait_for_selector(".line-state", state="hidden")


def test_a_game_that_is_over_elsewhere_leads_on(visit, mock):
    page = visit([p.game("overcooked"), AFTER])
    playing(page, mock)
    mock.at = 1
    mock.shut(1008)
    page.wait_for_selector("h1:text-is('The end')")
