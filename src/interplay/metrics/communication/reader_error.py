"""How often the request reader errs: precision and recall against labelled messages, by model.

A label says which acts a message asks its partner for. A request that was read is right if the label has one with the
same verb, the same object and, where both name one, the same place; each label counts once.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import INGREDIENTS
from interplay.metrics.communication.clauses import Names
from interplay.metrics.communication.kitchen_words import DISH, Vocabulary
from interplay.metrics.communication.reader import MessageReader
from interplay.metrics.communication.records import ObservedAct, TranscriptEvent
from interplay.metrics.communication.scene import KitchenScene

ROLES = ("chef", "assistant")
PRODUCT = "product"  # what labels call the thing that is delivered: "the soup"
Read = Callable[[str, str], Sequence[ObservedAct]]  # text, speaker's role -> acts asked of the partner


@dataclass(frozen=True, kw_only=True)
class LabelledMessage:
    """A message and the acts that it asks the partner for."""

    model: str
    episode: str
    half: str  # "fitting", "testing", "blind", "blind2" or "held_out"
    speaker: str  # role
    text: str
    requests: tuple[ObservedAct, ...]


class ErrorCounts(NamedTuple):
    """Requests read rightly, read though not asked, and asked but not read."""

    right: int
    spurious: int
    missed: int

    @property
    def precision(self) -> float | None:
        """Share of the requests read that were asked for; None if none was read."""
        read = self.right + self.spurious
        return self.right / read if read else None

    @property
    def recall(self) -> float | None:
        """Share of the requests asked for that were read; None if none was asked."""
        labelled = self.right + self.missed
        return self.right / labelled if labelled else None


@dataclass(frozen=True, kw_only=True)
class ReaderError:
    """Precision and recall on the messages of one model, with 95 % intervals over episodes."""

    model: str
    messages: int
    requests: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float


def share_bounds(errors: Sequence[ReaderError], low: float, high: float) -> tuple[float, float]:
    """Bounds on a share of the requests that were made, given an interval of the same share of those read.

    Nothing is assumed of the requests that were misread: of those read, 1 - precision may not have been made, and
    1 - recall of those made are missing, whatever became of them. Both are taken at the lower end of their intervals,
    for the model on which the reader does worst.

    Args:
        errors: The reader's error on each model that speaks.
        low: Lower end of the interval of the share among requests that were read.
        high: Its upper end.

    Returns:
        The wider interval, within 0 and 1.
    """
    precision = min(error.precision_low for error in errors)
    recall = min(error.recall_low for error in errors)
    if precision <= 0:
        return 0.0, 1.0
    least = max(0.0, low - (1 - precision)) * recall / precision
    most = min(high, precision) * recall / precision + 1 - recall
    return least, min(1.0, most)


def read_with_rules(text: str, speaker: str) -> list[ObservedAct]:
    """The acts that the rules read as asked of the partner, from the text alone."""
    seat = ROLES.index(speaker)
    message = TranscriptEvent(t=0, seq=0, agent=seat, kind="message", text=text)
    reading = MessageReader(message, anything(), Names(ROLES, seat), KitchenScene(), lambda _: None).read()
    return [unit.act for unit in reading.units if unit.to == 1 - seat]


@cache
def anything() -> Vocabulary:
    """Every ingredient in every form: what a message may speak of where the dish is not known."""
    whole_and_cut = [form for name in INGREDIENTS for form in (name, f"{name}~slices")]
    cooked = [f"{how}({food})" for how in ("boiled", "baked") for food in whole_and_cut]
    return Vocabulary.of([*whole_and_cut, *cooked, DISH], PRODUCT)


def compare(labelled: Sequence[ObservedAct], read: Sequence[ObservedAct]) -> ErrorCounts:
    """Count the requests of one message that were read rightly, spuriously and not at all."""
    left = list(labelled)
    right = 0
    for act in read:
        label = next((one for one in left if _agrees(one, act)), None)
        if label is not None:
            left.remove(label)
            right += 1
    return ErrorCounts(right, len(read) - right, len(left))


def measure(messages: Iterable[LabelledMessage], read: Read = read_with_rules, seed: int = 0) -> list[ReaderError]:
    """Precision and recall by model; intervals from a bootstrap over episodes.

    Args:
        messages: Labelled messages of one half.
        read: The reader to be measured.
        seed: Seed of the bootstrap.

    Returns:
        One record a model, in the order of their names.
    """
    episodes: dict[str, dict[str, list[ErrorCounts]]] = defaultdict(lambda: defaultdict(list))
    for one in messages:
        episodes[one.model][one.episode].append(compare(one.requests, read(one.text, one.speaker)))
    return [_error(model, [*by_episode.values()], seed) for model, by_episode in sorted(episodes.items())]


def read_labels(path: Path, data: Path) -> list[LabelledMessage]:
    """Labels joined with the texts they are about.

    Args:
        path: The file of labels, which holds no texts.
        data: The folder that holds the file of messages which the labels name.

    Raises:
        InterplayError: A message is missing, or its text is not the one that was labelled.
    """
    labels = json.loads(path.read_text(encoding="utf-8"))
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    source = data / labels["file"]
    for line in source.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        texts[message["model"], message["episode"]].append(message["text"])
    joined = []
    for label in labels["messages"]:
        spoken = texts[label["model"], label["episode"]]
        text = spoken[label["turn"]] if label["turn"] < len(spoken) else ""
        if hashlib.sha256(text.encode()).hexdigest() != label["sha256"]:
            raise InterplayError(f"{source}: message {label['turn']} of {label['episode']} is not the labelled one")
        acts = [ObservedAct(r["verb"], r["object"], r["place"]) for r in label["requests"] if "to" not in r]
        about = {key: label[key] for key in ("model", "episode", "half", "speaker")}
        joined.append(LabelledMessage(text=text, requests=tuple(acts), **about))
    return joined


@cache
def known_errors() -> Mapping[str, ReaderError]:
    """The measured error of the rules on messages that they were not fitted to, by model."""
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {row["model"]: ReaderError(**row) for row in table["held_out"]}


def errors_of(agents: Iterable[str]) -> list[ReaderError] | None:
    """The known error for each agent, named such as `openai/gpt-4o-2024-08-06`; None if one was not measured."""
    errors = []
    for agent in sorted(set(agents)):
        name = agent.lower().rsplit("/", 1)[-1].partition("?")[0]
        name = re.sub(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$", "", name)  # a release of the same model
        if name not in known_errors():
            return None
        errors.append(known_errors()[name])
    return errors or None


def _agrees(label: ObservedAct, act: ObservedAct) -> bool:
    place = label.place is None or act.place is None or label.place == act.place
    return label.verb == act.verb and label.object in (None, act.object) and place


def _error(model: str, episodes: Sequence[Sequence[ErrorCounts]], seed: int) -> ReaderError:
    sums = [_sum(counts) for counts in episodes]
    total = _sum(sums)
    generator = random.Random(seed)
    draws = [_sum(generator.choices(sums, k=len(sums))) for _ in range(2000)]
    precision_low, precision_high = _interval([d.precision for d in draws], total.right + total.spurious)
    recall_low, recall_high = _interval([d.recall for d in draws], total.right + total.missed)
    return ReaderError(
        model=model,
        messages=sum(map(len, episodes)),
        requests=total.right + total.missed,
        precision=round(total.precision or 0.0, 4),
        precision_low=precision_low,
        precision_high=precision_high,
        recall=round(total.recall or 0.0, 4),
        recall_low=recall_low,
        recall_high=recall_high,
    )


def _sum(counts: Iterable[ErrorCounts]) -> ErrorCounts:
    return ErrorCounts(*map(sum, zip(*counts, strict=True)))


def _interval(values: Sequence[float | None], count: int) -> tuple[float, float]:
    """The middle 95 % of the draws; where all are 1 of `count`, the lower end is the exact binomial one."""
    ordered = sorted(v for v in values if v is not None)
    if not ordered:
        return 0.0, 1.0
    low = ordered[int(0.025 * len(ordered))]
    if low == 1.0 and count:
        low = 0.025 ** (1 / count)
    return round(low, 4), round(ordered[int(0.975 * (len(ordered) - 1))], 4)
