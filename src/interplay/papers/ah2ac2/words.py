"""What the results of learning in Hanabi say, in sentences that are only said if the data hold them."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from interplay.papers.ah2ac2.curves import at, returns
from interplay.papers.ah2ac2.formatting import steps
from interplay.papers.ah2ac2.kl_weight_ablation import clone_of, held_near
from interplay.papers.ah2ac2.published import INTRA_XP, POINTS, PROXIES
from interplay.papers.ah2ac2.stage_results import (
    LINES,
    StageResults,
    cells,
    intra_method,
    is_bot,
    method_of,
    split,
    trained_steps,
)

SHARED = 0.7  # of the mean of their scores with themselves: what two agents make together if they share a convention
WEAK = 3.0  # points with itself below which an agent has none to share


def findings(results: StageResults) -> list[str]:
    """Return sentences with numbers from the data, each only where it is true."""
    parts = [_of_steps(results), _of_speed(results), _of_people(results)]
    for players in (2, 3):
        parts += [_of_hold(results, players), _of_margins(results, players), _of_partners(results, players)]
        parts += [_of_conventions(results, players)]
    return [line for part in parts for line in part] + _of_belief(results) + _of_rewards(results)


def _of_steps(results: StageResults) -> list[str]:
    """Returns beside the published points of the same kind of network."""
    lines = []
    for stage, what in (("ippo_ff_2p", "JaxMARL, feed-forward"), ("ippo_rnn_2p", "JaxMARL, recurrent (S5)")):
        record, theirs = results.stages.get(stage), next(p for p in POINTS[2] if p.what == what)
        if record is None or not returns(record):
            continue
        reached, best = returns(record)[-1]
        there = at(record, theirs.steps)
        score = best if there is None else there
        kind = "Feed-forward" if stage == "ippo_ff_2p" else "Recurrent"
        above = "more" if score > theirs.score else "less"
        when = f"{steps(theirs.steps)} steps" if there is not None else f"{steps(reached)} steps"
        lines.append(
            f"- {kind} IPPO returns {score:.1f} after {when}: {above} than the {theirs.score} of {what} at "
            f"{steps(theirs.steps)}. Published scores of 24 and more took 1e10 steps."
        )
    return lines


def _of_speed(results: StageResults) -> list[str]:
    rows = [r for r in results.speed.get("rows", []) if "times_jaxmarl" in r]
    plain = [r for r in rows if r["configuration"].startswith("ff")]
    memory = [r for r in rows if r["configuration"].startswith(("lstm", "gru", "mingru"))]
    speeds = []
    for kind, mine in (("without memory", plain), ("recurrent", memory)):
        if mine:
            best = max(mine, key=lambda r: r["times_jaxmarl"])
            speeds.append(f"{best['times_jaxmarl']:.1f} times as fast {kind} ({best['configuration']})")
    return [f"- Beside JaxMARL's feed-forward IPPO at its sizes, PPO here is {' and '.join(speeds)}."] if speeds else []


def _of_people(results: StageResults) -> list[str]:
    """Return which kind of agent predicts people best."""
    lines = []
    for players, foreseen in results.people.items():
        rows = {name: one for name, one in foreseen["policies"].items() if name != "random"}
        kinds = {
            "clone": [n for n in rows if method_of(n).startswith("bc")],
            "proxy": [n for n in rows if n in results.proxies[players]],
            "H-Group bot with lapses": [n for n in rows if n.startswith("hanabi/hgroup-")],
            "rule bot": [n for n in rows if is_bot(n) and not n.startswith("hanabi/hgroup-")],
        }
        named = {n for names in kinds.values() for n in names}
        kinds["other trained agent"] = [n for n in rows if n not in named]
        best_of: list[str] = []
        for kind, names in kinds.items():
            if names:
                best = min(names, key=lambda n: rows[n]["cross_entropy"]["mean"])
                nats, right = rows[best]["cross_entropy"]["mean"], rows[best]["accuracy"]["mean"]
                best_of.append(f"{kind} {nats:.2f} nats and {right:.2f} ({best})")
        chance = foreseen["policies"].get("random")
        beside = f"; at random {chance['cross_entropy']['mean']:.2f}" if chance else ""
        lines.append(
            f"- The best of each kind at foreseeing people of {players} players: {', '.join(best_of)}{beside}."
        )
    return lines


def _of_hold(results: StageResults, players: int) -> list[str]:
    """Return how HDR-IPPO's weight changes the score and the prediction of people."""
    evaluation = results.evaluation.get(players, {})
    people, alone = evaluation.get("foreseen", {}), evaluation.get("self_play", {})
    names = {weight: n for weight, n in held_near(results, players).items() if n in people}
    if len(names) < 2 or f"hdr_{players}p" not in results.stages:
        return []
    loss, score = (
        [people[n]["cross_entropy"]["mean"] for n in names.values()],
        [alone[n]["mean"] for n in names.values()],
    )
    weights = list(names)
    best = int(np.argmax(score))
    whom = "people" if players == 2 else "the bots that its clone is of"
    lines = [
        f"- HDR-IPPO at {players} players, {steps(trained_steps(results.stages[f'hdr_{players}p']))} steps: from λ = "
        f"{weights[0]:g} to {weights[-1]:g} the score with itself goes from {score[0]:.1f} to {score[-1]:.1f} (most "
        f"at λ = {weights[best]:g}, {score[best]:.1f}), the nats at which {whom} are predicted from {loss[0]:.2f} to "
        f"{loss[-1]:.2f}."
    ]
    if all(a >= b for a, b in pairwise(loss)):
        lines[0] += " The nearer to the clone, the better the prediction, in every step of λ."
    crossed = evaluation.get("ablation", {}).get(f"hdr_{players}p")
    clone = clone_of(results, players)
    if crossed and clone:
        column = crossed["agents"].index(clone)
        with_clone = {a: crossed["mean"][i][column] for i, a in enumerate(crossed["agents"]) if a != clone}
        most = max(with_clone, key=lambda a: with_clone[a])
        own = crossed["mean"][column][column]
        scores = f"({with_clone[most]:.1f}; the clone with itself {own:.1f})"
        lines[0] += f" With its clone λ = {most.split('/')[1]} does best {scores}."
    return lines


