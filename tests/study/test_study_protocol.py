"""Protocols: the three papers' files, errors with lines, counterbalancing, payments."""

import collections
import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.study.protocol.design import count, least_used, sequence, williams
from interplay.study.protocol.flow import first_slots, pages
from interplay.study.protocol.model import StudyDesign
from interplay.study.protocol.payment_formula import evaluate
from interplay.study.protocol.reading import load, parse
from interplay.study.protocol.texts import html, say

STUDIES = Path(__file__).parents[2] / "studies"
NAMES = ("overcooked_interdependence", "overcooked_ranking", "hanabi_preference")


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_studies_are_whole(name):
    protocol = load(STUDIES / f"{name}.yaml")
    for setting in protocol.games.values():
        make(setting.game, **setting.options)
    for partner in protocol.partners.values():
        assert agent(partner.replace("{layout}", "counter_circuit")).is_policy
    found = [page.id for page in pages(protocol, first_slots(protocol), 1)]
    assert len(set(found)) == len(found)


def test_the_guides_example_is_a_study_and_its_mistake_is_told_as_it_says():
    guide = (STUDIES.parent / "docs" / "guide" / "study.md").read_text(encoding="utf-8")
    example = guide.partition("```yaml\n")[2].partition("```")[0]
    protocol = parse(example)
    games = [page for page in pages(protocol, first_slots(protocol), 1) if page.item.kind == "game"]
    assert len(games) == 4
    assert [agent(name).is_policy for name in protocol.partners.values()] == [True, True]
    with pytest.raises(InterplayError) as caught:
        parse(example.replace("$partner", "$p"), "my_study.yaml")
    assert str(caught.value) in guide


def test_the_first_study_plays_every_cell_twice():
    protocol = load(STUDIES / f"{NAMES[0]}.yaml")
    games = [p for p in pages(protocol, first_slots(protocol), 7) if p.item.kind == "game" and not p.practice]
    cells = collections.Counter((p.values["layout"], p.values["partner"]) for p in games)
    assert len(cells) == 8
    assert set(cells.values()) == {2}


def test_the_second_study_ranks_seven_in_each_of_two_layouts():
    protocol = load(STUDIES / f"{NAMES[1]}.yaml")
    found = pages(protocol, first_slots(protocol), 7)
    assert [len(p.met) for p in found if p.item.id == "insert"] == [1, 2, 3, 4, 5, 6, 7] * 2
    assert [len(p.met) for p in found if p.item.id == "confirm"] == [7, 7]


def test_the_third_study_counts_six_games_with_two_bots():
    protocol = load(STUDIES / f"{NAMES[2]}.yaml")
    games = [p for p in pages(protocol, {"bots": 13}, 7) if p.item.kind == "game"]
    assert [p.practice for p in games] == [True, False, False, False] * 2
    assert len({p.values["partner"] for p in games}) == 2


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("scale: agreement, label: I am", "scale: nope, label: I am", 148, "scale 'nope' is not known"),
        ("draw: 2", "draw: 9", 36, "at most 6 cells"),
        ("kind: quiz", "kind: kwiz", 73, "kind 'kwiz' is not known; there is 'consent'"),
        ("title: Playing", "titel: Playing", 2, "title: is missing"),
        ("kind: quiz", "sort: quiz", 73, "kind is missing"),
        ("mean(scores)", "__import__('os')", 173, "is not understood"),
        ("partner: $partner", "partner: $p", 142, "no factor"),
        ("right_answer: b1", "right_answer: r9", 85, "not among the options"),
        (
            "  - kind: consent\n    id: consent",
            "  - kind: instructions\n    id: consent",
            43,
            "version: is not known here",
        ),
        ("title: Playing", "colour: red\ntitle: Playing", 3, "colour: is not known here"),
        ("partners:\n", "partners: [\n", 20, "not YAML"),
        ("payment: {", "name: again\npayment: {", 173, "given twice"),
    ],
)
def test_mistakes_are_told_with_their_line(old, new, line, told):
    text = (STUDIES / f"{NAMES[2]}.yaml").read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(InterplayError) as caught:
        parse(text.replace(old, new, 1), "study.yaml")
    assert told in str(caught.value)
    assert f"line {line}:" in str(caught.value)


def test_a_text_must_be_there_in_every_language():
    text = (STUDIES / f"{NAMES[1]}.yaml").read_text(encoding="utf-8")
    with pytest.raises(InterplayError, match="title is not written in zh"):
        parse(text.replace("title: {en: Warm-up, zh: 热身}", "title: {en: Warm-up}"))


@given(st.integers(2, 12))
def test_latin_orders_balance_places_and_neighbours(size):
    rows = williams(size)
    for place in range(size):
        held = collections.Counter(row[place] for row in rows)
        assert set(held.values()) == {len(rows) // size}
    pairs = collections.Counter((a, b) for row in rows for a, b in itertools.pairwise(row))
    assert len(pairs) == size * (size - 1)
    assert len(set(pairs.values())) == 1


def test_drawn_designs_list_every_ordered_choice_once():
    design = StudyDesign.model_validate({"factors": {"partner": ["a", "b", "c", "d"]}, "draw": 2})
    found = [tuple(c["partner"] for c in sequence(design, n, random.Random(0))) for n in range(count(design) or 0)]
    assert len(set(found)) == len(found) == 12
    assert all(a != b for a, b in found)


@given(st.integers(1, 40), st.integers(0, 200), st.integers())
@settings(max_examples=30, deadline=None)
def test_sequences_are_handed_out_evenly(size, people, seed):
    used, chance = collections.Counter(), random.Random(seed)
    for _ in range(people):
        used[least_used(used, size, chance)] += 1
    shares = [used[n] for n in range(size)]
    assert max(shares) - min(shares) <= 1


def test_payments_follow_the_formula_and_nothing_else():
    assert evaluate("min(30, 5 + mean(scores))", [10, 20, 21]) == 22.0
    assert evaluate("min(30, 5 + mean(scores))", []) == 5.0
    assert evaluate("50 + (5 if max(scores_ring) >= 160 else 0)", [1], {"ring": [160]}) == 55.0
    assert evaluate("50 + (5 if max(scores_ring) >= 160 else 0)", [999]) == 50.0
    for bad in ("scores.__class__", "[1][0]", "open('x')", "2**9**9", "lambda: 1", "scores", "'a'*9", "1/0", "x", "",
                "-" * 200 + "1", "mean(scores, key=1)", "True"):  # fmt: skip
        with pytest.raises(InterplayError):
            evaluate(bad, [1.0])
    with pytest.raises(InterplayError, match="charged"):
        parse(Path(STUDIES / f"{NAMES[2]}.yaml").read_text().replace("5 + mean(scores)", "mean(scores) - 9"))


def test_markdown_is_made_safe():
    made = html("# Hi <b>\n\n- **a**\n- `b`\n\n<script>alert(1)</script> *x*")
    assert made == (
        "<h2>Hi &lt;b&gt;</h2>\n<ul>\n<li><strong>a</strong></li>\n<li><kbd>b</kbd></li>\n</ul>\n"
        "<p>&lt;script&gt;alert(1)&lt;/script&gt; <em>x</em></p>"
    )
    assert html("- a\n  b\n- c\n\n1. d\n2. e\n   f") == (
        "<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>\n<ol>\n<li>d</li>\n<li>e\nf</li>\n</ol>"
    )
    assert say({"en": "{turn} of {x}", "zh": "第 {turn}"}, "en", turn="3") == "3 of {x}"
