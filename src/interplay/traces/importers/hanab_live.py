"""Games of hanab.live: read its export JSON, and write any Hanabi trace so that the site opens it.

A game is an object: `players` (names), `deck` (cards {suitIndex, rank}, top card first, dealt hand by hand), `actions`
({type, target, value}: 0 play and 1 discard, target the card's place in the deck; 2 colour clue and 3 rank clue, target
the player; 4 and 5 the game was ended, value the reason) and `options` (variant and others). Suits keep their numbers:
the site's blue and purple, suits 3 and 4, are called W and B here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from interplay.errors import InterplayError, TraceError
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, PLAY, HanabiRules
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.traces.importers.episode_drafts import Draft, Settled, draft_episode, drafted, recorded, remark, settle
from interplay.traces.importers.hanabi_games import deck_array, hanabi, joint_moves, seated_first
from interplay.traces.importers.registry import LeftOut
from interplay.traces.replay import game_of, replay
from interplay.traces.store import TraceSet
from interplay.untrusted_files import parse_json, read_text

END_GAME = 4
ENDINGS = {3: "time ran out", 4: "ended by a player", 6: "idle for too long", 10: "ended by vote"}
TYPES = {PLAY: 0, DISCARD: 1, HINT_COLOUR: 2, HINT_RANK: 3}
PLAIN_VARIANTS = {3: "3 Suits", 4: "4 Suits", 5: "No Variant", 6: "6 Suits"}
HARMLESS = {  # options that change who may move when, or the look of the table, but no rule
    "variant", "startingPlayer", "timed", "timeBase", "timePerTurn", "speedrun", "cardCycle", "deckPlays", "emptyClues",
    "oneExtraCard", "oneLessCard", "numPlayers", "tableName", "maxPlayers", "variantID", "variantName",
}  # fmt: skip


def import_hanab_live(source: str | os.PathLike[str]) -> Iterator[Episode | LeftOut]:
    """The games of a file (one game, a list of games, or a game a line), or of all .json files of a folder."""
    for item in settle(_drafts(Path(source))):
        yield item.episode if isinstance(item, Settled) else item


def _drafts(path: Path) -> Iterator[Draft | LeftOut]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise TraceError(f"{path} holds no .json files")
    index = 0
    for file in files:
        for place, record in _records(file):
            where = f"{file.name}{place}"
            if isinstance(record, dict) and record.get("id"):
                where += f" (game {record['id']})"
            yield drafted(where, _draft, record, where, index)
            index += 1


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    """Games with their places within the file."""
    try:
        text = read_text(path)
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(lines) > 1 and lines[0][1].lstrip().startswith("{") and lines[0][1].rstrip().endswith("}"):
            for number, line in lines:
                yield f", line {number}", parse_json(line, f"{path}, line {number}")
            return
        games = parse_json(text, str(path))
    except InterplayError as error:
        raise TraceError(f"{error}. The file may be cut short") from None
    if isinstance(games, list):
        yield from ((f", game {i}", record) for i, record in enumerate(games, start=1))
    else:
        yield "", games


def _draft(record: Any, where: str, index: int) -> Draft:
    if not isinstance(record, dict):
        raise InterplayError(f"a game is an object with players, deck and actions, not {type(record).__name__}")
    missing = [key for key in ("players", "deck", "actions") if not isinstance(record.get(key), list)]
    if missing:
        raise InterplayError(f"no list of {' and no list of '.join(missing)}")
    options = record.get("options") or {}
    players = [str(p) for p in record["players"]]
    game = _game(len(players), options)
    first = int(options.get("startingPlayer") or 0)
    if not 0 <= first < len(players):
        raise InterplayError(f"startingPlayer is {first}, of {len(players)} players")
    try:
        deck = deck_array(game.rules, [[card["suitIndex"], card["rank"] - 1] for card in record["deck"]])
    except (KeyError, TypeError):
        raise InterplayError("a card of the deck is not of the form {suitIndex, rank}") from None
    moves, ending = _moves(game.rules, record["actions"], first)
    agents = tuple(recorded(name, site="hanab.live") for name in players)
    episode = draft_episode(
        game, agents[first:] + agents[:first], {"deck": seated_first(deck, game.rules, first)},
        joint_moves(moves, game.rules), index=index,
    )  # fmt: skip
    source = {k: v for k, v in record.items() if k not in ("deck", "actions")}
    remarks = [RecordedEvent(t=0, seq=0, seat=None, kind="source", payload=source)]
    if ending is not None:
        remarks.append(RecordedEvent(t=len(moves), seq=0, seat=None, kind="end", payload=ending))
    return Draft(where=where, episode=remark(episode, *remarks))


def _game(players: int, options: Mapping[str, Any]) -> Hanabi:
    """The game with the rules of these options of the site."""
    strange = [name for name, value in options.items() if value and name not in HARMLESS]
    if strange:
        raise InterplayError(f"the option {strange[0]} changes the rules in a way that is not supported")
    changes: dict[str, Any] = {}
    size = (5 if players <= 3 else 4) + bool(options.get("oneExtraCard")) - bool(options.get("oneLessCard"))
    if size != (5 if players <= 3 else 4):
        changes["hand_size"] = size
    if options.get("emptyClues"):
        changes["empty_hints"] = True
    variant = options.get("variant") or "No Variant"
    for suits, name in PLAIN_VARIANTS.items():
        if variant == name:
            changes |= {"suits": "RYGWB"[:suits]} if suits < 5 else {}
            return hanabi(players, "six" if suits == 6 else "", **changes)
        if variant == f"Rainbow ({suits} Suits)":
            changes |= {"suits": "RYGWB"[: suits - 1] + "M", "wild": "M"} if suits < 6 else {}
            return hanabi(players, "rainbow" if suits == 6 else "", **changes)
    known = [*PLAIN_VARIANTS.values(), *(f"Rainbow ({n} Suits)" for n in PLAIN_VARIANTS)]
    raise InterplayError(f"the variant {variant!r} is not supported; these are: {', '.join(known)}")


def _moves(rules: HanabiRules, actions: Sequence[Any], first: int) -> tuple[list[int], dict[str, Any] | None]:
    """The site's actions as move numbers, and why the game was ended early, if it was."""
    seats, slots = rules.players, rules.hand_size
    hands = [list(range(seat * slots, (seat + 1) * slots)) for seat in range(seats)]  # cards by their place in the deck
    top, moves = seats * slots, []
    for turn, action in enumerate(actions):
        mover = (first + turn) % seats
        try:
            kind, target, value = int(action["type"]), int(action["target"]), int(action.get("value") or 0)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InterplayError(f"action {turn} is not of the form {{type, target, value}}: {action!r}") from None
        if kind >= END_GAME:
            if turn != len(actions) - 1:
                raise InterplayError(f"action {turn} ends the game (type {kind}), but {len(actions) - 1 - turn} follow")
            return moves, {"type": kind, "value": value, "condition": ENDINGS.get(value, "ended")}
        if kind in (0, 1):
            if target not in hands[mover]:
                raise InterplayError(f"action {turn}: player {mover} does not hold card {target}, but {hands[mover]}")
            slot = hands[mover].index(target)
            moves.append(slot + slots * (kind == 0))
            hands[mover].remove(target)
            if top < rules.deck_size:
                hands[mover].append(top)
                top += 1
        else:
            moves.append(_clue(rules, turn, mover, kind, target, value))
    return moves, None


