"""HDR-IPPO by the weight of its clone: the challenge's Tables 13 and 14, its Figure 5, and the distance at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.papers.ah2ac2.formatting import interval, number, steps
from interplay.papers.ah2ac2.published import ABLATION, ABLATION_SELF_PLAY, ABLATION_STEPS, PEOPLE, PROXIES
from interplay.papers.ah2ac2.stage_results import LINES, StageResults, trained_steps
from interplay.papers.page_formatting import grid


def held_near(results: StageResults, players: int) -> dict[float, str]:
    """λ -> the policy's name, in order."""
    names = results.evaluation.get(players, {}).get("self_play", {})
    mine = {float(n.split("/")[1]): n for n in names if n.startswith(f"hdr_{players}p/")}
    return dict(sorted(mine.items()))


def clone_of(results: StageResults, players: int) -> str | None:
    """The clone that they were held near."""
    agents = results.evaluation.get(players, {}).get("ablation", {}).get(f"hdr_{players}p", {}).get("agents", [])
    return next((a for a in agents if a.startswith("bc")), None)


def distance(results: StageResults, players: int) -> dict[float, float]:
    """λ -> KL(clone || policy) in nats a decision, over the end of training."""
    record = results.stages.get(f"hdr_{players}p")
    if record is None:
        return {}
    hold = record["config"]["algorithm"]["options"].get("hold", [0.25])
    lines = [line["anchor_kls"] for line in record["curve"][-LINES:] if line.get("anchor_kls")]
    if not lines:
        return {}
    ends = np.mean(lines, axis=0)
    return {float(hold[i % len(hold)]): float(value) for i, value in enumerate(ends)}


def ablation(results: StageResults, players: int) -> list[str]:
    """Return HDR-IPPO by the weight of its clone, beside the paper."""
    evaluation = results.evaluation.get(players, {})
    names, clone = held_near(results, players), clone_of(results, players)
    if not names:
        return []
    record = results.stages.get(f"hdr_{players}p")
    length = f"{steps(trained_steps(record))} steps each" if record else "steps unknown"
    people = "people" if players == 2 else "the H-Group bots (none of three people are here)"
    theirs = (
        f"Published rows (a clone of 101,096 games, {steps(ABLATION_STEPS)} steps) stand in round brackets; "
        "their losses are means over all steps, so that they are given times two."
        if players == 2
        else "The paper has no ablation of three players."
    )
    about = f"{length}, begun with the clone {clone or 'of its run'}, all in one compiled program. {theirs}"
    lines = [f"## HDR-IPPO by the weight of its clone, {players} players", "", about, ""]
    lines += _self_play(evaluation, names, clone, players) + _held_out(evaluation, names, clone, players, people)
    return lines + _matrix(evaluation, players) + _distance(results, players)


def _published(weight: float | None, players: int) -> Any:
    return ABLATION.get(weight) if players == 2 else None


def _row_names(names: dict[float, str], clone: str | None) -> list[tuple[float | None, str, str]]:
    rows: list[tuple[float | None, str, str]] = [] if clone is None else [(None, "BC", clone)]
    return rows + [(weight, f"λ = {weight:g}", name) for weight, name in names.items()]


def _self_play(evaluation: dict[str, Any], names: dict[float, str], clone: str | None, players: int) -> list[str]:
    rows, games = [], 0
    for weight, label, name in _row_names(names, clone):
        one = evaluation["self_play"].get(name)
        if one is None:
            continue
        theirs, games = _published(weight, players), one["games"]
        score = f"{one['mean']:.2f} ± {1.96 * one['se']:.2f}"
        counted = [round(one["perfect"] * games), round(one["zero"] * games), round(one["min"])]
        printed = [None] * 3 if theirs is None else [theirs.perfect, theirs.zero, theirs.least]
        row: list[Any] = [label, score, *counted]
        if players == 2:
            row[1] += f" ({ABLATION_SELF_PLAY[weight]})" if weight in ABLATION_SELF_PLAY else ""
            row[2:] = [f"{a} ({'–' if b is None else b})" for a, b in zip(counted, printed)]
        rows.append(row)
    about = f"Self-play by likeliest moves, {games:,} games each" + (" (published: 5,000)." if players == 2 else ".")
    return [about, "", *grid(["", "mean score", "perfect", "zero", "least"], rows)]


