"""The making of a panel, stage by stage. Killed at any moment, the same call goes on where it was.

    candidates   preferences from the game's reward space; pairs trained in one program, with snapshots
    features     what each candidate's best response does, in each seat; what the candidate does itself
    selection    the able candidates whose best responses differ most
    skills       of each selected one the snapshot whose return is nearest to half of the last
    responses    a fresh best response to each, trained in one program
    rulers       the best of all responses for each partner and seat, and its worth with an interval
    panel        panel.json and weights.safetensors

Runs where training runs: no room but training, games, agents and play, and no package beyond theirs, is needed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay import __version__
from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.partners import candidates as candidate_rules
from interplay.partners import features as feature_files
from interplay.partners.config import Build
from interplay.partners.diversity import diversity
from interplay.partners.evaluate import Cast, play_pairs
from interplay.partners.kdpp import rank
from interplay.partners.panel import Estimate, Member, Panel
from interplay.partners.panel_file import PANEL, read_panel, rounded, write_json, write_panel
from interplay.partners.rulers import rulers, trial
from interplay.partners.select import select
from interplay.partners.tables import behaviour_json
from interplay.safe_files import read_json
from interplay.table import plain
from interplay.training.algorithms.br import best_response, partners_of
from interplay.training.algorithms.hsp import BIASED, RESPONSE, pairs
from interplay.training.loader import as_json
from interplay.training.run import Trained

STATE = "build.json"
BR_FEATURES, P_FEATURES = "br_features.csv.gz", "p_features.csv.gz"
NAMES = {BIASED: "c", RESPONSE: "br.c"}
SEEDS = {"features": 1, "skills": 2, "responses": 3, "trial": 100, "rulers": 200, "self_play": 300}  # added to the seed


def build(config: Build, out: str | Path, *, quiet: bool = False) -> Panel:
    """Make the panel that the configuration describes, in the folder `out`; it is written to `out`/panel."""
    work = _Work(config, Path(out), quiet)
    if (work.folder / "panel" / PANEL).exists():
        return read_panel(work.folder / "panel", work.game)
    return work.given() if config.partners else work.generated()


@dataclass(frozen=True)
class Partners:
    """Who will be in the panel, before their best responses are known."""

    cast: Cast
    members: list[Member]
    responses: list[Cast]  # those that were trained with candidates


class _Work:
    """One call of `build`."""

    def __init__(self, config: Build, folder: Path, quiet: bool):
        self.config, self.folder, self.quiet = config, folder, quiet
        self.game = make(config.game.name, **config.game.options)
        # A fault in the settings of any stage is told at once, before anything is written.
        for algorithm, steps in (("hsp_pairs", config.steps), ("br", config.response_steps)):
            config.experiment(algorithm, 1, steps, 0, {})
        if not config.partners:
            self.space = candidate_rules.reward_space(self.game, config.choices, config.at_most, config.features)
            self.preferences = candidate_rules.draw(self.game, self.space, config.candidates, config.seed)
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
                    told = f"{what}.{name} is {state[what].get(name)!r} there and {value!r} here"
                    raise InterplayError(f"{self.folder} holds another panel's making: {told}. Nothing was changed")
        return state

    def _stage(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The result of a stage: what was kept of it, or computed now and kept."""
        if name not in self.state["stages"]:
            self._tell(f"{name} ...")
            began = time.perf_counter()
            found = compute()
            self._keep(name, found | {"wall_s": round(time.perf_counter() - began, 2)})
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

    def given(self) -> Panel:
        """Partners that exist already: human proxies, self-play agents."""
        agents = [a for name in self.config.partners for a in partners_of(name)]
        named = [Agent(f"p{i:03d}", rounded(a.policy), a.config) for i, a in enumerate(agents)]
        notes = [{"name": a.name} | {k: v for k, v in a.config.items() if k != "game"} for a in agents]
        members = [Member(a, self.config.kind, notes=n) for a, n in zip(named, notes, strict=True)]
        return self._panel(Partners(Cast.of_agents(self.game, named), members, []), {})

    def _pairs(self, preferences: list[dict[str, float]]) -> Trained:
        config = self.config
        output = {"folder": str(self.folder / "candidates"), "snapshots": config.snapshots}
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

    def _side(self, trained: Trained, learner: int) -> Cast:
        """The candidates, or the responses that were trained with them."""
        cores = jax.tree_util.tree_map(lambda x: x[:, learner], trained.members.policy)
        names = [f"{NAMES[learner]}{run:03d}" for run in range(trained.experiment.runs)]
        return self._cast(trained, cores, names)

    def _cast(self, trained: Trained, cores: Any, names: list[str]) -> Cast:
        """Networks [player, ...] as the panel will keep them."""
        return Cast.of_networks(self.game, rounded(cores), trained.experiment.network.encoding, names)

    def _features(self, space: candidate_rules.RewardSpace, biased: Cast, answers: Cast) -> dict[str, Any]:
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
            made = candidate_rules.features_of(self.game, space, played, ids, of_response=of_response)
            feature_files.write(self.folder / file, made)
        returns = played.returns
        able = returns.mean(axis=1) > self.config.least_return
        return {
            "returns": {str(i): [float(v) for v in row] for i, row in zip(ids, returns, strict=True)},
            "not_numbers": [i for i in range(self.config.candidates) if i not in ids],
            "able": int(able.sum()),
            "able_share": float(able.sum() / self.config.candidates),
            "best": float(returns.mean(axis=1).max()),
        }

    def _selection(self) -> dict[str, Any]:
        of_responses = feature_files.able(
            feature_files.read(self.folder / BR_FEATURES), self.config.least_return, "the candidates"
        )
        own = feature_files.read(self.folder / P_FEATURES).of(of_responses.ids)
        # What was trained for hours is not thrown away because too few candidates turned out different.
        k = min(self.config.k, rank(of_responses.normalised()))
        if k < self.config.k:
            self._tell(f"only {k} of {len(of_responses.ids)} able candidates behave independently; all are selected")
        found = select(of_responses, k, seed=self.config.seed)
        p_div = diversity(own, found.selected)
        return {
            "selected": list(found.selected),
            "wanted": self.config.k,
            "br_div": found.log_det,
            "p_div": p_div if np.isfinite(p_div) else None,
            "rank": found.rank,
            "from": found.candidates,
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

    def _over_time(self, trained: Trained, picked: list[int], learner: int) -> Cast:
        """The selected players of one side in all snapshots, snapshot after snapshot."""
        parts = [jax.tree_util.tree_map(lambda x: x[picked, learner], s.policies) for s in trained.snapshots]
        names = [f"{NAMES[learner]}{c:03d}@{s.update}" for s in trained.snapshots for c in picked]
        return self._cast(trained, _joined(parts), names)

    def _two_skills(
        self,
        trained: Trained,
        picked: list[int],
        skills: dict[str, Any],
        preferences: list[dict[str, float]],
        answers: Cast,
    ) -> Partners:
        """The selected candidates, each skilled and half-skilled."""
        per_update = trained.experiment.envs * trained.experiment.rollout
        networks, names, facts = [], [], []
        for place, candidate in enumerate(picked):
            for skill, number in (("final", len(trained.snapshots) - 1), ("mid", skills["snapshot"][place])):
                then = trained.snapshots[number]
                networks.append(jax.tree_util.tree_map(lambda x, c=candidate: x[[c], BIASED], then.policies))
                names.append(f"{NAMES[BIASED]}{candidate:03d}.{skill}")
                notes = {
                    "preference": preferences[candidate],
                    "steps": then.update * per_update,
                    "return_with_its_response_then": skills[f"{skill}_return"][place],
                }
                facts.append((skill, candidate, notes))
        cast = self._cast(trained, _joined(networks), names)
        members = [Member(cast.agent(i), self.config.kind, s, c, notes=n) for i, (s, c, n) in enumerate(facts)]
        return Partners(cast, members, [answers.take(np.flatnonzero(answers.finite()))])

    # --- best responses and the panel

    def _panel(self, partners: Partners, provenance: dict[str, Any]) -> Panel:
        config, game = self.config, self.game
        trained = self._timed("responses", lambda: self._responses(partners))
        cores = jax.tree_util.tree_map(lambda x: x[:, 0], trained.members.policy)
        fresh = self._cast(trained, cores, [f"br.{name}" for name in partners.cast.names])
        challengers = [fresh.take(np.flatnonzero(fresh.finite())), *partners.responses, partners.cast]
        began = time.perf_counter()
        found = trial(game, config, partners.cast, challengers, config.seed + SEEDS["trial"])
        responses = rulers(game, config, partners.cast, challengers, found, config.seed + SEEDS["rulers"])
        own = self._self_play(partners.cast)
        members = [
            Member(m.agent, m.kind, m.skill, m.candidate, own[i], responses[i], self._notes(m, i, found))
            for i, m in enumerate(partners.members)
        ]
        left = [m.agent.name for m in members if not m.responses]
        self._keep("rulers", {"without": left, "wall_s": round(time.perf_counter() - began, 2)})
        if left:
            self._tell(f"left out, since nobody scores with them: {', '.join(left)}")
        kept = [m for m in members if m.responses]
        if not kept:
            raise InterplayError(
                f"{game.id}: nobody scores with any of the partners, so there is no ruler; train longer"
            )
        return write_panel(self.folder / "panel", config.name, game, kept, self._provenance(provenance))

    def _responses(self, partners: Partners) -> Trained:
        agents = [m.agent for m in partners.members]
        output = {"folder": str(self.folder / "responses")}
        seed = self.config.seed + SEEDS["responses"]
        experiment = self.config.experiment("br", len(agents), self.config.response_steps, seed, output)
        notes = [{"partner": a.name} for a in agents]
        return best_response(experiment, agents, each=True, notes=notes, quiet=self.quiet)

    def _self_play(self, cast: Cast) -> list[Estimate]:
        alone = np.repeat(np.arange(len(cast)), 2).reshape(-1, 2)
        seed = self.config.seed + SEEDS["self_play"]
        episodes, most = self.config.ruler_episodes, self.config.most_envs
        played = play_pairs(self.game, cast, cast, alone, episodes=episodes, seed=seed, most_envs=most)
        return [Estimate.of(scores.reshape(-1)) for scores in played.scores]

    def _notes(self, member: Member, place: int, found: Any) -> dict[str, Any]:
        """With what was known, how each of the obvious responses did in the trial, by seat."""
        names = {"fresh": f"br.{member.agent.name}"}
        if isinstance(member.candidate, int):
            names["together"] = f"br.c{member.candidate:03d}"
        rows = {
            k: [float(v) for v in found.returns[place, found.names.index(n)]]
            for k, n in names.items()
            if n in found.names
        }
        return dict(member.notes) | {"trial": rows | {"best": [float(v) for v in found.returns[place].max(axis=0)]}}

    def _provenance(self, more: dict[str, Any]) -> dict[str, Any]:
        device = jax.devices()[0]
        made_with = {"interplay": __version__, "jax": jax.__version__, "device": device.device_kind}
        return {"config": as_json(self.config), "stages": self.state["stages"], "made_with": made_with, **more}


def _joined(parts: list[Any]) -> Any:
    """Networks [player, ...] of several sources, one after the other."""
    return jax.tree_util.tree_map(lambda *x: jnp.concatenate([jnp.asarray(v) for v in x]), *parts)
