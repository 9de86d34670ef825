"""Clones of Hanabi players: games by other names for the colours, files of games, people held out, epochs chosen."""

import dataclasses
import os
from itertools import islice
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save_file

from interplay.agents.networks import Core, Shape
from interplay.api import import_traces
from interplay.cli.commands.exchange import ExportCommand
from interplay.errors import InterplayError
from interplay.games.hanabi.suit_permutation import orders
from interplay.games.registry import make
from interplay.rollout.recorded_games import Recorded, load, save
from interplay.traces.imitation_data import _persons, recorded_games
from interplay.traces.importers.hanabi_data import import_hanabi_data
from interplay.training.algorithms import train
from interplay.training.algorithms.bc import forgiving, greedy_scores, renamings
from interplay.training.config import Algorithm, Experiment, GameChoice, Network
from interplay.training.imitation.clone import LEARN, SELECT, TEST, Cloning, clone, splits
from interplay.training.imitation.recordings import GameStream, Recordings, replayed
from tests.training.tiny_hanabi import cards_seen_as


def random_game(game, seed, steps=24):
    """A game of random legal moves, [step, seat] and the deck."""
    generator = np.random.default_rng(seed)
    state = game.init(jax.random.key(seed))
    deck, rows = np.asarray(game.start(state)["deck"]), []
    for t in range(steps):
        seat = t % game.num_seats
        row = np.full(game.num_seats, len(game.action_names) - 1)
        row[seat] = generator.choice(np.flatnonzero(np.asarray(game.legal(state))[seat]))
        rows.append(row)
        state, step = game.step(state, jnp.asarray(row), jax.random.key(0))
        if bool(step.terminated):
            break
    return Recorded(f"random {seed}", np.array(rows), {"deck": deck})


