"""Every kind of page in a real Chromium: by mouse, by keyboard alone, on a phone, after a reload, with a bad line."""

from __future__ import annotations

import pytest

from tests.study.front import pages as p

pytestmark = pytest.mark.browser

AFTER = p.base("done", "The end", code=None, url=None, payment=None)
ALL = {"consent": p.CONSENT, "form": p.FORM, "instructions": p.INSTRUCTIONS, "quiz": p.QUIZ, "ranking": p.RANKING,
       "wait": p.WAIT, "done": p.DONE}  # fmt: skip


def title(page) -> str:
    return page.locator("h1").inner_text()


def ended(page) -> None:
    page.wait_for_selector("h1:text-is('The end')")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("kind", list(ALL))
def test_every_kind_is_shown(visit, keep, kind, phone):
    page = visit([ALL[kind], AFTER], phone=phone)
    assert title(page) == ALL[kind]["title"]
    assert page.title() == ALL[kind]["title"]
    keep(page, f"{kind}-{'phone' if phone else 'desktop'}")


@pytest.mark.parametrize("kind", list(ALL))
def test_everything_to_press_or_fill_has_a_name(visit, kind):
    page = visit([ALL[kind], AFTER])
    nameless = page.evaluate("""() => [...document.querySelectorAll('button, input, select, textarea, a[href], img')]
        .filter(e => !(e.ariaLabel || e.alt || e.labels?.length || e.textContent.trim()))
        .map(e => e.outerHTML)""")
    assert nameless == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("kind", list(ALL))
