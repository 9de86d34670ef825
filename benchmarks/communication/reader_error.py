"""Measure the request reader on labelled messages of real models: precision and recall by model and half.

INTERPLAY_DATA=FOLDER python benchmarks/communication/reader_error.py [--errors fitting] [--write]
INTERPLAY_DATA=FOLDER python benchmarks/communication/reader_error.py --reader openai/gpt-4o --journal readings.jsonl
... --reader qwen/qwen2.5-coder-1.5b --base-url qwen=http://127.0.0.1:8092/v1 --only held_out languages4 --sample 20

FOLDER holds collab_logs/messages.jsonl. Halves: fitting and testing by episode; blind, blind2 and held_out were
labelled before the rules were run on them, and no rule was changed for held_out; tricky to
tricky22 and the other languages are made up.
`--errors` prints what is misread in a half; look at the fitting half only while you change rules. `--write` renews the
table that `interplay llm audit` prints. `--reader` measures a model as the reader, and how often it agrees with the
rules.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.response_cache import ResponseCache
from interplay.metrics.communication import reader_error
from interplay.metrics.communication.kitchen_words import parse_act
from interplay.metrics.communication.model_reader import ModelReader
from interplay.metrics.communication.reader_error import (
    ROLES,
    LabelledMessage,
    Read,
    anything,
    compare,
    measure,
    read_labels,
    read_with_rules,
)
from interplay.metrics.communication.records import VERBS

SHORT = {"put": "put_obj_in_utensil", "place": "place_obj_on_counter", "fill": "fill_dish_with_food"}
LABELS = Path(__file__).parents[2] / "tests" / "metrics" / "communication" / "labels.json"
LANGUAGES = ("languages", "languages2", "languages3", "languages4")
TRICKY_SETS = ("tricky", *(f"tricky{number}" for number in range(2, 23)))
HALVES = ("fitting", "testing", "blind", "blind2", "held_out", *TRICKY_SETS, *LANGUAGES)
TRICKY = LABELS.with_name("tricky_messages.txt")
TABLE = Path(reader_error.__file__).with_suffix(".json")


def agreement() -> str:
    """How far the two passes over the labelled messages agree: on requests, and on the mood of every verb."""
    labels = [m for m in json.loads(LABELS.read_text(encoding="utf-8"))["messages"] if m.get("passes", 2) == 2]
    passes = [[label.get(which, label) for label in labels] for which in ("first_pass", "second_pass")]
    same = sum(first["requests"] == second["requests"] for first, second in zip(*passes, strict=True))
    moods = [[_mood(label, verb) for label in one for verb in VERBS] for one in passes]
    acts = [pair for pair in zip(*moods, strict=True) if pair != ("none", "none")]
    return (
        f"{len(labels)} messages read twice: the same requests in {same / len(labels):.3f}; Cohen's kappa of the mood "
        f"of each verb {_kappa(list(zip(*moods, strict=True))):.3f}, of verbs that either pass has {_kappa(acts):.3f}"
    )


def _mood(label: dict, verb: str) -> str:
    if any(request["verb"] == verb for request in label["requests"]):
        return "request"
    if any(act["verb"] == verb for act in label.get("prohibited", ())):
        return "prohibition"
    return "own act" if verb in label.get("own", ()) else "question" if verb in label.get("questions", ()) else "none"


def _kappa(pairs: list[tuple[str, str]]) -> float:
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    observed = sum(one == other for one, other in pairs) / len(pairs)
    chance = sum(first[mood] * second[mood] for mood in first) / len(pairs) ** 2
    return (observed - chance) / (1 - chance)


def tricky_messages() -> list[LabelledMessage]:
    """Made-up messages of the kinds that are easily misread, with their labels."""
    messages, half = [], "tricky"
    for line in TRICKY.read_text(encoding="utf-8").splitlines():
        half = line[3:].strip() if line.startswith("## ") else half
        text, arrow, asked = line.rpartition("->")
        if line.startswith("#") or not arrow:
            continue
        speaker = "assistant" if text.startswith("A: ") else "chef"
        acts = [re.sub(r"^\w+", lambda verb: SHORT.get(verb[0], verb[0]), act.strip()) for act in asked.split(";")]
        requests = tuple(act for act in (parse_act(act, anything()) for act in acts if act) if act is not None)
        about = {"model": "made up", "episode": str(len(messages)), "half": half, "speaker": speaker}
        messages.append(LabelledMessage(text=text.removeprefix("A: ").strip(), requests=requests, **about))
    return messages


def _by_model(messages: Sequence[LabelledMessage], model: str, journal: Path | None, places: Sequence[str]) -> Read:
    endpoint = {"at_once": 1, "timeout_s": 3000.0, "patience_s": 600.0} if places else {}
    base_urls = dict(place.split("=", 1) for place in places)
    reader = ModelReader(ModelPool(ResponseCache(journal), base_urls=base_urls, endpoint=endpoint).model(model))
    asked = list(dict.fromkeys((m.text, m.speaker) for m in messages))
    partners: dict[str, str] = dict(zip(ROLES, reversed(ROLES), strict=True))
    readings = reader.read([(who, partners[who], text) for text, who in asked], [anything()] * len(asked))
    known = {message: acts or () for message, acts in zip(asked, readings, strict=True)}
    same = sum(not sum(compare(read_with_rules(*message), acts)[1:]) for message, acts in known.items())
    unread = sum(acts is None for acts in readings)
    print(
        f"{model}: the same requests as the rules in {same / len(known):.3f} of messages; {unread} answers unreadable"
    )
    return lambda text, speaker: known[text, speaker]


def _sampled(messages: Sequence[LabelledMessage], halves: Sequence[str], count: int | None) -> list[LabelledMessage]:
    """The messages of some halves; of each model and half so many, drawn by a fixed seed."""
    groups: dict[tuple[str, str], list[LabelledMessage]] = defaultdict(list)
    for message in messages:
        if message.half in halves:
            groups[message.half, message.model].append(message)
    if count is not None:
        generator = random.Random(0)
        groups = {key: generator.sample(group, min(count, len(group))) for key, group in groups.items()}
    return [message for group in groups.values() for message in group]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", choices=HALVES)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--reader")
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--base-url", nargs="*", default=())
    parser.add_argument("--only", nargs="*", choices=HALVES, default=HALVES)
    parser.add_argument("--sample", type=int)
    arguments = parser.parse_args()
    if (arguments.reader or arguments.sample or len(arguments.only) < len(HALVES)) and arguments.write:
        parser.error("the table of the audit is that of the rules on all messages: --write goes alone")
    messages = [*read_labels(LABELS, Path(os.environ["INTERPLAY_DATA"])), *tricky_messages()]
    messages = _sampled(messages, arguments.only, arguments.sample)
    print(agreement())
    read = read_with_rules
    if arguments.reader:
        read = _by_model(messages, arguments.reader, arguments.journal, arguments.base_url)
    table = {}
    for half in arguments.only:
        table[half] = [asdict(error) for error in measure((m for m in messages if m.half == half), read)]
        for row in table[half]:
            print(
                f"{half:8} {row['model']:16} {row['messages']:4} messages {row['requests']:4} requests  "
                f"precision {row['precision']:.3f} [{row['precision_low']:.3f}, {row['precision_high']:.3f}]  "
                f"recall {row['recall']:.3f} [{row['recall_low']:.3f}, {row['recall_high']:.3f}]"
            )
    for message in messages:
        acts = read(message.text, message.speaker)
        if message.half == arguments.errors and sum(compare(message.requests, acts)[1:]):
            print(f"\n{message.model} {message.speaker}: {message.text}")
            print(f"  asked: {'; '.join(map(str, message.requests))}\n  read:  {'; '.join(map(str, acts))}")
    if arguments.write:
        TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