def _held_out(
    evaluation: dict[str, Any], names: dict[float, str], clone: str | None, players: int, who: str
) -> list[str]:
    people, rows = evaluation.get("foreseen", {}), []
    for weight, label, name in _row_names(names, clone):
        one, theirs = people.get(name), _published(weight, players)
        if one is None:
            continue
        row = [label, *(interval(one[what]) for what in ("cross_entropy", "accuracy", "top_10_percent"))]
        row.append(interval(one["top_20_percent"]))
        if theirs is not None:
            row[1] += f" ({2 * theirs.loss:.3f})"
            row[2] += f" ({theirs.accuracy:.3f})"
        rows.append(row)
    if not rows:
        return []
    about = f"Decisions of {who} in games that the clone never saw: nats each, and shares; 95 % intervals over games."
    return [about, "", *grid(["", "cross-entropy", "accuracy", "top 10 %", "top 20 %"], rows)]


def _matrix(evaluation: dict[str, Any], players: int) -> list[str]:
    crossed = evaluation.get("ablation", {}).get(f"hdr_{players}p")
    if not crossed:
        return []
    short = ["BC" if a.startswith("bc") else f"λ {a.split('/')[1]}" for a in crossed["agents"]]
    rows = [
        [a, *(f"**{v:.1f}**" if i == j else f"{v:.1f}" for j, v in enumerate(crossed["mean"][i]))]
        for i, a in enumerate(short)
    ]
    seats = "either seat" if players == 2 else "one seat of three, with the column's agent in the others"
    about = f"Cross-play, {crossed['games']} games a team: the row's agent in {seats}."
    return [about, "", *grid(["", *short], rows)]


def _distance(results: StageResults, players: int) -> list[str]:
    ends = distance(results, players)
    if not ends:
        return []
    each = ", ".join(f"{value:.3f} (λ = {weight:g})" for weight, value in ends.items())
    return [f"KL(clone || policy) at the end of training, nats a decision of its own games: {each}.", ""]


def proxies(results: StageResults, players: int) -> list[str]:
    """Our proxies beside the published ones: Tables 2, 3 and 4 of the challenge."""
    evaluation, alike = results.evaluation.get(players, {}), results.likeness.get(players, {})
    names, clone = held_near(results, players), clone_of(results, players)
    rows: list[list[Any]] = []
    if alike:
        people = alike["people"]
        who = "people of the data" if players == 2 else f"{people.get('who', 'bots')}, of which the clone is"
        rows.append([who, *["–"] * 4, number(people["ipp"]), number(people["communicativeness"])])
    for _, label, name in _row_names(names, clone):
        rows.append([label, *_proxy(evaluation, alike, name)])
    for name in sorted(n for n in evaluation.get("self_play", {}) if n.startswith("hdr_proxies_")):
        rows.append([f"λ = {name.split('/')[1]}, from another clone", *_proxy(evaluation, alike, name)])
    if len(rows) < 2:
        return []
    ipp, talk = PEOPLE[players]
    rows.append(["*people, published*", *["–"] * 4, number(ipp), number(talk)])
    for one in PROXIES[players]:
        shares = [number(players * one.loss), number(one.accuracy), f"{one.top_10:.2f}, {one.top_20:.2f}"]
        rest = [number(one.ipp), number(one.communicativeness)]
        rows.append(["*human proxy, published*", number(one.self_play), *shares, *rest])
    head = ["", "self-play", "cross-entropy", "accuracy", "top 10 %, 20 %", "IPP", "communicativeness"]
    about = (
        "IPP: of colour and rank, the share that hints had told of the cards played. Communicativeness: of the turns "
        "with a token, the share with a hint: ours sampled, with themselves, points kept after the third bomb. "
        "Published losses times the players."
    )
    return [f"## Likeness, {players} players", "", about, "", *grid(head, rows)]


def _proxy(evaluation: dict[str, Any], alike: dict[str, Any], name: str) -> list[str]:
    alone, people = evaluation["self_play"].get(name), evaluation.get("foreseen", {}).get(name)
    mine = alike.get("clones", {}).get(name, {})
    first = number(alone["mean"]) if alone else "–"
    cells = ["–"] * 3
    if people:
        both = f"{people['top_10_percent']['mean']:.2f}, {people['top_20_percent']['mean']:.2f}"
        cells = [number(people["cross_entropy"]["mean"]), number(people["accuracy"]["mean"]), both]
    return [first, *cells, number(mine.get("ipp")), number(mine.get("communicativeness"))]
