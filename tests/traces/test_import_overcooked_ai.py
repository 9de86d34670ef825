"""The human-human games of overcooked_ai: read safely, replayed exactly, and equal to what we ship."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import json
import pickle
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

import jax
import numpy as np
import pandas
import pytest

import interplay
from interplay.errors import InterplayError, TraceError
from interplay.games.overcooked.human import human_games, save_games
from interplay.games.overcooked.state import OvercookedItem, soup
from interplay.traces import game_of, replay
from interplay.traces.importers.overcooked_ai import (
    GROUP,
    PICKLES,
    human_episodes,
    import_overcooked_ai,
    read_games,
)
from interplay.traces.importers.pickled_tables import find_pickles, read_frame

FACING = {(0, -1): 0, (0, 1): 1, (1, 0): 2, (-1, 0): 3}
ITEMS = {"onion": OvercookedItem.ONION, "tomato": OvercookedItem.TOMATO, "dish": OvercookedItem.DISH}
COOK_TIME = 20


@pytest.fixture(scope="session")
def source() -> Path:
    spec = importlib.util.find_spec("overcooked_ai_py")  # not imported: it is slow, and prints
    assert spec is not None, "overcooked-ai is a development dependency: pip install -e '.[dev]'"
    assert spec.origin is not None
    return Path(spec.origin).parent / "data"


@pytest.fixture(scope="session")
def frame(source):
    return pandas.concat([read_frame(name, data) for name, data in find_pickles(source, PICKLES)])


@pytest.fixture(scope="session")
def games(source):
    return read_games(source)


@pytest.fixture
def small(frame):
    """The first 30 steps of one game, to be damaged."""
    return next(iter(frame.groupby(list(GROUP))))[1].sort_values("cur_gameloop").iloc[:30].copy()


def saved(table, folder: Path) -> Path:
    with pandas.option_context("mode.string_storage", "python"):
        table.astype({c: object for c in table.columns if table[c].dtype == "str"}).to_pickle(folder / "trials.pickle")
    return folder / "trials.pickle"


def test_all_76_games_are_read(games):
    assert Counter(game.layout for game in games) == {
        "asymmetric_advantages": 17,
        "coordination_ring": 16,
        "cramped_room": 16,
        "forced_coordination": 12,
        "counter_circuit": 15,
    }
    assert sum(game.length for game in games) == 91_102
    assert len({(game.layout, game.pair) for game in games}) == 76


def test_the_shipped_file_is_the_conversion(games, tmp_path):
    assert human_games() == games
    save_games(games, tmp_path / "games.npz")
    assert (tmp_path / "games.npz").stat().st_size < 150_000


def test_a_changed_game_is_not_equal(games):
    other = games[0].actions.copy()
    other[500, 1] = (other[500, 1] + 1) % 6
    assert dataclasses.replace(games[0], actions=other) != games[0]
    assert dataclasses.replace(games[0], score=0.0) != games[0]


def parsed(text: str):
    """A state as the files write it, read as JSON: 91,102 of them take a second, not half a minute."""
    for python, json_word in (("'", '"'), ("True", "true"), ("False", "false"), ("None", "null")):
        text = text.replace(python, json_word)
    return json.loads(text)


def recorded_state(text: str, layout) -> np.ndarray:
    """What a file says of a state, in our numbers: cells, facing, hands, then items and timers of all cells."""
    state = parsed(text)
    items, timers = [0] * layout.size, [-1] * layout.size
    for thing in state["objects"].values():
        cell = layout.cell(*thing["position"])
        items[cell] = item_of(thing)
        if thing["name"] == "soup" and layout.rows[thing["position"][1]][thing["position"][0]] == "P":
            _, size, time = thing["state"]
            timers[cell] = COOK_TIME - min(time, COOK_TIME) if size == 3 else -1
    players = state["players"]
    cells = [layout.cell(*player["position"]) for player in players]
    facing = [FACING[tuple(player["orientation"])] for player in players]
    held = [item_of(player["held_object"]) if player.get("held_object") else 0 for player in players]
    return np.array([*cells, *facing, *held, *items, *timers])


def item_of(thing) -> int:
    if thing["name"] != "soup":
        return ITEMS[thing["name"]]
    kind, size, _ = thing["state"]
    return soup(size, 0) if kind == "onion" else soup(0, size)


def played_actions(texts) -> np.ndarray:
    """The joint actions, read once more, without the importer."""
    order = [[0, -1], [0, 1], [1, 0], [-1, 0], [0, 0], "INTERACT"]
    known = {text: [order.index(action) for action in parsed(text)] for text in set(texts)}
    return np.array([known[text] for text in texts], np.int8)


def our_states(kitchen, games) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The states that a replay gives, in the same numbers, and the rewards, of games in one kitchen."""

    def play(start, actions):
        def advance(state, joint):
            after, step = kitchen.step(state, joint, None)
            return after, (after, step.reward)

        return jax.lax.scan(advance, kitchen.init(None, **start), actions)[1]

    actions = np.full((len(games), kitchen.horizon, 2), 4)
    for row, game in zip(actions, games, strict=True):
        row[: game.length] = game.actions
    starts = jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *[game.start for game in games])
    states, rewards = jax.tree_util.tree_map(np.asarray, jax.jit(jax.vmap(play))(starts, actions))
    fields = (states.cell, states.facing, states.held, states.items, states.timer)
    joined = np.concatenate([field.astype(int) for field in fields], axis=-1)
    return [joined[i, : g.length] for i, g in enumerate(games)], [rewards[i, : g.length] for i, g in enumerate(games)]


