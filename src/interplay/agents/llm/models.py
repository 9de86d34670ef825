"""Models by name: `openai/gpt-4o`, `scripted/reference`, or `module:Thing` for your own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from interplay.agents.llm.anthropic_client import AnthropicModel
from interplay.agents.llm.chat import Model
from interplay.agents.llm.client import OpenAIModel
from interplay.agents.llm.endpoint import EndpointConfig
from interplay.agents.llm.limits import Limits, Prices, Usage
from interplay.agents.llm.response_cache import CachedModel, ResponseCache
from interplay.errors import InterplayError
from interplay.registry import Registry
from interplay.trust import is_reference, resolve

SCRIPTED = Registry(
    "scripted model",
    entry_points="interplay.scripted_models",
    table={
        "reference": "interplay.agents.llm.scripted.reference:Reference",
        "soloist": "interplay.agents.llm.scripted.reference:Soloist",
        "chatty": "interplay.agents.llm.scripted.degraded:Chatty",
        "deaf": "interplay.agents.llm.scripted.degraded:Deaf",
        "redundant": "interplay.agents.llm.scripted.degraded:Redundant",
        "forgetful": "interplay.agents.llm.scripted.degraded:Forgetful",
        "clumsy": "interplay.agents.llm.scripted.degraded:Clumsy",
        "idle": "interplay.agents.llm.scripted.simple:Idle",
        "first": "interplay.agents.llm.scripted.simple:First",
        "prose": "interplay.agents.llm.scripted.malformed_answers:Prose",
        "half_json": "interplay.agents.llm.scripted.malformed_answers:HalfJson",
        "unknown_verb": "interplay.agents.llm.scripted.malformed_answers:UnknownVerb",
        "endless": "interplay.agents.llm.scripted.malformed_answers:Endless",
    },
)


@dataclass
class ModelPool:
    """What all players of a run share: the response cache, prices, limits and the usage."""

    cache: ResponseCache = field(default_factory=ResponseCache)
    prices: Prices = field(default_factory=Prices)
    limits: Limits = field(default_factory=Limits)
    usage: Usage = field(default_factory=Usage)
    offline: bool = False  # answers come from the cache alone
    ends_episodes: bool = False  # whether a model that cannot be asked ends the episode, rather than play by default
    base_urls: dict[str, str] = field(default_factory=dict)  # by provider
    endpoint: dict[str, Any] = field(default_factory=dict)  # fields of EndpointConfig
    _models: dict[str, Model] = field(default_factory=dict)

    def model(self, name: str) -> Model:
        """Return the model of a name, created once, so that its limit of concurrent calls holds for the whole run."""
        if name not in self._models:
            self._models[name] = CachedModel(self._make(name), self.cache, offline=self.offline)
        return self._models[name]

    def add(self, model: Model) -> None:
        """Add a model of your own under its name."""
        self._models[model.name] = CachedModel(model, self.cache, offline=self.offline)

    def _make(self, name: str) -> Model:
        if is_reference(name) and "/" not in name.partition(":")[0]:
            made = resolve(name)()
            if not hasattr(made, "chat"):
                raise InterplayError(f"{name} is no model: it has no `async def chat(request) -> Answer`")
            made.name = name
            return made
        provider, slash, model = name.partition("/")
        if not slash or not model:
            raise InterplayError(f"{name!r} names no model: write provider/model, as in openai/gpt-4o")
        if provider == "scripted":
            return SCRIPTED.load(model)()
        if self.offline:
            return _ReplayOnly(name)
        priced = self.limits.episode_cost is not None or self.limits.run_cost is not None
        if priced and name not in self.prices.table:
            raise InterplayError(f"a limit of cost needs the price of {name}: give a price table that has it")
        endpoint = EndpointConfig.from_provider(provider, self.base_urls.get(provider), **self.endpoint)
        client = AnthropicModel if endpoint.api == "anthropic" else OpenAIModel
        return client(name, endpoint, self.prices)


@dataclass
class _ReplayOnly:
    """Placeholder for a model that is only replayed."""

    name: str

    async def chat(self, request: Any) -> Any:
        raise InterplayError(f"{self.name} is replayed offline and cannot be asked")
