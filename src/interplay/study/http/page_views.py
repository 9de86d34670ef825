"""What the browser is told of a page: in one language, as safe HTML, without agents' names or right answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.games.registry import make_recorded
from interplay.study.db.participants import DONE, OVER, WITHDRAWN, ParticipantContext, Person
from interplay.study.live.browser_views import browser_view
from interplay.study.protocol import answers
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import Protocol, Question
from interplay.study.protocol.words import html, phrase, say


def state(
    protocol: Protocol, who: Person, context: ParticipantContext, csrf: str, figures: Mapping[str, str]
) -> dict[str, Any]:
    """The answer to `GET state`."""
    held = who.pages(protocol)
    over = who.status in OVER
    page = done(protocol, who) if over else screen(protocol, who, held, context, figures)
    return {
        "csrf": csrf,
        "language": who.language,
        "languages": list(protocol.languages),
        "title": say(protocol.title, who.language),
        "progress": {"done": len(held) if who.status == DONE else who.position, "of": len(held)},
        "page": page,
    }


def screen(
    protocol: Protocol, who: Person, held: list[Page], context: ParticipantContext, figures: Mapping[str, str]
) -> dict[str, Any]:
    page, language = held[who.position], who.language
    values = words(protocol, who, page)
    item = page.item
    told: dict[str, Any] = {
        "id": page.id,
        "kind": item.kind,
        "title": say(item.title, language, **values),
        "text": html(say(item.text, language, **values)),
    }
    match item.kind:
        case "consent":
            boxes = [{"id": box.id, "label": say(box.label, language)} for box in item.checkboxes]
            told |= {"version": item.version, "checkboxes": boxes}
        case "form":
            told["questions"] = [question(protocol, q, language, values) for q in item.questions]
        case "instructions":
            told["figures"] = [figures[name] for name in item.figures if name in figures]
        case "quiz":
            told["questions"] = [question(protocol, q, language, values) for q in item.questions]
            told |= {"feedback": feedback(page, context, language), "tries_left": item.tries - who.tries}
        case "ranking":
            known = who.aliases(protocol)
            placed = [name for name in context.order if name in page.met]
            new = [name for name in page.met if name not in placed]
            told["items"] = [known[name].record(language) for name in placed + new]
            # Newcomers are put among those who have their places; where there are none, all of it can be changed.
            told["fixed"] = [known[name].id for name in placed] if new else []
        case "game":
            told |= game(protocol, who, page)
    return told


def game(protocol: Protocol, who: Person, page: Page) -> dict[str, Any]:
    setting = protocol.games[page.value(page.item.game)]
    alias = who.aliases(protocol)[page.value(page.item.partner)].record(who.language)
    return {
        "game": browser_view(make_recorded(setting.game, setting.options)).board,
        "socket": f"/api/study/{protocol.name}/play",
        "alias": {name: alias[name] for name in ("label", "colour", "shape")},
        "flags": [{"id": flag.id, "label": say(flag.label, who.language)} for flag in page.item.flags],
        "practice": page.practice,
    }


def question(protocol: Protocol, asked: Question, language: str, values: Mapping[str, str]) -> dict[str, Any]:
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
    """After a failed try: what was wrong, and why."""
    if context.failed is None:
        return None
    wrong = answers.wrong_answers(page.item, context.failed)
    return {q.id: say(q.explanation, language) if q.explanation else "" for q in wrong}


def words(protocol: Protocol, who: Person, page: Page) -> dict[str, str]:
    """What stands for `{turn}`, `{alias}`, `{first}` and `{second}` in the texts of a page."""
    known = {name: alias.record(who.language)["label"] for name, alias in who.aliases(protocol).items()}
    order = [name for name in known_order(protocol, who) if name in known]
    found = {"turn": str(page.turn or 1)}
    for name, at in (("first", 0), ("second", 1)):
        if at < len(order):
            found[name] = known[order[at]]
    if "partner" in page.values:
        found["alias"] = known[page.values["partner"]]
    return found


def known_order(protocol: Protocol, who: Person) -> list[str]:
    """The partners of the games that count, in the order in which they are met."""
    held = (page for page in who.pages(protocol) if page.item.kind == "game" and not page.practice)
    return list(dict.fromkeys(page.value(page.item.partner) for page in held))


def done(protocol: Protocol, who: Person) -> dict[str, Any]:
    """The last page. Codes exist only once the end is on disk."""
    language, made = who.language, protocol.completion
    url = made.url.replace("{code}", who.code) if made.url and who.code else None
    paid = f"{protocol.payment.currency} {who.payment:.2f}" if who.payment else None
    told = {"id": "done", "kind": "done", "title": phrase("thanks", language), "text": html(_last_words(protocol, who))}
    mine = who.status == WITHDRAWN and protocol.withdrawal.erase
    return told | {"code": who.code, "url": url, "payment": paid, "erasable": mine}


def _last_words(protocol: Protocol, who: Person) -> str:
    language, own = who.language, protocol.withdrawal.text
    if who.status == DONE:
        return say(protocol.end, language)
    if who.status == WITHDRAWN and who.position == 0:  # before the consent: the file does not speak to these
        return phrase("declined", language)
    return say(own, language) if who.status == WITHDRAWN and own else phrase(who.status, language)


def erased(protocol: Protocol, who: Person) -> dict[str, Any]:
    """The last that someone sees who was erased: it holds a code that is stored no more."""
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