def _of_margins(results: StageResults, players: int) -> list[str]:
    """Return which λ predict people as well as the paper's proxies do, and score more than their clone."""
    evaluation = results.evaluation.get(players, {})
    people, alone, clone = evaluation.get("foreseen", {}), evaluation.get("self_play", {}), clone_of(results, players)
    if clone is None or clone not in people or not held_near(results, players):
        return []
    less = max(-p.accuracy_change for p in PROXIES[players])
    more = players * max(p.loss_change for p in PROXIES[players])
    near = []
    for weight, name in held_near(results, players).items():
        if name not in people:
            continue
        falls = people[clone]["accuracy"]["mean"] - people[name]["accuracy"]["mean"]
        rises = people[name]["cross_entropy"]["mean"] - people[clone]["cross_entropy"]["mean"]
        if falls <= less and rises <= more and alone[name]["mean"] > alone[clone]["mean"]:
            near.append(f"λ = {weight:g} (accuracy {-falls:+.3f}, {rises:+.2f} nats, score {alone[name]['mean']:.1f})")
    margin = f"accuracy no more than {less:.2f} below the clone's and at most {more:.2f} nats above it"
    if not near:
        return [f"- At {players} players no weight wins more than its clone within the published margins ({margin})."]
    beside = f"and better with themselves than the clone ({alone[clone]['mean']:.1f})"
    return [f"- At {players} players, within the published margins ({margin}) {beside}: {', '.join(near)}."]


def _learned(mean: dict[tuple[str, str], float]) -> list[str]:
    return [a for a, b in mean if a == b and not is_bot(a)]


def _of_partners(results: StageResults, players: int) -> list[str]:
    """Return the share of its self-play score that an agent keeps with other agents."""
    mean = cells(results, players)
    strong = [a for a in _learned(mean) if mean[a, a] >= WEAK]
    kept = {}
    for a in strong:
        others = [mean[a, b] for b in strong if b != a]
        if others:
            kept[a] = float(np.mean(others)) / mean[a, a]
    if len(kept) < 2:
        return []
    shares = ", ".join(f"{a} {100 * v:.0f} %" for a, v in sorted(kept.items(), key=lambda x: -x[1]))
    lines = [f"- At {players} players, of its score with itself an agent keeps with the other learned ones: {shares}."]
    most = max(kept, key=lambda a: kept[a])
    if most.startswith("obl"):
        lines[0] += f" {most} keeps most: its moves rest on no agreement, as they should."
    return lines + _of_clones(players, mean) + _of_proxies(results, players, mean) + _of_bots(players, mean)


def _of_clones(players: int, mean: dict[tuple[str, str], float]) -> list[str]:
    clones = [a for a in _learned(mean) if method_of(a).startswith("bc")]
    scores = {a: float(np.mean([mean[a, c] for c in clones])) for a in _learned(mean) if a not in clones and clones}
    if not scores:
        return []
    order = ", ".join(f"{a} {v:.1f}" for a, v in sorted(scores.items(), key=lambda x: -x[1])[:4])
    own = float(np.mean([mean[c, c] for c in clones]))
    whose = "people" if players == 2 else "people of games of two"
    return [f"- At {players} players, with clones of {whose} ({own:.1f} with themselves), do best: {order}."]


