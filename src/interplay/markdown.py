"""Markdown as safe HTML: CommonMark with tables; HTML within it is shown as text."""

from __future__ import annotations

import functools
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

_WEB = re.compile(r"https?://", re.IGNORECASE)
_SAFE = re.compile(r"(https?://|mailto:|#|/(?!/)|\w[\w/.-]*$)", re.IGNORECASE)


@functools.cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.validateLink = lambda url: _SAFE.match(url) is not None  # type: ignore[method-assign]
    return parser


def to_html(text: str, *, heading: int = 1, code: str = "code") -> str:
    """Convert Markdown to HTML that can stand in a page whoever wrote the text.

    Args:
        text: The Markdown. Links and images lead to http, https, mailto, paths and places within the page; others
            stay text.
        heading: The level that `#` gets.
        code: The element that stands for text in backquotes.
    """
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + heading - 1)}"
        for inner in token.children or []:
            _open_elsewhere(inner)
            if inner.type == "code_inline" and code != "code":
                inner.type, inner.tag = "html_inline", ""
                inner.content = f"<{code}>{_escape(inner.content)}</{code}>"
    return parser.renderer.render(tokens, parser.options, {}).strip()


def _open_elsewhere(token: Token) -> None:
    """Let a link to the web open beside the page, which goes on."""
    if token.type == "link_open" and _WEB.match(str(token.attrGet("href"))):
        token.attrSet("target", "_blank")
        token.attrSet("rel", "noopener noreferrer")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
