"""The human-AI games and surveys of M. Eger, C. Martens and M. Alfaro Cordoba, "An Intentional AI for Hanabi" (2017).

`games.jsonl` or `games.jsonl.gz`, one game a line:

    id, ai (outer, intentional or full), seed, prev (the same person's earlier game, or null), deck (50 cards
    [colour, rank - 1], top card first, colours in the order G Y W B R), first_player, actions (move numbers as in ours,
    colours in their order), score (points kept after the third bomb), lives

Seat 0 is the AI. `surveys.csv` beside it holds what people said after their first game; it becomes an event of that
game. Their program let people discard at 8 hint tokens, so the games carry the option that allows it, and each such
move is marked as an event `beyond_rules`.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay import untrusted_files
from interplay.errors import InterplayError, TraceError
from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.traces.importers.episode_drafts import Draft, Settled, draft_episode, drafted, recorded, remark, settle
from interplay.traces.importers.hanabi_games import deck_array, hanabi, joint_moves, seated_first
from interplay.traces.importers.registry import LeftOut

COLOURS = "GYWBR"  # their order
RULES: dict[str, Any] = {"bomb": "keep", "discard_when_full": True}  # what their program allowed, and how it scored
KEYS = ("id", "ai", "deck", "first_player", "actions", "score")
HUMAN = "human"

# The web server ran the person's clicks in the AI's seat: the moves of that seat are not the AI's. In two of these
# games such a click was a hint that names no card, which the AI's seat could give.
PERSON_IN_AI_SEAT = frozenset({"3f79f9ed3a579d03", "793153978a8699c5", "abb33ad8748d61fc", "c2fc96267783e595"})
EMPTY_HINTS = frozenset({"793153978a8699c5", "c2fc96267783e595"})


def import_hanabi_data(source: str | os.PathLike[str]) -> Iterator[Episode | LeftOut]:
    """Every game of the file, or of the folder that holds it (then with the surveys)."""
    path = Path(source)
    folder = path if path.is_dir() else path.parent
    if path.is_dir():
        path = next((p for p in (folder / "games.jsonl.gz", folder / "games.jsonl") if p.exists()), path)
        if path.is_dir():
            raise TraceError(f"{folder} holds neither games.jsonl.gz nor games.jsonl")
    surveys = read_surveys(folder / "surveys.csv") if (folder / "surveys.csv").exists() else {}
    for item in settle(_drafts(path)):
        yield _finish(item, surveys) if isinstance(item, Settled) else item


def _drafts(path: Path) -> Iterator[Draft | LeftOut]:
    for number, record in _records(path):
        where = f"{path.name}, line {number}"
        if isinstance(record, dict) and "id" in record:
            where += f" (game {record['id']})"
        yield drafted(where, _draft, record, where, number - 1)


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    """The lines with their numbers; an error names the line that is no JSON, or after which the file breaks off."""
    try:
        for number, line in untrusted_files.lines(path):
            if line.strip():
                yield number, untrusted_files.parse_json(line, f"{path}, line {number}")
    except InterplayError as error:
        raise TraceError(f"{error}; the file may be cut short") from None


def _draft(record: Any, where: str, index: int) -> Draft:
    if not isinstance(record, dict):
        raise InterplayError(f"a game is an object with {', '.join(KEYS)}; this line holds {type(record).__name__}")
    missing = [key for key in KEYS if key not in record]
    if missing:
        raise InterplayError(f"no {' and no '.join(missing)}")
    if not isinstance(record["id"], str | int) or not isinstance(record["score"], int | float):
        raise InterplayError("its id is a word or a number, and its score a number")
    swapped = record["id"] in PERSON_IN_AI_SEAT
    options: dict[str, Any] = RULES | {"empty_hints": True} if record["id"] in EMPTY_HINTS else RULES
    game = hanabi(2, **options)
    rules, first = game.rules, record["first_player"]
    if first not in (0, 1):
        raise InterplayError(f"first_player is {first!r}; it is 0 (the AI) or 1 (the person)")
    colour = np.array([rules.suits.index(c) for c in COLOURS])
    deck = deck_array(rules, record["deck"])
    deck[:, 0] = colour[deck[:, 0]]
    if not isinstance(record["actions"], list):
        raise InterplayError("actions is no list of numbers")
    moves = joint_moves(record["actions"], rules)
    hints = 2 * rules.hand_size
    named = (moves >= hints) & (moves < hints + len(COLOURS))
    moves[named] = hints + colour[moves[named] - hints]

    ai = f"{HUMAN} in the seat of {record['ai']}" if swapped else str(record["ai"])
    agents = (recorded(ai, data="HanabiData", treatment=record["ai"]), recorded(HUMAN, data="HanabiData"))
    episode = draft_episode(
        game, agents[first:] + agents[:first], {"deck": seated_first(deck, rules, first)}, moves,
        seed=_seed(record), index=index,
    )  # fmt: skip
    source = {k: v for k, v in record.items() if k not in ("deck", "actions")}
    remarks = [RecordedEvent(t=0, seq=0, seat=None, kind="source", payload=source)]
    if swapped:
        note = {"note": "the person's clicks ran in the AI's seat: leave this game out of anything about the AI"}
        remarks.append(RecordedEvent(t=0, seq=0, seat=(0 - first) % 2, kind="mark", payload=note))
    return Draft(where=where, episode=remark(episode, *remarks), score=record["score"])


def _seed(record: Mapping[str, Any]) -> int:
    seed = record.get("seed") or 0
    if not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise InterplayError(f"its seed is {seed!r:.40}; a seed is a whole number of 63 bits")
    return seed


def _finish(item: Settled, surveys: Mapping[str, Mapping[str, Any]]) -> Episode | LeftOut:
    """The episode with its marks: moves that stricter rules forbid, and what the person said."""
    episode, source = item.episode, item.episode.events[0].payload
    states = item.replay.states
    lives = int(states.lives[-1])
    if source.get("lives", lives) != lives:
        return LeftOut(item.draft.where, f"the source says {source['lives']} lives, the replay gives {lives}")
    rules = hanabi(2, **RULES).rules
    moves = np.asarray(episode.actions).min(axis=1)  # the no-op of the other seat is the largest number
    full = (rules.moves.kind[moves] == DISCARD) & (states.tokens[:-1] == rules.hint_tokens)
    marks = [_beyond(int(t), "discarded while all hint tokens were there") for t in np.flatnonzero(full)]
    empty = np.isin(rules.moves.kind[moves], (HINT_COLOUR, HINT_RANK)) & ~states.last.touched[1:].any(axis=1)
    marks += [_beyond(int(t), "gave a hint that names no card") for t in np.flatnonzero(empty)]
    survey = surveys.get(str(source["id"]))
    if survey is not None:
        seat = [a.name for a in episode.agents].index(HUMAN)
        marks.append(RecordedEvent(t=episode.length, seq=0, seat=seat, kind="survey", payload=survey))
    return remark(episode, *marks)


def _beyond(t: int, what: str) -> RecordedEvent:
    return RecordedEvent(t=t, seq=0, seat=t % 2, kind="beyond_rules", payload={"what": what})


def read_surveys(path: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """What people said, by the id of the game: numbers where there are numbers, null where they left it open."""
    rows = list(csv.DictReader(untrusted_files.read_text(path).splitlines(), skipinitialspace=True))
    if rows and "id" not in rows[0]:
        raise TraceError(f"{path} has the columns {', '.join(map(str, rows[0]))}, but no id")
    return {row["id"].strip(): {k: _value(v) for k, v in row.items() if k != "id"} for row in rows}


def _value(text: str | None) -> int | str | None:
    text = (text or "").strip()
    if text in ("", "na"):
        return None
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 16 else text
