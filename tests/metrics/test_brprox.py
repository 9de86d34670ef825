"""BR-Prox, cell by cell: ratios, seatings, and input that cannot be used."""

import gzip

import pytest

from interplay.errors import InterplayError
from interplay.metrics.brprox.ratios import cells, ego_seats_beside, partner_seat_sets
from interplay.metrics.brprox.table import read_table
from interplay.table import Table

HEADER = "algorithm,population,seed,partner,skill,ego_seat,return,best_response_return"


def written(tmp_path, *lines, header=HEADER, name="table.csv"):
    file = tmp_path / name
    file.write_text("\n".join([header, *lines]) + "\n")
    return file


def test_partner_seat_sets_of_three_seats():
    assert partner_seat_sets(2) == [(0,), (1,)]
    assert partner_seat_sets(3) == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    for seats in range(2, 7):
        sets = partner_seat_sets(seats)
        assert len(sets) == len(set(sets)) == 2**seats - 2
        for chosen in sets:
            ego = ego_seats_beside(chosen, seats)
            assert ego
            assert not set(ego) & set(chosen)
            assert sorted([*ego, *chosen]) == list(range(seats))
    with pytest.raises(InterplayError, match="at least 2"):
        partner_seat_sets(1)
    with pytest.raises(InterplayError, match="1 to 2 different seats"):
        ego_seats_beside((0, 1, 2), 3)


def three_seats(skip=()):
    """Returns and best responses for every set of partner seats of a three-seat game."""
    sets = [s for s in partner_seat_sets(3) if s not in skip]
    best = [{"partner": "p", "partner_seats": s, "return": 10.0 * (1 + len(s))} for s in sets]
    got = [{"algorithm": "a", "seed": 0, "partner": "p", "partner_seats": s, "return": 10.0} for s in sets]
    return got, best


def test_each_set_of_partner_seats_has_its_own_best_response():
    found = cells(*three_seats(), seats=3)
    ratio = {row["ego_seats"]: row["ratio"] for row in found.table}
    # one partner: the ego fills two seats and the best response returns 20; two partners: one seat and 30
    assert ratio == {"1+2": 0.5, "0+2": 0.5, "0+1": 0.5, "2": pytest.approx(1 / 3), "1": pytest.approx(1 / 3),
                     "0": pytest.approx(1 / 3)}  # fmt: skip
    assert found.notes == ()


def test_a_seating_that_is_missing_is_told():
    (note,) = cells(*three_seats(skip=[(0, 2)]), seats=3).notes
    assert note == "partner p has no cells with the ego in seats 1"


def test_partner_seats_need_the_number_of_seats():
    got, best = three_seats()
    with pytest.raises(InterplayError, match="how many seats the game has"):
        cells(got, best)
    with pytest.raises(InterplayError, match=r"row 1: partner_seats is .* of 2, not all"):
        cells([got[-1]], best, seats=2)


def test_both_ways_of_counting(tmp_path):
    file = written(tmp_path, "sp,,1,1,mid,0,50,100", "sp,,1,1,mid,1,30,20", "sp,,1,2,mid,0,0,0", "sp,,1,2,mid,1,-10,20")
    rows = read_table(file).table.rows
    assert [r["ratio"] for r in rows] == [0.5, 1.5, None, -0.5]
    assert [r["compatible"] for r in rows] == [0.5, 1.0, 1.0, -0.5]
    assert [r["honest"] for r in rows] == [0.5, 1.0, None, -0.5]


def test_episodes_are_averaged_and_their_spread_kept():
    got = [
        {"algorithm": "a", "seed": 0, "partner": 1, "ego_seat": 0, "episode": e, "return": v}
        for e, v in enumerate([10.0, 20.0, 30.0])
    ]
    best = [{"partner": 1, "ego_seat": 0, "return": 40.0, "low": 30.2, "high": 49.8}]
    (row,) = cells(got, Table.of(best)).table.rows
    assert row["ratio"] == 0.5
    assert row["episodes"] == 3
    assert row["return_se"] == pytest.approx(10 / 3**0.5)
    assert row["best_response_se"] == pytest.approx(5.0, abs=1e-3)


def test_whole_numbers_of_a_file_become_numbers_and_names_given_stay(tmp_path):
    file = written(tmp_path, "fcp,12,1,1,mid,0,5,10", "fcp,12.0,2,1,mid,0,5,10", "sp,,1,007,mid,0,5,10")
    rows = read_table(file).table.rows
    assert [r["population"] for r in rows] == [12, 12, None]
    assert [r["partner"] for r in rows] == [1, 1, "007"]
    got = [{"algorithm": "a", "seed": 1.0, "partner": "12", "ego_seat": 0, "return": 1.0}]
    (row,) = cells(got, [{"partner": "12", "ego_seat": "0", "return": 2.0}]).table.rows
    assert (row["partner"], row["seed"], row["ego_seats"]) == ("12", 1, "0")


