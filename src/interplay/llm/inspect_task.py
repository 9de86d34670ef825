"""The kitchen as a task of Inspect (`pip install 'interplay[inspect]'`), with the model roles `chef` and `assistant`.

    inspect eval interplay/llm/inspect_task.py@kitchen --model-role chef=openai/gpt-4o --model-role assistant=...

Inspect calls the models and keeps its log; our trace stays canonical: `out` names the folder that it goes to.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Score, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from interplay.agents.llm.chat import Answer, ChatRequest
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.settings import LLMSettings
from interplay.llm.plan import RunPlan, read_levels
from interplay.llm.run import open_or_create
from interplay.llm.tables import dish_name, episode_row
from interplay.rollout.dialogue_runner import play_one

ROLES = ("chef", "assistant")


class InspectModel:
    """A role of an Inspect evaluation as one of our models. Retries, caching and limits are then Inspect's."""

    def __init__(self, role: str):
        self.name, self._role = f"inspect/{role}", role

    async def chat(self, request: ChatRequest) -> Answer:
        """Ask the model of this role."""
        config = GenerateConfig(
            temperature=request.temperature, max_tokens=request.max_tokens, seed=request.episode % 2**31
        )
        if request.schema is not None:
            schema = JSONSchema.model_validate(dict(request.schema))
            config.response_schema = ResponseSchema(name="answer", json_schema=schema, strict=True)
        began = time.perf_counter()
        messages = [_message(m.role, m.text) for m in request.messages]
        output = await get_model(role=self._role).generate(messages, config=config)
        return _answer(output, time.perf_counter() - began)


def _message(role: str, text: str) -> ChatMessage:
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return kinds[role](content=text)


def _answer(output: ModelOutput, latency: float) -> Answer:
    usage = output.usage
    return Answer(
        text=output.completion,
        finish="length" if output.stop_reason == "max_tokens" else "stop",
        tokens_in=usage.input_tokens if usage else None,
        tokens_out=usage.output_tokens if usage else None,
        latency_s=round(latency, 4),
    )


@task
def kitchen(
    levels: str = "1-3",
    layout: str = "original",
    episodes: int = 5,
    scaffold: str = "baseline",
    seed: int = 0,
    horizon: int | None = None,
    out: str | None = None,
) -> Task:
    """One sample per dish and episode, scored by whether the dish is delivered and in how many steps."""
    plan = RunPlan(
        chefs=("inspect/chef",),
        assistants=("inspect/assistant",),
        levels=read_levels(str(levels)),
        layout=layout,
        episodes=episodes,
        seed=seed,
        horizon=horizon,
        settings=LLMSettings(scaffold=scaffold),
    )
    jobs = list(plan.jobs(_model_pool()))
    samples = [
        Sample(
            id=f"{dish_name(job.game.options)} {job.index}",
            input=f"Make {dish_name(job.game.options)!r} together.",
            target="delivered",
            metadata={"job": number},
        )
        for number, job in enumerate(jobs)
    ]
    return Task(dataset=MemoryDataset(samples), solver=cook(plan, out), scorer=delivered(), name=f"kitchen_{layout}")


def _model_pool() -> ModelPool:
    pool = ModelPool()
    for role in ROLES:
        pool.add(InspectModel(role))
    return pool


@solver
def cook(plan: RunPlan, out: str | None) -> Solver:
    """Plays the sample's episode; messages and plans stand in the sample's transcript."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        job = list(plan.jobs(_model_pool()))[state.metadata["job"]]
        episode = await play_one(job)
        if out is not None:
            open_or_create(Path(out), plan.described()).append([episode])
        row = episode_row(episode)
        for event in episode.events:
            if event.kind == "message" and event.seat is not None:
                line = f"step {event.t}, {job.game.seat_names[event.seat]}: {event.payload['text']}"
                state.messages.append(ChatMessageUser(content=line))
        state.output = ModelOutput.from_content("interplay", "delivered" if row["success"] else "not delivered")
        state.metadata["episode"] = row
        return state

    return solve


@scorer(metrics={"success": [accuracy(), stderr()], "steps": [mean()], "refused": [mean()], "tokens": [mean()]})
def delivered() -> Any:
    """Whether the dish was delivered, the steps played, what the verifier refused, and tokens."""

    async def score(state: TaskState, target: Target) -> Score:
        row = state.metadata["episode"]
        return Score(value={name: float(row[name] or 0) for name in ("success", "steps", "refused", "tokens")})

    return score
