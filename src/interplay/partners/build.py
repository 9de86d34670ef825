"""The making of a panel, stage by stage. Killed at any moment, the same call goes on where it was.

    candidates   preferences from the game's reward space; pairs trained in one program, with snapshots
    features     what each candidate's best response does, in each seat; what the candidate does itself
    selection    the able candidates whose best responses differ most
    skills       of each selected one the snapshot whose return is nearest to half of the last
    responses    a fresh best response to each, trained in one program
    contest      the best of all responses for each partner and seat, and whether a known agent does better
    closing      responses that are trained on from known agents that do
    panel        panel.json and weights.safetensors

Runs where training runs: no package of interplay but training, games, agents and play is needed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay import __version__
from interplay.agents.api import Agent
from interplay.agents.registry import recorded_agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.partners import features as feature_files
from interplay.partners import reward_space
from interplay.partners.best_responses import Contest, Evaluation, Exceeding, agent_of, own_responses, unordered_name
from interplay.partners.config import Build
from interplay.partners.diversity import diversity
from interplay.partners.evaluate import PolicyStack, play_pairs
from interplay.partners.kdpp import rank
from interplay.partners.known import named_agents, policy_stacks, scripted_agents
from interplay.partners.panel import (
    SET_JOIN,
    Panel,
    PanelMember,
    PartnerSet,
    Response,
    ReturnEstimate,
    ordered_sets,
)
from interplay.partners.panel_file import PANEL, network_of, read_panel, rounded, write_json, write_panel
from interplay.partners.select import select
from interplay.partners.tables import behaviour_json
from interplay.table import plain
from interplay.training.algorithms.br import best_response, load_partners
from interplay.training.algorithms.hsp import BIASED, RESPONSE, pairs
from interplay.training.loader import as_json
from interplay.training.run import Trained
from interplay.training.warm_start import warm_members
from interplay.untrusted_files import read_json

STATE = "build.json"
CHECKPOINTS = 4  # of each training run
BR_FEATURES, P_FEATURES = "br_features.csv.gz", "p_features.csv.gz"
NAMES = {BIASED: "c", RESPONSE: "br.c"}
SEEDS = {
    "features": 1,
    "skills": 2,
    "responses": 3,
    "closing": 10,
    "contest": 100,
    "self_play": 300,
}  # added to the seed


def build(config: Build, out: str | Path, *, quiet: bool = False) -> Panel:
    """Make the panel that the configuration describes, in the folder `out`; it is written to `out`/panel."""
    if config.least_return is None:
        game = make(config.game.name, **config.game.options)
        config = replace(config, least_return=reward_space.least_return(game))
    work = _Work(config, Path(out), quiet)
    if (work.folder / "panel" / PANEL).exists():
        return read_panel(work.folder / "panel", work.game)
    return work.existing() if config.partners else work.generated()


@dataclass(frozen=True)
class Partners:
    """Who will be in the panel, before their best responses are known."""

    stack: PolicyStack
    members: list[PanelMember]
    responses: list[PolicyStack]  # those that were trained with candidates


class _Work:
    """One call of `build`."""

    def __init__(self, config: Build, folder: Path, quiet: bool):
        self.config, self.folder, self.quiet = config, folder, quiet
        self.least = config.least_return or 0.0
        self.game = make(config.game.name, **config.game.options)
        # A fault in the settings of any stage is told at once, before anything is written.
        for algorithm, steps in (("hsp_pairs", config.steps), ("br", config.response_steps)):
            if steps:
                config.experiment(algorithm, 1, steps, 0, {})
        if config.closing_rounds:
            config.experiment("br", 1, config.closing_steps, 0, {}, closing=True)
        if not config.partners:
            self.space = reward_space.reward_space(self.game, config.choices, config.at_most, config.features)
            self.preferences = reward_space.draw(self.game, self.space, config.candidates, config.seed)
        self.state = self._open()

    # --- what is kept between stages

    def _open(self) -> dict[str, Any]:
        game = {"id": self.game.id, "options": dict(self.game.options), "rules_version": self.game.rules_version}
        mine = json.loads(json.dumps({"config": as_json(self.config), "game": game}))
        path = self.folder / STATE
        if not path.exists():
            if self.folder.exists() and any(self.folder.iterdir()):
                raise InterplayError(f"{self.folder} holds something else; choose a new folder. Nothing was changed")
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(path, mine | {"stages": {}})
        state = read_json(path, within=self.folder)
        if not isinstance(state, dict) or not {"config", "game", "stages"} <= set(state):
            raise InterplayError(f"{path} is damaged: it lacks config, game or stages")
        for what in ("config", "game"):
            for name, value in mine[what].items():
                if state[what].get(name) != value and name != "most_envs":  # which changes no result
                    difference = f"{what}.{name} is {state[what].get(name)!r} there and {value!r} here"
                    raise InterplayError(
                        f"{self.folder} holds another panel's making: {difference}. Nothing was changed"
                    )
        return state

    def _stage(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The result of a stage: what was kept of it, or computed now and kept."""
        if name not in self.state["stages"]:
            self._tell(f"{name} ...")
            began = time.perf_counter()
            result = compute()
            self._keep(name, result | {"wall_s": round(time.perf_counter() - began, 2)})
        return self.state["stages"][name]

    def _keep(self, name: str, facts: dict[str, Any]) -> None:
        self.state["stages"][name] = plain(facts)
        write_json(self.folder / STATE, self.state)
        self._tell(f"{name}: {facts['wall_s']:.1f} s")

    def _tell(self, message: str) -> None:
        if not self.quiet:
            print(f"{self.game.id}: {message}", file=sys.stderr, flush=True)

    # --- partners

    def generated(self) -> Panel:
        """Candidates, features, selection, skills; then the panel."""
        space, preferences = self.space, self.preferences
        trained = self._timed("candidates", lambda: self._pairs(preferences))
        biased, answers = (self._side(trained, who) for who in (BIASED, RESPONSE))
        self._stage("features", lambda: self._features(space, biased, answers))
        picked = self._stage("selection", self._selection)["selected"]
        skills = self._stage("skills", lambda: self._skills(trained, picked))
        partners = self._two_skills(trained, picked, skills, preferences, answers)
        sides = (feature_files.read(self.folder / file) for file in (BR_FEATURES, P_FEATURES))
        provenance = {"choices": dict(space.choices), "at_most": space.at_most, "behaviour": behaviour_json(*sides)}
        return self._panel(partners, provenance)

    def existing(self) -> Panel:
        """Partners that exist already: human proxies, self-play agents, scripted ones, those of another panel."""
        members: list[PanelMember] = []
        responses: dict[str, Agent] = {}
        provenance: dict[str, Any] = {}
        for name in self.config.partners:
            if (Path(name) / PANEL).is_file():
                there = read_panel(name, self.game)
                members += [replace(m, responses=()) for m in there.members]
                responses |= {r.agent.name: r.agent for of in (*there.members, *there.sets) for r in of.responses}
                made_by = dict(there.provenance)
                provenance |= {k: made_by.pop(k) for k in ("choices", "at_most", "behaviour") if k in made_by}
                provenance |= {"before": made_by | {"sha256": there.file_hash}}
                continue
            for one in load_partners(name):
                own = one  # what is no network is found again by its own name
                if network_of(one.policy) is not None:
                    own = Agent(f"p{len(members):03d}", rounded(one.policy), one.config)
                notes = {"name": one.name} | {k: v for k, v in one.config.items() if k != "game"}
                members.append(PanelMember(own, self.config.kind, notes=notes))
        partners = {m.agent.name for m in members}
        others = policy_stacks(self.game, [a for name, a in responses.items() if name not in partners])
        stack = PolicyStack.of_agents(self.game, [m.agent for m in members])
        return self._panel(Partners(stack, members, others), provenance)

    def _pairs(self, preferences: list[dict[str, float]]) -> Trained:
        config = self.config
        output = {"folder": str(self.folder / "candidates"), "snapshots": config.snapshots, "checkpoints": CHECKPOINTS}
        experiment = config.experiment("hsp_pairs", config.candidates, config.steps, config.seed, output)
        return pairs(experiment, self.game, preferences, config.biased_shaping, quiet=self.quiet)

    def _timed(self, name: str, train: Callable[[], Trained]) -> Trained:
        """A training run. It resumes by itself; what is kept of it is how much was trained and how long it took."""
        began = time.perf_counter()
        trained = train()
        spent = time.perf_counter() - began
        if name not in self.state["stages"]:
            experiment = trained.experiment
            per_run = experiment.updates * experiment.envs * experiment.rollout
            returns = trained.returns()
            facts = {"runs": experiment.runs, "steps_of_each": per_run, "wall_s": round(spent, 2)}
            self._keep(
                name, facts | {"mean_return": float(np.nanmean(returns)) if np.any(returns == returns) else None}
            )
        return trained

    def _side(self, trained: Trained, learner: int) -> PolicyStack:
        """The candidates, or the responses that were trained with them."""
        cores = jax.tree.map(lambda x: x[:, learner], trained.members.policy)
        names = [f"{NAMES[learner]}{run:03d}" for run in range(trained.experiment.runs)]
        return self._stack(trained, cores, names)

    def _stack(self, trained: Trained, cores: Any, names: list[str]) -> PolicyStack:
        """Networks [player, ...] as the panel will keep them."""
        return PolicyStack.of_networks(self.game, rounded(cores), trained.experiment.network.encoding, names)

    def _features(self, space: reward_space.RewardSpace, biased: PolicyStack, answers: PolicyStack) -> dict[str, Any]:
        sound = np.flatnonzero(biased.finite() & answers.finite())
        if not len(sound):
            raise InterplayError("the weights of no candidate are numbers; lower the learning rate or the prices")
        both = np.stack([sound, sound], axis=1)
        played = play_pairs(
            self.game,
            biased,
            answers,
            both,
            episodes=self.config.feature_episodes,
            seed=self.config.seed + SEEDS["features"],
            most_envs=self.config.most_envs,
        )
        ids = [int(i) for i in sound]
        for file, of_response in ((BR_FEATURES, True), (P_FEATURES, False)):
            made = reward_space.features_of(self.game, space, played, ids, of_response=of_response)
            feature_files.write(self.folder / file, made)
        returns = played.returns
        means = returns.mean(axis=1)
        able = means > self.least
        unable = {str(i): float(mean) for i, mean, is_able in zip(ids, means, able, strict=True) if not is_able}
        if unable:
            listed = ", ".join(f"c{int(i):03d} ({mean:.3g})" for i, mean in unable.items())
            self._tell(f"left out, since with its best response it scores no more than {self.least:g}: {listed}")
        return {
            "returns": {str(i): [float(v) for v in row] for i, row in zip(ids, returns, strict=True)},
            "not_numbers": [i for i in range(self.config.candidates) if i not in ids],
            "unable": unable,
            "able": int(able.sum()),
            "able_share": float(able.sum() / self.config.candidates),
            "best": float(means.max()),
        }

    def _selection(self) -> dict[str, Any]:
        of_responses = feature_files.able(feature_files.read(self.folder / BR_FEATURES), self.least, "the candidates")
        own = feature_files.read(self.folder / P_FEATURES).of(of_responses.ids)
        # What was trained for hours is not thrown away because too few candidates turned out different.
        k = min(self.config.k, rank(of_responses.normalised()))
        if k < self.config.k:
            self._tell(f"only {k} of {len(of_responses.ids)} able candidates behave independently; all are selected")
        selection = select(of_responses, k, seed=self.config.seed)
        p_div = diversity(own, selection.selected)
        return {
            "selected": list(selection.selected),
            "wanted": self.config.k,
            "br_div": selection.log_det,
            "p_div": p_div if np.isfinite(p_div) else None,
            "rank": selection.rank,
            "from": selection.candidates,
        }

    def _skills(self, trained: Trained, picked: list[int]) -> dict[str, Any]:
        """Of each selected candidate: the snapshot whose return with the response of that time is nearest to half."""
        numbers = list(range(len(trained.snapshots)))
        players = [self._over_time(trained, picked, who) for who in (BIASED, RESPONSE)]
        many = len(numbers) * len(picked)
        played = play_pairs(
            self.game,
            players[0],
            players[1],
            np.repeat(np.arange(many), 2).reshape(-1, 2),
            episodes=self.config.feature_episodes,
            seed=self.config.seed + SEEDS["skills"],
            most_envs=self.config.most_envs,
        )
        returns = played.returns.mean(axis=1).reshape(len(numbers), len(picked))
        final = returns[-1]
        between = slice(1, max(2, len(numbers) - 1))  # neither the first nor the last
        mid = 1 + np.abs(returns[between] - final / 2).argmin(axis=0)
        updates = [trained.snapshots[n].update for n in mid]
        at_mid = [float(returns[m, i]) for i, m in enumerate(mid)]
        return {
            "snapshot": [int(m) for m in mid],
            "update": updates,
            "mid_return": at_mid,
            "final_return": [float(v) for v in final],
        }

    def _over_time(self, trained: Trained, picked: list[int], learner: int) -> PolicyStack:
        """The selected players of one side in all snapshots, snapshot after snapshot."""
        parts = [jax.tree.map(lambda x: x[picked, learner], s.policies) for s in trained.snapshots]
        names = [f"{NAMES[learner]}{c:03d}@{s.update}" for s in trained.snapshots for c in picked]
        return self._stack(trained, _joined(parts), names)

    def _two_skills(
        self,
        trained: Trained,
        picked: list[int],
        skills: dict[str, Any],
        preferences: list[dict[str, float]],
        answers: PolicyStack,
    ) -> Partners:
        """The selected candidates, each skilled and half-skilled."""
        per_update = trained.experiment.envs * trained.experiment.rollout
        networks, names, facts = [], [], []
        for place, candidate in enumerate(picked):
            for skill, number in (("final", len(trained.snapshots) - 1), ("mid", skills["snapshot"][place])):
                then = trained.snapshots[number]
                networks.append(jax.tree.map(lambda x, c=candidate: x[[c], BIASED], then.policies))
                names.append(f"{NAMES[BIASED]}{candidate:03d}.{skill}")
                notes = {
                    "preference": preferences[candidate],
                    "steps": then.update * per_update,
                    "return_with_its_response_then": skills[f"{skill}_return"][place],
                }
                facts.append((skill, candidate, notes))
        stack = self._stack(trained, _joined(networks), names)
        members = [PanelMember(stack.agent(i), self.config.kind, s, c, notes=n) for i, (s, c, n) in enumerate(facts)]
        return Partners(stack, members, [answers.take(np.flatnonzero(answers.finite()))])

    # --- best responses and the panel

    def _panel(self, partners: Partners, provenance: dict[str, Any]) -> Panel:
        config, game = self.config, self.game
        sets = ordered_sets(len(partners.members), game.num_seats) if config.mixed else []
        evaluation = Evaluation(
            game,
            partners.stack,
            config.trial_episodes,
            config.ruler_episodes,
            config.seed + SEEDS["contest"],
            config.most_envs,
            tuple(sets),
        )
        contest = Contest(evaluation, self.least)
        fresh = []
        if config.response_steps:
            populations = self._populations(partners, sets)
            trained = self._timed("responses", lambda: self._responses(populations, partners))
            names = [unordered_name(SET_JOIN.join(a.name for a in agents)) for agents in populations]
            fresh = [self._responding(trained, [f"br.{name}" for name in names])]
        began = time.perf_counter()
        others = policy_stacks(game, [a for name in config.responses_from for a in named_agents(name)])
        contest.enter([*fresh, *partners.responses, *others, partners.stack])
        known = [a for name in config.known for a in named_agents(name)]
        for one in known:
            if network_of(one.policy) is None:
                recorded_agent(one.name)  # an error, if a panel's file could not name it
        contest.challenge(policy_stacks(game, [*known, *(scripted_agents(game) if config.scripted else [])]))
        worth, above = contest.settle()
        found_open = len(above)
        for number in range(1, config.closing_rounds + 1):
            if above:
                self._close(contest, partners, above, number)
                worth, above = contest.settle()
        responses = contest.responses(worth, above)
        own = self._self_play(partners.stack)
        alone = [evaluation.beside.index((i,) * len(evaluation.beside[0])) for i in range(len(partners.members))]
        members = [
            replace(m, self_play=own[i], responses=responses[p], notes=dict(m.notes) | {"trial": _trial(m, p, contest)})
            for i, (p, m) in enumerate(zip(alone, partners.members, strict=True))
        ]
        facts = self._contested(contest, responses, found_open, above)
        self._keep("contest", facts | {"wall_s": round(time.perf_counter() - began, 2)})
        made = [PartnerSet(numbers, of) for numbers, of in zip(sets, responses, strict=False) if of]
        if not made and not any(m.responses for m in members):
            raise InterplayError(
                f"{game.id}: nobody scores more than {self.least:g} with any of the partners; train longer"
            )
        kept = members if sets else [m for m in members if m.responses]
        about = self._provenance(provenance)
        return write_panel(self.folder / "panel", config.name, game, kept, about, tuple(made))

    def _populations(self, partners: Partners, sets: list[tuple[int, ...]]) -> list[list[Agent]]:
        """The partners that each fresh best response is trained with: one alone, or all of a set, in any order."""
        agents = [m.agent for m in partners.members]
        if not sets:
            return [[a] for a in agents]
        together = sorted({tuple(sorted(set(numbers))) for numbers in sets})
        most = max(map(len, together))
        return [[agents[numbers[i % len(numbers)]] for i in range(most)] for numbers in together]

    def _contested(
        self,
        contest: Contest,
        responses: Sequence[Sequence[Response]],
        found_open: int,
        above: list[Exceeding],
    ) -> dict[str, Any]:
        """What came of the contest, for the panel's provenance; what could not be closed is said at once, too."""
        names, seats = contest.evaluation.names, range(self.game.num_seats)
        scored = {(name, r.seat) for name, of in zip(names, responses, strict=True) for r in of}
        best = np.concatenate([contest.returns, contest.known_returns], axis=1).max(axis=1, initial=-np.inf)
        without = [
            {"partner": name, "seat": s, "return": float(best[p, s])}
            for p, name in enumerate(names)
            for s in seats
            if (name, s) not in scored
        ]
        not_closed = [
            {
                "partner": names[one.cell.partner],
                "seat": one.cell.seat,
                "agent": agent_of(contest.known, one.agent).name,
                "return": one.worth.mean,
                "best_trained": float(contest.returns[one.cell.partner, :, one.cell.seat].max()),
                "p": one.p,
            }
            for one in above
        ]
        if without:
            cells = ", ".join(f"{cell['partner']} (seat {cell['seat']}: {cell['return']:.3g})" for cell in without)
            self._tell(f"left out, since nobody scores more than {self.least:g}: {cells}")
            remaining = len({name for name, _ in scored})
            self._tell(f"{remaining} of {len(names)} {'sets' if self.config.mixed else 'partners'} remain")
        for cell in not_closed:
            where = f"{cell['partner']}, seat {cell['seat']}"
            self._tell(
                f"not closed: {where}: {cell['agent']} returns {cell['return']:.1f}, and is the best response now; "
                f"the best trained one returned {cell['best_trained']:.1f}"
            )
        return {
            "known": contest.known_names,
            "open": found_open,
            "not_closed": not_closed,
            "without": without,
        }

    def _responding(self, trained: Trained, names: list[str]) -> PolicyStack:
        """The responses of a training run whose weights are numbers."""
        stack = self._stack(trained, jax.tree.map(lambda x: x[:, 0], trained.members.policy), names)
        return stack.take(np.flatnonzero(stack.finite()))

    def _responses(self, populations: list[list[Agent]], partners: Partners) -> Trained:
        output = {"folder": str(self.folder / "responses"), "checkpoints": CHECKPOINTS}
        seed = self.config.seed + SEEDS["responses"]
        experiment = self.config.experiment("br", len(populations), self.config.response_steps, seed, output)
        notes = [{"partner": SET_JOIN.join(dict.fromkeys(a.name for a in agents))} for agents in populations]
        members = None
        if self.config.warm_responses:
            known = {stack.names[i]: stack.agent(i) for stack in partners.responses for i in range(len(stack))}
            starts = [[known[n] for n in own_responses(agents[0].name) if n in known] for agents in populations]
            members = warm_members(experiment, self.game, starts)
        return best_response(experiment, populations, members=members, notes=notes, quiet=self.quiet)

    def _close(self, contest: Contest, partners: Partners, above: list[Exceeding], number: int) -> None:
        """Train responses on from the agents that exceed them, and let them compete."""
        better: dict[int, Exceeding] = {}  # of each partner with an open cell, in the cell where it exceeds most
        for one in sorted(above, key=lambda one: one.worth.mean):
            better[one.cell.partner] = one
        beside = [contest.evaluation.beside[p] for p in better]
        names = [contest.evaluation.names[p] for p in better]
        populations = [[partners.members[i].agent for i in numbers] for numbers in beside]
        stage, seed = f"closing{number}", self.config.seed + SEEDS["closing"] + number
        experiment = self.config.experiment(
            "br",
            len(populations),
            self.config.closing_steps,
            seed,
            {"folder": str(self.folder / stage), "checkpoints": CHECKPOINTS},
            closing=True,
        )
        best = contest.best()
        starts = [
            (agent_of(contest.known, one.agent), agent_of(contest.stacks, best[one.cell])) for one in better.values()
        ]
        members = warm_members(experiment, self.game, starts)
        notes = [{"partner": name, "from": start[0].name} for name, start in zip(names, starts, strict=True)]
        trained = self._timed(
            stage,
            lambda: best_response(experiment, populations, members=members, notes=notes, quiet=self.quiet),
        )
        contest.enter([self._responding(trained, [f"br+{number}.{name}" for name in names])])

    def _self_play(self, stack: PolicyStack) -> list[ReturnEstimate]:
        alone = np.repeat(np.arange(len(stack)), 2).reshape(-1, 2)
        seed = self.config.seed + SEEDS["self_play"]
        episodes, most = self.config.ruler_episodes, self.config.most_envs
        played = play_pairs(self.game, stack, stack, alone, episodes=episodes, seed=seed, most_envs=most)
        return [ReturnEstimate.of(scores.reshape(-1)) for scores in played.scores]

    def _provenance(self, more: dict[str, Any]) -> dict[str, Any]:
        device = jax.devices()[0]
        made_with = {"interplay": __version__, "jax": jax.__version__, "device": device.device_kind}
        config = as_json(self.config)
        config |= {
            name: [_portable(source) for source in config[name]] for name in ("known", "responses_from", "partners")
        }
        return {"config": config, "stages": self.state["stages"], "made_with": made_with, **more}


def _portable(source: str) -> str:
    """An agent's or panel's source without folders of this machine: `sp=/home/me/runs/sp` becomes `sp=runs/sp`."""
    name, equals, place = source.rpartition("=")
    path = Path(place)
    if not path.is_absolute():
        return source
    below = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else Path(*path.parts[-2:])
    return f"{name}{equals}{below.as_posix()}"


def _trial(member: PanelMember, place: int, contest: Contest) -> dict[str, list[float]]:
    """How each of the obvious responses did in the trial, by seat, and the best of all that are trained and known."""
    names = {"fresh": f"br.{member.agent.name}"}
    if isinstance(member.candidate, int):
        names["together"] = f"br.c{member.candidate:03d}"
    rows = {k: contest.returns[place, contest.names.index(n)] for k, n in names.items() if n in contest.names}
    rows["best"] = contest.returns[place].max(axis=0)
    if contest.known_names:
        rows["best_known"] = contest.known_returns[place].max(axis=0)
    return {k: [float(v) for v in row] for k, row in rows.items()}


def _joined(parts: list[Any]) -> Any:
    """Networks [player, ...] of several sources, one after the other."""
    return jax.tree.map(lambda *x: jnp.concatenate([jnp.asarray(v) for v in x]), *parts)
