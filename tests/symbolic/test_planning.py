"""Games as PDDL for a planner: its verdicts and plan lengths fit our certificates, its plans play on our rules."""

import pytest

import interplay
from interplay.errors import InterplayError
from interplay.symbolic.planning import cross_check, fast_downward, planning_model, write_episode

pytest.importorskip("up_fast_downward", reason="needs the extra `planning`")


def test_a_soup_is_not_fetched_across_a_wall():
    """In forced coordination neither chef can do it alone, by their planner as by our search."""
    model = planning_model(interplay.make("overcooked/forced_coordination"))
    assert [fast_downward(model.task([seat]), optimal=False).solvable for seat in (0, 1)] == [False, False]
    together = fast_downward(model.task([0, 1]), optimal=False)
    assert together.solvable
    assert {call[0] for call in together.plan} >= {"put-down", "pick-up", "pot-last", "plate", "serve"}


def test_a_nurse_alone_needs_as_many_steps_as_our_certificate_says():
    game = interplay.make("rescue", house="######/#n..V#/#K.f##/######")
    alone, other, together = cross_check(game, seconds=20)
    assert alone["planner_optimal"]
    assert alone["planner_cost"] == alone["planner_played"] == alone["ours"]
    assert other["possible"] is other["planner_solvable"] is False
    assert all(row["agrees"] for row in (alone, other, together))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["overcooked/cramped_room", "rescue/rubble", "rescue/cottage"])
def test_certificates_and_planner_agree(name):
    assert all(row["agrees"] is not False for row in cross_check(interplay.make(name), seconds=30))


def test_an_episode_is_written_with_its_task(tmp_path):
    traces = interplay.play("overcooked/cramped_room", ["overcooked/greedy"] * 2, episodes=1)
    names = {path.relative_to(tmp_path).as_posix() for path in write_episode(traces[0], tmp_path)}
    assert names == {"domain.pddl", "problem.pddl", "plan.txt", "task/domain.pddl", "task/problem.pddl"}
    assert "(serve " in (tmp_path / "plan.txt").read_text()


def test_a_game_without_a_model_is_named():
    with pytest.raises(InterplayError, match="hanabi/2p has no planning model"):
        planning_model(interplay.make("hanabi/2p"))
