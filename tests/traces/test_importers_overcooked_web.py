"""Rounds of web studies: made-up files in the real format come back as what was played; bad ones are named."""

import csv
import json

import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError, TraceError
from interplay.games.overcooked.state import MOVES
from interplay.traces.importers.overcooked_web import import_overcooked_web
from interplay.traces.importers.registry import LeftOut
from interplay.traces.replay import replay

SECRET = "somebody@example.org"


def content(game, episode, steps=None):
    """The JSON of a round, as overcooked-demo writes it."""
    steps = steps or episode.length
    played = replay(game, episode)
    states = []
    for t in range(steps + 1):
        state = played.state(t)
        players = [
            {
                "position": [int(v) for v in game.layout.xy(int(state.cell[s]))],
                "orientation": list(MOVES[int(state.facing[s])]),
                "held_object": None,
            }
            for s in range(2)
        ]
        states.append({"players": players, "objects": [], "order_list": None})
    rewards = np.asarray(played.steps.reward)[:steps].sum(axis=1)
    return {
        "ep_states": [states],
        "ep_actions": [episode.actions[:steps].astype(int).tolist()],
        "ep_rewards": [rewards.astype(int).tolist()],
        "mdp_params": [{"layout_name": "random0", "num_items_for_soup": 3, "cook_time": 20}],
        "questionnaire": {"email": SECRET, "age": 33},
    }


@pytest.fixture(scope="module")
def played():
    game = interplay.make("overcooked/forced_coordination")
    return game, interplay.play(game, ["overcooked/greedy", "overcooked/greedy"], episodes=2, seed=3)


@pytest.fixture
def folder(tmp_path, played):
    game, traces = played
    for number, (name, steps) in enumerate([("3_5_2024_10_11_12_human=0", 173), ("3_5_2024_9_59_1_human=1", 400)]):
        (tmp_path / f"{name}.json").write_text(json.dumps(content(game, traces[number], steps)))
    return tmp_path


def test_rounds_come_back_as_they_were_played(folder, played):
    with open(folder / "partners.csv", "w", newline="") as file:
        rows = [["file", "partner", "person"], ["3_5_2024_10_11_12_human=0.json", "FCP", SECRET]]
        rows += [["3_5_2024_9_59_1_human=1.json", "COLE", SECRET]]
        csv.writer(file).writerows(rows)
    traces = interplay.api.import_traces("overcooked-web", folder, folder / "out")
    first, second = traces[0], traces[1]  # in order of time
    assert [a.name for a in first.agents] == ["COLE", "human"]
    assert [a.name for a in second.agents] == ["human", "FCP"]
    assert (first.length, second.length) == (400, 173)
    np.testing.assert_array_equal(second.actions, played[1][0].actions[:173])
    people = {e.agents[s].config["person"] for e, s in ((first, 1), (second, 0))}
    assert len(people) == 1
    assert SECRET not in repr(people)
    assert [e.index for e in traces] == [0, 1]
    stored = b"".join(p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file())
    assert SECRET.encode() not in stored
    soups = interplay.measure(traces, ["interdependence"], channels="counters").where(metric="constructive")
    assert sum(soups.column("value")) == 4 * (first.score + second.score) / 20


def test_without_a_table_the_partner_has_no_name(folder):
    names = {a.name for e in import_overcooked_web(folder) for a in e.agents}
    assert names == {"human", "partner"}


def broken(change):
    def apply(data):
        change(data)
        return data

    return apply


BROKEN = {
    "no round": (broken(lambda d: d.update(ep_actions=[])), "ep_actions: a list with one round"),
    "an action": (broken(lambda d: d["ep_actions"][0].__setitem__(5, [7, 0])), "step 5: [7, 0] is no pair"),
    "a truth value": (broken(lambda d: d["ep_actions"][0].__setitem__(5, [True, 0])), "step 5"),
    "a length": (broken(lambda d: d["ep_rewards"][0].pop()), "one state more than actions"),
    "a layout": (broken(lambda d: d["mdp_params"][0].update(layout_name="../../etc")), "no kitchen that we know"),
    "a recipe": (broken(lambda d: d["mdp_params"][0].update(num_items_for_soup=2)), "soups of three"),
    "a cook time": (broken(lambda d: d["mdp_params"][0].update(cook_time=-3)), "cook_time"),
    "rewards": (broken(lambda d: d["ep_rewards"][0].__setitem__(0, float("nan"))), "not finite"),
    "a reward in words": (broken(lambda d: d["ep_rewards"][0].__setitem__(0, "0")), "a number for each step"),
    "half a place": (
        broken(lambda d: d["ep_states"][0][0]["players"][0].update(position=[1.5, 2])),
        "two chefs, each with a position",
    ),
    "a score": (broken(lambda d: d["ep_rewards"][0].__setitem__(0, 40)), "the source says"),
    "a place": (
        broken(lambda d: d["ep_states"][0][9]["players"][0].update(position=[1, 1])),
        "step 9: chef 0 stood at [1, 1]",
    ),
    "a wall": (
        broken(lambda d: [s["players"][0].update(position=[0, 0]) for s in d["ep_states"][0][:1]]),
        "",
    ),
    "a chef": (broken(lambda d: d["ep_states"][0][4]["players"].pop()), "ep_states"),
    "hands": (
        broken(lambda d: d["ep_states"][0][0]["players"][0].update(held_object={"name": "onion"})),
        "does not begin with an empty kitchen",
    ),
    "text": (lambda d: "[" * 3000, ""),
    "a list": (lambda d: [1], "no JSON object"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_bad_round_is_left_out_by_name_and_reason(folder, played, what):
    change, says = BROKEN[what]
    game, traces = played
    data = change(content(game, traces[0], 60))
    text = data if isinstance(data, str) else json.dumps(data)
    (folder / "1_1_2024_1_1_1_human=0.json").write_text(text)
    found = list(import_overcooked_web(folder))
    (left,) = [item for item in found if isinstance(item, LeftOut)]
    assert left.where == "1_1_2024_1_1_1_human=0.json"
    assert says in left.why
    assert len(found) == 3


def test_other_files_and_tables_are_told(folder, tmp_path):
    (folder / "notes.json").write_text("{}")
    assert any(isinstance(i, LeftOut) and "human=SEAT" in i.why for i in import_overcooked_web(folder))
    (folder / "partners.csv").write_text("name,agent\na,b\n")
    with pytest.raises(TraceError, match="columns file, partner"):
        list(import_overcooked_web(folder))
    (folder / "twice.csv").write_text("file,partner\na,b\na,c\n")
    with pytest.raises(TraceError, match="line 3: a stands here twice"):
        list(import_overcooked_web(folder, partners=folder / "twice.csv"))
    with pytest.raises(InterplayError, match="no such file"):
        list(import_overcooked_web(folder / "nowhere"))
