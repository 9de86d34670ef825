"""Methods that make partners different: conventions of a game in which two are as good as each other."""

import dataclasses
import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.api import Info, Policy
from interplay.agents.basic import masked
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training import run
from interplay.training.algorithms import comedi, train
from interplay.training.algorithms.brdiv import BRDiv, BRDivOptions, LagrangeOptions, LBRDiv
from interplay.training.algorithms.rotate import iterate
from interplay.training.collect import collect
from interplay.training.compiled_stage import Program
from interplay.training.config import Algorithm, Experiment
from interplay.training.evaluation_pairs import play_pair
from interplay.training.frozen_partners import PartnerStats
from interplay.training.loader import build
from interplay.training.method import Method, TableScores
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import TeamPlan
from tests.training.test_methods import Traced, traced

UPDATE = 16 * 8
RUNS = 4


def conventions(trained, learners):
    """[run, learner] how likely each is to choose left, on the mean of seats."""
    game = make("tests.training.toys:Blind", horizon=4)
    seen = game.observe(game.init(jax.random.key(0)), "vector")
    legal = jnp.array([True, True, False])

    def left(core):
        logits = jax.vmap(lambda x: core.step(core.start(), x)[1])(seen)
        return jnp.mean(jax.nn.softmax(masked(logits, legal))[:, 0])

    found = jax.jit(jax.vmap(jax.vmap(left)))(jax.tree_util.tree_map(jnp.asarray, trained.members.policy))
    assert found.shape[1] == learners
    return np.asarray(found)


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.slow) for name in ("brdiv", "lbrdiv")])
def pairs(request):
    from tests.training.conftest import small

    options = {"population": 2, "population_steps": UPDATE * 90}
    options |= {"alpha": 0.25} if request.param == "brdiv" else {"tolerance": 2.0, "multiplier_rate": 0.05}
    return train(small("Blind", algorithm=Algorithm(f"{request.param}_population", options), runs=RUNS), quiet=True)


def test_pairs_find_both_conventions(pairs):
    """Each pair meets and no crossed pair does, in every run; left to chance, that would be so in half of them."""
    found = conventions(pairs, 4) > 0.5
    partners, responses = found[:, :2], found[:, 2:]
    assert (partners == responses).all()
    assert (partners[:, 0] != partners[:, 1]).all()
    assert (pairs.returns(2) > 3.5).all()  # of 4 that a true pair can have: crossed pairs are not counted


def test_weights_are_those_of_the_objective(experiment):
    """Of Σ R_ii + α Σ [(R_ii - R_ij) + (R_ii - R_ji)], by finite differences."""
    number, alpha = 3, 0.3

    def objective(r):
        crossed = sum(2 * r[i, i] - r[i, j] - r[j, i] for i in range(number) for j in range(number) if i != j)
        return np.trace(r) + alpha * crossed

    base = np.random.default_rng(0).normal(size=(number, number))
    slopes = [objective(base + step) - objective(base) for step in np.eye(number**2).reshape(-1, number, number)]
    method = BRDiv.create(experiment(), BRDivOptions(population=number, alpha=alpha))
    weights = method.plan.weight_table
    np.testing.assert_allclose(weights, np.stack([slopes, slopes], axis=1), atol=1e-6)


