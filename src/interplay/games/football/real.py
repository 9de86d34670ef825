"""`football/3v1`: Google Research Football's academy scenario of three attackers against a defender and a keeper.

The engine is gfootball 2.10.2, which `make football` builds. It is not pure: an engine is stepped in place. So a state
holds the engine's seed and the actions so far, beside everything that can be seen; `step` goes on with an engine that
stands in this very state, and otherwise replays the actions in one that is reset. The engine gives the same play for
the same seed and actions, but nothing says that it does so on another machine: traces record states.
"""

from __future__ import annotations

import contextlib
import io
import sys
import types
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import jax
import numpy as np

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Step
from interplay.games.checksum import checksum
from interplay.games.football import events as event_rules
from interplay.games.football.events import BallHistory
from interplay.games.football.game import HORIZONS, REAL, FootballGame, observe
from interplay.games.football.pitch import ACTIONS, BALL_START, SEATS, STARTS, Pitch
from interplay.games.records import record

SCENARIO = "interplay_3v1"
NOT_BUILT = """Google Research Football is not installed. It is built from source in minutes: run `make football`, or
  apt-get install build-essential cmake python3-dev libgl1-mesa-dev libegl-dev libsdl2-dev libsdl2-image-dev \\
    libsdl2-ttf-dev libsdl2-gfx-dev libboost-python-dev libboost-thread-dev libboost-system-dev libboost-filesystem-dev
  pip install setuptools wheel psutil 'gym>=0.25' six absl-py opencv-python-headless
  LDFLAGS=-Wl,-s pip install --no-build-isolation --no-deps gfootball==2.10.2
with the virtual environment activated. football/keepaway, a light football in JAX, needs none of it"""
UNUSED = -1  # in the history of actions: not played yet
_checksum = jax.jit(checksum)  # of every state, twice: uncompiled it took more time than the engine


@record
class RealState:
    """A state of the real engine: what is seen of it, and how to come there again."""

    pitch: Pitch
    history: BallHistory
    seed: Any  # [] int32 of the engine's chance
    played: Any  # [horizon, seat] int8 actions so far, then UNUSED
    over: Any  # [] bool: the engine's episode has ended


class RealFootball(FootballGame):
    """Three attackers, a defender and a keeper in the real engine. `step.reward` pays 1 to who scores."""

    replayable: ClassVar[bool] = False
    rules_version: ClassVar[str] = "football-real-1"

    def __init__(self, horizon: int = HORIZONS[REAL], options: Mapping[str, Any] | None = None):
        super().__init__(REAL, horizon, options)
        self._engine: FootballEngine | None = None

    def init(self, key: Any, **start: Any) -> RealState:
        """Reset the engine with a seed drawn from the key, or with `start["seed"]`.

        Raises:
            UnknownName: A start value is not known.
            InterplayError: The engine is not installed.
        """
        for name in start:
            if name != "seed":
                raise UnknownName("start value", name, ["seed"])
        seed = int(start["seed"]) if start else int(jax.random.randint(key, (), 0, 2**31 - 1))
        pitch = self._reset(seed)
        return RealState(
            pitch=pitch,
            history=event_rules.new_history(pitch, np),
            seed=np.int32(seed),
            played=np.full((self.horizon, SEATS), UNUSED, np.int8),
            over=np.bool_(False),
        )

    def start(self, state: RealState) -> dict[str, Any]:
        """Return the engine's seed."""
        return {"seed": np.asarray(state.seed)}

    def step(self, state: RealState, actions: Sequence[int] | Any, key: Any = None) -> tuple[RealState, Step]:
        """Play one joint action. The engine's chance comes from its seed, so the key is not used.

        Raises:
            InterplayError: The episode is over, or the number of actions is not that of the seats.
        """
        chosen = np.asarray(actions, np.int32)
        if chosen.shape != (SEATS,):
            raise InterplayError(f"{self.id}: {chosen.size} actions for {SEATS} seats")
        time = int(state.pitch.time)
        if bool(state.over) or time >= self.horizon:
            raise InterplayError(f"{self.id}: the episode is over; begin a new one with init")
        engine = self._engine_at(state)
        pitch, over = engine.step(chosen)
        played = state.played.copy()
        played[time] = chosen
        history, events, shaped = event_rules.record_step(state.history, state.pitch, pitch, chosen, np)
        step = Step(
            reward=events[:, event_rules.EVENTS.index("goal")].astype(np.float32),
            shaped=shaped,  # type: ignore[arg-type]
            terminated=np.bool_(over),  # type: ignore[arg-type]
            truncated=np.bool_(not over and time + 1 >= self.horizon),  # type: ignore[arg-type]
            events=events,
        )
        return RealState(pitch=pitch, history=history, seed=state.seed, played=played, over=np.bool_(over)), step

    def separate(self) -> RealFootball:
        """Return the same game with an engine of its own, for whoever plays several episodes at the same time."""
        return RealFootball(self.horizon, self.options)

    def _reset(self, seed: int) -> Pitch:
        if self._engine is None:
            self._engine = FootballEngine(self.horizon)
        return self._engine.reset(seed)

    def _engine_at(self, state: RealState) -> FootballEngine:
        """Return the engine in this state: as it stands, or reset with the actions played again."""
        time, seed = int(state.pitch.time), int(state.seed)
        engine, past = self._engine, state.played[:time]
        if engine is None or engine.seed != seed or not np.array_equal(engine.played, past):
            self._reset(seed)
            engine = self._engine
            assert engine is not None
            for joint in past:
                engine.step(joint.astype(np.int32))
        return engine

    def observe(self, state: RealState, encoding: str = "relative") -> Any:
        """Return what every seat sees."""
        return observe(state.pitch, encoding, np)

    def legal(self, state: RealState) -> Any:
        """Return that all actions are legal."""
        return np.ones((SEATS, len(ACTIONS)), bool)

    def to_move(self, state: RealState) -> Any:
        """Return that all seats are to move."""
        return np.ones(SEATS, bool)

    def checksum(self, state: RealState) -> int:
        """Return a checksum of a state for traces."""
        return zlib.crc32(np.uint32(_checksum(state)).tobytes())

    def unpack_state(self, arrays: Mapping[str, np.ndarray]) -> RealState:
        """Return a state from the arrays that a trace holds; the engine is not needed for it."""
        parts: dict[str, dict[str, np.ndarray]] = {"pitch": {}, "history": {}}
        for name in ("pitch", "history"):
            parts[name] = {n.partition(".")[2]: v for n, v in arrays.items() if n.startswith(f"{name}.")}
        own = {n: arrays[n] for n in ("seed", "played", "over")}
        return RealState(pitch=Pitch(**parts["pitch"]), history=BallHistory(**parts["history"]), **own)  # type: ignore[arg-type]

    def pack_state(self, state: RealState) -> dict[str, np.ndarray]:
        """Return a state as named arrays."""
        nested = {"pitch": state.pitch, "history": state.history}
        arrays = {f"{name}.{n}": np.asarray(v) for name, part in nested.items() for n, v in vars(part).items()}
        return arrays | {n: np.asarray(getattr(state, n)) for n in ("seed", "played", "over")}


