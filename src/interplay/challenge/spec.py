"""What a challenge is, as a file: games, hidden partners, budgets, phases, prediction, leaderboard."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from interplay.errors import InterplayError
from interplay.server.examples import CHALLENGES
from interplay.server.signatures import canonical
from interplay.untrusted_files import parse_yaml

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Visibility = Literal["host", "owner", "public"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChallengeSetting(_Part):
    """One game of the challenge with its partners and its share of the budget."""

    name: Name
    game: str
    options: dict[str, Any] = {}
    partners: tuple[str, ...] = ()  # hidden: names or paths of agents
    panel: str | None = None  # or the partners of a panel
    games: int = Field(gt=0, le=1_000_000)  # of an evaluation
    several_seats: bool = True  # whether the candidate also takes several seats at once, self-play left out

    @model_validator(mode="after")
    def _one_source(self) -> ChallengeSetting:
        if bool(self.partners) == (self.panel is not None):
            raise ValueError("name either `partners` or a `panel`")
        if len(set(self.partners)) != len(self.partners):
            raise ValueError("a partner is named twice")
        return self


class Quota(_Part):
    """How many evaluations a team may begin."""

    per_day: int = Field(default=1, ge=1)
    total: int = Field(default=1, ge=1)


class Phase(_Part):
    """A time in which evaluations may be begun and played."""

    name: Name
    opens: datetime | None = None
    closes: datetime | None = None  # None: open until the host ends it
    evaluations: Quota = Quota()
    results: Visibility = "public"  # who sees results while the phase is open
    results_after: Visibility = "public"  # and when it is over
    traces: Literal["after_phase", "when_done", "never"] = "after_phase"  # when owners may have theirs
    replays: Literal["after_phase", "when_done", "never"] = "after_phase"  # when anyone may watch games with a result

    @field_validator("opens", "closes")
    @classmethod
    def _with_zone(cls, value: datetime | None) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("write a time with its zone, as in 2026-01-31T12:00:00Z")
        return value

    def is_open(self, now: datetime) -> bool:
        """Return whether evaluations may be begun and played."""
        return (self.opens is None or self.opens <= now) and not self.is_over(now)

    def is_over(self, now: datetime) -> bool:
        """Return whether the phase is closed."""
        return self.closes is not None and self.closes <= now


class ChallengeRules(_Part):
    """What holds while games are played."""

    move_deadline_s: float = Field(default=60.0, gt=0)  # for one move, whether connected or not
    abandoned: Literal["forfeit", "void"] = (
        "forfeit"  # a game past its deadline counts `forfeit_score`, or is dealt anew
    )
    forfeit_score: float = 0.0
    most_voids: int = Field(default=3, ge=0)  # so often one game is dealt anew: with `void`, or where no move was made
    concurrency: int = Field(default=64, ge=1, le=4096)  # evaluation games of a team in play, and as many tests
    connections: int = Field(default=64, ge=1, le=4096)  # sockets that one key may have open


class PredictionSpec(_Part):
    """Part 2: predict recorded actions. The games come from a trace set, or bots stand in for people."""

    setting: Name
    traces: Path | None = None  # folder of a trace set, relative to the challenge file
    agents: tuple[str, ...] = ()  # or who plays the games, one for each seat
    games: int = Field(default=20, gt=0)
    seed: int = 0
    floor: float = Field(default=1e-6, gt=0, lt=0.1)  # no action counts as less likely than this

    @model_validator(mode="after")
    def _one_source(self) -> PredictionSpec:
        if (self.traces is None) == (not self.agents):
            raise ValueError("name either `traces` or `agents`")
        return self


class Leaderboard(_Part):
    """What the table shows beside scores."""

    order_by: Name | None = None  # the setting that ranks; by default the first
    metrics: tuple[str, ...] = ()  # of `interplay list metrics`, that need traces alone
    columns: tuple[str, ...] = ()  # which values of those metrics to show; by default all


class Challenge(_Part):
    """A challenge file."""

    name: Name
    title: str
    text: str = ""
    settings: tuple[ChallengeSetting, ...] = Field(min_length=1)
    phases: tuple[Phase, ...] = Field(min_length=1)
    rules: ChallengeRules = ChallengeRules()
    prediction: tuple[PredictionSpec, ...] = ()
    leaderboard: Leaderboard = Leaderboard()
    registration: Literal["open", "closed"] = "open"  # closed: only the host hands out keys
    plans: Literal["open", "reviewed"] = "open"  # reviewed: an evaluation is played once the host approved its plan
    published_protocol: str | None = None  # the encoding that the published client's messages carry; None: not served

    @model_validator(mode="after")
    def _consistent(self) -> Challenge:
        names = [s.name for s in self.settings]
        for what, listed in (("settings", names), ("phases", [p.name for p in self.phases])):
            if len(set(listed)) != len(listed):
                raise ValueError(f"two {what} have the same name")
        wanted = [p.setting for p in self.prediction] + [self.leaderboard.order_by or names[0]]
        for name in wanted:
            if name not in names:
                raise ValueError(f"there is no setting {name!r}; there are {', '.join(names)}")
        if len({p.setting for p in self.prediction}) != len(self.prediction):
            raise ValueError("two predictions are of one setting")
        return self

    @property
    def hash(self) -> str:
        """A hash of all in the file that is not secret; part of every signed result.

        Partners are left out: otherwise one could try names until the hash fits.
        """
        public = self.model_dump(mode="json", exclude={"settings": {"__all__": {"partners", "panel"}}})
        public["prediction"] = [{k: p[k] for k in ("setting", "games", "floor")} for p in public["prediction"]]
        return hashlib.sha256(canonical(public)).hexdigest()[:16]

    def setting(self, name: str) -> ChallengeSetting:
        """Return the setting of this name."""
        return next(s for s in self.settings if s.name == name)

    def phase(self, name: str) -> Phase | None:
        """Return the phase of this name, or None."""
        return next((p for p in self.phases if p.name == name), None)

    def open_phase(self, now: datetime) -> Phase | None:
        """Return the first phase that is open, or None."""
        return next((p for p in self.phases if p.is_open(now)), None)


def load(path: str | Path) -> Challenge:
    """Read a challenge file.

    Args:
        path: The file, or the name of a challenge that comes with the package.

    Raises:
        InterplayError: The file is wrong; the message says where and how.
    """
    file = CHALLENGES.resolve(path)
    data = parse_yaml(CHALLENGES.read(file), str(file)).values
    if not isinstance(data, dict):
        raise InterplayError(f"{file} is no challenge: it holds no `name:`, `settings:`, `phases:`")
    try:
        challenge = Challenge.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InterplayError(f"{file}, {where}: {first['msg']}") from None
    here = tuple(
        p.model_copy(update={"traces": (file.parent / p.traces)}) if p.traces is not None else p
        for p in challenge.prediction
    )
    return challenge.model_copy(update={"prediction": here})
