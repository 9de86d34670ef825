"""Pages as browsers are sent them: in one language, as safe HTML, without agents' names or right answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from interplay.study.analysis.analysis_list import pages as file_pages
from interplay.study.db.participants import DONE, DROPPED, NEW, OVER, WITHDRAWN, ParticipantContext, Person
from interplay.study.http.browser_modules import page_scripts
from interplay.study.pages import media
from interplay.study.pages.page_type import PageVisit, page_type
from interplay.study.protocol.flow import Page, with_partners_met
from interplay.study.protocol.model import Device, Protocol
from interplay.study.protocol.texts import html, phrase, say
from interplay.study.protocol.translations import browser_overrides


def state(
    protocol: Protocol,
    who: Person,
    context: ParticipantContext,
    csrf: str,
    figures: Mapping[str, str],
    *,
    closed: bool = False,
) -> dict[str, Any]:
    """Return the answer to `GET state`: the open page, with languages and progress."""
    all_pages = who.pages(protocol)
    if closed:
        page = closed_page(protocol, who.language)
    elif who.status in OVER:
        page = done(protocol, who)
    else:
        page = screen(protocol, who, all_pages, context, figures)
    more: dict[str, Any] = {"test": True} if who.test else {}
    if who.status == NEW and protocol.device != Device():
        more["device"] = protocol.device.model_dump()
    return more | {
        "csrf": csrf,
        "language": who.language,
        "languages": list(protocol.languages),
        "title": say(protocol.title, who.language),
        "progress": {"done": len(all_pages) if who.status == DONE else who.position, "of": len(all_pages)},
        "words": browser_overrides(protocol.words, who.language),
        "page": page,
    }


def screen(
    protocol: Protocol, who: Person, all_pages: list[Page], context: ParticipantContext, figures: Mapping[str, str]
) -> dict[str, Any]:
    """Return the open page of a participant whose study is not over."""
    page, language = with_partners_met(all_pages[who.position], all_pages, context.begun), who.language
    values = words(protocol, who, page, known_order(all_pages, who.position, context.begun)) | earlier_answers(
        protocol, context.facts, language
    )
    item = page.item
    visit = PageVisit(
        protocol, page, language, who.aliases(protocol), values, who.tries, context.failed, context.earlier, figures,
        who.seed, context.facts,
    )  # fmt: skip
    view: dict[str, Any] = {
        "id": page.id,
        "kind": item.kind,
        "title": visit.say(item.title),
        "text": html(visit.say(item.text)),
        "media": [media.view(protocol, name, language) for name in item.media],
        "scripts": [f"/static/{name}" for name in page_scripts(protocol, page)],
    }
    return view | dict(page_type(item.kind).show(item, visit))


def earlier_answers(protocol: Protocol, facts: Mapping[str, Any], language: str) -> dict[str, str]:
    """Return the values of `{answer.QUESTION}` and `{score}` in texts: options by their labels, numbers as they are."""
    asked = {q.id: q for page in file_pages(protocol) if page.kind in ("form", "quiz") for q in page.questions}
    values = {}
    for name, value in facts.items():
        if name in asked and value is not None:
            labels = {o.value: say(o.label, language) for o in asked[name].options}
            several = value if isinstance(value, list) else [value]
            words = (labels.get(part, f"{part:g}" if isinstance(part, int | float) else str(part)) for part in several)
            values[f"answer.{name}"] = " ".join(", ".join(words).split())
    if facts.get("score") is not None:
        values["score"] = f"{facts['score']:g}"
    return values


def words(protocol: Protocol, who: Person, page: Page, order: Sequence[str]) -> dict[str, str]:
    """Return the values of `{turn}`, `{alias}`, `{first}` and `{second}` in the texts of a page."""
    known = {name: alias.record(who.language)["label"] for name, alias in who.aliases(protocol).items()}
    order = [name for name in order if name in known]
    values = {"turn": str(page.turn or 1)}
    for name, at in (("first", 0), ("second", 1)):
        if at < len(order):
            values[name] = known[order[at]]
    if "partner" in page.values:
        values["alias"] = known[page.values["partner"]]
    return values


def known_order(all_pages: Sequence[Page], position: int, begun: Collection[str]) -> list[str]:
    """Return the partners of the games that count, in the order in which they are met.

    Games that conditions left out are not met; those still to come are taken as if none will be.
    """
    games = (p for at, p in enumerate(all_pages) if p.item.kind == "game" and (at >= position or p.id in begun))
    return list(dict.fromkeys(page.value(page.item.partner) for page in games if not page.practice))


def done(protocol: Protocol, who: Person) -> dict[str, Any]:
    """Return the last page. Completion codes exist only once the end is stored."""
    language, made = who.language, protocol.completion
    url = made.url.replace("{code}", who.code) if made.url and who.code else None
    paid = f"{protocol.payment.currency} {who.payment:.2f}" if who.payment else None
    view = {
        "id": "done",
        "kind": "done",
        "title": phrase("thanks", language, protocol.words),
        "text": html(_last_words(protocol, who)),
    }
    mine = who.status == WITHDRAWN and protocol.withdrawal.erase
    return view | {"code": who.code, "url": url, "payment": paid, "erasable": mine}


def _last_words(protocol: Protocol, who: Person) -> str:
    language, own = who.language, protocol.withdrawal.text
    if who.status == DONE:
        return say(protocol.end, language)
    if who.status == DROPPED and protocol.dropout.text:
        return say(protocol.dropout.text, language)
    if who.status == WITHDRAWN and who.position == 0:  # before the consent: the file does not speak to these
        return phrase("declined", language, protocol.words)
    return say(own, language) if who.status == WITHDRAWN and own else phrase(who.status, language, protocol.words)


def closed_page(protocol: Protocol, language: str) -> dict[str, Any]:
    """Return the page of those who come when no more participants are taken."""
    own = protocol.recruitment.closed_text
    return _last_page(protocol, language, "closed", say(own, language) if own else "")


def _last_page(protocol: Protocol, language: str, reason: str, own: str = "") -> dict[str, Any]:
    """Return the page of those who come and cannot take part, with the study's own text or a phrase of ours."""
    text = html(own or phrase(reason, language, protocol.words))
    nothing = {"code": None, "url": None, "payment": None, "erasable": False}
    return {"id": reason, "kind": "done", "title": say(protocol.title, language), "text": text, **nothing}


