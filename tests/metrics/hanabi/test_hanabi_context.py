"""Context independence: by hand, against a plain count, and the concepts themselves."""

import jax
import numpy as np
import pytest

import interplay
from interplay.metrics.hanabi.concepts import AND, ATOM, OR, Formula, formulas, names, packed, primitives
from interplay.metrics.hanabi.context_independence import context_independence
from interplay.traces import replay
from tests.metrics.hanabi.scripted import compiled, episode, recoloured, traces

RAIN, WIND = Formula(ATOM, 0), Formula(ATOM, 1)


def test_by_hand():
    """Ten moves: it rains in four, and then message 0 comes three times and 1 once; message 0 comes five times in all.
    So p(m*|rain) p(rain|m*) = 3/4 * 3/5. Wind never blows: a 0 in the first mean, and left out of the second."""
    concepts = np.zeros((10, 2), bool)
    concepts[:4, 0] = True
    messages = np.array([0, 0, 0, 1, 0, 0, 1, 1, 1, 1])
    value, held, count = context_independence(concepts, messages, [RAIN, WIND], 3)
    assert (value, held, count) == (pytest.approx(0.45 / 2), pytest.approx(0.45), 1)
    assert context_independence(concepts[:0], messages[:0], [RAIN], 3) == (None, None, 0)


def test_one_word_for_each_thing_is_fully_independent():
    messages = np.array([0, 1] * 50)
    concepts = np.stack([messages == 0, messages == 1], axis=1)
    assert context_independence(concepts, messages, [RAIN, WIND], 2)[0] == 1


def test_formulas():
    assert len(set(formulas(60, 500, 0))) == 500
    assert {f.depth for f in formulas(60, 500, 0)} == {1, 2, 3}
    assert formulas(60, 20, 1) != formulas(60, 20, 2)
    both = Formula(AND, left=RAIN, right=Formula(ATOM, 1, negated=True))
    assert both.text(["rain", "wind"]) == "(rain and not wind)"
    assert Formula(OR, left=RAIN, right=WIND).depth == 2


def plainly(formula, holds):
    """The truth of a formula, move by move."""
    if formula.left is None:
        return holds[:, formula.atom] != formula.negated
    left, right = plainly(formula.left, holds), plainly(formula.right, holds)
    return left & right if formula.operator == AND else left | right


def test_against_a_plain_count():
    rng = np.random.default_rng(0)
    concepts, messages = rng.random((333, 12)) < 0.3, rng.integers(0, 5, 333)
    of, terms = formulas(12, 60, 3), []
    for formula in of:
        true = plainly(formula, concepts)
        counts = [int((true & (messages == m)).sum()) for m in range(5)]
        best = int(np.argmax(counts))
        terms.append(counts[best] / true.sum() * counts[best] / (messages == best).sum() if true.any() else 0.0)
    assert context_independence(concepts, messages, of, 5)[0] == pytest.approx(np.mean(terms))


def holding(game, found, t):
    holds = jax.jit(lambda s: primitives(game.rules, s))(replay(game, found).state(t))
    return {n for n, h in zip(names(game.rules), np.asarray(holds), strict=True) if h}


def test_concepts_by_hand():
    game = compiled()[0]
    found = episode(["R3 Y3 G3 W3 B3", "R1 Y5 G4 W4 B4"], ["hint +1 1", "play 0"])
    assert holding(game, found, 0) == {
        "at least half of the hint tokens are there", "all hint tokens are there", "all lives are left",
        "their card 0 is playable", "their card 1 is critical", "they hold a 1", "they hold a 4", "they hold a 5",
        *(f"they hold a card of {s}" for s in "RYGWB"),
    }  # fmt: skip
    now = holding(game, found, 1)
    assert {n for n in now if "my" in n} == {
        "the last move was a hint that named my card 0",
        "a hint has named my card 0",
        "my card 0 is known to be playable",
    }
    assert {"the last move was a rank hint", "they hold a 3"} <= now
    assert {"the R firework has begun", "the last move was a play that fitted"} <= holding(game, found, 2)


def test_colours_only_change_places():
    game = compiled()[0]
    (one,) = interplay.play(game, ["random", "hanabi/simple"], episodes=1, seed=5)
    order = "GBRYW"
    other = recoloured(one, order)
    atoms = names(game.rules)
    told = [_holds(game, e) for e in (one, other)]
    swap = {f"the {a} firework has begun": f"the {b} firework has begun" for a, b in zip("RYGWB", order, strict=True)}
    swap |= {f"they hold a card of {a}": f"they hold a card of {b}" for a, b in zip("RYGWB", order, strict=True)}
    places = [atoms.index(swap.get(n, n)) for n in atoms]
    assert (told[0] == told[1][:, places]).all()


def _holds(game, found):
    states = replay(game, found).states
    return np.unpackbits(packed(game.rules, states), axis=1, count=len(names(game.rules))).astype(bool)


def test_of_a_pool():
    games = interplay.crossplay(compiled()[0], ["random", "hanabi/simple"], episodes=3, seed=2)
    found = interplay.measure(games, ["hanabi/context"], concepts=50)
    means = found.where(metric="ci", over="mean of pairings")
    assert {(r["agent"], r["messages"]) for r in means} == {
        (a, m) for a in ("random", "hanabi/simple") for m in ("actions", "kinds")
    }
    assert all(0 < r["value"] < 1 for r in means)
    again = interplay.measure(traces(*games), ["hanabi/context"], concepts=50)
    assert again.column("value") == found.column("value")
