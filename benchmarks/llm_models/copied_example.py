"""Count answers that repeat the worked example of the kitchen's prompts: eight words in a row, by model.

python benchmarks/llm_models/copied_example.py FOLDER    (every calls.jsonl below it)
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

from interplay.agents.llm.templates import HERE

RUN = 8  # words
BEGIN = "How two cooks once worked"


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z']+", text.lower())
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def main() -> None:
    template = (HERE / "kitchen" / "templates" / "3" / "system.txt.j2").read_text(encoding="utf-8")
    example = runs(template.partition(BEGIN)[2])
    answers, copied = Counter(), Counter()
    for journal in Path(sys.argv[1]).rglob("calls.jsonl"):
        for line in journal.read_text(encoding="utf-8").splitlines():
            call = json.loads(line)
            if not call["model"].startswith("scripted/"):
                answers[call["model"]] += 1
                copied[call["model"]] += bool(runs(call["answer"]["text"]) & example)
    for model, count in sorted(answers.items()):
        print(f"{model}: {copied[model]} of {count} answers repeat {RUN} words of the example")


if __name__ == "__main__":
    main()