def test_multipliers_follow_the_slack_of_their_constraints(experiment):
    """By the definition: a constraint that fails by 3 points raises its multiplier by 3 rates; one that holds, lowers
    it, to 0 at the least. Weights are the slopes of the Lagrangian."""
    options = LagrangeOptions(population=2, tolerance=10.0, multiplier_rate=0.1, decay=0.0, multipliers=0.0)
    method = LBRDiv.create(experiment(), options)
    returns = jnp.array([[20.0, 13.0], [5.0, 30.0]])  # R_00 is 7 above R_01 and 15 above R_10; R_11 far above both
    stats = PartnerStats(returns=jnp.zeros((0, 2)), episodes=jnp.zeros((0, 2)))
    seen = TableScores(
        score=returns.reshape(-1) * 2, episodes=jnp.full(4, 2.0), partners=jnp.zeros(0, int), stats=stats
    )
    start = method.init_state(None, None)
    kept, weights, told = method.table_weights(start, seen)
    np.testing.assert_allclose(kept.partner, [[0, 0.3], [0, 0]], atol=1e-6)
    np.testing.assert_allclose(kept.response, 0, atol=1e-6)
    np.testing.assert_allclose(weights[:, 0], [1.3, -0.3, 0.0, 1.0], atol=1e-6)
    steep = dataclasses.replace(kept, partner=kept.partner * 1000)
    assert float(jnp.max(jnp.abs(method.table_weights(steep, seen)[1]))) == pytest.approx(10.0)  # and no more
    assert float(told["crossed_return"]) == 9.0
    nobody = TableScores(score=jnp.zeros(4), episodes=jnp.array([1.0, 0, 1, 1]), partners=seen.partners, stats=stats)
    assert float(jnp.sum(method.table_weights(start, nobody)[0].partner)) == 0  # not before all met


@pytest.mark.slow
def test_members_avoid_the_conventions_before_them(experiment, tmp_path):
    options = {"population": 2, "population_steps": UPDATE * 60, "alpha": 0.5, "groups": 1}
    algorithm = Algorithm("comedi_population", options)
    given = experiment("Blind", algorithm=algorithm, runs=RUNS, output={"folder": str(tmp_path)})
    trained = train(given, quiet=True)
    found = conventions(trained, 2) > 0.5
    assert (found[:, 0] != found[:, 1]).all()
    assert (trained.returns(2) > 3.5).all()  # each does well with itself
    listed = json.loads((tmp_path / "manifest.json").read_text())["policies"]
    assert [one["learner"] for one in listed] == ["member0"] * RUNS + ["member1"] * RUNS
    assert all((tmp_path / one["file"]).is_file() for one in listed)


@pytest.mark.slow
def test_an_ego_learns_what_its_teammates_show(experiment):
    """With teammates of both conventions an ego comes to follow the other's last choice. After the first of them alone
    it has one convention, and scores little with a stubborn partner of the other."""
    options = {"iterations": 3, "teammate_steps": UPDATE * 30, "places": 6}
    given = experiment("Meeting", algorithm=Algorithm("rotate", options), runs=RUNS, steps=UPDATE * 30 * 3)
    egos, teammates = iterate(given, quiet=True)
    assert (len(egos), len(teammates)) == (3, 3)
    assert egos[1].program.chunk is egos[0].program.chunk  # compiled once
    worst = [worst_case(ego) for ego in egos]
    assert np.median(worst[0]) < 1.0
    assert np.median(worst[2]) > 2.5  # of 4: the first choice is a guess


def worst_case(trained):
    """[run] the lower of an ego's mean scores with a partner who always chooses left, and one who chooses right."""
    game = make("tests.training.toys:Meeting", horizon=4)

    def score(core, action):
        return play_pair(game, NeuralPolicy(core, "vector"), Always(action), jax.random.key(0), 16).score

    cores = jax.tree_util.tree_map(lambda x: jnp.asarray(x)[:, 0], trained.members.policy)
    return np.asarray(jnp.min(jax.jit(jax.vmap(jax.vmap(score, (None, 0)), (0, None)))(cores, jnp.arange(2)), axis=1))


class Always(Policy):
    action: jax.Array

    @property
    def encoding(self):
        return "vector"

    def act(self, memory, obs, legal, key):
        return memory, self.action, Info(jnp.zeros(3))


