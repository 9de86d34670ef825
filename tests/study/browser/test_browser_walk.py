"""The walk through a page finds what it is there to find."""

from __future__ import annotations

import pytest

from tests.study.browser.person import WALK

pytestmark = pytest.mark.browser

GOOD = """<!doctype html><html lang=en><head><title>A page</title></head><body><main class="page is-game">
<h1>Title</h1><h2>Part</h2><p role=status>fine</p><label for=a>Age</label><input id=a>
<fieldset><legend>One</legend><label><input type=radio> yes</label></fieldset><button>Go there</button></main></body>
<style>button { font-size: 20px; }</style></html>"""


@pytest.fixture
def found(chromium):
    page = chromium.new_page(viewport={"width": 390, "height": 844})

    def walk(old: str = "", new: str = "") -> list[str]:
        assert old in GOOD
        page.set_content(GOOD.replace(old, new, 1))
        return page.evaluate(WALK)

    yield walk
    page.close()


def test_a_good_page_passes(found):
    assert found() == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<button>Go there</button>", "<button></button>", "no name"),
        ("<label for=a>Age</label>", "", "no name"),
        ("for=a>", "for=b>", "for leads nowhere"),
        ("<h2>Part</h2>", "<h2 id=a>Part</h2>", "id a twice"),
        ("<h2>Part</h2>", "<h1>Part</h1>", "headings of level 1"),
        ("<h2>Part</h2>", "<h3>Part</h3>", "a level of headings is left out"),
        ("lang=en", "", "no language"),
        ("<title>A page</title>", "", "no title"),
        ("<legend>One</legend>", "", "no legend"),
        ("<button>", "<button tabindex=3>", "its own place in the order"),
        ("<button>Go there</button>", "<div aria-hidden=true><button>Go there</button></div>", "takes the focus"),
        ("role=status", "", "no live region"),
        ("<p role=status>", '<p role=status style="color: #999">', "contrast 2.8"),
        ("<button>Go", '<button style="position: absolute; left: 370px; width: 60px">Go', "cut off"),
        ("<button>Go", '<button style="width: 20px; overflow: hidden">Go', "too small to press"),
        ("<h2>Part", f'<h2 style="width: 80px">{"P" * 30}', "runs out of it"),
        ("<h2>Part", f"<h2>{'P' * 80}", "scrolls sideways"),
    ],
)
def test_what_is_wrong_is_told(found, old, new, told):
    assert any(told in one for one in found(old, new)), found(old, new)