def test_every_transition_of_every_game_replays_exactly(frame, games):
    """Positions, orientations, hands, counters, pots and timers, 91,102 times; and the points that were scored."""
    groups = {}
    for (_, name, *_), rows in frame.groupby(list(GROUP)):
        rows = rows.sort_values("cur_gameloop")
        kitchen = interplay.make(f"overcooked/{name}")
        groups[kitchen.id, played_actions(rows["joint_action"]).tobytes()] = rows
    transitions = deliveries = found = 0
    for layout in dict.fromkeys(game.layout for game in games):
        kitchen = interplay.make(f"overcooked/{layout}", horizon=1204)
        here = [game for game in games if game.layout == layout]
        for game, ours, rewards in zip(here, *our_states(kitchen, here), strict=True):
            rows = groups[kitchen.id, game.actions.tobytes()]
            theirs = np.stack([recorded_state(text, kitchen.layout) for text in rows["next_state"]])
            wrong = np.argwhere((ours != theirs).any(axis=1))
            assert not wrong.size, f"{layout}, pair {game.pair}: first difference at step {wrong[0]}"
            assert rewards.sum() == game.score == rows["score"].iloc[-1] * 4
            transitions, deliveries, found = transitions + len(rows), deliveries + (rewards > 0).sum(), found + 1
    assert (found, transitions, deliveries) == (76, 91_102, 1_363)


def test_episodes_hold_what_a_trace_needs(games):
    episodes = human_episodes()
    assert [episode.length for episode in episodes] == [game.length for game in games]
    assert sum(episode.score for episode in episodes) == 1_363 * 20
    one = next(e for e in episodes if e.length == 1204)
    assert one.options == {"horizon": 1204}
    assert one.check_steps.tolist() == [*range(0, 1204, 50), 1204]
    assert {agent.name for agent in one.agents} == {"human"}
    assert verified(episodes[:1])


def verified(episodes) -> bool:
    """Replayed by the code that replays all traces, not by the importer's."""
    for episode in episodes:
        again = replay(game_of(episode), episode)
        assert np.array_equal(again.checks[episode.check_steps], episode.checks)
    return True


