"""Pages as browsers are sent them: in one language, as safe HTML, without agents' names or right answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.games.registry import make_recorded
from interplay.study.db.participants import DONE, DROPPED, NEW, OVER, WITHDRAWN, ParticipantContext, Person
from interplay.study.live.browser_views import browser_view
from interplay.study.protocol import answers
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import Device, Protocol, Question
from interplay.study.protocol.words import html, phrase, say


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
        "page": page,
    }


def screen(
    protocol: Protocol, who: Person, all_pages: list[Page], context: ParticipantContext, figures: Mapping[str, str]
) -> dict[str, Any]:
    """Return the open page of a participant whose study is not over."""
    page, language = all_pages[who.position], who.language
    values = words(protocol, who, page)
    item = page.item
    view: dict[str, Any] = {
        "id": page.id,
        "kind": item.kind,
        "title": say(item.title, language, **values),
        "text": html(say(item.text, language, **values)),
    }
    match item.kind:
        case "consent":
            boxes = [{"id": box.id, "label": say(box.label, language)} for box in item.checkboxes]
            view |= {"version": item.version, "checkboxes": boxes}
        case "form":
            view["questions"] = [question(protocol, q, language, values) for q in item.questions]
        case "instructions":
            view["figures"] = [figures[name] for name in item.figures if name in figures]
        case "quiz":
            view["questions"] = [question(protocol, q, language, values) for q in item.questions]
            view |= {"feedback": feedback(page, context, language), "tries_left": item.tries - who.tries}
        case "ranking":
            known = who.aliases(protocol)
            placed = [name for name in context.order if name in page.met]
            new = [name for name in page.met if name not in placed]
            view["items"] = [known[name].record(language) for name in placed + new]
            # Newcomers are put among those who have their places; where there are none, all of it can be changed.
            view["fixed"] = [known[name].id for name in placed] if new else []
        case "game":
            view |= game(protocol, who, page)
    return view


def game(protocol: Protocol, who: Person, page: Page) -> dict[str, Any]:
    """Return what the front end needs to open a game: the board, the socket, the partner's alias and the flags."""
    setting = protocol.games[page.value(page.item.game)]
    alias = who.aliases(protocol)[page.value(page.item.partner)].record(who.language)
    return {
        "game": browser_view(make_recorded(setting.game, setting.options)).board,
        "socket": "",  # the application says which process plays the game
        "alias": {name: alias[name] for name in ("label", "colour", "shape")},
        "flags": [{"id": flag.id, "label": say(flag.label, who.language)} for flag in page.item.flags],
        "practice": page.practice,
    }


def question(protocol: Protocol, asked: Question, language: str, values: Mapping[str, str]) -> dict[str, Any]:
    """Return a question as the front end shows it."""
    scale = protocol.scales[asked.scale] if asked.scale else None
    return {
        "id": asked.id,
        "type": asked.type,
        "label": say(asked.label, language, **values),
        "required": asked.required,
        "points": scale.points if scale else None,
        "left": say(scale.left, language, **values) if scale else None,
        "right": say(scale.right, language, **values) if scale else None,
        "labels": [say(label, language, **values) for label in scale.labels] if scale else [],
        "options": [{"value": o.value, "label": say(o.label, language, **values)} for o in asked.options],
        "min": asked.min,
        "max": asked.max,
    }


def feedback(page: Page, context: ParticipantContext, language: str) -> dict[str, str] | None:
    """Return what was wrong in the last try at a quiz, with explanations; None before the first try."""
    if context.failed is None:
        return None
    wrong = answers.wrong_answers(page.item, context.failed)
    return {q.id: say(q.explanation, language) if q.explanation else "" for q in wrong}


def words(protocol: Protocol, who: Person, page: Page) -> dict[str, str]:
    """Return the values of `{turn}`, `{alias}`, `{first}` and `{second}` in the texts of a page."""
    known = {name: alias.record(who.language)["label"] for name, alias in who.aliases(protocol).items()}
    order = [name for name in known_order(protocol, who) if name in known]
    values = {"turn": str(page.turn or 1)}
    for name, at in (("first", 0), ("second", 1)):
        if at < len(order):
            values[name] = known[order[at]]
    if "partner" in page.values:
        values["alias"] = known[page.values["partner"]]
    return values


def known_order(protocol: Protocol, who: Person) -> list[str]:
    """Return the partners of the games that count, in the order in which they are met."""
    games = (page for page in who.pages(protocol) if page.item.kind == "game" and not page.practice)
    return list(dict.fromkeys(page.value(page.item.partner) for page in games))


def done(protocol: Protocol, who: Person) -> dict[str, Any]:
    """Return the last page. Completion codes exist only once the end is stored."""
    language, made = who.language, protocol.completion
    url = made.url.replace("{code}", who.code) if made.url and who.code else None
    paid = f"{protocol.payment.currency} {who.payment:.2f}" if who.payment else None
    view = {"id": "done", "kind": "done", "title": phrase("thanks", language), "text": html(_last_words(protocol, who))}
    mine = who.status == WITHDRAWN and protocol.withdrawal.erase
    return view | {"code": who.code, "url": url, "payment": paid, "erasable": mine}


def _last_words(protocol: Protocol, who: Person) -> str:
    language, own = who.language, protocol.withdrawal.text
    if who.status == DONE:
        return say(protocol.end, language)
    if who.status == DROPPED and protocol.dropout.text:
        return say(protocol.dropout.text, language)
    if who.status == WITHDRAWN and who.position == 0:  # before the consent: the file does not speak to these
        return phrase("declined", language)
    return say(own, language) if who.status == WITHDRAWN and own else phrase(who.status, language)


def closed_page(protocol: Protocol, language: str) -> dict[str, Any]:
    """Return the page of those who come when no more participants are taken."""
    own = protocol.recruitment.closed_text
    text = html(say(own, language) if own else phrase("closed", language))
    nothing = {"code": None, "url": None, "payment": None, "erasable": False}
    return {"id": "closed", "kind": "done", "title": say(protocol.title, language), "text": text, **nothing}


def closed(protocol: Protocol, language: str) -> dict[str, Any]:
    """Return the state of a visitor who is nobody yet, when no more participants are taken."""
    return {
        "csrf": "",
        "language": language,
        "languages": [language],
        "title": say(protocol.title, language),
        "progress": {"done": 0, "of": 0},
        "page": closed_page(protocol, language),
    }


def erased(protocol: Protocol, who: Person) -> dict[str, Any]:
    """Return the last page of someone who was erased, with a code that is no longer stored."""
    page = done(protocol, who) | {"id": "erased", "text": html(phrase("erased", who.language))}
    page |= {"payment": None, "erasable": False}
    return {
        "csrf": "",
        "language": who.language,
        "languages": [who.language],
        "title": say(protocol.title, who.language),
        "progress": {"done": who.position, "of": len(who.pages(protocol))},
        "page": page,
    }
