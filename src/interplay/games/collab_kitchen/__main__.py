"""Print the shortest plans of all dishes as a Markdown table: `python -m interplay.games.collab_kitchen [LEVELS]`.

LEVELS such as 1-3 or 6; all six by default. A number with ≥ is the proved bound below a plan that may not be shortest.
"""

from __future__ import annotations

import sys

from interplay.games.collab_kitchen.dishes import DISHES, PUBLISHED_OPTIMA, Dish
from interplay.games.collab_kitchen.game import make
from interplay.games.collab_kitchen.plan import shape
from interplay.games.collab_kitchen.solve import KitchenSolver
from interplay.games.search import SearchResult

HEAD = ("level", "dish", "published", "original", "rc", "nrc", "nrc: chef alone", "nrc: assistant alone")


def format_length(result: SearchResult) -> str:
    """Format a plan's length and, unless it is the shortest, the proved bound."""
    if result.actions is None:
        return "none"
    return f"{result.length}" if result.shortest else f"{result.length} (≥ {result.lower})"


def lengths(ordered: Dish) -> list[str]:
    """Return the lengths of plans in the three kitchens."""
    solvers = [KitchenSolver(make(variant, {"dish": ordered.name})) for variant in ("original", "rc", "nrc")]
    together = [format_length(solver.together()) for solver in solvers]
    alone = [format_length(solvers[2].alone(seat)) for seat in (0, 1)]
    return [*together, *alone]


def main(arguments: list[str]) -> None:
    """Print the table for a range of levels."""
    low, _, high = (arguments or ["1-6"])[0].partition("-")
    levels = range(int(low), int(high or low) + 1)
    print("| " + " | ".join(HEAD) + " |")
    print("|" + "---|" * len(HEAD))
    known: dict[str, list[str]] = {}  # dishes that are made in the same way differ in names only
    for ordered in DISHES.values():
        if ordered.level in levels:
            made = shape(ordered.food)
            if made not in known:
                known[made] = lengths(ordered)
            cells = (str(ordered.level), ordered.name, str(PUBLISHED_OPTIMA[ordered.level]), *known[made])
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