def test_gzip_and_several_tables(tmp_path):
    lines = ["a,,1,1,mid,0,5,10", "a,,2,1,mid,0,5,10"]
    plain = written(tmp_path, *lines, name="ring.csv")
    packed = tmp_path / "circuit.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes().replace(b",10", b",20")))
    assert len(read_table(packed).table) == 2
    both = read_table(plain, packed).table
    assert [(r["layout"], r["ratio"]) for r in both] == [("ring", 0.5)] * 2 + [("circuit", 0.25)] * 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "no rows"),
        (["a,,1,1,mid,0,5,10", "a,,2,1,mid,0,nan,10"], "table.csv, line 3: return is nan"),
        (["a,,1,1,mid,0,inf,10"], "table.csv, line 2: return is inf"),
        (["a,,1,1,mid,0,,10"], "table.csv, line 2: return is empty"),
        (["a,,1,1,mid,0,many,10"], "table.csv, line 2: return is 'many', not a number"),
        (["a,,1,1,mid,0,5,none"], "table.csv, line 2: best_response_return is 'none', not a number"),
        (["a,,1,1,mid,left,5,10"], "table.csv, line 2: ego_seat is 'left'; seats are whole numbers"),
        (["a,,1,1,mid,-1,5,10"], "table.csv, line 2: ego_seat is '-1'; give different seats"),
        ([",,1,1,mid,0,5,10"], "table.csv, line 2: algorithm is empty"),
        (["a,,,1,mid,0,5,10"], "table.csv, line 2: seed is empty"),
        (["a,,1,1,mid,0,5"], "line 2: 7 fields, the first line names 8 columns"),
        (["a,,1,1,mid,0,5,10", "b,,1,1,mid,0,5,10", "a,,1,1,mid,0,6,10"],
         "table.csv, line 2 and table.csv, line 4: the same cell twice"),
        (["a,,1,1,mid,0,5,10", "b,,1,1,mid,0,5,11"], "returns 10 in one and 11 in the other"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_told_with_its_line(tmp_path, lines, message):
    with pytest.raises(InterplayError, match=message.replace("(", r"\(")):
        read_table(written(tmp_path, *lines))


def test_wrong_files(tmp_path):
    with pytest.raises(InterplayError, match="columns needed are best_response_return; there are"):
        read_table(written(tmp_path, "a,1,1,0,5", header="algorithm,seed,partner,ego_seat,return"))
    header = "algorithm,seed,partner,return,best_response_return"
    with pytest.raises(InterplayError, match="one of ego_seat, ego_seats, partner_seats"):
        read_table(written(tmp_path, "a,1,1,5,10", header=header))
    with pytest.raises(InterplayError, match="'seed' stands twice"):
        read_table(written(tmp_path, "a,1,1", header="algorithm,seed,seed"))
    with pytest.raises(InterplayError, match="no such file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(InterplayError, match="is a folder"):
        read_table(tmp_path)
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(InterplayError, match="is empty"):
        read_table(empty)
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(gzip.compress(b"algorithm,seed\n" * 50)[:-12])
    with pytest.raises(InterplayError, match="cannot read"):
        read_table(broken)


def test_returns_without_a_ruler_and_rulers_that_contradict():
    got = [{"algorithm": "a", "seed": 0, "partner": 1, "ego_seat": 0, "return": 1.0}]
    with pytest.raises(InterplayError, match=r"1 of 1 returns have no best response.*row 1 \(partner 1, ego seats 0\)"):
        cells(got, [{"partner": 2, "ego_seat": 0, "return": 1.0}])
    with pytest.raises(InterplayError, match="the same cell twice in the best responses"):
        cells(got, [{"partner": 1, "ego_seat": 0, "return": 1.0}, {"partner": 1, "ego_seat": 0, "return": 2.0}])
    with pytest.raises(InterplayError, match="lies outside its interval"):
        cells(got, [{"partner": 1, "ego_seat": 0, "return": 9.0, "low": 1.0, "high": 2.0}])
    two = [got[0] | {"seed": s, "self_play_return": 3.0 + s} for s in (0, 1)]
    with pytest.raises(InterplayError, match=r"self-play returns 3 .* and 4"):
        cells(two, [{"partner": 1, "ego_seat": 0, "return": 1.0}])


def test_unequal_sets_of_partners_are_told(tmp_path):
    file = written(tmp_path, "a,,1,1,mid,0,5,10", "a,,1,2,mid,0,5,10", "b,12,1,1,mid,0,5,10")
    (note,) = read_table(file).notes
    assert note.startswith("b 12 met 1 of 2 partners and seatings")
