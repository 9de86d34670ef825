"""What every number of the audit means, to stand beside it."""

from __future__ import annotations

from collections.abc import Mapping

DEFINITIONS: Mapping[str, str] = {
    "success": "1 if the dish was delivered",
    "length": "steps played",
    "reward": "discounted points of the team",
    "messages": "messages sent",
    "units": "requests that were read from them",
    "effective": "requests that the partner carried out within the window",
    "assisted": "requests that the partner carried out within the window after the verifier had refused it",
    "redundant": "requests for what had been done as often as the recipe needs",
    "ineffective": "all other requests",
    "unstructured": "messages from which no request can be read",
    "follow_rate": "(effective + assisted) / requests",
    "follow_rate_all": "(effective + assisted) / (requests + unstructured messages)",
    "follow_rate_needed": "(effective + assisted) / requests that were not redundant",
    "parse_rate": "requests / messages; above 1 where messages ask for several things",
    "parsed_messages": "messages with at least one request / messages",
    "delayed_rate": "requests carried out after the window / requests",
    "redundancy": "redundant / requests",
    "repeat_rate": "requests that repeat one still open / requests",
    "assisted_rate": "assisted / requests",
    "latency": "steps from message to action, mean over followed requests",
    "executions": "acts carried out",
    "repeated_actions": "acts that the recipe does not need, or not again",
    "verifier_burden": "refusals by the verifier",
    "verifier_rate": "refusals / attempts",
    "uptake": "acts of cooks who do not know the recipe that follow, within the window, a message of one who does "
    "and that names their ingredient / all acts of such cooks",
    "tokens_completion": "tokens written, scaffolds left out",
    "tokens": "tokens read and written, scaffolds included",
    "tokens_scaffold": "tokens read and written for scaffolds",
    "comm_cost_completion": "tokens written / accepted hand-overs within the window",
    "comm_cost_all": "all tokens / accepted hand-overs within the window",
    "waste": "(redundant + ineffective requests + repeated actions) / (requests + acts)",
    "triggers": "things put on a counter within a partner's reach",
    "accepted": "of these, taken by a partner within the window",
    "constructive": "of those, part of what was delivered, and not sent in a circle",
    "adr": "accepted / triggers",
    "mor": "1 - adr",
    "idensity": "constructive / accepted",
    "tes": "best over reference plans of (1 + b²) d / (m + b² n), b = .95: d acts of the plan's start done in order, "
    "m its length, n acts done; mean over seats",
    "ites_requested": "what the requests of a dialogue would add to the partner's tes, mean over dialogues",
    "ites_answered": "what the partner then planned or did adds to its tes, mean over dialogues",
    "initiating_capability": "dialogues whose requests would add to the partner's tes / dialogues",
    "responding_capability": "dialogues whose answer adds to the partner's tes / dialogues",
    "cost_time": "weight x steps",
    "cost_tokens": "weight x all tokens",
    "cost_verifier": "weight x refusals",
    "cost_redundant": "weight x repeated actions",
    "utility": "reward - the four costs",
}
HEADLINES = (
    "success", "length", "messages", "units", "follow_rate", "follow_rate_all", "follow_rate_needed", "redundancy",
    "repeat_rate", "delayed_rate", "assisted_rate", "latency", "uptake", "waste", "verifier_burden", "adr", "idensity",
    "comm_cost_completion", "comm_cost_all", "tes", "initiating_capability", "responding_capability", "utility",
)  # fmt: skip
