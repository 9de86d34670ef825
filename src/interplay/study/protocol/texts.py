"""Texts of study files in several languages, and the phrases of the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field

from interplay.markdown import to_html

Text = Annotated[str | dict[str, str], Field(union_mode="left_to_right")]  # one text for all languages, or one each


def say(text: Text, language: str, **values: str) -> str:
    """Return a text in a language, with `{name}` replaced by its value; other braces stay as they are."""
    chosen = text if isinstance(text, str) else text.get(language) or next(iter(text.values()))
    return re.sub(r"\{([\w.-]+)\}", lambda m: values.get(m[1], m[0]), chosen)


def piped(part: BaseModel) -> set[str]:
    """Return the questions whose answers the texts of a part repeat, as `{answer.QUESTION}`."""
    return set(re.findall(r"\{answer\.([\w-]+)\}", part.model_dump_json()))


def missing(text: Text, languages: tuple[str, ...]) -> list[str]:
    """Return the languages that a text lacks; a plain string serves all."""
    return [] if isinstance(text, str) else [language for language in languages if language not in text]


def html(text: str) -> str:
    """Convert a study's Markdown to HTML; the page's title is its first heading, and keys stand in backquotes."""
    return to_html(text, heading=2, code="kbd")


PHRASES: Mapping[str, Mapping[str, str]] = {
    "required": {"en": "Please answer this question.", "zh": "请回答此问题。"},
    "choice": {"en": "Please choose one of the options.", "zh": "请选择一个选项。"},
    "number": {"en": "Please give a number from {low} to {high}.", "zh": "请输入 {low} 到 {high} 之间的数字。"},
    "text": {"en": "Please write at most {high} characters.", "zh": "最多 {high} 个字符。"},
    "agree": {"en": "You can only take part if you agree.", "zh": "只有同意后才能参加。"},
    "order": {"en": "Please put every partner in its place once.", "zh": "请将每个伙伴排列一次。"},
    "unknown": {"en": "There is no such question here.", "zh": "此页没有这个问题。"},
    "thanks": {"en": "Thank you", "zh": "谢谢"},
    "screened": {
        "en": "Thank you for your time. The questions show that this study does not fit you.",
        "zh": "感谢您的时间。根据回答，您不符合本研究的条件。",
    },
    "withdrawn": {
        "en": "You have stopped taking part, and nothing more is recorded. Thank you for your time.",
        "zh": "您已停止参加，此后不再记录任何内容。感谢您的时间。",
    },
    "declined": {
        "en": "You have chosen not to take part. Thank you for your time.",
        "zh": "您选择了不参加。感谢您的时间。",
    },
    "erased": {
        "en": "What was stored of you is erased. Thank you for your time.",
        "zh": "有关您的存储内容已删除。感谢您的时间。",
    },
    "closed": {
        "en": "This study takes no more participants. Thank you for your interest.",
        "zh": "本研究不再接受新的参与者。感谢您的关注。",
    },
    "dropped": {
        "en": "You were away for too long, so your place was given to someone else. Thank you for your time.",
        "zh": "您离开的时间过长，名额已让给他人。感谢您的时间。",
    },
    # Why somebody who comes is turned away.
    "no_recruiter": {
        "en": "This study is open by the recruiter's link only. Please use the link that you were given.",
        "zh": "只能通过招募方的链接参加本研究。请使用您收到的链接。",
    },
    "unsigned": {
        "en": "This link was not made by the recruiter, or has expired. Please use the link that you were given.",
        "zh": "此链接不是由招募方生成的，或已过期。请使用您收到的链接。",
    },
    "begun": {
        "en": "You have begun this study already. Please go on in the browser in which you began.",
        "zh": "您已开始本研究。请在开始时使用的浏览器中继续。",
    },
    "used_link": {
        "en": "This link is not good any more. Please ask the researchers for a new one.",
        "zh": "此链接已失效。请向研究人员索取新的链接。",
    },
    "other_link": {"en": "This link belongs to another study.", "zh": "此链接属于另一项研究。"},
}


def phrase(name: str, language: str, words: Mapping[str, Text] | None = None, **values: object) -> str:
    """Return a phrase of the server in a language, English if there is no translation.

    Args:
        name: The phrase, one of `PHRASES`.
        language: The language.
        words: The study's own words.
        values: What is put into its braces.
    """
    known = PHRASES[name]
    text = own_words(known["en"], known, language, words or {})
    return re.sub(r"\{(\w+)\}", lambda slot: str(values.get(slot[1], slot[0])), text)


def own_words(english: str, known: Mapping[str, str], language: str, words: Mapping[str, Text]) -> str:
    """Return a text, known by its English, as a study says it in a language.

    Args:
        english: The text.
        known: Our translations of it, by language.
        language: The language; `de-AT` falls back to `de`, and every language to English.
        words: The study's own words, by their English.
    """
    own = words.get(english, {})
    if isinstance(own, str):
        return own
    translations = {**known, **own}
    return translations.get(language) or translations.get(language.partition("-")[0]) or english
