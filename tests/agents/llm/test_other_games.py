"""Language models at Hanabi and in Overcooked, with scripted models in place of real ones."""

import asyncio

import jax
import numpy as np
import pytest

import interplay
from interplay.agents.api import View
from interplay.agents.llm.chat import ModelRefusal
from interplay.agents.llm.hanabi.prompts import rules_text
from interplay.agents.llm.hanabi.session import state_text
from interplay.agents.llm.scripted.simple import Scripted
from interplay.errors import InterplayError
from interplay.games.overcooked.state import INTERACT
from interplay.games.registry import names as game_names
from interplay.traces import verify

HERE = __name__


class Cook(Scripted):
    """A chef who makes onion soups by the list of tasks alone."""

    def fill(self, ask):
        tasks = ask.schema["properties"]["task"]["enum"]
        full = "3 onions" in ask.text
        wanted = ["deliver", "fill the dish", "put the onion into", "get a dish" if full else "get an onion"]
        for words in [*wanted, "wait for 1", "put it down"]:
            for task in tasks:
                if task.startswith(words):
                    return {"analysis": "", "task": task}
        raise AssertionError(tasks)


class Stubborn(Scripted):
    """Wants what is not offered."""

    def fill(self, ask):
        return super().fill(ask) | {"best_action": "Play the right card", "task": "make soup"}


class Cautious(Scripted):
    """Discards where it may, and clues otherwise."""

    def fill(self, ask):
        moves = ask.schema["properties"]["best_action"]["enum"]
        chosen = min(moves, key=lambda move: ("Discard", "Clue", "Play").index(move.split()[0]))
        return super().fill(ask) | {"best_action": chosen}


class Locked(Scripted):
    def answer(self, ask):
        raise ModelRefusal("the key is refused")


@pytest.fixture(scope="module")
def soup():
    game = interplay.make("overcooked/cramped_room", horizon=120)
    return interplay.play(game, [f"llm:{HERE}:Cook", "stay"], episodes=1, seed=0)


def test_a_model_cooks_in_overcooked_beside_an_idle_chef(soup):
    (episode,) = soup
    assert episode.score >= 40
    assert verify(soup).check().episodes == 1
    plans = [e.payload["task"] for e in episode.events if e.kind == "plan"]
    calls = [e for e in episode.events if e.kind == "call"]
    assert len(calls) == len(plans) < episode.length / 2  # asked for tasks, not for steps
    assert "deliver the soup" in plans
    assert (episode.actions[:, 0] == INTERACT).sum() >= 12


def test_an_answer_that_is_no_task_is_corrected_once_and_then_waited_out():
    game = interplay.make("overcooked/cramped_room", horizon=120)
    (episode,) = interplay.play(game, [f"llm:{HERE}:Stubborn", "stay"], episodes=1, seed=0)
    purposes = [e.payload["purpose"] for e in episode.events if e.kind == "call"]
    assert purposes == ["task", "correct"] * 120
    assert set(episode.actions[:, 0].tolist()) == {4}


@pytest.fixture(scope="module")
def table():
    """Three at a table: one who plays it safe, one whose answers are of no use, one whose key is refused."""
    agents = [f"llm:{HERE}:{name}" for name in ("Cautious", "Stubborn", "Locked")]
    return interplay.play("hanabi/3p", agents, episodes=1, seed=3)


def test_hanabi_with_models_verifies_and_shows_no_own_card(table):
    assert verify(table).check().episodes == 1
    call = next(e.payload for e in table[0].events if e.kind == "call" and e.t == 3)
    own = call["prompt"].split("## Your hand (you do not see the cards)")[1].split("## ")[0]
    assert own.strip().startswith("- Slot 0: clued colour: ")  # no face before what was clued
    assert "Teammate 1's hand" in call["prompt"]
    valid = call["prompt"].split("## Valid actions\n")[1].split("\n\n")[0]
    assert "Play card in slot 4 from your hand" in valid


