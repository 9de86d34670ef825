"""The client for OpenAI-compatible endpoints, by OpenAI's SDK."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interplay.agents.llm.answers import loosened
from interplay.agents.llm.chat import Answer, ChatRequest, ModelRefusal, Unavailable
from interplay.agents.llm.limits import Prices
from interplay.errors import InterplayError

# Base URLs of providers. Any other name needs NAME_BASE_URL; NAME_API_KEY holds a key, local servers need none.
PROVIDERS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1/",
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


@dataclass(frozen=True)
class EndpointConfig:
    """How to reach a model."""

    base_url: str
    api_key: str
    at_once: int = 16  # calls in flight to one model
    timeout_s: float = 120.0
    retries: int = 4  # after the first try, for errors that may pass
    backoff_s: float = 1.0  # the first wait; it doubles

    @classmethod
    def from_provider(
        cls, provider: str, base_url: str | None = None, api_key: str | None = None, **settings: Any
    ) -> EndpointConfig:
        """Read the configuration from the options, else from the environment, else from the table of providers.

        The variables are PROVIDER_BASE_URL and PROVIDER_API_KEY.

        Raises:
            InterplayError: The provider is unknown, or needs a key that is not set.
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
        return cls(url, key or "none", **settings)


class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    Optional parameters that a server refuses (a JSON schema, a seed, a temperature) are left out from then on: the
    prompt also describes the answer's form, and every answer is checked.
    """

    def __init__(self, name: str, endpoint: EndpointConfig, prices: Prices | None = None):
        self.name = name
        self._model = name.partition("/")[2]
        self._endpoint, self._prices = endpoint, prices or Prices()
        self._left_out: set[str] = set()
        self._gate: asyncio.Semaphore | None = None

    async def chat(self, request: ChatRequest) -> Answer:
        """Answer a request on the background event loop, with retries."""
        answer = asyncio.run_coroutine_threadsafe(self._in_turn(request), background_loop())
        return await asyncio.wrap_future(answer)

    async def _in_turn(self, request: ChatRequest) -> Answer:
        self._gate = self._gate or asyncio.Semaphore(self._endpoint.at_once)
        async with self._gate:
            return await self._patiently(connection(self._endpoint), request)

    async def _patiently(self, client: Any, request: ChatRequest) -> Answer:
        openai = sdk()
        retries = 0
        while True:
            began = time.perf_counter()
            try:
                reply = await client.chat.completions.create(**self._arguments(request))
                return self._answer(reply, time.perf_counter() - began, retries)
            except openai.BadRequestError as error:
                if not self._leave_out(request, _all(error)):
                    raise Unavailable(f"{self.name} cannot take the question: {error}") from None
            except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
                raise ModelRefusal(f"{self.name}: the key is refused ({_short(error)})") from None
            except openai.NotFoundError as error:
                raise ModelRefusal(
                    f"{self.name}: {self._endpoint.base_url} knows no such model ({_short(error)})"
                ) from None
            except (openai.APIStatusError, openai.APIConnectionError) as error:  # time-outs are connection errors
                if "insufficient_quota" in _all(error):
                    raise ModelRefusal(f"{self.name}: the account has no quota left ({_short(error)})") from None
                if retries >= self._endpoint.retries:
                    raise Unavailable(f"{self.name}: {_short(error)}; gave up after {retries + 1} tries") from None
                await asyncio.sleep(self._wait(error, retries))
                retries += 1
            except openai.OpenAIError as error:  # an answer that is none, such as a page of HTML
                raise Unavailable(f"{self.name}: {_short(error)}") from None

    def _wait(self, error: Any, retries: int) -> float:
        retry_after = getattr(getattr(error, "response", None), "headers", {}).get("retry-after", "")
        try:
            return min(float(retry_after), 60.0)
        except ValueError:
            return min(self._endpoint.backoff_s * 2**retries, 60.0)

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": n.role, "content": n.text} for n in request.messages],
            "temperature": request.temperature,
            "seed": request.episode % 2**31,
            "max_tokens": request.max_tokens,
        }
        if request.schema is not None:
            schema = loosened(request.schema) if "bounds" in self._left_out else dict(request.schema)
            shape = {"name": "answer", "strict": True, "schema": schema}
            arguments["response_format"] = {"type": "json_schema", "json_schema": shape}
        for name in self._left_out & arguments.keys():
            del arguments[name]
            if name == "max_tokens":
                arguments["max_completion_tokens"] = request.max_tokens
        return arguments

    def _leave_out(self, request: ChatRequest, error: str) -> bool:
        """Return whether the error names a parameter that can be left out."""
        names = {"response_format": ("response_format", "schema"), "max_tokens": ("max_tokens",)}
        names |= {"temperature": ("temperature",), "seed": ("seed",)}
        for name, words in names.items():
            asked = name in self._arguments(request)
            if asked and any(word in error for word in words):
                first = name == "response_format" and "bounds" not in self._left_out
                self._left_out.add("bounds" if first else name)
                return True
        return False

    def _answer(self, reply: Any, latency: float, retries: int) -> Answer:
        if not getattr(reply, "choices", None):
            raise Unavailable(f"{self.name} sent an answer without choices: {str(reply)[:200]}")
        choice, usage = reply.choices[0], reply.usage
        tokens_in = usage.prompt_tokens if usage else None
        tokens_out = usage.completion_tokens if usage else None
        return Answer(
            text=choice.message.content or "",
            finish=choice.finish_reason or "stop",
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            latency_s=round(latency, 4),
            cost=self._prices.cost(self.name, tokens_in, tokens_out),
            retries=retries,
        )


@functools.cache
def background_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop that owns all connections; a rollout may use a new loop every step."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="interplay-llm", daemon=True).start()
    return loop


@functools.cache
def connection(endpoint: EndpointConfig) -> Any:
    """Return the client of an endpoint, created once and kept until the program ends."""
    # Retries are ours, so that they are counted.
    return sdk().AsyncOpenAI(
        base_url=endpoint.base_url, api_key=endpoint.api_key, timeout=endpoint.timeout_s, max_retries=0
    )


def sdk() -> Any:
    """Import the OpenAI SDK.

    Raises:
        InterplayError: It is not installed.
    """
    try:
        import openai
    except ImportError:
        raise InterplayError("language models need the OpenAI client: pip install 'interplay[llm]'") from None
    return openai


def _all(error: Exception) -> str:
    """Return an error's message and body: codes and names of parameters may stand in either."""
    return f"{error} {getattr(error, 'body', '')}"


def _short(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    text = " ".join(str(error).split())[:160] or type(error).__name__
    return text if status is None or str(status) in text else f"{status}: {text}"
