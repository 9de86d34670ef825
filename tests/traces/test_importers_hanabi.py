"""Others' games of Hanabi: the human-AI games, hanab.live, and the challenge's data sets."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from interplay.api import play
from interplay.cli.main import run
from interplay.errors import InterplayError, TraceError
from interplay.traces import TraceSet, game_of, replay, verify
from interplay.traces.importers import IMPORTERS, LeftOut, sort_out
from interplay.traces.importers.ah2ac2 import import_ah2ac2
from interplay.traces.importers.hanab_live import import_hanab_live, to_hanab_live, write_hanab_live
from interplay.traces.importers.hanabi_data import import_hanabi_data
from tests.traces.hanabi_by_hand import Table, game, shuffled

THEIRS = "GYWBR"
OURS = "RYGWB"


# The human-AI games


def human_record(table: Table, number: int = 0, first: int = 0) -> dict:
    """A line of the human-AI games that tells of this game."""
    colour = [THEIRS.index(c) for c in OURS]
    deck = [[colour[c], r] for c, r in table.deck]
    if first == 1:  # seat 0 of ours is the person, whose hand lies second in their deck
        deck = deck[5:10] + deck[:5] + deck[10:]
    moves = [10 + colour[m - 10] if 10 <= m < 15 else m for m in table.moves]
    return {
        "id": f"{number:016x}", "ai": "outer", "seed": number, "prev": None, "deck": deck, "first_player": first,
        "actions": moves, "score": table.points, "lives": table.lives,
    }  # fmt: skip


def write_games(folder: Path, records: list[dict], name: str = "games.jsonl") -> Path:
    text = "".join(json.dumps(record) + "\n" for record in records)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_human_games_are_imported_with_their_colours_scores_and_surveys(tmp_path):
    tables = [game(1, lax=True), game(2, lax=True, careful=False), game(3, lax=True)]
    path = write_games(tmp_path, [human_record(t, i) for i, t in enumerate(tables)], "games.jsonl.gz")
    (tmp_path / "surveys.csv").write_text(f"id,ai,score,age,like,skill\n{2:016x}, outer, 3, 30s, 4, \n")
    episodes, left = sort_out(import_hanabi_data(tmp_path))
    assert left == []
    for table, episode in zip(tables, episodes, strict=True):
        assert episode.score == table.points
        assert episode.terminated
        assert np.asarray(episode.start["deck"]).tolist() == [list(card) for card in table.deck]
        assert np.asarray(episode.actions).min(axis=1).tolist() == table.moves
        assert [a.name for a in episode.agents] == ["outer", "human"]
        marks = [e for e in episode.events if e.kind == "beyond_rules"]
        assert len(marks) == table.discards_at_8 > 0
    survey = [e for e in episodes[2].events if e.kind == "survey"]
    assert survey[0].payload == {"ai": "outer", "score": 3, "age": "30s", "like": 4, "skill": None}
    assert survey[0].seat == 1
    assert verify(TraceSet.in_memory(episodes)).check().episodes == 3
    assert [e.score for e in sort_out(import_hanabi_data(path))[0]] == [t.points for t in tables]


def test_a_person_who_moves_first_sits_in_seat_0(tmp_path):
    table = game(4, lax=True)
    (episode,), _ = sort_out(import_hanabi_data(write_games(tmp_path, [human_record(table, first=1)])))
    assert [a.name for a in episode.agents] == ["human", "outer"]
    assert np.asarray(episode.start["deck"]).tolist() == [list(card) for card in table.deck]
    assert episode.score == table.points


def test_games_in_which_a_person_sat_in_the_ais_seat_are_marked(tmp_path):
    record = human_record(game(5, lax=True)) | {"id": "3f79f9ed3a579d03"}
    (episode,), _ = sort_out(import_hanabi_data(write_games(tmp_path, [record])))
    assert [a.name for a in episode.agents] == ["human in the seat of outer", "human"]
    assert [e.seat for e in episode.events if e.kind == "mark"] == [0]


def four_red_ones(deck: list) -> list:
    changed = [list(card) for card in deck]
    changed[next(i for i, card in enumerate(changed) if card == [4, 1])] = [4, 0]
    return changed


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda r: {"deck": [*r["deck"], [0, 0]]}, "this deck has 51 cards; the rule set has 50"),
        (lambda r: {"deck": four_red_ones(r["deck"])}, "4 copies of"),
        (lambda r: {"deck": [[0, 0], [1]]}, "not a list of pairs"),
        (lambda r: {"actions": [0, 27]}, "turn 1: there is no move 27; they run from 0 to 19"),
        (lambda r: {"actions": "none"}, "actions is no list"),
        (lambda r: {"actions": [*r["actions"], 5]}, "the game was over"),
        (lambda r: {"score": r["score"] + 1}, "points, the replay gives"),
        (lambda r: {"lives": r["lives"] - 1}, "lives, the replay gives"),
        (lambda r: {"first_player": 3}, "first_player is 3"),
    ],
)
def test_a_game_that_cannot_be_ours_is_named_with_its_line_and_the_reason(tmp_path, change, told):
    good = human_record(game(1, lax=True), 0)
    bad = human_record(game(3, lax=True), 7)
    path = write_games(tmp_path, [good, bad | change(bad)])
    episodes, left = sort_out(import_hanabi_data(path), partial=True)
    assert len(episodes) == 1
    assert left[0].where == "games.jsonl, line 2 (game 0000000000000007)"
    assert told in left[0].why
    with pytest.raises(TraceError, match="1 of 2 games cannot be imported") as error:
        sort_out(import_hanabi_data(path))
    assert "line 2" in str(error.value)


def test_an_illegal_move_is_told_with_the_reason_and_what_was_legal(tmp_path):
    table = game(3, lax=True)
    absent = next(c for c in range(5) if c not in {c for c, _ in table.deck[5:10]})
    record = human_record(table) | {"actions": [10 + [THEIRS.index(c) for c in OURS][absent]]}
    (left,) = import_hanabi_data(write_games(tmp_path, [record]))
    assert isinstance(left, LeftOut)
    assert "turn 0, seat 0: hint +1" in left.why
    assert "it names no card of seat 1; legal: " in left.why


def test_damaged_files_say_what_and_where(tmp_path):
    records = [human_record(game(seed, lax=True), seed) for seed in (1, 2, 3)]
    path = write_games(tmp_path, records, "games.jsonl.gz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TraceError, match=r"games.jsonl.gz breaks off after line \d"):
        list(import_hanabi_data(path))
    plain = write_games(tmp_path, records)
    plain.write_text(plain.read_text()[:-40])
    with pytest.raises(TraceError, match=r"games.jsonl, line 3 is not JSON.*cut short"):
        list(import_hanabi_data(plain))
    with pytest.raises(TraceError, match=r"cannot read .*nowhere"):
        list(import_hanabi_data(tmp_path / "nowhere.jsonl"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(TraceError, match=r"holds neither games.jsonl.gz nor games.jsonl"):
        list(import_hanabi_data(tmp_path / "empty"))


@pytest.fixture(scope="module")
def human_games():
    data = os.environ.get("INTERPLAY_DATA")
    if not data:
        pytest.skip("INTERPLAY_DATA is not set: the folder that holds hanabi_humans/games.jsonl.gz")
    return sort_out(import_hanabi_data(Path(data) / "hanabi_humans"))


def test_all_human_ai_games_replay_to_their_scores(human_games):
    episodes, left = human_games
    assert (len(episodes), left) == (2040, [])
    told = [e.events[0].payload for e in episodes]
    assert [e.score for e in episodes] == [t["score"] for t in told]
    assert all(e.terminated for e in episodes)
    kinds = [{event.kind for event in e.events} for e in episodes]
    discarded = [any("discarded" in event.payload.get("what", "") for event in e.events) for e in episodes]
    assert (sum(discarded), sum("survey" in k for k in kinds), sum("mark" in k for k in kinds)) == (460, 240, 4)
    empty = [e.events[0].payload["id"] for e in episodes if e.options.get("empty_hints")]
    assert empty == ["793153978a8699c5", "c2fc96267783e595"]
    assert sum(e.agents[0].name in ("outer", "intentional", "full") for e in episodes) == 2036


def test_human_ai_games_open_on_hanab_live(human_games):
    """Every game is written; what the site cannot show of it is said."""
    episodes = human_games[0][:40]
    for episode in episodes:
        exported = to_hanab_live(episode)
        discards = any("discarded" in event.payload.get("what", "") for event in episode.events)
        assert not discards or exported.cut
        assert exported.cut or len(exported.record["actions"]) == episode.length


# hanab.live


def site_record(table: Table, first: int = 0) -> dict:
    """The game as the site exports it, worked out by following the cards."""
    seats, size, top = table.players, table.size, table.players * table.size
    hands = [list(range(seat * size, (seat + 1) * size)) for seat in range(seats)]
    actions = []
    for turn, move in enumerate(table.moves):
        seat = turn % seats
        if move < 2 * size:
            actions.append({"type": 1 if move < size else 0, "target": hands[seat].pop(move % size)})
            if top < 50:
                hands[seat].append(top)
                top += 1
        else:
            hint = move - 2 * size
            kind, hint = (2, hint) if hint < 5 * (seats - 1) else (3, hint - 5 * (seats - 1) + 1)
            offset = (hint - (kind == 3)) // 5 + 1
            value = (hint - (kind == 3)) % 5 + (kind == 3)
            actions.append({"type": kind, "target": (seat + offset) % seats, "value": value})
    record = {
        "id": 7, "seed": "p2v0s7", "players": ["Alice", "Bob", "Cathy", "Donald", "Emily"][:seats],
        "deck": [{"suitIndex": c, "rank": r + 1} for c, r in table.deck], "actions": actions,
    }  # fmt: skip
    if first:
        held = seats * size
        place = {c: (c // size + first) % seats * size + c % size if c < held else c for c in range(50)}
        deck = [None] * 50
        for ours, theirs in place.items():
            deck[theirs] = record["deck"][ours]
        record["deck"] = deck
        for action in actions:
            action["target"] = place[action["target"]] if action["type"] < 2 else (action["target"] + first) % seats
        record["options"] = {"startingPlayer": first}
    return record


def import_record(tmp_path: Path, *records) -> list:
    path = tmp_path / "game.json"
    path.write_text(json.dumps(records[0] if len(records) == 1 else list(records)))
    return list(import_hanab_live(path))


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_hanab_live_games_are_imported_and_written_back(tmp_path, players):
    table = game(players, players)
    record = site_record(table)
    (episode,) = import_record(tmp_path, record)
    assert episode.game_id == f"hanabi/{players}p"
    assert episode.score == table.points > 0
    assert [a.name for a in episode.agents] == record["players"]
    assert np.asarray(episode.actions).min(axis=1).tolist() == table.moves
    written = to_hanab_live(episode)
    shown = len(written.record["actions"])
    assert written.record["actions"] == record["actions"][:shown]
    assert (written.cut is None) == (shown == len(record["actions"]))
    assert {k: written.record[k] for k in ("deck", "players")} == {k: record[k] for k in ("deck", "players")}
    (again,) = import_record(tmp_path, written.record)
    assert again.score == episode.score


def test_the_starting_player_of_old_games_becomes_seat_0(tmp_path):
    table = game(11, 3)
    (episode,) = import_record(tmp_path, site_record(table, first=2))
    assert [a.name for a in episode.agents] == ["Cathy", "Alice", "Bob"]
    assert np.asarray(episode.start["deck"]).tolist() == [list(card) for card in table.deck]
    assert (episode.score, episode.length) == (table.points, len(table.moves))


def test_games_that_were_ended_early_say_so(tmp_path):
    table = game(6, most=9)
    record = site_record(table)
    record["actions"].append({"type": 4, "target": 1, "value": 4})
    (episode,) = import_record(tmp_path, record)
    assert not episode.terminated
    assert [(e.t, e.payload["condition"]) for e in episode.events if e.kind == "end"] == [(9, "ended by a player")]
    assert to_hanab_live(episode).record["actions"] == record["actions"]
    record["actions"].append({"type": 0, "target": 0})
    (left,) = import_record(tmp_path, record)
    assert "action 9 ends the game (type 4), but 1 follow" in left.why


def rainbow_record() -> dict:
    deck = [{"suitIndex": s, "rank": r + 1} for s in range(6) for r, n in enumerate((3, 2, 2, 2, 1)) for _ in range(n)]
    deck[5], deck[50] = deck[50], deck[5]  # a rainbow 1 in the second hand
    actions = [
        {"type": 2, "target": 1, "value": 3},  # "blue" touches the rainbow card
        {"type": 0, "target": 5},
        {"type": 0, "target": 0},
    ]
    return {"players": ["A", "B"], "deck": deck, "actions": actions, "options": {"variant": "Rainbow (6 Suits)"}}


def test_variants_and_options_of_the_site(tmp_path):
    (episode,) = import_record(tmp_path, rainbow_record())
    assert episode.game_id == "hanabi/2p-rainbow"
    again = replay(game_of(episode), episode)
    assert again.states.last.touched[1].tolist() == [True, False, False, False, False]
    assert episode.score == 2
    assert to_hanab_live(episode).record["options"] == {"variant": "Rainbow (6 Suits)"}

    table = game(8)
    for option, size in (("oneExtraCard", 6), ("oneLessCard", 4)):
        record = {**site_record(table), "options": {option: True}}
        record["actions"] = [{"type": 3, "target": 1, "value": table.deck[8 if size == 4 else 9][1] + 1}]
        record["actions"].append({"type": 0, "target": size})
        (episode,) = import_record(tmp_path, record)
        assert episode.options == {"hand_size": size}
        assert to_hanab_live(episode).record["options"] == {"variant": "No Variant", option: True}


def test_empty_clues_where_the_site_allowed_them(tmp_path):
    """A hint that names no card still tells what the cards are not."""
    table = game(8)
    absent = next(c for c in range(5) if c not in {c for c, _ in table.deck[5:10]})
    record = {**site_record(table), "actions": [{"type": 2, "target": 1, "value": absent}]}
    (left,) = import_record(tmp_path, record)
    assert "it names no card of seat 1" in left.why
    (episode,) = import_record(tmp_path, record | {"options": {"emptyClues": True}})
    assert episode.options == {"empty_hints": True}
    after = replay(game_of(episode), episode).states
    assert (after.tokens[1], after.last.touched[1].any()) == (7, False)
    assert not (after.possible[1][1] >> np.uint32(5 * absent) & 31).any()
    assert to_hanab_live(episode).record["options"] == {"variant": "No Variant", "emptyClues": True}


def bad(change):
    record = site_record(game(2))
    record.update(change(record))
    return record


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda r: {"options": {"variant": "Black (5 Suits)"}}, "'Black (5 Suits)' is not supported"),
        (lambda r: {"options": {"allOrNothing": True}}, "the option allOrNothing"),
        (lambda r: {"players": ["A"]}, "1 players; Hanabi is for 2 to 5"),
        (lambda r: {"deck": [*r["deck"], r["deck"][0]]}, "this deck has 51 cards"),
        (lambda r: {"deck": [{"suit": 0, "rank": 1}]}, "{suitIndex, rank}"),
        (lambda r: {"actions": [{"type": 0, "target": 49}]}, "action 0: player 0 does not hold card 49"),
        (lambda r: {"actions": [{"type": 2, "target": 0, "value": 1}]}, "player 0 gives a clue to player 0"),
        (lambda r: {"actions": [{"type": 3, "target": 1, "value": 6}]}, "no clue of type 3 with the value 6"),
        (lambda r: {"actions": [{"type": 1, "target": 0}]}, "all 8 hint tokens are there"),
        (lambda r: {"actions": [{"kind": 1}]}, "action 0 is not of the form"),
        (lambda r: {"actions": None}, "no list of actions"),
    ],
)
def test_games_of_the_site_that_cannot_be_ours(tmp_path, change, told):
    (left,) = import_record(tmp_path, bad(change))
    assert left.where == "game.json (game 7)"
    assert told in left.why


def test_files_of_games_and_damaged_ones(tmp_path):
    records = [site_record(game(seed)) for seed in (1, 2)]
    assert len(import_record(tmp_path, *records)) == 2
    lines = tmp_path / "games.jsonl"
    lines.write_text("".join(json.dumps(r) + "\n" for r in records))
    assert len(list(import_hanab_live(lines))) == 2
    lines.write_text(lines.read_text() + '{"players": [}\n')
    with pytest.raises(TraceError, match=r"games.jsonl, line 3 is not JSON"):
        list(import_hanab_live(lines))
    assert [type(e).__name__ for e in import_hanab_live(tmp_path)] == ["Episode", "Episode"]
    (tmp_path / "game.json").write_text(json.dumps(records[0])[:300])
    with pytest.raises(TraceError, match=r"game.json is not JSON.*cut short"):
        list(import_hanab_live(tmp_path))


def test_what_the_site_would_refuse_is_cut_and_said(tmp_path):
    table = game(3, lax=True)
    (episode,), _ = sort_out(import_hanabi_data(write_games(tmp_path, [human_record(table)])))
    exported = to_hanab_live(episode)
    assert "discards at 8 hint tokens, which the site forbids" in exported.cut
    at = int(exported.cut.split()[1])
    assert table.moves[at] < 5
    assert exported.record["actions"][-1] == {"type": 4, "target": at % 2, "value": 4}
    assert len(exported.record["actions"]) == at + 1
    (again,) = import_record(tmp_path, exported.record)
    assert again.length == at


def hopeless() -> Table:
    """Seat 1 discards all fifteen 1s, one after the other, and then two cards more."""
    ones = [card for card in shuffled(0) if card[1] == 0]
    others = [card for card in shuffled(0) if card[1] != 0]
    table = Table(others[:5] + ones + others[5:])
    for _ in range(17):
        table.play(15 + table.hands[1][0][1])
        table.play(0)
    return table


def test_the_site_ends_a_game_when_no_more_points_are_possible(tmp_path):
    table = hopeless()
    (episode,) = import_record(tmp_path, site_record(table))
    assert (episode.length, episode.score, episode.terminated) == (34, 0, False)
    exported = to_hanab_live(episode)
    assert exported.cut == "no more points were possible after 30 of 34 moves; there the site ends the game"
    assert exported.record["actions"] == site_record(table)["actions"][:30]


def test_only_hanabi_goes_to_hanab_live(tmp_path):
    traces = play("overcooked/cramped_room", ["stay", "stay"], episodes=1)
    with pytest.raises(TraceError, match=r"episode 0: hanab.live shows games of Hanabi"):
        write_hanab_live(traces, tmp_path / "x.json")
    odd = play("hanabi/2p-six", ["random", "random"], episodes=1)[0]
    assert to_hanab_live(odd).record["options"]["variant"] == "6 Suits"
    with pytest.raises(InterplayError, match="no variant with these rules"):
        to_hanab_live(replace(odd, options={"lives": 4}))


# The challenge's data sets


def challenge_arrays(tables: list[Table]) -> dict[str, np.ndarray]:
    players = tables[0].players
    noop = 2 * tables[0].size + 10 * (players - 1)
    actions = np.full((len(tables), 89, players), noop, np.int32)
    for row, table in zip(actions, tables):
        for turn, move in enumerate(table.moves):
            row[turn, turn % players] = move
    return {
        "game_ids": np.arange(100, 100 + len(tables)),
        "scores": np.array([t.points if t.lives else 0 for t in tables]),
        "decks": np.array([t.deck for t in tables], np.int32),
        "actions": actions,
        "num_actions": np.array([len(t.moves) for t in tables]),
        "num_players": np.array(players),
    }


@pytest.mark.parametrize("players", [2, 3])
def test_challenge_games_are_imported(tmp_path, players):
    tables = [game(1, players), game(2, players), game(5, players, careful=False)]
    assert tables[2].lives == 0
    save_file(challenge_arrays(tables), tmp_path / "games.safetensors")
    episodes, _ = sort_out(import_ah2ac2(tmp_path / "games.safetensors"))
    assert [e.score for e in episodes] == [tables[0].points, tables[1].points, 0]
    assert [e.length for e in episodes] == [len(t.moves) for t in tables]
    assert [e.events[0].payload["game"] for e in episodes] == [100, 101, 102]
    assert {a.name for e in episodes for a in e.agents} == {"human"}


def test_challenge_games_that_keep_their_points_say_so(tmp_path):
    table = next(t for t in (game(seed, careful=False) for seed in range(50)) if t.lives == 0 and t.points > 0)
    arrays = challenge_arrays([table]) | {"scores": np.array([table.points])}
    save_file(arrays, tmp_path / "g.safetensors")
    ((episode,), _) = sort_out(import_ah2ac2(tmp_path / "g.safetensors"))
    assert (episode.score, dict(episode.options)) == (table.points, {"bomb": "keep"})


def spoil(arrays, name, value, at=...):
    changed = arrays[name].copy()
    changed[at] = value
    return {name: changed}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: {"decks": np.zeros((2, 51, 2), np.int32)}, r"decks has the shape \[2, 51, 2\].*\[2, 50, 2\]"),
        (lambda a: {"actions": a["actions"][..., :1]}, r"actions has the shape \[2, 89, 1\].*\[2, 89, 2\]"),
        (lambda a: {"actions": a["actions"][0]}, r"actions has the shape \[89, 2\]"),
        (lambda a: {"num_players": np.array([2, 2])}, "num_players is one number"),
        (lambda a: {"scores": a["scores"] + 0.5}, "scores holds float64, not whole numbers"),
        (lambda a: spoil(a, "decks", [0, 0], (1, slice(4))), r"game 1 \(id 101\): this deck has"),
        (lambda a: spoil(a, "scores", 3, 1), "the source says 3 points"),
        (lambda a: spoil(a, "num_actions", 12, 1), "num_actions is 12, but step 12 holds a move"),
        (lambda a: spoil(a, "num_actions", 95, 1), "num_actions is 95, but there is room for 0 to 89"),
        (lambda a: spoil(a, "actions", 20, (1, 3, 1)), "step 3 holds the moves .*seat 1's turn"),
        (lambda a: spoil(a, "actions", 33, (1, 3, 1)), "step 3 holds the moves .*run from 0 to 20"),
    ],
)
def test_challenge_files_that_are_wrong(tmp_path, change, told):
    arrays = challenge_arrays([game(1), game(2)])
    path = tmp_path / "games.safetensors"
    save_file({k: np.ascontiguousarray(v) for k, v in (arrays | change(arrays)).items()}, path)
    with pytest.raises(TraceError, match=told):
        sort_out(import_ah2ac2(path))


def test_challenge_files_that_are_cut_or_incomplete(tmp_path):
    path = tmp_path / "games.safetensors"
    arrays = challenge_arrays([game(1)])
    save_file({k: v for k, v in arrays.items() if k != "decks"}, path)
    with pytest.raises(TraceError, match="has no decks; it has actions"):
        list(import_ah2ac2(path))
    save_file(arrays, path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(TraceError, match=r"no safetensors file.* cut short"):
        list(import_ah2ac2(path))


# All of them


def test_every_importer_of_the_table_exists():
    for name in IMPORTERS.names():
        assert callable(IMPORTERS.load(name))
    with pytest.raises(InterplayError, match=r"unknown importer 'hanabi'; did you mean .*hanabi-humans"):
        IMPORTERS.load("hanabi")


def test_import_and_export_on_the_command_line(tmp_path, capsys):
    good, other = game(1, lax=True), human_record(game(3, lax=True), 1) | {"score": 99}
    path = write_games(tmp_path, [human_record(good), other])
    out = tmp_path / "traces"
    assert run(["import", "hanabi-humans", str(path), "--out", str(out)]) == 2
    assert "the source says 99 points" in capsys.readouterr().err
    assert not out.exists()
    assert run(["import", "hanabi-humans", str(path), "--out", str(out), "--partial", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["episodes"], len(printed["left_out"])) == (1, 1)
    assert run(["export", str(out), "--to", "hanab-live", "--episodes", "0", "--out", str(tmp_path / "g.json")]) == 0
    assert "written in part: episode 0: move" in capsys.readouterr().err
    assert run(["import", "hanab-live", str(tmp_path / "g.json"), "--out", str(tmp_path / "again")]) == 0
    assert len(TraceSet.open(tmp_path / "again")) == 1
    assert run(["export", str(out), "--to", "hanab-live", "--episodes", "5"]) == 2
