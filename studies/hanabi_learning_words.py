"""What the results of learning in Hanabi say, in sentences that are only said if the data hold them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hanabi_learning_data import LINES, Found, method_of, pairs, split, trained_steps


def findings(found: Found) -> list[str]:
    """Sentences whose numbers come from the data, each said only if it holds."""
    return [*_of_steps(found), *_of_hold(found), *_of_partners(found), *_of_rewards(found)]


def _of_steps(found: Found) -> list[str]:
    told = found.stages.get("ippo_ff_2p")
    best = max((r for r in (told or {"curve": [{}]})["curve"][-1].get("returns") or [] if r is not None), default=0.0)
    if told is None or trained_steps(told) > 1e9 or best < 15.78:
        return []
    here = f"- Feed-forward IPPO returns {best:.1f} after {trained_steps(told):.1g} steps"
    return [f"{here}; JaxMARL's published curve has 15.78 at 1e9. It is far from the 24.18 of 1e10 steps."]


def _of_hold(found: Found) -> list[str]:
    """HDR-IPPO: the nearer to the clone, the better people are predicted and the less is won."""
    held = found.evaluation.get(2, {})
    people, alone = held.get("foreseen", {}), held.get("self_play", {})
    names = sorted((n for n in alone if n.startswith("hdr_2p/") and n in people), key=lambda n: float(n.split("/")[1]))
    loss, score = [people[n]["cross_entropy"]["mean"] for n in names], [alone[n]["mean"] for n in names]
    falls = all(a > b for values in (loss, score) for a, b in pairwise(values))
    if len(names) < 2 or not falls or "hdr_2p" not in found.stages:
        return []
    each = ", ".join(
        f"{n.split('/')[1]} scores {s:.1f} with itself and predicts people at {x:.2f} nats"
        for n, s, x in zip(names, score, loss)
    )
    steps = trained_steps(found.stages["hdr_2p"])
    return [f"- HDR-IPPO by the weight of its clone: {each}, after no more than {steps:.1g} steps."]


def _of_partners(found: Found) -> list[str]:
    """How much of its self-play an agent keeps with others: what does not rest on agreement is kept."""
    cells: dict[tuple[str, str], list[float]] = {}
    for a, b, mean in pairs(found, 2):
        cells.setdefault((a, b), []).append(mean)
    mean = {key: float(np.mean(values)) for key, values in cells.items()}
    clones = [a for a, b in mean if a == b and method_of(a) == "bc"]
    learnt = [a for a, b in mean if a == b and not a.startswith("hanabi/") and a not in clones]
    kept = {}
    for a in learnt:
        others = [mean[a, b] for b in learnt if b != a]
        if others and mean[a, a] > 0:
            kept[a] = float(np.mean(others)) / mean[a, a]
    if len(kept) < 2:
        return []
    shares = ", ".join(f"{a} {100 * v:.0f} %" for a, v in sorted(kept.items(), key=lambda x: -x[1]))
    lines = [f"- Of its score with itself, an agent keeps with the other learned ones: {shares}."]
    most = max(kept, key=lambda a: kept[a])
    if most.startswith("obl"):
        better = [b for b in learnt if b != most and mean[most, b] > mean[most, most]]
        also = f", and scores more with {' and '.join(better)} than with itself" if better else ""
        told = "its moves rest on no agreement, as they should; at these steps it is still a weak player."
        lines.append(f"- {most} keeps most{also}: {told}")
    if clones:
        with_clones = {a: float(np.mean([mean[a, c] for c in clones])) for a in learnt}
        best = max(with_clones, key=lambda a: with_clones[a])
        told = "the clones bomb in nearly every game, with themselves too"
        if all(mean[c, c] < 1 for c in clones) and with_clones[best] < 3:
            lines.append(
                f"- With clones of people {best} does best of the learned agents ({with_clones[best]:.1f}): {told}."
            )
    bots = [a for a, b in mean if a == b and a.startswith("hanabi/")]
    if bots and learnt:
        worst = max(mean[a, b] for a in learnt for b in bots)
        told = "whose conventions none of them has met."
        lines.append(f"- No learned agent scores more than {worst:.1f} with any of the rule bots, {told}")
    return lines


def _of_rewards(found: Found) -> list[str]:
    """Of the variants that pay one kind of metric: whether that metric moved as it was paid to."""
    told = next((t for n, t in found.stages.items() if split(n)[0] == "metric_rewards"), None)
    if told is None:
        return []
    options, lines = told["config"]["algorithm"]["options"], told["curve"][-LINES:]
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
    so_few = "With so few seeds, changes of the score below about one point say nothing."
    return [f"- Paid metrics move as they are paid to, {many}. {so_few}"]
