"""Adaptive order of Theory of Mind: a reconstruction from a one-paragraph description, not the authors' program.

Two experts predict the partner's next action: one assumes that it acts on its own plan (order 0), one that it acts on
what it expects of me (order 1). Their weights follow how often each was right (hedge), and the cook reasons one order
above the better one.
"""

from __future__ import annotations

import math

from interplay.agents.llm.answers import TEXT, AnswerShape
from interplay.agents.llm.chat import system_and_user
from interplay.agents.llm.kitchen.situation import Situation
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.scaffolds import partner_facts

SYSTEM = """You predict what your partner in a kitchen does next, twice. "order_0": it follows its own plan and does \
not think about you. "order_1": it thinks about what you are about to do and fits in with that. Choose both from the \
list. Answer with one JSON object: "analysis", "order_0", "order_1" (exactly as listed)."""
RATE = 0.7  # how fast a wrong expert loses weight
ADVICE = (
    "It follows its own plan: fit in with what it is doing.",
    "It fits in with you: do, and say, what makes your next action plain.",
)


class AdaptiveOrder:
    """Weights over the orders of one partner in one episode."""

    def __init__(self):
        self._weights = [0.5, 0.5]
        self._predicted: tuple[str, str] | None = None
        self._seen = 0

    async def aside(self, situation: Situation, caller: Caller) -> str:
        """Ask for both predictions, and describe the likelier one."""
        seat = partner_facts.partner(situation)
        self._learn(situation, seat)
        options = partner_facts.choices(situation, seat)
        refused = partner_facts.refused(situation, seat)
        facts = "\n\nWhat the verifier refused to your partner:\n" + "\n".join(refused) if refused else ""
        text = f"{situation.game.render(situation.state, situation.seat)}{facts}\n\nActions your partner can do next:\n"
        reading = await caller.ask(
            system_and_user(SYSTEM, text + "\n".join(f"- {option}" for option in options)),
            AnswerShape({"analysis": TEXT, "order_0": options, "order_1": options}),
            "predict",
            scaffold=True,
            context=situation,
        )
        self._predicted = (reading.fields["order_0"], reading.fields["order_1"]) if reading.fields else None
        order = 0 if self._weights[0] >= self._weights[1] else 1
        likely = self._predicted[order] if self._predicted else None
        weights = [round(w, 3) for w in self._weights]
        caller.note("belief", scaffold="adaptive", about=seat, order=order, weights=weights, predicted=likely)
        prediction = f"- most likely next action: {likely}\n" if likely else ""
        return f"# Your partner, as inferred\n- order of reasoning: {order}\n{prediction}{ADVICE[order]}"

    def _learn(self, situation: Situation, seat: int) -> None:
        """Score the last predictions by what the partner did first since then."""
        executed = [d for d in situation.executions if d.seat == seat]
        if self._predicted and len(executed) > self._seen:
            execution = executed[self._seen]
            losses = [0.0 if partner_facts.same_act(choice, execution) else 1.0 for choice in self._predicted]
            raw = [w * math.exp(-RATE * loss) for w, loss in zip(self._weights, losses, strict=True)]
            self._weights = [w / sum(raw) for w in raw]
        self._seen = len(executed)
