"""What a call of a small model costs: processor seconds, tokens evaluated and written, by prompts and episodes at once.

python benchmarks/llm_models/serving_speed.py --prompts 3 4 --at-once 1 4 --calls 8

The prompts are those of the reference team on "boiled egg"; every one is also put to the model, and the reference's own
answer is what counts, so that all settings are asked the same. Processor time is the server's alone.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from pathlib import Path

from interplay.agents.llm.chat import Answer, ChatRequest, LimitReached
from interplay.agents.llm.client import EndpointConfig, OpenAIModel
from interplay.agents.llm.local import serving
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.response_cache import ResponseCache
from interplay.agents.llm.scripted.reference import Reference
from interplay.agents.llm.settings import LLMSettings
from interplay.llm import RunPlan
from interplay.rollout.dialogue_runner import play_jobs

NAME = "reference/asked"


@dataclass
class Asked:
    """The reference, who puts every question to a model too."""

    model: OpenAIModel
    most: int  # questions of all episodes
    name: str = NAME
    answers: list[Answer] = field(default_factory=list)
    asked: int = 0

    async def chat(self, request: ChatRequest) -> Answer:
        if self.asked == self.most:
            raise LimitReached("enough calls")
        self.asked += 1
        self.answers.append(await self.model.chat(request))
        return await Reference().chat(request)


def server_seconds() -> float:
    """Return the processor time of this process's child, in seconds."""
    (child,) = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    user, system = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure(url: str, prompts: str, at_once: int, arguments: argparse.Namespace) -> str:
    endpoint = EndpointConfig(url, "none", at_once=at_once, timeout_s=3600)
    asked = Asked(OpenAIModel(f"local/{arguments.weights}", endpoint), arguments.calls * at_once)
    pool = ModelPool(ResponseCache(None), ends_episodes=True)
    pool.add(asked)
    settings = LLMSettings(prompts=prompts, actions="choose", max_tokens=arguments.max_tokens, temperature=0.3)
    plan = RunPlan(chefs=(NAME,), assistants=(NAME,), dishes=("boiled egg",), episodes=at_once, settings=settings)
    before = server_seconds()
    play_jobs(list(plan.jobs(pool)), lambda job, episode: True, at_once=at_once)
    seconds = server_seconds() - before
    count = len(asked.answers)
    read, written, cached = (
        sum(getattr(answer, name) or 0 for answer in asked.answers) / count
        for name in ("tokens_in", "tokens_out", "tokens_cached")
    )
    return (
        f"| {prompts} | {at_once} | {arguments.threads} | {count} | {read:.0f} | {read - cached:.0f} | {written:.0f} "
        f"| {seconds / count:.1f} |"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--weights", default="qwen2.5-coder-1.5b")
    options.add_argument("--prompts", nargs="+", default=["3", "4"])
    options.add_argument("--at-once", nargs="+", type=int, default=[1, 4])
    options.add_argument("--calls", type=int, default=8, help="of an episode")
    options.add_argument("--max-tokens", type=int, default=80)
    options.add_argument("--threads", type=int, default=1)
    arguments = options.parse_args()
    print("| prompts | episodes at once | threads | calls | tokens read | evaluated | written | processor s a call |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for at_once in arguments.at_once:
        for prompts in arguments.prompts:
            with serving(arguments.weights, threads=arguments.threads, conversations=2 * at_once) as url:
                print(measure(url, prompts, at_once, arguments), flush=True)


if __name__ == "__main__":
    main()