def test_at_a_table_of_three_the_moves_of_both_others_are_told(table):
    (episode,) = table
    call = next(e.payload for e in episode.events if e.kind == "call" and e.t == 6)
    told = [line for line in call["prompt"].splitlines() if "last action" in line]
    names = [interplay.make("hanabi/3p").action_names[episode.actions[t, t % 3]] for t in (4, 5)]
    assert len(told) == 2
    for line, name in zip(told, names, strict=True):
        verb, *rest = name.split()
        assert line.split(": ", 1)[1].lower().startswith(verb.replace("hint", "clue"))
        assert verb == "hint" or f"slot {rest[0]}" in line


def test_hanabi_without_a_usable_answer_discards_the_oldest_untouched_card(table):
    (episode,) = table
    names = interplay.make("hanabi/3p").action_names
    fallbacks = [e for e in episode.events if e.kind == "fallback"]
    assert {e.seat for e in fallbacks} == {1, 2}
    assert {e.payload["action"].split()[0] for e in fallbacks} <= {"discard", "hint"}
    assert all(names[episode.actions[e.t, e.seat]] == e.payload["action"] for e in fallbacks)
    asked = [e.payload["purpose"] for e in episode.events if e.kind == "call" and e.seat == 1]
    assert asked == ["act", "correct"] * (len(asked) // 2)


def test_a_refused_key_leaves_the_seat_playing_by_default_and_says_so_once(table):
    ends = [(e.seat, e.payload["reason"]) for e in table[0].events if e.kind == "end"]
    assert ends == [(2, "refused")]
    assert table[0].length > 10


def test_two_players_have_one_teammate():
    game = interplay.make("hanabi/2p")
    seen = jax.tree.map(lambda x: np.asarray(x)[0], game.observe(game.init(jax.random.key(0)), "seen"))
    text = state_text(game.rules, seen, {1: "Discard, slot 0: Red 1"}, ["Discard card in slot 0 from your hand"])
    assert "Teammate 0's last action: Discard, slot 0: Red 1" in text
    assert "Teammate 1" not in text
    assert "Fireworks (top rank of each, 0: none yet): Red: 0, Yellow: 0" in text


def test_token_counts_are_right_unless_the_printed_ones_are_wanted():
    rules = interplay.make("hanabi/3p").rules
    right, printed = rules_text(rules), rules_text(rules, printed=True)
    assert "Clue tokens: 8 at the start" in right
    assert "Life tokens: 3 at the start" in right
    assert "Clue tokens: 3 at the start" in printed
    assert "Life tokens: 8 at the start" in printed
    assert "Once 3 are lost" in printed


def test_conventions_are_told_on_demand():
    def prompt(**options):
        agent = interplay.agent("llm:scripted/first", **options)
        session = agent.policy.begin(interplay.make("hanabi/2p"), 0, 0)
        return session._head

    assert "Finesse" not in prompt()
    assert "Finesse" in prompt(conventions=True)


def test_a_game_without_prompts_of_its_own_is_played_from_its_text():
    game = interplay.make(next(n for n in game_names() if n.startswith("rescue/")), horizon=3)
    (episode,) = interplay.play(game, ["llm:scripted/first"] * game.num_seats, episodes=1)
    assert episode.length == 3


def test_over_a_wire_a_model_reads_its_own_encoding():
    game = interplay.make("hanabi/2p")
    state = game.init(jax.random.key(0))
    legal = np.asarray(game.legal(state))[0]
    session = interplay.agent("llm:scripted/first", encoding="seen").policy.begin(game, 0, 0)
    seen = jax.tree.map(lambda x: np.asarray(x)[0], game.observe(state, "seen"))
    move = asyncio.run(session.act(View(game, 0, 0, legal, seen, lambda: "")))
    assert legal[move.action]
    with pytest.raises(InterplayError, match="make the agent with encoding='seen'"):
        asyncio.run(session.act(View(game, 0, 0, legal, np.zeros(0), lambda: "")))


def test_the_contract_suite_passes_for_a_model():
    game = interplay.make("overcooked/cramped_room", horizon=120)
    assert interplay.check_agent(interplay.agent("llm:scripted/first"), game)


def test_privileged_views_stay_closed():
    class Peek:
        encoding, deadline_s, default_action = "nothing", None, None

        def begin(self, game, seat, seed):
            return self

        async def act(self, view):
            return view.see("state")

    with pytest.raises(InterplayError, match="cannot look at hanabi/3p as 'state'"):
        interplay.play("hanabi/3p", [Peek(), Peek(), Peek()], episodes=1)