def test_contrast(visit, kind):
    """At least 4.5 : 1 for every text, by the formula of WCAG."""
    page = visit([ALL[kind], AFTER])
    assert page.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => { const [r, g, b] = c.map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c[3] === undefined || c[3] > 0) return c; } return [255, 255, 255]; };
  const wrong = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.disabled || e.getAttribute('aria-disabled') === 'true') continue;
    const [a, b] = [light(parse(getComputedStyle(e).color).slice(0, 3)), light(ground(e).slice(0, 3))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) wrong.push([e.className, e.textContent, ratio]);
  }
  return wrong;
}"""


def test_consent_needs_every_box(visit, mock):
    page = visit([p.CONSENT, AFTER])
    page.check("#q-adult")
    page.click("button[type=submit]")
    assert "of my own will" in page.inner_text(".complaints")
    assert page.locator("[aria-invalid]").count() == 1
    assert mock.answers == []
    page.check("#q-take_part")
    page.click("button[type=submit]")
    ended(page)
    assert mock.answers[0]["answers"] == {"adult": True, "take_part": True}
    assert 0 < mock.answers[0]["seconds"] < 60


def test_a_form_by_mouse(visit, mock):
    page = visit([p.FORM, AFTER])
    page.click("text=strongly agree")
    page.locator("input[name=q2]").nth(5).check()
    page.get_by_label("Often", exact=True).check()
    page.check("text=Overcooked")
    page.fill("#q-q5", "31")
    page.fill("#q-q6", "  fine \n")
    page.select_option("#q-q7", label="Region 0")
    page.click("button[type=submit]")
    ended(page)
    items = mock.answers[0].pop("items")
    assert {name: times["changes"] for name, times in items.items()} == dict.fromkeys(mock.answers[0]["answers"], 1)
    assert mock.answers[0] == {
        "page": "form-1", "seconds": mock.answers[0]["seconds"],
        "answers": {"q1": 5, "q2": 6, "q3": "often", "q4": ["cooking"], "q5": 31, "q6": "fine", "q7": 0},
    }  # fmt: skip


def test_a_form_by_keyboard_alone(visit, mock):
    page = visit([p.FORM, AFTER])
    keys = page.keyboard
    page.locator("header .stop").focus()
    for press in (
        "Tab",
        "Space",
        "ArrowRight",
        "ArrowRight",
        "Tab",
        "Space",
        "Tab",
        "Space",
        "ArrowDown",
        "Tab",
        "Space",
        "Tab",
        "Tab",
    ):
        keys.press(press)
    keys.type("44")
    keys.press("Tab")
    keys.type("by keys")
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Enter")
    ended(page)
    assert mock.answers[0]["answers"] == {
        "q1": 3, "q2": 1, "q3": "some", "q4": ["hanabi"], "q5": 44, "q6": "by keys", "q7": None,
    }  # fmt: skip


def test_complaints_lead_to_their_questions(visit, mock):
    page = visit([p.FORM, AFTER])
    page.fill("#q-q5", "12")
    page.click("button[type=submit]")
    lines = page.locator(".complaints li").all_inner_texts()
    assert len(lines) == 4
    assert lines[-1] == "How old are you?: Please give 18 or more."
    assert page.evaluate("document.activeElement.className") == "complaints"
    page.click(".complaints a >> nth=-1")
    assert page.evaluate("document.activeElement.id") == "q-q5"
    assert page.locator("#q-q5").get_attribute("aria-describedby") == "error-q5"
    assert mock.answers == []


def test_what_the_server_complains_about_is_shown(visit, mock):
    page = visit([{**p.FORM, "questions": [p.NUMBER]}, AFTER])
    mock.complain = {"q5": "you said 30 before"}
    page.fill("#q-q5", "31")
    page.click("button[type=submit]")
    page.wait_for_selector(".complaint:text-is('you said 30 before')")
    page.click("button[type=submit]")
    ended(page)


def test_a_reload_keeps_what_was_filled_in(visit):
    page = visit([p.FORM, AFTER])
    page.click("text=strongly agree")
    page.fill("#q-q6", "half a sentence")
    page.reload()
    page.wait_for_selector("#q-q6")
    assert page.input_value("#q-q6") == "half a sentence"
    assert page.locator("input[name=q1]").nth(4).is_checked()


def test_an_answer_is_sent_again_until_the_server_is_back(visit, mock):
    page = visit([{**p.FORM, "questions": [p.NUMBER]}, AFTER])
    mock.broken = 2
    page.fill("#q-q5", "31")
    page.click("button[type=submit]")
    page.wait_for_selector(".banner:visible")
    ended(page)
    assert [a["answers"] for a in mock.answers] == [{"q5": 31}]
    assert page.locator(".banner").is_hidden()


def test_an_answer_that_arrived_before_moves_on(visit, mock):
    page = visit([{**p.FORM, "questions": [p.NUMBER]}, AFTER])
    mock.at = 1  # as when another window was faster
    page.fill("#q-q5", "31")
    page.click("button[type=submit]")
    ended(page)
    assert mock.answers == []
    assert "the first answers count" in page.inner_text(".banner")


def test_a_quiz_tells_what_was_wrong_and_keeps_the_answers(visit, mock, keep):
    page = visit([p.QUIZ, AFTER])
    mock.replies["quiz-1"] = {**p.QUIZ, "tries_left": 1, "feedback": {"onions": "Three onions make a soup."}}
    page.check("#q-onions-0")
    page.check("#q-serve-0")
    page.click("button[type=submit]")
    page.wait_for_selector(".feedback")
    assert page.inner_text(".tries") == "Tries left: 1"
    assert page.locator(".feedback").all_inner_texts() == ["Three onions make a soup."]
    assert page.locator("#q-serve-0").is_checked()
    keep(page, "quiz-feedback-desktop")
    page.check("#q-onions-2")
    page.click("button[type=submit]")
    ended(page)
    assert mock.answers[1]["answers"] == {"onions": 3, "serve": "green"}


def order(page) -> list[str]:
    return [row.get_attribute("data-id") for row in page.locator(".ranking li").all()]


def test_ranking_by_keyboard_alone(visit, mock):
    page = visit([p.RANKING, AFTER])
    assert order(page) == ["b", "c", "d", "a"]
    keys = page.keyboard
    page.locator("header .stop").focus()
    for press in ("Tab", "Tab", "Tab", "Space", "ArrowUp", "ArrowUp", "Escape"):
        keys.press(press)
    assert order(page) == ["b", "c", "d", "a"]
    assert page.locator(".unplaced").count() == 1  # taken back: still nowhere
    for press in ("Space", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "Space"):
        keys.press(press)
    assert order(page) == ["b", "a", "c", "d"]
    assert "place 2 of 4" in page.inner_text("[aria-live]")
    keys.press("Tab")
    keys.press("Enter")
    ended(page)
    assert mock.answers[0]["answers"] == {"order": ["b", "a", "c", "d"]}


def test_ranking_by_dragging(visit, mock):
    page = visit([p.RANKING, AFTER])
    from_box, to_box = (page.locator(f"[data-id={i}]").bounding_box() for i in ("a", "b"))
    page.mouse.move(from_box["x"] + 120, from_box["y"] + 20)
    page.mouse.down()
    page.mouse.move(from_box["x"] + 120, (from_box["y"] + to_box["y"]) / 2, steps=8)
    page.mouse.move(to_box["x"] + 120, to_box["y"] + 10, steps=8)
    page.mouse.up()
    assert order(page) == ["a", "b", "c", "d"]
    page.reload()
    page.wait_for_selector(".ranking")
    assert order(page) == ["a", "b", "c", "d"]
    page.click("text=Continue")
    ended(page)
    assert mock.answers[0]["answers"] == {"order": ["a", "b", "c", "d"]}


def test_ranking_by_touch_buttons_and_only_once_placed(visit, mock):
    page = visit([p.RANKING, AFTER], phone=True)
    page.tap("text=Continue")
    assert "Blue" in page.inner_text(".complaints")
    page.tap("[aria-label='Move Blue up']")
    assert order(page) == ["b", "c", "a", "d"]
    page.tap("text=Continue")
    ended(page)
    assert mock.answers[0]["answers"] == {"order": ["b", "c", "a", "d"]}


def test_without_a_fixed_order_everything_moves(visit, mock):
    page = visit([{**p.RANKING, "fixed": []}, AFTER])
    assert page.locator(".movable").count() == 4
    page.click("[aria-label='Move Blue down']")
    page.click("text=Continue")
    ended(page)
    assert mock.answers[0]["answers"] == {"order": ["b", "a", "c", "d"]}


def test_the_language_changes_the_chrome_and_keeps_the_answers(visit, mock, keep):
    page = visit([p.FORM, AFTER])
    page.fill("#q-q6", "kept")
    page.select_option("select[name=language]", "zh")
    page.wait_for_selector("text=继续")
    assert page.get_attribute("html", "lang") == "zh"
    assert page.input_value("#q-q6") == "kept"
    page.click("button[type=submit]")
    assert "请回答这个问题" in page.inner_text(".complaints")
    keep(page, "form-zh-desktop")


def test_the_next_person_before_a_computer_sees_nothing_of_the_last_one(visit, mock):
    page = visit([p.FORM, AFTER])
    page.fill("#q-q6", "a secret")
    page.reload()
    page.wait_for_selector("#q-q6")
    assert page.input_value("#q-q6") == "a secret"
    mock.pages = [p.CONSENT, p.FORM]
    page.reload()
    page.check("#q-adult")
    page.check("#q-take_part")
    page.click("button[type=submit]")
    page.wait_for_selector("#q-q6")
    assert page.input_value("#q-q6") == ""


def test_waiting_asks_until_it_is_over(visit, mock):
    page = visit([p.WAIT, AFTER])
    assert "1:35" in page.inner_text("main")
    mock.at = 1
    ended(page)


def test_the_end_shows_code_payment_and_the_way_back(visit):
    page = visit([p.DONE])
    assert page.inner_text("output.code") == "C1A2B3D4"
    assert "12.50 USD" in page.inner_text("main")
    assert page.get_attribute("a.button", "href") == p.DONE["url"]


def test_a_link_that_is_no_web_address_is_not_shown(visit):
    page = visit([{**p.DONE, "url": "javascript:alert(1)"}])
    assert page.locator("a.button").count() == 0


def test_the_focus_goes_to_the_new_page(visit):
    page = visit([p.INSTRUCTIONS, p.DONE])
    page.click("text=Continue")
    page.wait_for_selector("text=C1A2B3D4")
    assert page.evaluate("document.activeElement.tagName") == "H1"


def test_figures_are_pictures_with_their_titles(visit):
    page = visit([p.INSTRUCTIONS, AFTER])
    assert page.get_attribute("figure img", "alt") == "A chef carries an onion to a pot"
    assert page.evaluate("document.querySelector('figure img').naturalWidth") > 0


def test_labels_of_questions_are_text_and_not_html(visit):
    bad = {**p.NUMBER, "label": "<b>how</b> <img src=x onerror=alert(1)>"}
    page = visit([{**p.FORM, "questions": [bad]}, AFTER])
    assert page.locator("form img, form b").count() == 0
    assert "<b>how</b>" in page.inner_text("form")


@pytest.mark.parametrize(
    ("status", "words"), [(409, "begun this study already"), (401, "Please use the link"), (500, "away")]
)
def test_a_refused_visit_is_told_once(visit, mock, status, words):
    page = visit([p.FORM])
    mock.refusal = (status, "you have begun this study already; the database is away")
    page.reload()
    page.wait_for_selector("[role=alert]")
    assert words in page.inner_text("[role=alert]")
    mock.refusal = None
    page.click("text=Load again")
    page.wait_for_selector("#q-q5")


def test_every_shape_of_a_partner_differs(visit):
    shapes = ("circle", "square", "triangle", "diamond", "star", "hexagon", "cross", "pentagon", "heart", "drop")
    items = [{"id": s, "label": s, "colour": "#0072b2", "shape": s} for s in shapes]
    page = visit([{**p.RANKING, "items": items, "fixed": []}])
    drawn = page.locator(".ranking .sign").evaluate_all("all => all.map(e => e.innerHTML)")
    assert len(set(drawn)) == len(shapes)


def test_a_wrong_answer_without_an_explanation_is_still_told(visit):
    page = visit([{**p.QUIZ, "feedback": {"onions": ""}}])
    assert page.locator(".feedback").all_inner_texts() == ["This is not right."]


def test_waiting_does_not_draw_itself_anew(visit, mock):
    page = visit([p.WAIT, AFTER])
    page.evaluate("document.querySelector('.waiting').dataset.mine = '1'")
    mock.pages[0] = {**p.WAIT, "until_s": 60}
    page.wait_for_timeout(3500)
    assert page.locator("[data-mine]").count() == 1