class FootballEngine:
    """One engine of gfootball, stepped in place. Its wrappers are not used: they need gym and copy observations."""

    def __init__(self, horizon: int):
        self._core_type, config_type = _gfootball(horizon)
        values = {"players": [f"agent:left_players={SEATS},right_players=0"], "level": f"{SCENARIO}_{horizon}"}
        self._config = config_type(values | {"game_engine_random_seed": 0, "reverse_team_processing": False})
        self._core: Any = None
        self.seed = -1
        self._played: list[np.ndarray] = []

    @property
    def played(self) -> np.ndarray:
        """[step, seat] the actions since the last reset."""
        return np.array(self._played, np.int8).reshape(-1, SEATS)

    @property
    def controlled(self) -> list[int]:
        """The engine's own log of which player each seat controls."""
        return list(self._core._observation["left_agent_controlled_player"])

    def reset(self, seed: int) -> Pitch:
        """Begin an episode."""
        self._config["game_engine_random_seed"] = seed
        self._config["reverse_team_processing"] = bool(seed % 2)
        if self._core is None:
            self._core = self._core_type(self._config)
        self._core.reset(inc=0)
        self.seed, self._played = seed, []
        return self._pitch()

    def step(self, actions: np.ndarray) -> tuple[Pitch, bool]:
        """Play one joint action; return the pitch, and whether the engine ended the episode."""
        _, _, over, _ = self._core.step([int(a) for a in actions])
        self._played.append(actions.astype(np.int8))
        return self._pitch(), bool(over) and len(self._played) < self._core._env.config.game_duration

    def _pitch(self) -> Pitch:
        seen = self._core._observation
        return Pitch(
            time=np.int32(len(self._played)),  # type: ignore[arg-type]
            left=seen["left_team"].astype(np.float32),
            left_direction=seen["left_team_direction"].astype(np.float32),
            right=seen["right_team"].astype(np.float32),
            right_direction=seen["right_team_direction"].astype(np.float32),
            ball=seen["ball"].astype(np.float32),
            ball_direction=seen["ball_direction"].astype(np.float32),
            owner_team=np.int32(seen["ball_owned_team"]),  # type: ignore[arg-type]
            owner_player=np.int32(seen["ball_owned_player"]),  # type: ignore[arg-type]
            sticky=np.array(seen["left_agent_sticky_actions"], np.int32),  # type: ignore[arg-type]
            mode=np.int32(seen["game_mode"]),  # type: ignore[arg-type]
            score=np.array(seen["score"], np.int32),  # type: ignore[arg-type]
        )


def _gfootball(horizon: int) -> tuple[Any, Any]:
    """Return the engine's class and that of its settings, with our scenario registered.

    The published scenario lets our keeper be controlled, so that three controlled players of four drift from player to
    player. In ours he is not, and a seat is always the same player.

    Raises:
        InterplayError: gfootball is not installed.
    """
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # gym says at length that it is old
            from gfootball import scenarios  # type: ignore[import-not-found]
            from gfootball.env.config import Config  # type: ignore[import-not-found]
            from gfootball.env.football_env_core import FootballEnvCore  # type: ignore[import-not-found]
    except ImportError as error:
        raise InterplayError(f"{NOT_BUILT} ({error})") from None

    def build_scenario(builder: Any) -> None:
        config = builder.config()
        config.game_duration, config.deterministic, config.offsides = horizon, False, False
        config.end_episode_on_score = config.end_episode_on_out_of_play = True
        config.end_episode_on_possession_change = True
        builder.SetBallPosition(*BALL_START[:2])
        builder.SetTeam(scenarios.Team.e_Left)
        builder.AddPlayer(-1.0, 0.0, scenarios.e_PlayerRole_GK, controllable=False)
        for place in STARTS:
            builder.AddPlayer(*place, scenarios.e_PlayerRole_CM)
        builder.SetTeam(scenarios.Team.e_Right)  # whose places are given from their side
        builder.AddPlayer(-1.0, 0.0, scenarios.e_PlayerRole_GK)
        builder.AddPlayer(-0.75, 0.0, scenarios.e_PlayerRole_CB)

    module = types.ModuleType(f"gfootball.scenarios.{SCENARIO}_{horizon}")
    module.build_scenario = build_scenario  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return FootballEnvCore, Config
