"""axe-core in a page: what it finds wrong for people who do not see, hear or point well."""

import importlib.util
from pathlib import Path

import pytest

RUN = """async () => {
  const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];
  const { violations } = await axe.run(document, { runOnly });
  return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")} ${n.failureSummary}`));
}"""


def _script() -> Path | None:
    """The script, from the front end's development packages or from the one that tests bring along."""
    found = importlib.util.find_spec("axe_playwright_python")
    places = [Path(__file__).parents[1] / "frontend" / "node_modules" / "axe-core"]
    places += [Path(place) for place in (found.submodule_search_locations or ())] if found else []
    return next((place / "axe.min.js" for place in places if (place / "axe.min.js").is_file()), None)


AXE = _script()
needs_axe = pytest.mark.skipif(AXE is None, reason="axe-core is not installed: pip install 'interplay[browser]'")


def complaints(page) -> list[str]:
    """What axe-core finds wrong in a page; nothing where it is not installed."""
    if AXE is None:
        return []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(RUN)
