"""Put partners into an order, by dragging or by keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from interplay.study.pages.page_type import Answers, Checked, PageType, PageVisit, SimulatedOpinion
from interplay.study.protocol.model import Name, StudyPage
from interplay.study.protocol.validation import PageScope


class Ranking(StudyPage):
    """Put the partners met so far in this repeat into an order, best first."""

    kind: Literal["ranking"]
    of: Name  # a design with the factor `partner`


class RankingPages(PageType[Ranking]):
    """Partners are shown by their aliases and stored by their names."""

    spec = Ranking

    def validate(self, page: Ranking, scope: PageScope) -> None:
        """Raise a `ValueError` unless the design has partners."""
        scope.require(page.of, scope.protocol.designs, "design")
        if "partner" not in scope.protocol.designs[page.of].factors:
            raise ValueError(f"{scope.where}the design {page.of!r} has no factor `partner` to rank")

    def show(self, page: Ranking, visit: PageVisit) -> Mapping[str, Any]:
        """Return the partners in their order so far, and which of them have their places."""
        met, order = visit.page.met, (visit.earlier or {}).get("order", ())
        placed = [name for name in order if name in met]
        new = [name for name in met if name not in placed]
        items = [visit.aliases[name].record(visit.language) for name in placed + new]
        # Newcomers are put among those who have their places; where there are none, all of it can be changed.
        return {"items": items, "fixed": [visit.aliases[name].id for name in placed] if new else []}

    def check(self, page: Ranking, visit: PageVisit, submitted: Answers) -> Checked:
        """Return the ranking that was sent, or an error if it does not hold every partner once."""
        names = {alias.id: name for name, alias in visit.aliases.items() if name in visit.page.met}
        order = submitted.get("order")
        if (
            not isinstance(order, list)
            or not all(isinstance(item, str) for item in order)
            or sorted(order) != sorted(names)
        ):
            return Checked({"order": []}, {"order": visit.phrase("order")})
        return Checked({"order": [names[alias_id] for alias_id in order]}, {})

    def simulate(self, page: Ranking, view: Mapping[str, Any], opinion: SimulatedOpinion) -> dict[str, Any]:
        """Rank by how well games went, with some error."""
        noisy = [(opinion.chance.gauss(-opinion.liking(item["label"]), 0.3), item["id"]) for item in view["items"]]
        return {"order": [name for _, name in sorted(noisy)]}
