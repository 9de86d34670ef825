"""The exported PDDL is parsed, and its plan validated, by a planner library that we did not write."""

import pytest

from interplay.symbolic.declare import NATURE, DomainError, derive
from interplay.symbolic.pddl import export
from tests.symbolic.test_declare import kitchen

unified_planning = pytest.importorskip("unified_planning", reason="needs the extra `planning`")


def validates(pddl) -> bool:
    from unified_planning.engines import SequentialPlanValidator
    from unified_planning.engines.results import ValidationResultStatus
    from unified_planning.io import PDDLReader

    reader = PDDLReader()
    problem = reader.parse_problem_string(pddl.domain, pddl.problem)
    plan = reader.parse_plan_string(problem, pddl.plan)
    return SequentialPlanValidator().validate(problem, plan).status == ValidationResultStatus.VALID


def served():
    world, recorder = kitchen()
    recorder.do(0, 0, "put", "ann", "onion_1", "the_hatch")
    recorder.do(1, NATURE, "spoil", "onion_1")
    recorder.do(2, 1, "take", "bob", "onion_1", "the_hatch", preconditions=[world.fact("stale", "onion_1")])
    recorder.do(3, 1, "serve", "bob", "onion_1")
    return recorder.finish(4, game_id="hatch/small")


def test_plan_is_valid():
    assert validates(export(served()))


def test_plan_in_the_wrong_order_is_not():
    pddl = export(served())
    lines = pddl.plan.splitlines()
    assert not validates(pddl._replace(plan="\n".join([lines[2], lines[0], lines[1], lines[3]]) + "\n"))


def test_derived_operators_are_exported_too():
    trace = served()
    facts = [trace.facts(t) for t in range(5)]
    again = derive(trace.world, trace.agents, facts, [["act", "act"]] * 4)
    pddl = export(again)
    assert "(:action act-2" in pddl.domain
    assert validates(pddl)


def test_a_goal_that_never_appears_is_named():
    trace = served()
    trace.world.add("onion_2", "onion")
    with pytest.raises(DomainError) as error:
        export(trace, goals=[("served", "onion_2")])
    for part in ("line 10", "served(onion_2)", "about onion_2", "hatch/small", "served(onion_1)"):
        assert part in str(error.value)
