"""Learned baselines of Hanabi on a tiny deck: what each changes in the one PPO, and that each trains and ships."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.engine import run as play
from interplay.rollout.teams import Team
from interplay.training.actor_critic import new_member
from interplay.training.algorithms import ALGORITHMS, anyplay, train
from interplay.training.algorithms.br import EpisodeBestResponse
from interplay.training.algorithms.br_bc import BestResponseToClones
from interplay.training.algorithms.coplay import policies_at
from interplay.training.config import Experiment
from interplay.training.frozen_partners import FrozenPartners
from interplay.training.loader import build
from interplay.training.loader import load as load_config
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import PARTNER, TeamPlan
from tests.training.tiny_hanabi import TINY, FirstLegal, experiment, rollouts

# --- best response to clones


@dataclass
class RolloutStub:
    seen: Any
    start: Any
    done: Any
    reward: Any


@pytest.fixture(scope="module")
def with_clones():
    spec = experiment(players=3, rollout=24, steps=8 * 24)
    game = make(spec.game.name, **spec.game.options)
    partners = FrozenPartners.from_agents(game, [Agent(f"first{i}", FirstLegal(jnp.float32(i))) for i in range(2)])
    method = BestResponseToClones(TeamPlan(((0, 0, 0),), rotate=True), odds=((0.0, 0.5),))
    setup = TrainingSetup.create(spec, game, method, partners)
    return setup, rollouts(setup)(0)


def test_clones_take_no_two_or_one_place_for_whole_games(with_clones):
    _, (_, (after, rollout, _, _), _) = with_clones
    away = np.asarray(rollout.extra).reshape(24, 8, 3)  # [step, env, role]
    assert not away[..., 0].any()
    assert set(away.sum(axis=-1).ravel()) == {0, 1, 2}
    changed = (away[1:] != away[:-1]).any(axis=-1)
    assert not (changed & ~np.asarray(rollout.done)[:-1]).any()
    assert changed.any()  # drawn anew with a new game
    assert (np.asarray(after.episode_state)[:, 0] == 0).all()


def test_nothing_is_learnt_where_a_clone_sits(with_clones):
    _, (_, (_, rollout, _, _), batch) = with_clones
    away = np.asarray(rollout.extra)
    turn = np.asarray(rollout.turn)
    assert (away & turn).any()
    assert float(batch.counted.sum()) == (~away).sum()
    assert float(batch.acted.sum()) == (~away & turn).sum()
    acted, advantage = np.asarray(batch.acted).ravel(), np.asarray(batch.advantage).ravel()
    mine = advantage[acted > 0]
    assert mine.mean() == pytest.approx(0, abs=1e-5)
    assert mine.std() == pytest.approx(1, abs=1e-3)


@pytest.mark.slow
def test_clones_really_act():
    """Where all other seats are clones of one kind, the state after their moves shows what they do."""
    spec = experiment(rollout=1, steps=8)
    game = make(spec.game.name, **spec.game.options)
    partners = FrozenPartners.from_agents(game, [Agent("first", FirstLegal(jnp.float32(0)))])
    setup = TrainingSetup.create(
        spec, game, BestResponseToClones(TeamPlan(((0, 0),), rotate=True), odds=((0.0, 1.0),)), partners
    )
    seen, go = [], rollouts(setup)
    for seed in range(4):
        before, (after, rollout, _, _), _ = go(seed)
        theirs = np.asarray(before.rotation) == 1  # role 1 sits in seat 0, which moves first
        first = np.argmax(np.asarray(jax.vmap(game.legal)(before.state))[:, 0], axis=1)
        done = np.asarray(after.state.last.action)
        assert (done[theirs] == first[theirs]).all()
        mine = np.asarray(rollout.action)[0, 0].reshape(8, 2)[:, 0]
        assert (done[~theirs] == mine[~theirs]).all()
        seen += theirs.tolist()
    assert 0 < sum(seen) < len(seen)


def test_clones_that_do_not_fit_are_refused():
    spec = experiment()
    game = make(spec.game.name, **spec.game.options)
    with pytest.raises(InterplayError, match="single table"):
        TrainingSetup.create(spec, game, BestResponseToClones(TeamPlan(((0, 0),)), odds=((0.0, 1.0),)))
    with pytest.raises(InterplayError, match="no frozen partners"):
        TrainingSetup.create(spec, game, BestResponseToClones(TeamPlan(((0, 0),), rotate=True), odds=((0.0, 1.0),)))
    with pytest.raises(InterplayError, match="odds are from 0 to 1"):
        train(experiment("br_bc", {"partners": ["random"], "odds": 1.5}), quiet=True)


# --- partners that change with the episode


@pytest.mark.slow
def test_partners_are_drawn_for_every_seat_and_episode():
    spec = experiment(players=3, rollout=16, steps=8 * 16)
    game = make(spec.game.name, **spec.game.options)
    partners = FrozenPartners.from_agents(game, [Agent(f"first{i}", FirstLegal(jnp.float32(i))) for i in range(50)])
    setup = TrainingSetup.create(
        spec, game, EpisodeBestResponse(TeamPlan(((0, PARTNER, PARTNER),) * 8, rotate=True)), partners
    )
    before, (after, rollout, _, _), _ = rollouts(setup)(0)
    ended = np.asarray(rollout.done).any(axis=0)  # [env]
    old, new = (np.asarray(w.partners).reshape(8, 2) for w in (before, after))
    assert ended.any()
    assert (new[~ended] == old[~ended]).all()
    assert (new[ended] != old[ended]).mean() > 0.8
    assert len(np.unique(new)) > 8  # each place by a key of its own
    assert (new[:, 0] != new[:, 1]).mean() > 0.8
    with pytest.raises(InterplayError, match="tables of one environment"):
        TrainingSetup.create(spec, game, EpisodeBestResponse(TeamPlan(((0, PARTNER, PARTNER),), rotate=True)), partners)


# --- any-play


def test_a_policy_without_its_style_is_the_policy_told_none():
    spec = experiment()
    game = make(spec.game.name, **spec.game.options)
    styled = anyplay.StyledGame(game, "belief", 4)
    core = new_member(styled, spec.network, 0, jax.random.key(2)).policy
    cut = anyplay.without_style(core, game.encodings["belief"].shape[0])
    state = styled.init(jax.random.key(5))
    seen = styled.observe(state, "belief")
    quiet = 1 - int(state.holder)
    assert float(seen[quiet, -4:].sum()) == 0
    assert int(jnp.argmax(seen[int(state.holder), -4:])) == int(state.style)
    plain = game.observe(state.plain, "belief")[quiet]
    np.testing.assert_allclose(core.step(core.start(), seen[quiet])[1], cut.step(cut.start(), plain)[1], atol=1e-6)


def test_the_judge_learns_to_tell_styles_and_pays_gains():
    options = anyplay.AnyPlayOptions(styles=2, units=16, rate=3e-3, parts=2, weight=1.0)
    method = anyplay.AnyPlay(TeamPlan(((0, 0),)), options=options, encoding="belief", view_size=3, seats=2, envs=8)
    steps, rng = 10, np.random.default_rng(0)
    style = rng.integers(0, 2, 8)
    seen = np.zeros((steps, 8, 2, 5), np.float32)
    seen[:, np.arange(8), 0, 3 + style] = 1  # seat 0 is told
    seen[4:, :, 1, 0] = style[None] * 2 - 1  # from step 4 on, seat 1 can see which
    start = np.zeros((steps, 8), bool)
    start[0] = True

    @jax.jit
    def process(state):
        rollout = RolloutStub(
            reward=jnp.zeros((steps, 1, 16)),
            seen=jnp.asarray(seen.reshape(steps, 1, 16, 5)),
            start=jnp.asarray(start),
            done=jnp.zeros((steps, 8), bool),
        )
        state, rollout, logs = method.process_rollout(None, state, None, rollout)
        return state, rollout.reward, logs

    state = method.init_state(None, jnp.ones(3))
    losses = []
    for _ in range(150):
        state, paid, told = process(state)
        losses.append(float(told["judge_loss"]))
    assert losses[-1] < 0.5 * losses[0]
    paid = np.asarray(paid)[:, 0].reshape(steps, 8, 2).mean(axis=(1, 2))
    assert np.argmax(paid) == 3  # the step that showed it
    assert paid[3] > 0.3
    assert abs(paid[0]) < 0.1


# --- all of them train, ship and play


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "changes"),
    [
        (
            "op",
            {"by_turns": True},
            {"rewards": {"conduct": {"g1": -0.1}, "entropies": {"ad_entropy": 0.01, "ic": 0.01}}},
        ),
        ("br_bc", {"partners": ["random"], "odds": [[0, 0], [1, 1]]}, {}),
        ("anyplay", {"styles": 3, "units": 8, "parts": 2}, {}),
        ("obl", {"candidates": 4, "hands": 2}, {}),
        ("metric_rewards", {"variants": {"none": {}, "g3": {"g3": 0.1, "ic": 0.01}}, "by_turns": True}, {"runs": 2}),
        (
            "fcp",
            {"population": 2, "population_steps": 192, "snapshots": 1, "checkpoints": [0, 1], "redraw": "episode"},
            {},
        ),
    ],
)
def test_it_trains_and_its_file_plays(tmp_path, name, options, changes):
    trained = train(experiment(name, options, folder=tmp_path, **changes), quiet=True)
    assert len(trained.curve) == 2
    assert all(np.isfinite(line["value_loss"]) for line in trained.curve)
    files = [p["file"] for p in trained.policies]
    game = make("hanabi/2p", **TINY)
    mine = agent(str(tmp_path / files[0]))
    found = play(game, [Team.of(game, [mine, mine])], episodes=2, seed=0)
    assert all(0 <= one.score <= 6 for one in found)
    np.testing.assert_equal(game.encodings["belief"].shape, trained.agent(0).policy.core.shape.input)  # type: ignore[union-attr]
    if name == "op":
        assert {"g1", "ad_entropy", "ic"} <= set(json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1]))
    if name == "obl":
        assert trained.policies[0]["method"] == "OBL-1, analytic belief"
    if name == "fcp":
        from interplay.training.saved_stages import load_stage

        assert len(policies_at(load_stage(tmp_path), (0.0, 1.0))) == 4
    if name == "metric_rewards":
        last = trained.curve[-1]
        assert len(last["g1s"]) == len(last["ics"]) == 2
        assert [p["variant"] for p in trained.policies] == ["none", "g3"]


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("br_bc", {"partners": ["random"], "odds": [[0, 0], [1, 2]]}, "odds are from 0 to 1"),
        ("anyplay", {"styles": 1}, "at least 2"),
        ("anyplay", {"pay": "often"}, "gain or step"),
        ("obl", {"hands": 0}, "at least 1"),
        ("metric_rewards", {"variants": {"a": {}, "b": {}}}, "2 variants x 1 seeds"),
        ("metric_rewards", {"variants": {"a": {"g9": 1}}}, "g9"),
        ("fcp", {"checkpoints": [2.0]}, "shares are from 0 to 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(name, options, told):
    with pytest.raises(InterplayError, match=told):
        train(experiment(name, options), quiet=True)


@pytest.mark.parametrize(("encoding", "told"), [("none", "has no 'none'"), ("seen", "a network cannot read 'seen'")])
def test_views_that_styles_cannot_be_added_to(encoding, told):
    with pytest.raises(InterplayError, match=told):
        train(experiment("anyplay", {"styles": 2}, network={"encoding": encoding}), quiet=True)


def test_every_stage_of_the_benchmark_is_a_configuration(tmp_path, monkeypatch):
    """As the driver fills it in, with other stages' folders in place of their names."""
    folder = Path(__file__).parents[2] / "benchmarks" / "hanabi_learning"
    monkeypatch.syspath_prepend(str(folder))
    found = importlib.util.spec_from_file_location("hanabi_learning_run", folder / "run.py")
    driver = importlib.util.module_from_spec(found)  # type: ignore[arg-type]
    found.loader.exec_module(driver)  # type: ignore[union-attr]
    plan = driver.merged([json.loads((folder / f"{name}.json").read_text()) for name in ("stages", "baselines")])
    asked = {"out": tmp_path, "work": str(tmp_path), "rates": None, "minutes": 60, "share": 1.0, "scale": 1.0}
    session = driver.Session(SimpleNamespace(**asked, games=None, resume=False), plan)
    mine = json.loads((folder / "baselines.json").read_text())["stages"]
    for name in mine:
        spec = build(Experiment, session.config(name), name)
        module = sys.modules[ALGORITHMS.load(spec.algorithm.name).__module__]
        options = next(v for k, v in vars(module).items() if k.endswith("Options") and v.__module__ == module.__name__)
        build(options, spec.algorithm.options, name)
        for place in ("population_from", "belief", "begin", "policy"):
            assert str(spec.algorithm.options.get(place, tmp_path)).startswith(str(tmp_path))
    small = load_config(folder / "metric_rewards_small.json", Experiment)
    assert small.runs == 2 * len(small.algorithm.options["variants"])
