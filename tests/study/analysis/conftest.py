"""A small study of two layouts' worth of ratings, cheap to simulate hundreds of times."""

import pytest

from interplay.study.reading import parse

SMALL = """
name: tiny
title: Tiny
scales:
  five: {points: 5, left: low, right: high}
  seven: {points: 7, left: first, right: second}
games:
  one: {game: overcooked/cramped_room}
  two: {game: overcooked/coordination_ring}
partners: {a: random, b: stay, c: random, d: stay}
designs:
  cells: {factors: {layout: [one, two], partner: [a, b]}, order: latin}
  duel: {factors: {partner: [a, b, c]}, draw: 2}
  all: {factors: {partner: [a, b, c, d]}, order: latin}
flow:
  - {kind: consent, id: consent, title: C, version: "1", checkboxes: [{id: ok, label: ok}]}
  - kind: form
    id: you
    title: You
    questions:
      - {id: skill, type: likert, scale: five, label: Skill}
      - {id: played, type: choice, label: Played, options: [{value: "yes", label: "yes"}, {value: "no", label: "no"}]}
  - {kind: game, id: trial, title: T, game: one, partner: d, practice: true}
  - kind: repeat
    id: rounds
    over: cells
    pages:
      - {kind: game, id: round, title: R, game: $layout, partner: $partner}
      - kind: form
        id: after
        title: A
        questions:
          - {id: q1, type: likert, scale: five, label: Liked}
          - {id: q2, type: likert, scale: five, label: Trusted}
          - {id: check, type: likert, scale: five, label: Choose 2, required: false}
  - kind: repeat
    id: duel
    over: duel
    pages:
      - {kind: game, id: bout, title: B, game: one, partner: $partner}
  - kind: repeat
    id: all
    over: all
    pages:
      - {kind: game, id: last, title: L, game: two, partner: $partner}
      - {kind: ranking, id: order, title: O, of: all}
"""
PAIR = """
name: pair
title: Pair
scales: {seven: {points: 7, left: first, right: second}}
games: {one: {game: overcooked/cramped_room}}
partners: {a: random, b: stay, c: random}
designs: {duel: {factors: {partner: [a, b, c]}, draw: 2}}
flow:
  - {kind: consent, id: consent, title: C, version: "1", checkboxes: [{id: ok, label: ok}]}
  - kind: repeat
    id: duel
    over: duel
    pages:
      - {kind: game, id: bout, title: B, game: one, partner: $partner}
  - kind: form
    id: both
    title: Both
    questions:
      - {id: p1, type: two_sided, scale: seven, label: Which}
      - {id: p2, type: two_sided, scale: seven, label: Whom}
"""


@pytest.fixture(scope="session")
def tiny():
    return parse(SMALL)


@pytest.fixture(scope="session")
def pair():
    return parse(PAIR)