def test_archives_folders_and_files_give_the_same_episodes(small, tmp_path):
    expected = import_overcooked_ai(saved(small, tmp_path))
    with tarfile.open(tmp_path / "source.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "trials.pickle", "package/data/clean_train_trials.pickle")
        archive.add(__file__, "package/readme.txt")
    assert len(expected) == 1
    for source in (tmp_path, tmp_path / "source.tar.gz"):
        (found,) = import_overcooked_ai(source)
        assert np.array_equal(found.checks, expected[0].checks)
        assert np.array_equal(found.actions, expected[0].actions)
    assert "horizon" not in expected[0].options


def test_a_kitchen_that_we_do_not_know_is_taken_from_the_layout_column(small, tmp_path):
    rows = ast.literal_eval(small["layout"].iloc[0])
    wider = [row + "X" for row in rows]
    small["layout"], small["layout_name"] = repr(wider), "a_kitchen_of_mine"
    (episode,) = import_overcooked_ai(saved(small, tmp_path))
    assert episode.game_id == "overcooked/custom"
    assert episode.options["layout"] == "/".join(wider)
    with pytest.raises(InterplayError, match="trace set"):
        save_games(read_games(tmp_path), tmp_path / "out.npz")


def test_the_same_game_in_two_files_counts_once_and_two_versions_of_it_are_an_error(small, tmp_path):
    small.to_pickle(tmp_path / "a_trials.pickle")
    small.to_pickle(tmp_path / "b_trials.pickle")
    assert len(read_games(tmp_path)) == 1
    small.iloc[:-1].to_pickle(tmp_path / "b_trials.pickle")
    with pytest.raises(TraceError, match=r"b_trials\.pickle: the game of workerid_num 1, .* is also in .*a_trials"):
        read_games(tmp_path)


DAMAGES = {
    "no column": (lambda t: t.drop(columns="joint_action"), r"no column 'joint_action'"),
    "no action": (("joint_action", "[[0, 0], 'JUMP']"), r"row \d+, column 'joint_action': .*JUMP"),
    "one action": (("joint_action", "[[0, 0]]"), r"column 'joint_action'.*two actions"),
    "code": (("joint_action", "__import__('os').getcwd()"), r"column 'joint_action'"),
    "a diagonal": (("joint_action", "[[1, 1], [0, 0]]"), r"column 'joint_action'.*\[1, 1\]"),
    "a gap": (lambda t: t.drop(index=t.index[7]), r"column 'cur_gameloop': 8 where 7 should follow"),
    "no state": (("state", "{'players'"), r"column 'state': cannot be read"),
    "no players": (("state", "{'objects': {}}"), r"column 'state': has no players"),
    "an expression": (
        ("state", "{'players': [{'position': [1, 1], 'orientation': [0, 1]}] * 2, 'objects': {}}"),
        r"column 'state': cannot be read",
    ),
    "no rows": (("layout", "7"), r"column 'layout': '7' is not a list of rows"),
    "a bad layout": (("layout", "['XXX', 'X1X']"), r"column 'layout': .*"),
    "no score": (("score", np.nan), r"column 'score': .*nan"),
    "another score": (("score", 15.0), r"recorded with 60 points, its replay gives 0"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named_by_file_row_and_column(name, small, tmp_path):
    change, words = DAMAGES[name]
    if callable(change):
        small = change(small)
    else:
        column, value = change
        place = small.index[-1] if column == "score" else small.index[0]
        small.loc[place, column] = value
    with pytest.raises(TraceError, match=words) as caught:
        import_overcooked_ai(saved(small, tmp_path))
    assert "trials.pickle" in str(caught.value)


def test_a_game_that_begins_with_things_about_is_refused(small, tmp_path):
    first = parsed(small["state"].iloc[0])
    first["objects"] = {"0,0": {"name": "onion", "position": [0, 0]}}
    small.loc[small.index[0], "state"] = repr(first)
    with pytest.raises(TraceError, match="does not begin with an empty kitchen"):
        import_overcooked_ai(saved(small, tmp_path))


class Intruder:
    """A pickle of this would run a command when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_that_would_run_code_is_refused_and_does_not_run(tmp_path):
    mark = tmp_path / "intruder_was_here"
    (tmp_path / "trials.pickle").write_bytes(pickle.dumps(Intruder(mark)))
    with pytest.raises(TraceError, match=r"trials\.pickle: refused: it asks for"):
        import_overcooked_ai(tmp_path / "trials.pickle")
    assert not mark.exists()
    pickle.loads((tmp_path / "trials.pickle").read_bytes())
    assert mark.exists()  # so the pickle was a live one


def test_what_is_no_table_is_an_error(tmp_path):
    for content, words in ((b"hello", "cannot be opened"), (pickle.dumps([1, 2]), "holds a list, not a table")):
        (tmp_path / "trials.pickle").write_bytes(content)
        with pytest.raises(TraceError, match=words):
            import_overcooked_ai(tmp_path / "trials.pickle")
    with pytest.raises(TraceError, match="no such file"):
        import_overcooked_ai(tmp_path / "nowhere")
    (tmp_path / "trials.pickle").unlink()
    with pytest.raises(TraceError, match="holds no file named like"):
        import_overcooked_ai(tmp_path)


def test_without_pandas_the_error_says_what_to_install(small, tmp_path):
    path = saved(small, tmp_path)
    code = "import sys; sys.modules['pandas'] = None\nfrom interplay.traces.importers.overcooked_ai import *\n"
    code += f"import_overcooked_ai({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install pandas" in done.stderr.splitlines()[-1]


def test_the_shipped_games_need_no_pandas():
    code = "import sys; sys.modules['pandas'] = None; from interplay.games.overcooked.human import human_games\n"
    done = subprocess.run([sys.executable, "-c", code + "print(len(human_games()))"], capture_output=True, text=True)
    assert done.stdout.strip() == "76", done.stderr
