"""Models behind HTTP endpoints: how they are reached, and what is tried again, given up or left out.

A client of an API (`client`, `anthropic_client`) sends one request and says what failed; everything else is here.
"""

from __future__ import annotations

import asyncio
import functools
import os
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from interplay.agents.llm.chat import Answer, ChatRequest, ModelRefusal, RequestRejected, Unavailable
from interplay.agents.llm.limits import Prices
from interplay.errors import InterplayError

# Base URLs of providers. Any other name needs NAME_BASE_URL; NAME_API_KEY holds a key, local servers need none.
PROVIDERS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai/",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "groq": "https://api.groq.com/openai/v1",
    "deepseek": "https://api.deepseek.com",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://localhost:11434/v1",
    "vllm": "http://localhost:8000/v1",
    "local": "http://localhost:8080/v1",
}
KEYLESS = ("ollama", "vllm", "local")
APIS = ("openai", "anthropic")  # the two forms in which a question can be put
LONGEST_WAIT_S = 60.0
PERMANENT = (400, 413, 422)  # the request itself cannot be taken
TOO_LONG = ("context length", "context window", "context size", "prompt is too long", "too many tokens")


@dataclass(frozen=True)
class EndpointConfig:
    """How to reach a model."""

    base_url: str
    api_key: str
    at_once: int = 16  # calls in flight to one model
    timeout_s: float = 120.0
    retries: int = 4  # after the first try, for errors that may pass
    backoff_s: float = 1.0  # the first wait; it doubles, and is then drawn between half of that and all
    patience_s: float = 0.0  # go on trying for so long, however many tries that takes
    api: str = "openai"  # or "anthropic"

    @classmethod
    def from_provider(
        cls, provider: str, base_url: str | None = None, api_key: str | None = None, **settings: Any
    ) -> EndpointConfig:
        """Read the configuration from the options, else from the environment, else from the table of providers.

        The variables are PROVIDER_BASE_URL, PROVIDER_API_KEY and, for an endpoint that speaks Anthropic's API
        rather than OpenAI's, PROVIDER_API=anthropic.

        Raises:
            InterplayError: The provider or the API is unknown, or needs a key that is not set.
        """
        prefix = provider.upper().replace("-", "_")
        url = base_url or os.environ.get(f"{prefix}_BASE_URL") or PROVIDERS.get(provider)
        if not url:
            known = ", ".join(PROVIDERS)
            raise InterplayError(
                f"unknown provider {provider!r}: set {prefix}_BASE_URL to its OpenAI-compatible endpoint, or give "
                f"a base URL; known without one: {known}, scripted"
            )
        key = api_key or os.environ.get(f"{prefix}_API_KEY")
        if not key and url == PROVIDERS.get(provider) and provider not in KEYLESS:
            raise InterplayError(f"no key for {provider}: set the environment variable {prefix}_API_KEY")
        api = os.environ.get(f"{prefix}_API") or ("anthropic" if provider == "anthropic" else "openai")
        if api not in APIS:
            raise InterplayError(f"{prefix}_API is {api!r}; write {' or '.join(APIS)}")
        return cls(url, key or "none", **{"api": api, **settings})


class EndpointFailure(Exception):
    """One try that failed.

    Args:
        text: What happened, in short.
        status: The HTTP status; None if no answer came.
        body: All that the endpoint said: codes and names of parameters may stand anywhere in it.
        retry_after: Seconds that the endpoint asks to wait.
        passing: Whether another try may succeed although the status does not say so.
    """

    def __init__(
        self, text: str, status: int | None = None, body: str = "", retry_after: str = "", *, passing: bool = True
    ):
        super().__init__(text)
        self.status, self.body, self.retry_after, self.passing = status, f"{text} {body}", retry_after, passing

    @property
    def short(self) -> str:
        """One line for people."""
        text = " ".join(str(self).split())[:160] or "no answer"
        return text if self.status is None or str(self.status) in text else f"{self.status}: {text}"