def _clue(rules: HanabiRules, turn: int, mover: int, kind: int, target: int, value: int) -> int:
    seats, colours = rules.players, len(rules.colours)
    offset = (target - mover) % seats
    if not 0 <= target < seats or offset == 0:
        raise InterplayError(f"action {turn}: player {mover} gives a clue to player {target}")
    number, most = (value, colours) if kind == 2 else (value - 1, rules.ranks)
    if kind not in (2, 3) or not 0 <= number < most:
        raise InterplayError(f"action {turn}: there is no clue of type {kind} with the value {value}")
    before = 2 * rules.hand_size + (0 if kind == 2 else colours * (seats - 1))
    return before + (offset - 1) * most + number


class Exported(NamedTuple):
    """A game for the site. It may end earlier than the trace: `cut` says where and why."""

    record: dict[str, Any]
    cut: str | None


def to_hanab_live(episode: Episode) -> Exported:
    """An episode of Hanabi as an object that hanab.live opens ("Watch specific replay", JSON)."""
    game = game_of(episode)
    if not isinstance(game, Hanabi):
        raise InterplayError(f"hanab.live shows games of Hanabi; this is one of {episode.game_id}")
    rules, options = game.rules, _site_options(game.rules)
    states = replay(game, episode).states
    moves = np.asarray(episode.actions)[np.arange(episode.length), np.arange(episode.length) % rules.players]
    actions, cut = _site_actions(rules, states, moves)
    if not (cut.over if cut else episode.terminated):  # the site wants to know who ended an unfinished game
        actions.append({"type": END_GAME, "target": len(actions) % rules.players, "value": 4})
    deck = np.asarray(episode.start["deck"])
    record = {
        "players": _distinct([a.name for a in episode.agents]),
        "deck": [{"suitIndex": int(suit), "rank": int(rank) + 1} for suit, rank in deck],
        "actions": actions,
        "options": options,
    }
    return Exported(record, cut.why if cut else None)