@pytest.mark.parametrize("players", [2, 3])
def test_other_names_are_the_replay_of_a_renamed_deck(players):
    """Renaming the cards of the deck and the hints, and playing again, shows what gathering by the order shows."""
    game = make(f"hanabi/{players}p")
    one = random_game(game, seed=players)
    names = renamings(game, "belief")
    assert names is not None
    which = np.random.default_rng(0).choice(len(names.seen), 3, replace=False)
    real = replayed(game, [one], "belief")
    renamed = []
    for order in which:
        as_seen = cards_seen_as(game.rules, orders(game.rules)[order])
        deck = as_seen[one.start["deck"] @ [game.rules.ranks, 1]]
        deck = np.stack([deck // game.rules.ranks, deck % game.rules.ranks], axis=1)
        renamed.append(Recorded("renamed", names.named[order][one.actions], {"deck": deck}))
    again = replayed(game, renamed, "belief")
    for number, order in enumerate(which):
        mine = again.game == number
        np.testing.assert_allclose(again.seen[mine], real.seen[..., names.seen[order]], atol=1e-6)
        np.testing.assert_array_equal(again.legal[mine], real.legal[..., names.real[order]])
        np.testing.assert_array_equal(again.action[mine], names.named[order][real.action])
    assert not np.allclose(again.seen[:players], real.seen)


def test_only_hanabi_has_names_to_change():
    assert renamings(make("overcooked/cramped_room"), "features") is None
    data = _cues()
    how = Cloning(epochs=1, batch=4, chunk=0, rename=True)
    with pytest.raises(InterplayError, match="only Hanabi's hle and belief have colours"):
        clone(data, Shape((2,), 2, widths=(4,)), how, splits(12, 3, 0), jax.random.key(0))


def test_names_and_memory_change_with_the_game_not_within_it():
    """A chunk in the middle of a game would begin with what was remembered under other names."""
    game = make("hanabi/2p")
    data = replayed(game, [random_game(game, seed, steps=8) for seed in range(3)], "belief")
    names, roles = renamings(game, "belief"), splits(3, 3, 0)
    shape = Shape((658,), 21, widths=(4,), recurrent=4)
    for chunk in (4, 7):
        how = Cloning(epochs=1, batch=4, chunk=chunk, rename=True)
        with pytest.raises(InterplayError, match=rf"chunk is {chunk}: set chunk to 0"):
            clone(data, shape, how, roles, jax.random.key(0), renamings=names)
    how = Cloning(epochs=1, batch=4, chunk=4, rename=True)
    clone(data, Shape((658,), 21, widths=(4,)), how, roles, jax.random.key(0), renamings=names)  # nothing to remember


def test_a_file_of_games_gives_them_back(tmp_path):
    game = make("hanabi/2p")
    games = [random_game(game, seed, steps=6 + seed) for seed in range(3)]
    given = [
        Recorded(
            "", one.actions, one.start, 0.0, "hanabi/2p", {"bomb": "keep"} if i else {}, (True, i > 0), 7 if i else None
        )
        for i, one in enumerate(games)
    ]
    save(tmp_path / "games.npz", given)
    for before, after in zip(given, load(tmp_path / "games.npz"), strict=True):
        np.testing.assert_array_equal(after.actions, before.actions)
        np.testing.assert_array_equal(after.start["deck"], before.start["deck"])
        assert (after.game, after.options, after.learn) == (before.game, before.options, before.learn)
    assert [one.person for one in load(tmp_path / "games.npz")] == [-1, 7, 7]


def test_files_that_hold_no_games(tmp_path):
    with pytest.raises(InterplayError, match="there is no such file"):
        load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no games")
    with pytest.raises(InterplayError, match="damaged or no file of arrays"):
        load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", actions=np.zeros(3))
    with pytest.raises(InterplayError, match="does not say 'interplay-recorded'"):
        load(tmp_path / "other.npz")
    with pytest.raises(InterplayError, match="no games to write"):
        save(tmp_path / "empty.npz", [])


def test_what_laxer_rules_allowed_is_replayed_but_not_learnt():
    """Two discards while all tokens are there: their game goes on, and only what our rules allow is learnt."""
    lax = make("hanabi/2p", discard_when_full=True)
    start = {"deck": np.asarray(lax.start(lax.init(jax.random.key(5)))["deck"])}
    noop = len(lax.action_names) - 1
    actions = np.array([[0, noop], [noop, 0], [5, noop], [noop, 5]])
    game = make("hanabi/2p")
    one = Recorded("lax", actions, start, None, "hanabi/2p", {"discard_when_full": True}, (False, True))
    data = replayed(game, [one], "hle")
    assert data.turn.tolist() == [[False, False, False, True]]  # seat 1 alone, without its discard
    with pytest.raises(InterplayError, match=r"discard 0 of seat 0 in step 0 is not legal"):
        replayed(game, [Recorded("strict", actions, start)], "hle")
    with pytest.raises(InterplayError, match="these games are of hanabi/2p, not of hanabi/3p"):
        replayed(make("hanabi/3p"), [one], "hle")


def some_games():
    """Games of two rule sets, some of one seat alone."""
    lax = {"discard_when_full": True}
    games = []
    for seed in range(7):
        options = lax if seed % 3 == 2 else {}
        one = random_game(make("hanabi/2p", **options), seed, steps=10 + 3 * seed)
        learn = (True, True) if seed % 2 else (False, True)
        games.append(Recorded(f"game {seed}", one.actions, one.start, None, "hanabi/2p", options, learn, seed // 2))
    return games


@pytest.mark.parametrize("own_turns", [False, True])
def test_games_played_again_show_what_recordings_hold(own_turns):
    game, checked = make("hanabi/2p"), []
    stored = replayed(game, some_games(), "belief")
    stored = stored.of_own_turns() if own_turns else stored
    stream = GameStream(game, some_games(), "belief", own_turns=own_turns, progress=checked.append)
    assert sum(checked) == stream.games == stored.games == 7
    np.testing.assert_array_equal(stream.person, stored.person)
    np.testing.assert_array_equal(stream.game, stored.game)
    np.testing.assert_array_equal(stream.turn, stored.turn)
    which = jnp.array([3, 0, 8])
    taken = jax.jit(lambda a, w: stream.taken(a, w, stream.turn.shape[1]))(stream.arrays, which)
    there = stored.turn[which] | (stored.legal[which].sum(axis=-1) > 1)
    for name in taken._fields:
        mine, theirs = np.asarray(getattr(taken, name)), getattr(stored, name)[which]
        np.testing.assert_array_equal(mine[there], theirs[there], err_msg=name)
    assert sum(x.nbytes for x in jax.tree_util.tree_leaves(stream.arrays)) < stored.seen.nbytes / 100
    with pytest.raises(InterplayError, match="are learnt whole; chunk is 4"):
        stream.taken(stream.arrays, which, 4)


def test_a_clone_of_games_played_again_is_that_of_recordings():
    game, told = make("hanabi/2p"), []
    how = Cloning(epochs=2, batch=3, chunk=0, dropout=0.3, rename=True)
    shape = Shape((658,), 21, widths=(8,), recurrent=4, cell="lstm", decoder=(8,), own_turns=True)
    more = {"renamings": renamings(game, "belief")}
    roles, key = splits(7, 3, 0, np.arange(7) // 2), jax.random.key(0)
    stored = clone(replayed(game, some_games(), "belief"), shape, how, roles, key, **more)
    stream = GameStream(game, some_games(), "belief", own_turns=True)
    streamed = clone(stream, shape, how, roles, key, progress=told.append, **more)
    for one, other in zip(
        jax.tree_util.tree_leaves((stored.cores, stored.test, stored.chance)),
        jax.tree_util.tree_leaves((streamed.cores, streamed.test, streamed.chance)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert (told[-1].epoch, told[-1].done) == (2, told[-1].total)
    assert told[0].loss > 0


def test_games_that_do_not_replay_are_named():
    one = random_game(make("hanabi/2p"), 4)
    with pytest.raises(InterplayError, match=r"wrong: its replay in hanabi/2p ends at .* points, not at 25"):
        GameStream(make("hanabi/2p"), [one, Recorded("wrong", one.actions, one.start, 25.0)], "belief")


def test_a_run_may_learn_most_of_the_games():
    roles = splits(40, 1, seed=0, folds=20)
    assert roles.shape == (1, 40)
    assert [(roles == role).sum() for role in (LEARN, SELECT, TEST)] == [36, 2, 2]
    with pytest.raises(InterplayError, match="folds: 3; at least as many as runs, of which there are 4"):
        splits(40, 4, seed=0, folds=3)


def test_games_of_one_person_are_held_out_together():
    person = np.array([0] * 20 + [1, 1, 2, 2, 3, 4, 5, 6, 7, 8])
    roles = splits(30, 3, seed=1, person=person)
    for split in roles:
        for one in range(9):
            assert len(set(split[person == one])) == 1
    assert ((roles == TEST).sum(axis=0) == 1).all()
    sizes = sorted((roles == TEST).sum(axis=1).tolist())
    assert sizes == [5, 5, 20]  # the rest is shared out evenly
    with pytest.raises(InterplayError, match="4 splits of 6 games of 3 people"):
        splits(6, 4, 0, np.array([0, 0, 1, 1, 2, 2]))


def _cues(games=12, steps=6):
    """A cue of two kinds, shown in the first step and named in all."""
    cue = np.arange(games) % 2
    seen = np.zeros((games, steps, 2), np.float32)
    seen[np.arange(games), 0, cue] = 1
    first = np.zeros((games, steps), bool)
    first[:, 0] = True
    return Recordings(
        seen=seen,
        legal=np.ones((games, steps, 2), bool),
        action=np.repeat(cue[:, None], steps, 1),
        turn=np.ones((games, steps), bool),
        start=first,
        game=np.arange(games),
    )


@pytest.fixture(scope="module")
def judged():
    """An LSTM with dropout over whole games, whose epoch is chosen by a judge that likes the third best."""
    calls = []

    def judge(cores):
        drift = jnp.sum(jnp.abs(cores.head.bias), axis=-1)  # grows while it learns
        calls.append(1)
        return -jnp.abs(drift - 0.05)

    how = Cloning(
        epochs=30, batch=8, chunk=0, learning_rate=((0.0, 3e-2), (0.9, 1e-3)), dropout=0.3, select="self_play",
        select_games=1,
    )  # fmt: skip
    shape = Shape((2,), 2, widths=(8,), layer_norm=True, norm_first=True, recurrent=8, cell="lstm", decoder=(16,))
    return clone(_cues(), shape, how, splits(12, 3, 0), jax.random.key(0), judge=judge), judge


def test_whole_games_are_learnt_from_an_empty_memory(judged):
    found, _ = judged
    assert np.max(found.curve[-1]["learn"]) < 0.1  # the cue is long gone in most steps


def test_the_epoch_is_the_one_that_the_judge_likes_best(judged):
    found, judge = judged
    told = np.array([line["self_play"] for line in found.curve])
    np.testing.assert_array_equal(found.epoch, told.argmax(axis=0) + 1)
    np.testing.assert_allclose(judge(jax.tree_util.tree_map(jnp.asarray, found.cores)), told.max(axis=0), atol=1e-6)


def test_greedy_self_play_is_scored_to_the_end():
    """Against the same games played move by move from plain Python."""
    game = make("hanabi/2p")
    core = Core(Shape((658,), 21, widths=(8,), recurrent=4, cell="lstm"), 2.0, jax.random.key(1))
    scores = np.asarray(jax.jit(lambda: greedy_scores(game, core, "belief", 3, 0))())
    step = jax.jit(lambda m, s: jax.vmap(core.step)(m, game.observe(s, "belief")))
    for number, key in enumerate(jax.random.split(jax.random.key(0), 3)):
        state, memory, over = game.init(jax.random.fold_in(key, 0)), jnp.zeros((2, 8)), False
        while not over:
            memory, logits = step(memory, state)
            legal = np.asarray(game.legal(state))
            state, told = game.step(state, jnp.asarray(np.where(legal, logits, -np.inf).argmax(axis=1)), key)
            over = bool(told.terminated)
        assert scores[number] == float(game.score(state))


@pytest.mark.slow
def test_a_clone_from_a_file_of_games_is_chosen_by_points_with_itself(tmp_path):
    """From the file to the policy; points are kept after the third bomb, so that there is something to choose by."""
    save(tmp_path / "few.npz", [random_game(make("hanabi/2p"), seed, steps=8) for seed in range(6)])
    options = {
        "games": str(tmp_path / "few.npz"), "epochs": 2, "batch": 4, "chunk": 0, "rename": True, "episodes": 0,
        "select": "self_play", "select_games": 4,
    }  # fmt: skip
    network = Network("belief", widths=(8,), recurrent=4, cell="lstm", decoder=(8,))
    experiment = Experiment(GameChoice("hanabi/2p"), Algorithm("bc", options), runs=3, network=network)
    trained = train(experiment, quiet=True)
    told = np.array([line["self_play"] for line in trained.curve])
    assert told.shape == (2, 3)
    assert told.max() > 0
    assert trained.policies[0]["epoch"] == told[:, 0].argmax() + 1
    assert forgiving(make("hanabi/2p")).options == {"bomb": "keep"}
    missing = dataclasses.replace(experiment, algorithm=Algorithm("bc", options | {"games": "none.npz"}))
    with pytest.raises(InterplayError, match=r"there is no file of recorded games none\.npz"):
        train(missing, quiet=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dropout": 1.0}, "dropout: 1.0"),
        ({"select": "taste"}, "select: 'taste'; one of loss, self_play"),
        ({"select": "self_play"}, "goes with select_games"),
        ({"chunk": -1}, "chunk: -1; at least 0"),
    ],
)
def test_ways_of_cloning_that_cannot_be(options, message):
    with pytest.raises(InterplayError, match=message):
        Cloning(**options)


def test_games_are_one_persons_by_the_chain_of_earlier_games():
    """b follows a; c and d both follow a game that is not here; e follows nothing."""
    chain = {"a": None, "b": "a", "c": "gone", "d": "gone", "e": None}
    persons = _persons([{"id": id, "prev": prev} for id, prev in chain.items()])
    assert persons == [0, 0, 2, 2, 4]
    assert _persons([{"game": 1}, {"game": 2}]) == [None, None]


def test_everybody_is_learnt_in_games_of_three_people(tmp_path):
    """A data set in the challenge's form, imported, exported as recorded games and replayed."""
    game = make("hanabi/3p")
    one = random_game(game, seed=8)
    moves = np.full((1, 60, 3), len(game.action_names) - 1, np.int32)
    moves[0, : len(one.actions)] = one.actions
    arrays = {
        "game_ids": np.array([5]), "scores": np.array([_points(game, one)]), "num_players": np.array([3]),
        "num_actions": np.array([len(one.actions)]), "actions": moves,
        "decks": one.start["deck"][None].astype(np.int32),
    }  # fmt: skip
    save_file(arrays, tmp_path / "three.safetensors")
    import_traces("ah2ac2", tmp_path / "three.safetensors", tmp_path / "traces")
    export = ExportCommand(traces=tmp_path / "traces", to="recorded", out=tmp_path / "three.npz")
    export.run()
    games = load(tmp_path / "three.npz")
    assert games[0].learn == (True, True, True)
    again, direct = replayed(game, games, "belief"), replayed(game, [one], "belief")
    np.testing.assert_array_equal(again.seen, direct.seen)
    np.testing.assert_array_equal(again.turn, direct.turn)
    with pytest.raises(InterplayError, match="say where with --out"):
        ExportCommand(traces=tmp_path / "traces", to="recorded").run()
    with pytest.raises(InterplayError, match="for --to recorded"):
        ExportCommand(traces=tmp_path / "traces", to="csv", learn=("human",)).run()


def _points(game, one):
    """What is on the table when the record ends."""
    state = game.init(jax.random.key(0), **one.start)
    for row in one.actions:
        state, _ = game.step(state, jnp.asarray(row), jax.random.key(0))
    return int(game.score(state))


def test_only_the_seats_of_people_are_learnt():
    folder = os.environ.get("INTERPLAY_DATA")
    if not folder:
        pytest.skip("set INTERPLAY_DATA to the folder that holds hanabi_humans/ to replay games of people")
    episodes = list(islice(import_hanabi_data(Path(folder) / "hanabi_humans" / "games.jsonl.gz"), 24))
    games = recorded_games(episodes, ["human"])
    assert all(sum(one.learn or ()) == 1 for one in games)
    data = replayed(make("hanabi/2p"), games, "belief")
    assert data.games == len(games)
    moves = sum(len(one.actions) for one in games)
    assert 0.4 * moves < data.turn.sum() < 0.6 * moves
    with pytest.raises(InterplayError, match="nobody in these episodes is called robot"):
        recorded_games(episodes, ["robot"])
