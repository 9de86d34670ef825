"""Markdown as safe HTML: CommonMark with tables; HTML within it is shown as text."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml

_WEB = re.compile(r"https?://", re.IGNORECASE)
_SAFE = re.compile(r"(https?://|mailto:|#|/(?!/)|\w[\w/.-]*$)", re.IGNORECASE)


_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_PARSER.validateLink = lambda url: _SAFE.match(url) is not None  # type: ignore[method-assign]


def to_html(text: str, *, heading: int = 1, code: str = "code") -> str:
    """Convert Markdown to HTML that can stand in a page whoever wrote the text.

    Args:
        text: The Markdown. Links and images lead to http, https, mailto, paths and places within the page; others
            stay text.
        heading: The level that `#` gets.
        code: The element that stands for text in backquotes.
    """
    tokens = _PARSER.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + heading - 1)}"
        for inner in token.children or []:
            if inner.type == "link_open" and _WEB.match(str(inner.attrGet("href"))):
                inner.attrSet("target", "_blank")  # a link to the web opens beside the page, which goes on
                inner.attrSet("rel", "noopener noreferrer")
            if inner.type == "code_inline" and code != "code":
                inner.type, inner.tag = "html_inline", ""
                inner.content = f"<{code}>{escapeHtml(inner.content)}</{code}>"
    return _PARSER.renderer.render(tokens, _PARSER.options, {}).strip()
