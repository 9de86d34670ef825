"""A domain is written as text; whatever is wrong with it is told by line, fact and object."""

import pytest

from interplay.symbolic.declare import NATURE, DomainError, Recorder, SymbolicWorld, declare, derive

HATCH = """
types cook hatch
types onion dish - item
agents cook
channel hatches default
fact holding(cook, item*) holds
fact on(item*, hatch) via hatches
fact free(cook)
fact clear(hatch)
fact served(item*)
fact stale(item*) state
action put(c: cook, i: item, h: hatch)
  needs holding(c, i), clear(h)
  adds on(i, h), free(c)
  drops holding(c, i), clear(h)
action take(c: cook, i: item, h: hatch)
  needs on(i, h), free(c)
  adds holding(c, i), clear(h)
  drops on(i, h), free(c)
action serve(c: cook, i: item)
  needs holding(c, i)
  adds served(i), free(c)
  drops holding(c, i)
event spoil(i: item)
  adds stale(i)
goal served(item)
"""


def kitchen() -> tuple[SymbolicWorld, Recorder]:
    objects = {"ann": "cook", "bob": "cook", "the_hatch": "hatch", "onion_1": "onion"}
    world = SymbolicWorld(declare("hatch", HATCH), objects)
    start = world.facts([("holding", "ann", "onion_1"), ("free", "bob"), ("clear", "the_hatch")])
    return world, Recorder(world, ["ann", "bob"], start)


def test_facts_roll_forward():
    world, recorder = kitchen()
    recorder.do(0, 0, "put", "ann", "onion_1", "the_hatch")
    recorder.do(3, 1, "take", "bob", "onion_1", "the_hatch")
    trace = recorder.finish(5)
    assert world.fact("on", "onion_1", "the_hatch") in trace.facts(1)
    assert world.fact("on", "onion_1", "the_hatch") in trace.facts(3)
    assert world.fact("on", "onion_1", "the_hatch") not in trace.facts(4)
    assert [len(facts) for _, facts in trace.states()] == [len(trace.facts(t)) for t in range(6)]
    assert trace.facts(5) == trace.final
    assert [str(a) for _, a in trace.at(3)] == ["take(bob, onion_1, the_hatch)"]


@pytest.mark.parametrize(
    ("line", "broken", "says"),
    [
        (14, "  adds warm(i), free(c)", ["line 14", "warm(i)", "not declared"]),
        (14, "  adds on(i), free(c)", ["line 14", "on(i) has 1 objects", "on(item, hatch)"]),
        (14, "  adds on(h, i), free(c)", ["line 14", "'h' is a hatch", "takes a item"]),
        (14, "  adds on(i, x), free(c)", ["line 14", "'x'", "no parameter of put"]),
        (7, "fact on(item*, table) via hatches", ["line 7", "no type 'table'"]),
        (7, "fact on(item*, hatch) via doors", ["line 7", "no channel 'doors'"]),
        (7, "fact on(item*, hatch) via", ["line 7", "no channel ''"]),
        (7, "fact on(item, hatch) via hatches", ["line 7", "star"]),
        (8, "fact holding(cook)", ["line 8", "declared already, in line 6"]),
        (26, "goal stale(item), clear(hatch)", ["line 26", "clear(hatch)"]),
        (26, "goal done(item)", ["line 26", "done(item) is not declared"]),
        (12, "deed put(c: cook, i: item, h: hatch)", ["line 12", "'deed'"]),
    ],
)
def test_a_broken_domain_names_its_line(line, broken, says):
    lines = HATCH.splitlines()
    lines[line - 1] = broken
    if broken.startswith("goal stale"):
        lines = [text.replace(", clear(h)", "") if text.startswith("  adds holding") else text for text in lines]
        says = ["line 26", "no action adds the goal fact clear"]
    with pytest.raises(DomainError) as error:
        declare("hatch", "\n".join(lines))
    for part in says:
        assert part in str(error.value)


