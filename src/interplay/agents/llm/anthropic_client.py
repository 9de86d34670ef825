"""The client for Anthropic's Messages API, by plain HTTP."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from interplay.agents.llm.answers import loosened
from interplay.agents.llm.chat import Answer, ChatRequest, alternating
from interplay.agents.llm.endpoint import EndpointConfig, EndpointFailure, EndpointModel
from interplay.errors import InterplayError

VERSION = "2023-06-01"  # of the API
LEAST_THINKING = 1024  # tokens: the API's lower bound


class AnthropicModel(EndpointModel):
    """A model behind Anthropic's API. The schema is asked for as the input of a tool that must be called."""

    optional: Mapping[str, tuple[str, ...]] = {
        "tool_choice": ("tool_choice", "tools", "input_schema"),
        "temperature": ("temperature",),
        "thinking": ("thinking",),
    }

    async def send(self, request: ChatRequest) -> Answer:
        """Ask once."""
        httpx = _http()
        try:
            reply = await _connection(self._endpoint).post("/v1/messages", json=self.arguments(request))
        except httpx.HTTPError as error:
            raise EndpointFailure(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from None
        if reply.status_code != 200:
            retry_after = reply.headers.get("retry-after", "")
            raise EndpointFailure(_message(reply.text), reply.status_code, reply.text[:2000], retry_after)
        try:
            return self._answer(reply.json())
        except (ValueError, KeyError, TypeError, AttributeError):
            raise EndpointFailure(f"an answer that is none: {reply.text[:200]}", passing=False) from None

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """Return the body of the request."""
        messages = alternating(request.messages)
        system = "\n\n".join(m.text for m in messages if m.role == "system")
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens + request.reasoning_tokens,
            "messages": [{"role": m.role, "content": m.text} for m in messages if m.role != "system"],
            "temperature": min(request.temperature, 1.0),
        }
        if system:
            body["system"] = system
        if request.reasoning_tokens >= LEAST_THINKING and "thinking" not in self._left_out:
            body["thinking"] = {"type": "enabled", "budget_tokens": request.reasoning_tokens}
            del body["temperature"]  # not allowed beside thinking, nor is a tool that must be called
        elif request.schema is not None and "tool_choice" not in self._left_out:
            body["tools"] = [{"name": "answer", "input_schema": loosened(request.schema)}]
            body["tool_choice"] = {"type": "tool", "name": "answer"}
        if "temperature" in self._left_out:
            body.pop("temperature", None)
        return body

    def _answer(self, reply: Mapping[str, Any]) -> Answer:
        blocks, usage = reply["content"], reply.get("usage") or {}
        called = [json.dumps(b["input"], ensure_ascii=False) for b in blocks if b.get("type") == "tool_use"]
        said = "".join(b["text"] for b in blocks if b.get("type") == "text")
        written_to, read_from = (usage.get(f"cache_{what}_input_tokens") for what in ("creation", "read"))
        fresh = usage.get("input_tokens")
        return Answer(
            text=called[-1] if called else said,
            finish="length" if reply.get("stop_reason") == "max_tokens" else "stop",
            tokens_in=None if fresh is None else fresh + (written_to or 0) + (read_from or 0),
            tokens_out=usage.get("output_tokens"),
            tokens_cached=read_from,
        )


def _message(text: str) -> str:
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text[:200]


@functools.cache
def _connection(endpoint: EndpointConfig) -> Any:
    headers = {"x-api-key": endpoint.api_key, "anthropic-version": VERSION}
    base = endpoint.base_url.rstrip("/").removesuffix("/v1")
    return _http().AsyncClient(base_url=base, headers=headers, timeout=endpoint.timeout_s)


def _http() -> Any:
    try:
        import httpx
    except ImportError:
        raise InterplayError("language models need httpx: pip install 'interplay[llm]'") from None
    return httpx
