"""The symbolic view of search and rescue agrees with the states it is read from."""

import jax
import numpy as np
import pytest

import interplay
from interplay.games.rescue.symbolic_domain import RescueReader
from interplay.metrics.interdependence import count
from interplay.symbolic.declare import DomainError
from tests.games.rescue.scripts import roll


def expected(reader, states, t) -> set[str]:
    """The facts that a state shows by itself, written without the reader's operators."""
    height = reader.rules.height

    def at(kind, cell):
        return f"{kind}_{cell // height}_{cell % height}"

    facts = {f"at({a}, {at('cell', c)})" for a, c in zip(reader.agents, states.cell[t].tolist())}
    facts |= {f"free({a})" for a, h in zip(reader.agents, states.held[t].tolist()) if h < 0}
    facts |= {f"has({a}, {reader.tools[h]})" for a, h in zip(reader.agents, states.held[t].tolist()) if h >= 0}
    facts |= {f"lies({n}, {at('cell', c)})" for n, c in zip(reader.tools, states.tool_cell[t].tolist()) if c >= 0}
    for n, use, kind in zip(reader.tools, states.tool_use[t].tolist(), reader.rules.tool_kinds):
        facts |= {f"{('unused', 'used', 'lent')[use]}({n})"} if kind == 0 else set()
    for n, known, by in zip(reader.victims, states.known[t].tolist(), states.treated_by[t].tolist()):
        facts |= {f"{'known' if known else 'hidden'}({n})", f"{'treated' if by >= 0 else 'untreated'}({n})"}
    facts |= {f"burning({at('fire', int(c))})" for c in np.flatnonzero(states.burning[t])}
    facts |= {f"blocking({at('debris', int(c))})" for c in np.flatnonzero(states.debris[t])}
    police = [(g, w) for g, w in enumerate(states.guarding[t].tolist()) if w >= 0]
    return facts | {f"guards({reader.agents[g]}, {reader.agents[w]})" for g, w in police}


TRACED = ("at", "free", "has", "lies", "unused", "used", "lent", "known", "hidden", "treated", "untreated")
TRACED += ("burning", "blocking", "guards")


@pytest.mark.parametrize("seed", range(4))
def test_facts_rolled_forward_are_the_facts_of_each_state(seed):
    options = {"danger": 1, "kits": 2, "extinguishers": 2, "debris": 4, "fires": 3}
    game = interplay.make("rescue/generated", roles=["nurse", "firefighter", "police", "nurse"], **options)
    # A crowd of random walkers who mostly interact meets every rule of the game.
    weights = np.array([1, 1, 1, 1, 0, 4]) / 8
    actions = np.random.default_rng(seed).choice(6, size=(600, 4), p=weights)
    states, _ = roll(game, game.init(jax.random.key(seed)), actions)
    reader = RescueReader(game)
    trace = reader.read(states, actions)
    for t, facts in trace.states():
        shown = {trace.world.show(f) for f in facts}
        assert {f for f in shown if f.split("(")[0] in TRACED} == expected(reader, states, t)
    assert len(trace.goals()) == int(np.sum(states.treated_by[-1] >= 0))
    count(trace)


def test_another_game_is_refused_by_name():
    with pytest.raises(DomainError, match="cannot read 'overcooked/cramped_room': it is another game"):
        RescueReader(interplay.make("overcooked/cramped_room"))
    cottage = interplay.make("rescue/cottage")
    states, _ = roll(cottage, cottage.init(jax.random.key(0)), np.full((3, 2), 4))
    with pytest.raises(DomainError, match="actions of shape"):
        RescueReader(cottage).read(states, np.full((3, 3), 4))