def test_objects_are_checked_when_facts_are_made():
    world, recorder = kitchen()
    with pytest.raises(DomainError, match="on\\(ann, the_hatch\\): 'ann' is a cook, not a item"):
        world.fact("on", "ann", "the_hatch")
    with pytest.raises(DomainError, match="'onion_9', an object that nobody added"):
        world.fact("served", "onion_9")
    with pytest.raises(DomainError, match=r"time step 4, seat 0: .*'bob' is a cook, not a item"):
        recorder.do(4, 0, "serve", "ann", "bob")
    with pytest.raises(DomainError, match="no operator 'juggle'"):
        recorder.do(4, 0, "juggle", "ann")
    with pytest.raises(DomainError, match="the object onion_1 is a onion, so it cannot be a dish"):
        world.add("onion_1", "dish")


def test_an_operator_whose_needs_are_not_met_names_time_fact_and_object():
    _, recorder = kitchen()
    with pytest.raises(DomainError) as error:
        recorder.do(7, 1, "take", "bob", "onion_1", "the_hatch")
    assert "time step 7, seat 1: take(bob, onion_1, the_hatch) needs on(onion_1, the_hatch)" in str(error.value)
    assert "another game" in str(error.value)


def test_operators_are_derived_from_facts_alone():
    world, _ = kitchen()
    before = world.facts([("holding", "ann", "onion_1"), ("free", "bob"), ("clear", "the_hatch")])
    put = world.facts([("on", "onion_1", "the_hatch"), ("free", "ann"), ("free", "bob")])
    spoilt = put | world.facts([("stale", "onion_1")])
    taken = world.facts([("holding", "bob", "onion_1"), ("stale", "onion_1"), ("free", "ann"), ("clear", "the_hatch")])
    trace = derive(
        world, ["ann", "bob"], [before, put, put, spoilt, taken], [["interact", "stay"]] * 3 + [["up", "grab"]]
    )
    assert trace.seats == (0, NATURE, 1)
    assert trace.times == (0, 2, 3)
    assert [a.name for a in trace.actions] == ["interact", "nature", "grab"]
    assert world.fact("on", "onion_1", "the_hatch") in trace.actions[2].precondition_set
    assert trace.final == taken


def test_whose_doing_a_change_was_is_not_guessed():
    """Something goes from hand to hand while both act: the one gave it, or the other took it."""
    world = SymbolicWorld(
        declare(
            "gift",
            """
types person thing
agents person
channel hands default
fact has(person, thing*) holds via hands
fact loud(person)
action shout(p: person)
  adds loud(p)
goal loud(person)
""",
        )
    )
    for name, kind in (("ann", "person"), ("bob", "person"), ("ball", "thing")):
        world.add(name, kind)
    facts = [world.facts([("has", "ann", "ball")]), world.facts([("has", "bob", "ball")])]
    with pytest.raises(DomainError, match="cannot tell whose"):
        derive(world, ["ann", "bob"], facts, [["give", "wave"]])
    [action] = derive(world, ["ann", "bob"], facts, [["give", None]]).actions
    assert action.name == "give"


def test_overcooked_from_facts_alone_counts_counters_right_and_refuses_pots():
    import interplay
    from interplay.errors import InterplayError
    from interplay.metrics.interdependence import InterdependenceOptions, count
    from interplay.symbolic.read import symbolic_trace

    game = interplay.make("overcooked/forced_coordination")
    [episode] = interplay.play(game, ["overcooked/greedy", "overcooked/greedy"], episodes=1, seed=0)
    whole = symbolic_trace(game, episode)
    facts = [frozenset(f) for _, f in whole.states()]
    more = {"reach": whole.reach, "partners": whole.partners}
    bare = derive(whole.world, whole.agents, facts, [["act", "act"]] * whole.length, **more)
    counters = InterdependenceOptions(channels=("counters",))
    ours, derived = count(whole, counters), count(bare, counters)
    assert [(k.giver, k.gave_t, k.used_t, k.object) for k in derived.links] == [
        (k.giver, k.gave_t, k.used_t, k.object) for k in ours.links
    ]
    triggers = [ours.num_triggers(seat) for seat in (0, 1)]
    assert [derived.num_triggers(seat) for seat in (0, 1)] == triggers
    assert sum(triggers) > 0
    with pytest.raises(InterplayError, match="in is never deleted"):
        count(bare, InterdependenceOptions(channels=("pots",)))