class EndpointModel:
    """A model behind an endpoint; subclasses speak an API.

    Optional parameters that a server refuses (a JSON schema, a seed, a temperature) are left out from then on: the
    prompt also describes the answer's form, and every answer is checked.
    """

    optional: Mapping[str, tuple[str, ...]] = {}  # parameters that can be left out, with words of errors about them

    def __init__(self, name: str, endpoint: EndpointConfig, prices: Prices | None = None):
        self.name = name
        self._model = name.partition("/")[2]
        self._endpoint, self._prices = endpoint, prices or Prices()
        self._left_out: set[str] = set()
        self._gate: asyncio.Semaphore | None = None
        self._jitter = random.Random()

    async def send(self, request: ChatRequest) -> Answer:
        """Ask once; latency, retries and cost are filled in by the caller.

        Raises:
            EndpointFailure: No usable answer came.
        """
        raise NotImplementedError

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """Return what is sent, without what is left out."""
        raise NotImplementedError

    async def chat(self, request: ChatRequest) -> Answer:
        """Answer a request on the background event loop, with retries."""
        answer = asyncio.run_coroutine_threadsafe(self._in_turn(request), background_loop())
        return await asyncio.wrap_future(answer)

    async def _in_turn(self, request: ChatRequest) -> Answer:
        self._gate = self._gate or asyncio.Semaphore(self._endpoint.at_once)
        async with self._gate:
            return await self._patiently(request)

    async def _patiently(self, request: ChatRequest) -> Answer:
        retries, first = 0, time.monotonic()
        while True:
            began = time.perf_counter()
            left_out = set(self._left_out)
            try:
                answer = await self.send(request)
                return self._complete(answer, time.perf_counter() - began, retries)
            except EndpointFailure as failure:
                if failure.status in PERMANENT:
                    # Another call may have left a parameter out while this one was under way: ask again without it.
                    if self._left_out == left_out and not self._leave_out(request, failure.body):
                        raise RequestRejected(f"{self.name} cannot take the question: {failure.short}") from None
                    continue
                self._refuse(failure)
                waited = time.monotonic() - first
                over = retries >= self._endpoint.retries and waited >= self._endpoint.patience_s
                if over or not failure.passing:
                    tries = f"; gave up after {retries + 1} tries in {waited:.0f} s" if failure.passing else ""
                    where = f"{self._endpoint.base_url}: " if failure.status is None else ""
                    raise Unavailable(f"{self.name}: {where}{failure.short}{tries}") from None
                await asyncio.sleep(self._wait(failure, retries))
                retries += 1

    def _refuse(self, failure: EndpointFailure) -> None:
        """Raise what no further try can change."""
        if failure.status in (401, 403):
            raise ModelRefusal(f"{self.name}: the key is refused ({failure.short})") from None
        if failure.status == 404:
            raise ModelRefusal(
                f"{self.name}: {self._endpoint.base_url} knows no such model ({failure.short})"
            ) from None
        if "insufficient_quota" in failure.body or "credit balance is too low" in failure.body:
            raise ModelRefusal(f"{self.name}: the account has no quota left ({failure.short})") from None

    def _wait(self, failure: EndpointFailure, retries: int) -> float:
        """Return how long to wait: as the server asks, else doubling; spread, so that calls do not come at once."""
        try:
            asked = float(failure.retry_after)
        except ValueError:
            longest = min(self._endpoint.backoff_s * 2**retries, LONGEST_WAIT_S)
            return longest * self._jitter.uniform(0.5, 1.0)
        return min(asked, LONGEST_WAIT_S) * self._jitter.uniform(1.0, 1.1)

    def _leave_out(self, request: ChatRequest, error: str) -> bool:
        """Return whether the error names a parameter that can be left out."""
        if any(words in error.lower() for words in TOO_LONG):
            return False  # such errors name max_tokens too, but nothing that is left out makes a prompt shorter
        asked = self.arguments(request)
        for name, words in self.optional.items():
            if name in asked and any(word in error for word in words) and self._first_step(name) not in self._left_out:
                self._left_out.add(self._first_step(name))
                return True
        return False

    def _first_step(self, name: str) -> str:
        """Return what is left out first for a parameter; by default the parameter."""
        return name

    def _complete(self, answer: Answer, latency: float, retries: int) -> Answer:
        return replace(
            answer, latency_s=round(latency, 4), retries=retries, cost=self._prices.cost_of(self.name, answer)
        )


@functools.cache
def background_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop that owns all connections; a rollout may use a new loop every step."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="interplay-llm", daemon=True).start()
    return loop