@pytest.mark.parametrize("name", ["brdiv", "lbrdiv", "comedi", "rotate"])
def test_values_need_a_network_of_their_own(experiment, name):
    given = experiment("Blind", algorithm=Algorithm(name, {}), network={"shared_trunk": True})
    with pytest.raises(InterplayError, match="values have to know the table"):
        train(given, quiet=True)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("brdiv", {"population": 1}, "population: 1; two pairs at least"),
        ("comedi", {"population": 1}, "a population of two at least"),
        ("rotate", {"iterations": 4, "places": 3}, "places: 3, for 4 teammates"),
    ],
)
def test_populations_that_cannot_be(experiment, name, options, message):
    with pytest.raises(InterplayError, match=message):
        train(experiment("Blind", algorithm=Algorithm(name, options)), quiet=True)


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("brdiv", {"population": 2}, "reward"),
        pytest.param("lbrdiv", {"population": 2}, "multipliers", marks=pytest.mark.slow),
        pytest.param("comedi", {"population": 3, "groups": 1}, "crossed_return", marks=pytest.mark.slow),
        pytest.param("rotate", {"iterations": 2}, "reward", marks=pytest.mark.slow),
    ],
)
def test_a_method_fits_overcooked_with_teaming(monkeypatch, name, options, told):
    """Every stage after a first one of plain self-play, as the program that all like it share."""
    steps = {"population_steps": 3200} if name != "rotate" else {"teammate_steps": 3200}
    given = {
        "game": {"name": "overcooked/coordination_ring", "options": {"horizon": 40}},
        "algorithm": {"name": name, "options": options | steps},
        "runs": 2,
        "envs": 8,
        "rollout": 20,
        "steps": 3200,
        "network": {"widths": [16], "recurrent": 8, "critic": "central"},
        "rewards": {"teaming": 0.3, "shaping": 1.0},
        "ppo": {"minibatches": 2, "normalise_values": True},
    }
    monkeypatch.setattr(run._Stage, "train", traced)
    monkeypatch.setattr(comedi.sp, "train", untrained)
    with pytest.raises(Traced, match=told):
        train(build(Experiment, given), quiet=True)


def untrained(given, **_):
    """The first member, as it would be without training."""
    members = comedi.fresh_members(given, make(given.game.name, **given.game.options), 0, 0)
    return SimpleNamespace(members=members)


@pytest.mark.slow
def test_episodes_begin_where_others_have_come_to(experiment):
    """Table 2 resumes what table 0 has met: at any time of an episode, with the seats as they were."""
    given = experiment("Meeting", horizon=6, rollout=6, envs=32, runs=1)
    method = Method(TeamPlan(((0, 0),) * 4, rotate=True, start_from=(-1, -1, 0, -1)))
    setup = TrainingSetup.create(given, make(given.game.name, **given.game.options), method)
    traits = equal_reward_weights(setup.game, given.rewards, 1, 1)
    traits, start = jax.tree_util.tree_map(lambda x: x[0], (traits, Program(setup).start(None, ())))

    @jax.jit
    def play(world, key):
        return collect(setup, start.members, traits, (), world, jnp.float32(0), key)[0]

    world, began = start.world, []
    for number in range(4):
        world = play(world, jax.random.key(number))
        began.append(np.asarray(world.state.time).reshape(4, 8))
        if number == 0:  # all episodes were whole, so the next ones begin together
            pool = jax.tree_util.tree_map(lambda x: np.asarray(x).reshape(4, 8, *x.shape[1:]), world.kept_states)
            kept = {(int(t), tuple(c), int(r)) for t, c, r in zip(pool[0].time[0], pool[0].cue[0], pool[1][0])}
            cues, turned = (np.asarray(x).reshape(4, 8, *x.shape[1:]) for x in (world.state.cue, world.rotation))
            found = {(int(t), tuple(c), int(r)) for t, c, r in zip(began[0][2], cues[2], turned[2])}
            assert found <= kept
    assert (began[0][[0, 1, 3]] == 0).all()
    assert (began[0][2] > 0).any()
    assert (np.stack(began)[:, [0, 1, 3]] == 0).all()  # nobody else is disturbed
