"""What is wrong with the answers of models: their form, from every calls.jsonl below a folder, and what was refused.

python benchmarks/llm_models/answers.py FOLDER

Of the form: cut off, no object, several actions in one entry, a copied example. Refusals are counted by their code,
from the trace sets below the folder.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from interplay.agents.llm.answers import find_object, separate_calls
from interplay.agents.llm.templates import HERE
from interplay.traces import TraceSet

RUN = 8  # words
BEGIN = "How two cooks once worked"


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z']+", text.lower())
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def main() -> None:
    template = (HERE / "kitchen" / "templates" / "3" / "system.txt.j2").read_text(encoding="utf-8")
    example = runs(template.partition(BEGIN)[2])
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for journal in Path(sys.argv[1]).rglob("calls.jsonl"):
        for line in journal.read_text(encoding="utf-8").splitlines():
            call = json.loads(line)
            if call["model"].startswith("scripted/"):
                continue
            text = call["answer"]["text"]
            value, _ = find_object(text)
            plan = (value or {}).get("plan")
            entries = plan if isinstance(plan, list) else []
            counts[call["model"]].update(
                {
                    "answers": 1,
                    "cut off": call["answer"]["finish"] == "length",
                    "without a JSON object": value is None,
                    "with several actions in one entry": any(separate_calls(entry) != [entry] for entry in entries),
                    f"that repeat {RUN} words of the example": bool(runs(text) & example),
                }
            )
    refused: dict[str, Counter[str]] = defaultdict(Counter)
    for manifest in Path(sys.argv[1]).rglob("manifest.json"):
        for episode in TraceSet.open(manifest.parent):
            for event in episode.events:
                if event.kind == "verdict" and not event.payload["ok"]:
                    name = episode.agents[event.seat].name.partition("[")[0].removeprefix("llm:")
                    refused[name][event.payload["error"]] += 1
    for model, codes in sorted(refused.items()):
        print(f"{model}: refused {codes.total()}: " + ", ".join(f"{n} {code}" for code, n in codes.most_common()))
    for model, of_model in sorted(counts.items()):
        print(f"{model}: " + ", ".join(f"{count} {what}" for what, count in of_model.items()))


if __name__ == "__main__":
    main()
