"""What the columns of our tables mean, in a sentence each: the glossary at the end of every report."""

from __future__ import annotations

# Measures: values of the column `metric`, and columns of their own in wide tables.
MEASURES = {
    "score": "points of the team in an episode, by the game's rules",
    "reward": "points credited to a seat",
    "length": "steps of an episode",
    "events": "how often an event of the game happened",
    "accepted": "offers (triggers) of an agent that a teammate used",
    "parked": "offers that the giver took back before anybody used them",
    "ignored": "offers that nobody used",
    "triggers": "offers: things that an agent put where a teammate can take them",
    "subtasks": "sub-tasks that an agent completed, such as putting an onion into a pot",
    "percent_triggered": "100 x triggers / sub-tasks of the agent",
    "percent_not_accepted": "100 x offers that no teammate used / all offers",
    "constructive": "hand-overs that helped to reach the goal",
    "looping": "hand-overs of a thing that came back to its giver",
    "irrelevant": "hand-overs that led to no goal",
    "reciprocal": "constructive hand-overs between two agents who each gave to the other in the episode",
    "sequential": "constructive hand-overs that went one way only in the episode",
    "constructive_per_goal": "constructive hand-overs for each goal reached (a soup, a victim)",
    "adr": "accepted dependency rate: accepted / triggers",
    "mor": "missed opportunity rate: 1 - accepted dependency rate",
    "idensity": "constructive hand-overs / all hand-overs of a giver",
    "communicativeness": "of the turns with a hint token, the share in which the seat hinted",
    "ipp": "information per play: of colour and rank, the share known of the cards that a seat played",
    "g1": "of a seat's turns, the share in which it discards a card known to be playable (dominated)",
    "g2": "of a seat's turns, the share in which it plays a card known to be unplayable (dominated)",
    "g3": "of a seat's turns, the share in which it plays a card known to be playable (dominant)",
    "ci": "context independence of messages: the mean of p(message | concept) p(concept | message)",
    "ic": "instantaneous coordination: mutual information of a partner's action and the response, in nats",
    "ad_entropy": "entropy of an agent's actions, in nats",
    "ard_entropy": "entropy of pairs of a partner's action and the response, in nats",
    "adherence": "share of a seat's moves that follow H-Group's conventions",
    "self_play": "mean score with itself",
    "intra_xp": "mean score with other runs of the same algorithm",
    "inter_xp": "mean score with other algorithms",
    "cross_entropy": "mean of -log p of the recorded actions, in nats a decision; lower is better",
    "accuracy": "share of decisions whose likeliest action is the recorded one",
    "worth": "points with a hand-over or partner minus points of the same play without",
}
COLUMNS = {
    "agent": "who is measured",
    "agents": "who sat where: first seat | second seat",
    "partner": "with whom the agent played",
    "game": "the game by its registered name",
    "episode": "number of the episode in its trace set",
    "episodes": "episodes that the number summarises",
    "metric": "what is measured",
    "value": "the measured value",
    "seat": "place at the table, from 0",
    "n": "how many values the number summarises",
}


def meaning(name: str) -> str | None:
    """Return what a column or a measure means; None for one that is not ours.

    Args:
        name: The column, or a measure with further parts after it: `ipp/told`, `constructive/unlimited/counters`.
    """
    if name in COLUMNS:
        return COLUMNS[name]
    measure, *parts = name.split("/")
    if measure not in MEASURES:
        return None
    words = [_PARTS.get(part, part) for part in parts]
    return MEASURES[measure] + (f" ({', '.join(words)})" if words else "")


_PARTS = {
    "told": "by hints that named the card",
    "deduced": "as far as all hints tell",
    "public": "known by hints and open cards",
    "seen": "known by the other hands, too",
    "unlimited": "however late",
    "counters": "over counters",
    "pots": "through pots",
    "counters+pots": "over counters and through pots",
}