class _Cut(NamedTuple):
    why: str
    over: bool  # by the site's rules


def _site_options(rules: HanabiRules) -> dict[str, Any]:
    """The site's options for a rule set; an error if it has none."""
    suits = len(rules.suits)
    plain = rules.wild == ""
    usual = HanabiRules(players=rules.players, hand_size=5 if rules.players <= 3 else 4)
    extra = rules.hand_size - usual.hand_size
    same = (rules.copies, rules.hint_tokens, rules.lives) == (usual.copies, usual.hint_tokens, usual.lives)
    if suits not in PLAIN_VARIANTS or not (plain or rules.wild == rules.suits[-1]) or abs(extra) > 1 or not same:
        raise InterplayError("hanab.live has no variant with these rules; it has 3 to 6 suits, the last rainbow or not")
    options: dict[str, Any] = {"variant": PLAIN_VARIANTS[suits] if plain else f"Rainbow ({suits} Suits)"}
    if extra:
        options["oneExtraCard" if extra > 0 else "oneLessCard"] = True
    if rules.empty_hints:
        options["emptyClues"] = True
    return options


def _site_actions(rules: HanabiRules, states: Any, moves: np.ndarray) -> tuple[list[dict[str, int]], _Cut | None]:
    """The moves as the site writes them, up to the first that it would not take."""
    seats, slots, table = rules.players, rules.hand_size, rules.moves
    hands = [list(range(seat * slots, (seat + 1) * slots)) for seat in range(seats)]
    top, actions = seats * slots, []
    for turn, move in enumerate(moves.tolist()):
        mover, kind = turn % seats, int(table.kind[move])
        if turn and _nothing_left(rules, states, turn):
            why = f"no more points were possible after {turn} of {len(moves)} moves; there the site ends the game"
            return actions, _Cut(why, True)
        if kind == DISCARD and int(states.tokens[turn]) == rules.hint_tokens:
            why = f"move {turn} of {len(moves)} discards at {rules.hint_tokens} hint tokens, which the site forbids"
            return actions, _Cut(why, False)
        if kind in (PLAY, DISCARD):
            card = hands[mover].pop(int(table.slot[move]))
            if top < rules.deck_size:
                hands[mover].append(top)
                top += 1
            actions.append({"type": TYPES[kind], "target": card})
        else:
            hint, receiver = int(table.hint[move]), (mover + int(table.offset[move])) % seats
            value = hint if kind == HINT_COLOUR else hint - len(rules.colours) + 1
            actions.append({"type": TYPES[kind], "target": receiver, "value": value})
    return actions, None


def _nothing_left(rules: HanabiRules, states: Any, turn: int) -> bool:
    """Whether the site takes the game for over: no suit's next card can still be played by anyone.

    Cards in the hand of a player who has had the last turn count as lost.
    """
    fireworks = states.fireworks[turn].astype(int)
    lost = states.discards[turn].astype(int)
    drawn_out = int(np.argmax(states.dealt == rules.deck_size)) if states.dealt[turn] == rules.deck_size else turn
    for past in range(drawn_out, turn):
        hand = states.hands[turn][past % rules.players]
        np.add.at(lost, hand[hand >= 0], 1)
    wanted = [suit * rules.ranks + height for suit, height in enumerate(fireworks) if height < rules.ranks]
    return bool((lost[wanted] >= rules.total_copies[wanted]).all())


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names made distinct, since the site tells players apart by name."""
    unique_names: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in unique_names:
            number += 1
            unique = f"{name} {number}"
        unique_names.append(unique)
    return unique_names


def write_hanab_live(
    traces: TraceSet, out: str | os.PathLike[str] | TextIO, *, episodes: Sequence[int] | None = None
) -> tuple[int, list[str]]:
    """Write a game a line; how many, and a message for each game that the site shows only in part."""
    if isinstance(out, str | os.PathLike):
        with Path(out).open("w", encoding="utf-8") as file:
            return write_hanab_live(traces, file, episodes=episodes)
    count, cut = 0, []
    for number, episode in traces.items():
        if episodes is not None and number not in episodes:
            continue
        try:
            exported = to_hanab_live(episode)
        except InterplayError as error:
            raise TraceError(f"episode {number}: {error}") from None
        out.write(json.dumps(exported.record, ensure_ascii=False) + "\n")
        count += 1
        if exported.cut:
            cut.append(f"episode {number}: {exported.cut}")
    if episodes is not None and count < len(set(episodes)):
        raise TraceError(f"{traces.name} does not hold all of the episodes {', '.join(map(str, episodes))}")
    return count, cut
