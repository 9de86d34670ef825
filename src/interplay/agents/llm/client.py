"""The client for OpenAI-compatible endpoints, by OpenAI's SDK."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from interplay.agents.llm.answers import loosened
from interplay.agents.llm.chat import Answer, ChatMessage, ChatRequest, alternating
from interplay.agents.llm.endpoint import EndpointConfig, EndpointFailure, EndpointModel
from interplay.agents.llm.local import LOCAL_MODELS
from interplay.errors import InterplayError

__all__ = ["EndpointConfig", "OpenAIModel", "connection", "sdk"]


class OpenAIModel(EndpointModel):
    """A model behind an OpenAI-compatible endpoint."""

    optional: Mapping[str, tuple[str, ...]] = {
        "response_format": ("response_format", "schema"),
        "max_tokens": ("max_tokens",),
        "temperature": ("temperature",),
        "seed": ("seed",),
        "reasoning_effort": ("reasoning_effort",),
        "messages": ("ystem role not supported", "ystem role is not supported"),  # templates without a system message
    }

    async def send(self, request: ChatRequest) -> Answer:
        """Ask once."""
        openai = sdk()
        try:
            reply = await connection(self._endpoint).chat.completions.create(**self.arguments(request))
        except openai.APIStatusError as error:
            retry_after = error.response.headers.get("retry-after", "")
            raise EndpointFailure(str(error), error.status_code, str(error.body), retry_after) from None
        except openai.APIConnectionError as error:  # time-outs are connection errors
            raise EndpointFailure(str(error)) from None
        except openai.OpenAIError as error:  # an answer that is none, such as a page of HTML
            raise EndpointFailure(str(error), passing=False) from None
        return self._answer(reply)

    def arguments(self, request: ChatRequest) -> dict[str, Any]:
        """Return the arguments of the SDK's call."""
        messages = alternating(request.messages)
        if "messages" in self._left_out:
            messages = _without_system(messages)
        room = request.max_tokens + request.reasoning_tokens
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.text} for m in messages],
            "temperature": request.temperature,
            "seed": request.episode % 2**31,
            "max_tokens": room,
        }
        if request.reasoning_effort:
            arguments["reasoning_effort"] = request.reasoning_effort
        if request.schema is not None:
            schema = loosened(request.schema) if "bounds" in self._left_out else dict(request.schema)
            shape = {"name": "answer", "strict": True, "schema": schema}
            arguments["response_format"] = {"type": "json_schema", "json_schema": shape}
        for name in (self._left_out - {"messages"}) & arguments.keys():
            del arguments[name]
            if name == "max_tokens":
                arguments["max_completion_tokens"] = room
        return arguments

    def _first_step(self, name: str) -> str:
        return "bounds" if name == "response_format" and "bounds" not in self._left_out else name

    def _answer(self, reply: Any) -> Answer:
        if not getattr(reply, "choices", None):
            raise EndpointFailure(f"an answer without choices: {str(reply)[:200]}", passing=False)
        if reply.model in LOCAL_MODELS and reply.model != self._model:  # llama.cpp answers to any name
            raise EndpointFailure(f"it serves {reply.model}", 404)
        choice, usage = reply.choices[0], reply.usage
        read = getattr(usage, "prompt_tokens_details", None)
        written = getattr(usage, "completion_tokens_details", None)
        return Answer(
            text=choice.message.content or "",
            finish=choice.finish_reason or "stop",
            tokens_in=usage.prompt_tokens if usage else None,
            tokens_out=usage.completion_tokens if usage else None,
            tokens_cached=getattr(read, "cached_tokens", None),
            tokens_reasoning=getattr(written, "reasoning_tokens", None),
        )


def _without_system(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Put the system message in front of the first message of the user."""
    return alternating(tuple(ChatMessage("user" if m.role == "system" else m.role, m.text) for m in messages))


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
