"""Sliders, media, branching, loops and piped answers before a real browser."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from interplay.study.db.schema import answers
from interplay.study.protocol.reading import load
from tests.study.conftest import opened
from tests.study.items_study import write_items

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    folder = tmp_path_factory.mktemp("items")
    path = write_items(folder)
    path.write_text(
        path.read_text().replace("  film: {file: media/film.webm, captions: media/film.vtt, alt: A short film}\n", "")
    )
    with opened(load(path), folder) as served:
        yield served


def test_items_before_a_browser(items, arrive):
    person = arrive(items)
    page = person.page
    person.consent()
    page.wait_for_function("() => document.querySelector('figure.media img').naturalWidth === 8")
    person.picture("items-form")
    # Nothing is answered by doing nothing, and the name is asked for only where there is one.
    page.click("main .primary")
    assert page.locator(".complaint:visible").count() == 3
    assert page.locator("[name=called]").is_hidden()
    page.check("input[name=pet][value=dog]")
    assert page.locator("[name=called]").is_visible()
    page.fill("[name=called]", "Rex *the* <b>dog</b>")
    page.check("input[name=pet][value=none]")
    assert page.locator("[name=called]").is_hidden()
    page.check("input[name=pet][value=dog]")
    slider = page.locator("[name=warm]")
    assert slider.get_attribute("aria-valuetext") == "not answered yet"
    slider.focus()
    person.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.slider-value').textContent === '30'", timeout=8000)
    page.locator("input[name=read]").nth(1).check()
    person.go_on()
    assert person.at == "quiz"  # the page for owners of cats is left out
    assert page.inner_text("h1") == "What Rex *the* <b>dog</b> sees"
    assert page.locator(".position .card").count() == 10
    assert page.locator(".position .card.back").count() == 5
    person.picture("items-position")
    page.check("input[name=tokens][value='7']")
    person.go_on()
    assert page.inner_text("h1") == "Turn 1: it is 30 degrees, you have A dog"
    assert page.locator("[name=read2]").count() == 0
    page.check("input[name=enough][value=yes]")
    person.go_on()
    assert person.kind == "done"
    query = sa.select(answers).where(answers.c.page == "you", answers.c.person == person.public())
    row = items.base.database.read(lambda tx: tx.execute(query).one())
    assert row.answers == {"warm": 30, "pet": "dog", "called": "Rex *the* <b>dog</b>", "read": 2}
    times = row._mapping["items"]
    assert times["pet"]["changes"] == 3
    assert times["warm"]["changes"] == 1
    assert 0 < times["pet"]["first_s"] <= times["pet"]["last_s"] <= row.seconds
