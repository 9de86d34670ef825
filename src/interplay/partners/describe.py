"""What a partner is like, in words: what it prefers, where it is seen to act so, else what it does most or least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from interplay.games.registry import capability, make_recorded
from interplay.partners.features import BehaviourFeatures
from interplay.partners.panel import Panel, PanelMember, set_name
from interplay.partners.reward_space import TASK
from interplay.partners.tables import behaviour

Words = Mapping[str, Sequence[str]]  # event -> what doing much of it, and little of it, is called
MOST = 3  # phrases
UNUSUAL = 0.8  # share of the candidates that do less (or more) of something before it is worth a word


def descriptions(panel: Panel) -> dict[str, str | None]:
    """By partner: such as "hoards dishes, ignores pots"; None of which nothing is known."""
    words: Words = {}
    if "id" in panel.game:
        game = make_recorded(panel.game["id"], panel.game["options"])
        declared = capability(game, "reward_space")
        words = {} if declared is None else declared(game).get("words", {})
    own = behaviour(panel).get("p")
    return {m.agent.name: describe(m, words, own) for m in panel.members}


def set_descriptions(panel: Panel) -> dict[str, dict[str, str | None]]:
    """By partner, or by set of partners: what it prefers, its kind and its skill; null where its members differ."""
    prefers, about = descriptions(panel), {}
    sets = [beside.numbers for beside in panel.sets] or [(i,) for i in range(len(panel.members))]
    for numbers in sets:
        members = [panel.members[i] for i in numbers]
        names = [m.agent.name for m in members]
        alone = len(set(names)) == 1
        words = prefers[names[0]] if alone else "; ".join(prefers[n] or n for n in names)
        kinds, skills = {m.kind for m in members}, {m.skill for m in members}
        about[set_name(names)] = {
            "prefers": words,
            "kind": kinds.pop() if len(kinds) == 1 else None,
            "skill": skills.pop() if len(skills) == 1 else None,
        }
    return about


def describe(member: PanelMember, words: Words, own: BehaviourFeatures | None) -> str | None:
    """A partner in words.

    Args:
        member: With its `preference` (event -> weight) among its notes, or a `description`.
        words: What doing much and little of each event is called.
        own: What all candidates did themselves, by event and seat; None where that is not known.
    """
    if member.notes.get("description"):
        return str(member.notes["description"])
    preference = member.notes.get("preference")
    if preference is None:
        return None
    shares = _shares(own, member.candidate) if own is not None and member.candidate in own.ids else {}
    phrases = []
    for event, weight in sorted(preference.items(), key=lambda item: -abs(item[1])):
        share = shares.get(event)
        follows = share is None or (share >= 0.5 if weight > 0 else share <= 0.5)
        if event != TASK and weight and follows:
            phrases.append(_phrase(words, event, weight > 0))
    if not phrases:  # whatever it is paid for is not seen in what it does
        unusual = {e: s for e, s in shares.items() if e in words and max(s, 1 - s) >= UNUSUAL}
        ranked = sorted(unusual, key=lambda e: -max(unusual[e], 1 - unusual[e]))
        phrases = [_phrase(words, event, unusual[event] > 0.5) for event in ranked[:2]]
    text = ", ".join(phrases[:MOST]) or "plays for points"
    return f"{text} (half-skilled)" if member.skill == "mid" else text


def _shares(own: BehaviourFeatures, candidate: int | str | None) -> dict[str, float]:
    """By event, the share of the other candidates that do it less often, over both seats; equals count half."""
    events = list(dict.fromkeys(name.partition("@")[0] for name in own.names))
    place, by_event = own.ids.index(candidate), {}
    for event in events:
        columns = [i for i, name in enumerate(own.names) if name.partition("@")[0] == event]
        counts = own.values[:, columns].mean(axis=1)
        others = np.delete(counts, place)
        by_event[event] = (
            float(np.mean(others < counts[place]) + np.mean(others == counts[place]) / 2) if len(others) else 0.5
        )
    return by_event


def _phrase(words: Words, event: str, much: bool) -> str:
    if event in words:
        return words[event][0 if much else 1]
    return f"{'likes' if much else 'avoids'} {event}"
