"""Files are checked, line-ups are complete, schedules uniform."""

import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.challenge.leaderboard import visible
from interplay.challenge.schedule import chance, line_ups, schedule
from interplay.challenge.spec import load
from interplay.errors import InterplayError
from tests.challenge.conftest import SMALL, challenge

SHIPPED = sorted((Path(__file__).parent.parent.parent / "challenges").glob("*.yaml"))


def test_line_ups_of_the_published_challenge():
    """Two proxies: 4 line-ups of two players, 18 of three; every seating, never the candidate alone, never without."""
    assert len(line_ups(2, 2)) == 4
    assert len(line_ups(3, 2)) == 18
    assert len(line_ups(3, 2, several_seats=False)) == 12
    for seats, partners in ((2, 2), (3, 2), (4, 3)):
        found = line_ups(seats, partners)
        assert len(set(found)) == len(found) == (partners + 1) ** seats - partners**seats - 1
        assert all(None in line_up and set(line_up) != {None} for line_up in found)
    with pytest.raises(InterplayError, match="too many line-ups"):
        line_ups(5, 30)


@settings(max_examples=40, deadline=None)
@given(seats=st.integers(2, 4), partners=st.integers(1, 4), games=st.integers(1, 400), secret=st.binary(max_size=40))
def test_counts_differ_by_at_most_one_at_any_time(seats, partners, games, secret):
    choices = line_ups(seats, partners)
    found = schedule(choices, games, secret)
    assert len(found) == games
    assert found == schedule(choices, games, secret)
    for so_far in {games, games // 2 + 1, 1}:
        counts = Counter(found[:so_far])
        assert max(counts.values()) - min(counts.get(i, 0) for i in range(len(choices))) <= 1


def test_the_full_budget_is_uniform():
    for seats in (2, 3):
        choices = line_ups(seats, 2)
        counts = Counter(schedule(choices, 1000, b"secret"))
        assert sorted(set(counts.values())) == ([250] if seats == 2 else [55, 56])
        assert sum(counts.values()) == 1000


def test_secrets_decide_orders_and_decks():
    choices = line_ups(3, 2)
    assert schedule(choices, 36, b"a") != schedule(choices, 36, b"b")
    seen = {chance(s, setting, n, a) for s in (b"a", b"b") for setting in ("2p", "3p") for n in (0, 1) for a in (1, 2)}
    assert len(seen) == 16


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_shipped_challenges_are_sound(path):
    found = load(path)
    assert found.settings
    assert len(found.hash) == 16


def test_shipped_ones_are_there():
    assert {p.stem for p in SHIPPED} >= {"hanabi_demo", "hanabi_proxies", "overcooked_demo"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"settings": []}, "settings"),
        ({"settings": [{"name": "a", "game": "hanabi/2p", "games": 1}]}, "either `partners` or a `panel`"),
        ({"settings": [{"name": "a b", "game": "hanabi/2p", "partners": ["random"], "games": 1}]}, "settings.0.name"),
        ({"settings": [SMALL["settings"][0]] * 2}, "two settings have the same name"),
        ({"phases": [{"name": "x", "opens": "2026-01-01T00:00:00"}]}, "with its zone"),
        ({"leaderboard": {"order_by": "5p"}}, "no setting '5p'"),
        ({"prediction": [{"setting": "2p"}]}, "either `traces` or `agents`"),
        ({"unknown": 1}, "unknown"),
        ({"rules": {"move_deadline_s": 0}}, "move_deadline_s"),
    ],
)
def test_bad_files_are_told_apart(tmp_path, change, told):
    import yaml

    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump(SMALL | change))
    with pytest.raises(InterplayError) as error:
        load(path)
    assert told in str(error.value)
    assert "bad.yaml" in str(error.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(InterplayError, match="cannot read"):
        load(tmp_path / "none.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(InterplayError, match="no challenge"):
        load(tmp_path / "list.yaml")
    (tmp_path / "broken.yaml").write_text("a: [")
    with pytest.raises(InterplayError, match="not YAML"):
        load(tmp_path / "broken.yaml")


def test_the_hash_follows_the_file_but_not_its_secrets():
    assert challenge().hash == challenge().hash != challenge(title="Other").hash
    others = [dict(s, partners=["stay"]) for s in SMALL["settings"]]
    assert challenge(settings=others).hash == challenge().hash


def test_who_sees_what_and_when():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    end = start + timedelta(days=1)
    for before, after in itertools.product(("host", "owner", "public"), repeat=2):
        phase = {"name": "p", "opens": start, "closes": end, "results": before, "results_after": after}
        held = challenge(phases=[phase])
        for now, level in ((start, before), (end, after)):
            assert visible(held, "p", now, owner=False) == (level == "public")
            assert visible(held, "p", now, owner=True) == (level in ("owner", "public"))
    phase = held.phases[0]
    assert [phase.is_open(t) for t in (start - timedelta(seconds=1), start, end)] == [False, True, False]
