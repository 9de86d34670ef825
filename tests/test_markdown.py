"""Markdown of study files and reports becomes HTML that cannot run anything."""

import pytest

from interplay.markdown import to_html


def test_blocks_and_marks():
    assert to_html("# Title\n\nOne *two* **three** `four`.\n\n- a\n- b", heading=2, code="kbd") == (
        "<h2>Title</h2>\n<p>One <em>two</em> <strong>three</strong> <kbd>four</kbd>.</p>\n"
        "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"
    )


def test_tables_links_and_images():
    text = to_html(
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n[web](https://example.org) [here](#replay-0@10) ![plan](plan.png)"
    )
    assert "<td>2</td>" in text
    assert '<a href="https://example.org" target="_blank" rel="noopener noreferrer">web</a>' in text
    assert '<a href="#replay-0@10">here</a>' in text
    assert '<img src="plan.png" alt="plan" />' in text


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](javascript:alert(1))",
        "[x](//evil.example)",
        "<javascript:alert(1)>",
        "`<script>`",
        '[x](https://a.example "\\" onmouseover=alert(1)")',
        "[x](vbscript:run)",
        "[a]: javascript:alert(1)\n\n[a]",
    ],
)
def test_hostile_text_stays_text(text):
    from html.parser import HTMLParser

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag in ("p", "a", "kbd")
            assert all(
                (name == "href" and value.startswith("https://")) or name in ("title", "target", "rel")
                for name, value in attributes
            )

    Reader().feed(to_html(text, code="kbd"))
