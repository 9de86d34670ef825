"""Study files for the tests, put together of what many of them have in common."""

QUIZ = """
kind: quiz
id: quiz
title: Quiz
tries: 2
questions:
  - id: sum
    type: choice
    label: "1 + 1"
    options: [{value: "2", label: two}, {value: "3", label: three}]
    right_answer: "2"
"""
TWO_PARTNERS = {
    "partners": "{still: stay, wild: random}",
    "designs": "{rounds: {factors: {partner: [still, wild]}, order: latin}}",
}
AGREE = "{agree: {points: 5, left: disagree, right: agree}}"
FIVE_EUROS = '{currency: EUR, formula: "5 + mean(scores)"}'


def consent(version="1", title="Consent", label="I agree"):
    boxes = f"[{{id: agree, label: {label}}}]"
    return f'{{kind: consent, id: consent, title: {title}, version: "{version}", checkboxes: {boxes}}}'


def game(name, setting, partner, title=None, **more):
    """A game's page; `more` as it is written in the file."""
    told = "".join(f", {key}: {value}" for key, value in more.items())
    return f"{{kind: game, id: {name}, title: {title or name.capitalize()}, game: {setting}, partner: {partner}{told}}}"


def repeat(name, *pages, **how):
    """Pages over a design of the same name, unless `how` says otherwise."""
    way = "".join(f"{key}: {value}\n" for key, value in (how or {"over": name}).items())
    return f"kind: repeat\nid: {name}\n{way}pages:\n{_items(pages)}"


def form(name, *questions, title=None):
    return f"kind: form\nid: {name}\ntitle: {title or name.capitalize()}\nquestions:\n{_items(questions)}"


def rounds(*questions, title='"Round {turn}"'):
    """A game in the kitchen with each of two partners, a form about it, and a ranking."""
    one = game("game", "kitchen", "$partner", title, flags="[{id: odd, label: That was odd}]")
    return repeat("rounds", one, form("after", *questions), "{kind: ranking, id: rank, title: Rank, of: rounds}")


def study(name, *flow, title=None, first=None, after=None, **parts):
    """A study file: `parts` by their names above the flow, `after` below it; `first` is the consent if it is not the
    usual one. Values are written as they stand."""
    head = {"name": name, "title": title or name.capitalize(), **parts}
    lines = [f"{key}: {value}" for key, value in head.items()]
    end = "".join(f"{key}: {value}\n" for key, value in (after or {}).items())
    return "\n".join([*lines, "flow:", ""]) + _items([first or consent(), *flow]) + end


def _items(pages):
    """A list, each item of which may have several lines."""
    return "".join("  - " + page.strip().replace("\n", "\n    ") + "\n" for page in pages)


def line_of(text, part):
    """The line on which something first stands, from 1."""
    return text[: text.index(part)].count("\n") + 1
