"""The worked examples of the paper's search-and-rescue appendix, played out in small houses."""

import pytest

from interplay.metrics.interdependence import InterdependenceOptions, count
from interplay.symbolic.pddl import export
from tests.games.rescue.scripts import play


def links(played, *channels, **options):
    return count(played.trace, InterdependenceOptions(channels=channels or None, **options)).links


def valid(played) -> bool:
    pytest.importorskip("unified_planning", reason="needs the extra `planning`")
    from unified_planning.engines import SequentialPlanValidator
    from unified_planning.engines.results import ValidationResultStatus
    from unified_planning.io import PDDLReader

    pddl, reader = export(played.trace), PDDLReader()
    problem = reader.parse_problem_string(pddl.domain, pddl.problem)
    plan = reader.parse_plan_string(problem, pddl.plan)
    return SequentialPlanValidator().validate(problem, plan).status == ValidationResultStatus.VALID


def test_example_1_firefighter_discovers_victim_nurse_treats_victim():
    """VictimLocationKnown, added by Interact(Firefighter, Victim), is what Navigate(Nurse, Victim) needs."""
    played = play("#######/#n...V#/#....f#/#######", "4.3r60i", "ui")
    [link] = links(played)
    assert (link.giver, link.receiver, link.object) == (1, 0, "victim_1")
    assert link.gave == "discover(firefighter_1, victim_1)"
    assert link.fact == "known(victim_1)"
    assert link.used == "navigate(nurse_1, cell_1_1, victim_1)"
    assert (link.gave_t, link.used_t, link.channel, link.kind) == (1, 4, "knowledge", "constructive")
    assert played.score == 10.0
    assert valid(played)


def test_example_2_firefighter_passes_medical_kit_nurse_treats_victim():
    """Has(Nurse, MedicalKit), added by Interact(Firefighter, MedicalKit, Nurse), is what the treatment needs."""
    played = play("#####/#V..#/#n..#/#f.K#/#####", "i4.20i", "rilui")
    [link] = links(played)
    assert (link.giver, link.receiver, link.object) == (1, 0, "kit_1")
    assert link.gave == "hand_over(firefighter_1, kit_1, nurse_1)"
    assert link.fact == "has(nurse_1, kit_1)"
    assert link.used == "treat_with_kit(nurse_1, kit_1, victim_1)"
    assert (link.gave_t, link.used_t, link.channel, link.kind) == (4, 5, "hands", "constructive")
    assert played.score == 10.0
    assert valid(played)


BURNING = "#######/#V...F#/#nK.fE#/#######"


def test_example_3_firefighter_extinguishes_fire_nurse_treats_victim_faster():
    """FireExtinguished, added by Interact(Firefighter, Extinguisher, Fire), is what the fast treatment needs."""
    played = play(BURNING, ".riui20i", "rirui")
    [link] = links(played)
    assert (link.giver, link.receiver, link.object) == (1, 0, "fire_5_1")
    assert link.gave == "extinguish(firefighter_1, extinguisher_1, fire_5_1)"
    assert link.fact == "extinguished(fire_5_1)"
    assert link.used == "treat_with_kit(nurse_1, kit_1, victim_1)"
    assert (link.channel, link.kind) == ("hazards", "constructive")
    assert played.score == 10.0
    assert valid(played)


def test_example_3_without_the_firefighter_the_treatment_takes_100_steps():
    assert play(BURNING, ".riui99i", ".").score == 0.0
    played = play(BURNING, ".riui100i", ".")
    assert played.score == 10.0
    assert links(played) == ()


def test_a_fire_put_out_during_the_treatment_speeds_up_the_rest():
    played = play(BURNING, "riui21i", "rirui")
    assert played.score == 10.0
    [link] = links(played)
    assert link.used == "go_on_with_kit(nurse_1, kit_1, victim_1)"
    assert link.kind == "constructive"


def test_looping_the_police_passes_a_kit_and_the_nurse_returns_the_same_kit():
    """The kit's state is unchanged and it treats nobody: looping and not goal-reaching."""
    played = play("#######/#V....#/#.Kpn.#/#######", "liri", "l3.i")
    [link] = links(played)
    assert (link.giver, link.receiver, link.object) == (0, 1, "kit_1")
    assert link.looping
    assert not link.goal_reaching
    assert link.kind == "looping"


LENDING = ("#####/#V..#/#np.#/#K..#/#####", "diuiriu6i.18i", "l12.i")


def test_looping_the_nurse_lends_the_kit_gets_it_back_and_completes_the_treatment_with_it():
    """Goal-reaching; a loop by the kit's nominal state, and none once its state is linked to its use."""
    played = play(*LENDING)
    assert played.score == 10.0
    nominal = links(played, states=False)
    assert [(k.giver, k.receiver, k.goal_reaching, k.kind) for k in nominal] == [
        (0, 1, True, "looping"),
        (1, 0, True, "looping"),
    ]
    assert [(k.giver, k.receiver, k.kind, k.reciprocal) for k in links(played)] == [
        (0, 1, "constructive", True),
        (1, 0, "constructive", True),
    ]
    assert valid(played)


def test_usage_linked_states_of_the_kit():
    played = play(*LENDING)
    world, trace = played.trace.world, played.trace

    def state(t):
        return {p for p in ("unused", "used", "lent") if world.fact(p, "kit_1") in trace.facts(t)}

    assert state(0) == state(5) == {"unused"}
    assert state(6) == state(14) == {"lent"}
    assert state(15) == {"used"}


def test_police_guard_whoever_works_in_a_danger_zone():
    played = play("#######/#p.n!V#/#######", "ri", "2.ri60i")
    assert played.score == 10.0
    assert [(k.giver, k.receiver, k.object, k.used, k.kind) for k in links(played)] == [
        (0, 1, "nurse_1", "discover(nurse_1, victim_1)", "constructive"),
        (0, 1, "nurse_1", "treat_by_hand(nurse_1, victim_1)", "constructive"),
    ]
    assert valid(played)
    assert play("#######/#p.n!V#/#######", ".", "2.ri60i").score == 0.0


def test_debris_cleared_on_the_way_to_a_victim():
    played = play("########/#nfD..V#/####...#/########", "7.4r60i", "ri3rid")
    assert [(k.channel, k.object, k.used.split("(")[0], k.kind) for k in links(played)] == [
        ("knowledge", "victim_1", "navigate", "constructive"),
        ("hazards", "debris_3_1", "treat_by_hand", "constructive"),
    ]
    assert valid(played)


def test_debris_cleared_counts_for_whoever_finds_a_victim_behind_it():
    played = play("########/#nfD..V#/####...#/########", "7.4ri60i", "ri3rd")
    [link] = links(played)
    assert (link.object, link.used, link.kind) == ("debris_3_1", "discover(nurse_1, victim_1)", "constructive")
    assert valid(played)


def test_a_second_nurse_who_goes_on_with_a_treatment_counts_if_asked():
    played = play("#####/#V..#/#n.n#/#####", "i30id3.", "32.ull30i")
    [link] = links(played, "care")
    assert (link.giver, link.receiver, link.fact, link.kind) == (0, 1, "begun(victim_1)", "constructive")
    assert all(k.channel == "knowledge" for k in links(played))
