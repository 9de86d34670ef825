"""The study of rankings on made-up agents."""

import pytest

from interplay.papers.zsc import rankings


def measures(tmp_path, reverse=False):
    """Interdependence by seed, cross-play by seed and partner, a human rank without either."""
    lines = ["agent,measure,value,seed,partner"]
    for i, agent in enumerate(("sp", "fcp 12", "mep 12", "hsp 24")):
        good = 3 - i if reverse else i
        lines += [f"{agent},interdependence,{10 * good + s},{s}," for s in range(3)]
        lines += [f"{agent},cross-play,{5 * good + s + p},{s},{p}" for s in range(3) for p in range(3)]
        lines += [f"{agent},human rank,{4 - i},,"]
    file = tmp_path / "measures.csv"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def brprox_table(tmp_path):
    lines = ["algorithm,population,seed,partner,skill,ego_seat,return,best_response_return"]
    for i, agent in enumerate(("sp,", "fcp,12", "mep,12", "hsp,24")):
        lines += [f"{agent},{s},{p},mid,0,{10 * i + s + p},40" for s in range(3) for p in range(3)]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def test_measures_and_br_prox_of_the_same_agents(tmp_path, capsys):
    out = tmp_path / "page.html"
    given = [measures(tmp_path, reverse=True), "--brprox", brprox_table(tmp_path), "--lower", "human rank",
             "--replicates", "200", "--out", str(out)]  # fmt: skip
    assert rankings.main(given) == 0
    told = capsys.readouterr().out
    assert "BR-Prox / return: Spearman 1.00 [1.00, 1.00]" in told
    assert "interdependence / BR-Prox: Spearman -1.00" in told
    assert "human rank / BR-Prox: Spearman 1.00" in told
    assert told.count("4 agents") == 15  # six measures
    assert "Ranks under each measure" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to rank"),
        (["{measures}", "--lower", "steps"], "no measure 'steps'"),
        (["{measures}", "--statistic", "iqm"], "write measure=iqm"),
        (["{table}"], "no column 'agent'"),
        (["gone.csv"], "no such file"),
    ],
)
def test_what_cannot_be_ranked_is_told(tmp_path, capsys, arguments, message):
    names = {"measures": measures(tmp_path), "table": brprox_table(tmp_path)}
    out = tmp_path / "page.html"
    assert rankings.main([*(a.format(**names) for a in arguments), "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()
