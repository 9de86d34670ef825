"""Pages as browsers are sent them: in one language, as safe HTML, without agents' names or right answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.games.registry import make_recorded
from interplay.study.analysis.plan import pages as file_pages
from interplay.study.db.participants import DONE, OVER, WITHDRAWN, ParticipantContext, Person
from interplay.study.http import media
from interplay.study.live.browser_views import browser_view
from interplay.study.protocol import answers
from interplay.study.protocol.conditions import holds, names_in, with_facts
from interplay.study.protocol.flow import Page, options, ordered
from interplay.study.protocol.model import Option, Protocol, Question
from interplay.study.protocol.words import html, phrase, say


def state(
    protocol: Protocol, who: Person, context: ParticipantContext, csrf: str, figures: Mapping[str, str]
) -> dict[str, Any]:
    """Return the answer to `GET state`: the open page, with languages and progress."""
    all_pages = who.pages(protocol)
    over = who.status in OVER
    page = done(protocol, who) if over else screen(protocol, who, all_pages, context, figures)
    return {
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
    values = words(protocol, who, page) | earlier_answers(protocol, context.facts, language)
    item = page.item
    view: dict[str, Any] = {
        "id": page.id,
        "kind": item.kind,
        "title": say(item.title, language, **values),
        "text": html(say(item.text, language, **values)),
        "media": [media.view(protocol, name, language) for name in item.media],
    }
    match item.kind:
        case "consent":
            boxes = [{"id": box.id, "label": say(box.label, language)} for box in item.checkboxes]
            view |= {"version": item.version, "checkboxes": boxes}
        case "form":
            view["questions"] = questions(protocol, who, page, context.facts, values)
        case "instructions":
            view["figures"] = [figures[name] for name in item.figures if name in figures]
        case "quiz":
            view["questions"] = questions(protocol, who, page, context.facts, values)
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
        "socket": f"/api/study/{protocol.name}/play",
        "alias": {name: alias[name] for name in ("label", "colour", "shape")},
        "flags": [{"id": flag.id, "label": say(flag.label, who.language)} for flag in page.item.flags],
        "practice": page.practice,
    }


def questions(
    protocol: Protocol, who: Person, page: Page, facts: Mapping[str, Any], values: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the questions of a page as the front end shows them, in this participant's order.

    Questions with a condition on earlier pages that does not hold are left out; a condition on answers of the same
    page goes along for the browser.
    """
    here = {asked.id for asked in page.item.questions}
    known = {**facts, "turn": page.turn}
    views = []
    for asked in ordered(page, who.seed):
        if asked.when is not None and not names_in(asked.when) & here and not holds(asked.when, known):
            continue
        shown = options(page, asked, who.seed)
        view = question(protocol, asked, who.language, values, shown)
        views.append(view | {"when": with_facts(asked.when, known, here) if asked.when is not None else None})
    return views


def question(
    protocol: Protocol,
    asked: Question,
    language: str,
    values: Mapping[str, str],
    shown: Sequence[Option] | None = None,
) -> dict[str, Any]:
    """Return a question as the front end shows it, with its options in the order `shown`; None: as written."""
    scale = protocol.scales[asked.scale] if asked.scale else None
    ends = scale or asked
    return {
        "id": asked.id,
        "type": asked.type,
        "label": say(asked.label, language, **values),
        "required": asked.required,
        "points": scale.points if scale else None,
        "left": say(ends.left, language, **values) if ends.left is not None else None,
        "right": say(ends.right, language, **values) if ends.right is not None else None,
        "labels": [say(label, language, **values) for label in scale.labels] if scale else [],
        "options": [{"value": o.value, "label": say(o.label, language, **values)} for o in (asked.options if shown is None else shown)],
        "min": asked.min,
        "max": asked.max,
        "step": asked.step,
        "media": media.view(protocol, asked.media, language) if asked.media else None,
    }


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
    if who.status == WITHDRAWN and who.position == 0:  # before the consent: the file does not speak to these
        return phrase("declined", language)
    return say(own, language) if who.status == WITHDRAWN and own else phrase(who.status, language)


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