def closed(protocol: Protocol, language: str) -> dict[str, Any]:
    """Return the state of a visitor who is nobody yet, when no more participants are taken."""
    return _nobody(protocol, language, closed_page(protocol, language))


def turned_away(protocol: Protocol, language: str, reason: str) -> dict[str, Any]:
    """Return the state of a visitor who cannot take part, with the phrase that tells why."""
    return _nobody(protocol, language, _last_page(protocol, language, reason))


def _nobody(protocol: Protocol, language: str, page: dict[str, Any]) -> dict[str, Any]:
    return {
        "csrf": "",
        "language": language,
        "languages": [language],
        "title": say(protocol.title, language),
        "progress": {"done": 0, "of": 0},
        "words": browser_overrides(protocol.words, language),
        "page": page,
    }


def erased(protocol: Protocol, who: Person) -> dict[str, Any]:
    """Return the last page of someone who was erased, with a code that is no longer stored."""
    page = done(protocol, who) | {"id": "erased", "text": html(phrase("erased", who.language, protocol.words))}
    page |= {"payment": None, "erasable": False}
    return {
        "csrf": "",
        "language": who.language,
        "languages": [who.language],
        "title": say(protocol.title, who.language),
        "progress": {"done": who.position, "of": len(who.pages(protocol))},
        "words": browser_overrides(protocol.words, who.language),
        "page": page,
    }