def _of_proxies(results: StageResults, players: int, mean: dict[tuple[str, str], float]) -> list[str]:
    proxies = [p for p in results.proxies[players] if (p, p) in mean]
    others = [a for a in _learned(mean) if a not in proxies]
    scores = {a: float(np.mean([mean[a, p] for p in proxies])) for a in others} if proxies else {}
    if not scores:
        return []
    order = ", ".join(f"{a} {v:.1f}" for a, v in sorted(scores.items(), key=lambda x: -x[1])[:5])
    own = ", ".join(f"{p} {mean[p, p]:.1f}" for p in proxies)
    return [f"- With the proxies of {players} players ({own} with themselves) do best: {order}."]


def _of_bots(players: int, mean: dict[tuple[str, str], float]) -> list[str]:
    bots, learned = [a for a, b in mean if a == b and is_bot(a)], _learned(mean)
    if not bots or not learned:
        return []
    a, b = max(((a, b) for a in learned for b in bots), key=lambda pair: mean[pair])
    return [
        f"- No learned agent of {players} players scores more than {mean[a, b]:.1f} with a rule bot ({a} with {b})."
    ]


def _of_conventions(results: StageResults, players: int) -> list[str]:
    """Return groups of agents in which every pair scores nearly what its members score in self-play."""
    mean = cells(results, players)
    strong = [a for a, b in mean if a == b and mean[a, a] >= WEAK]
    if len(strong) < 2:
        return []

    def share(a: str, b: str) -> float:
        return (mean[a, b] + mean[b, a]) / (mean[a, a] + mean[b, b])

    groups: list[list[str]] = [[a] for a in strong]
    for a, b in sorted(combinations(strong, 2), key=lambda pair: -share(*pair)):
        one, other = (next(g for g in groups if x in g) for x in (a, b))
        if one is not other and all(share(x, y) >= SHARED for x in one for y in other):
            groups = [g for g in groups if g is not one and g is not other] + [one + other]
    large = sorted(
        (sorted(g, key=strong.index) for g in groups if len(g) > 1), key=lambda g: (-len(g), strong.index(g[0]))
    )
    alone = [a for a in strong if [a] in groups]
    named = "; ".join(", ".join(g) for g in large) or "none"
    apart = f" By themselves: {', '.join(alone)}." if alone else ""
    how = f"every pair of a group makes at least {100 * SHARED:.0f} % of the mean of what the two make with themselves"
    lines = [f"- Agents of {players} players that share conventions, or need none ({how}): {named}.{apart}"]
    for pair in intra_method(results, players):
        method = method_of(pair.names[0])
        if pair.alone < WEAK or method in ("bc", "bc_turns", "hdr"):
            continue
        after = f", {steps(pair.steps)} steps each" if pair.steps else ""
        theirs = f"; published {INTRA_XP[method]}" if players == 2 and method in INTRA_XP else ""
        lines.append(
            f"- Two runs of one method: {' and '.join(pair.names)} make {pair.mean:.1f} ± {pair.half_width:.1f} "
            f"together ({pair.games} games{after}{theirs}), {pair.alone:.1f} each with itself."
        )
    return lines


def _of_belief(results: StageResults) -> list[str]:
    """Return how much the moves of the level before tell a seat of its own cards."""
    record = results.stages.get("obl_belief_2p")
    last = record["curve"][-1] if record else {}
    if "nats_a_card" not in last:
        return []
    nats = f"{last['nats_a_card']:.3f} nats a card, {last['nats_by_copies']:.3f} by copies left and hints alone"
    return [f"- The belief of OBL-2 knows own cards at {nats}: the difference is what the moves of OBL-1 tell."]


def _of_rewards(results: StageResults) -> list[str]:
    """Return whether a metric that was rewarded changed in the rewarded direction."""
    lines = []
    for stage, record in results.stages.items():
        if split(stage)[0].startswith("metric_rewards"):
            lines += _moved(
                record, "on the small deck" if record["config"]["game"].get("options") else "in the full game"
            )
    return lines


def _moved(record: dict, where: str) -> list[str]:
    options, lines = record["config"]["algorithm"]["options"], record["curve"][-LINES:]
    names = [name for name in options["variants"] for _ in range(options.get("seeds", 1))]

    def value(variant: str, column: str) -> float:
        mine = [i for i, name in enumerate(names) if name == variant]
        return float(np.mean([line[column][i] for line in lines for i in mine if line[column][i] is not None]))

    plain = next((v for v, paid in options["variants"].items() if not paid), None)
    single = {v: paid for v, paid in options["variants"].items() if paid and len({x > 0 for x in paid.values()}) == 1}
    if plain is None:
        return []
    moved = []
    for variant, paid in single.items():
        if all((value(variant, f"{m}s") - value(plain, f"{m}s")) * price > 0 for m, price in paid.items()):
            change = value(variant, "returns") - value(plain, "returns")
            moved.append(f"{variant} (score {change:+.1f})")
    if not moved:
        return []
    many = f"in {len(moved)} of {len(single)} variants: {', '.join(moved)}"
    few = f"With {options.get('seeds', 1)} seeds, changes of the score below about one point say nothing."
    return [f"- Paid metrics move as they are paid to {where}, {many}. {few}"]
