"""A small study of two layouts' worth of ratings, cheap to simulate hundreds of times."""

import pytest

from interplay.study.protocol.reading import parse
from tests.glossary import all_columns_explained  # noqa: F401
from tests.study.texts import form, game, repeat, study

SMALL = study(
    "tiny",
    form(
        "you",
        "{id: skill, type: likert, scale: five, label: Skill}",
        "{id: played, type: choice, label: Played, options: [{value: 'yes', label: has}, {value: 'no', label: not}]}",
    ),
    game("trial", "one", "d", practice="true"),
    repeat(
        "rounds",
        game("round", "$layout", "$partner"),
        form(
            "after",
            "{id: q1, type: likert, scale: five, label: Liked}",
            "{id: q2, type: likert, scale: five, label: Trusted}",
            "{id: check, type: likert, scale: five, label: Choose 2, required: false}",
        ),
        over="cells",
    ),
    repeat("duel", game("bout", "one", "$partner")),
    repeat("all", game("last", "two", "$partner"), "{kind: ranking, id: order, title: Order, of: all}"),
    scales="{five: {points: 5, left: low, right: high}, seven: {points: 7, left: first, right: second}}",
    games="{one: {game: overcooked/cramped_room}, two: {game: overcooked/coordination_ring}}",
    partners="{a: random, b: stay, c: random, d: stay}",
    designs="""
  cells: {factors: {layout: [one, two], partner: [a, b]}, order: latin}
  duel: {factors: {partner: [a, b, c]}, draw: 2}
  all: {factors: {partner: [a, b, c, d]}, order: latin}""",
)
PAIR = study(
    "pair",
    repeat("duel", game("bout", "one", "$partner")),
    form(
        "both",
        "{id: p1, type: two_sided, scale: seven, label: Which}",
        "{id: p2, type: two_sided, scale: seven, label: Whom}",
    ),
    scales="{seven: {points: 7, left: first, right: second}}",
    games="{one: {game: overcooked/cramped_room}}",
    partners="{a: random, b: stay, c: random}",
    designs="{duel: {factors: {partner: [a, b, c]}, draw: 2}}",
)


@pytest.fixture(scope="session")
def tiny():
    return parse(SMALL)


@pytest.fixture(scope="session")
def pair():
    return parse(PAIR)
