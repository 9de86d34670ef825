"""Each role alone: the same model beside an idle partner who stands in the way, against the team of two.

Whoever is alone knows the recipe, or a lone assistant could not know what to cook; all else stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.agents.llm.limits import Usage
from interplay.errors import InterplayError
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.registry import make
from interplay.llm.plan import RunPlan
from interplay.llm.run import LLMRun, Service, run
from interplay.llm.tables import episode_row
from interplay.table import Row, Table, mean

IDLE = "scripted/idle"


def solo(
    models: Sequence[str],
    out: str | os.PathLike[str] | None = None,
    *,
    layouts: Sequence[str] = ("rc", "nrc"),
    alone: str | None = None,
    plan: RunPlan | None = None,
    service: Service | None = None,
    progress: Callable[[int, int, Usage], None] | None = None,
) -> tuple[Table, list[LLMRun]]:
    """The team and each role alone, for every model and layout. `plan` gives levels, episodes, seed and settings.

    `alone` names another model for the lone roles, such as scripted/soloist for scripted/reference.
    """
    base = plan or RunPlan(chefs=("scripted/reference",), assistants=("scripted/reference",), levels=(1,))
    runs, rows = [], []
    for layout in layouts:
        for model in models:
            cells: dict[str, list[Row]] = {}
            for condition, part in _parts(base, layout, model, alone or model).items():
                folder = Path(out) / layout / model.replace("/", "_") / condition if out is not None else None
                runs.append(run(part, folder, service=service, progress=progress))
                why = runs[-1].stopped or (runs[-1].outage if not len(runs[-1].traces) else None)
                if why:
                    raise InterplayError(f"{model} in kitchen/{layout}, {condition}: {why}")
                cells[condition] = [episode_row(e) for e in runs[-1].traces]
            rows.append(_row(model, layout, cells))
    title = "Team and solo. Steps are those of episodes that delivered; time = team steps / solo steps, dish by dish"
    return Table.of(rows, title), runs


def _parts(base: RunPlan, layout: str, model: str, alone: str) -> dict[str, RunPlan]:
    game = make(f"kitchen/{layout}", level=1, number=1)
    assert isinstance(game, Kitchen)
    knowing = {"roles": [role.data | {"knows_recipe": True} for role in game.roles]}
    return {
        "team": replace(base, layout=layout, chefs=(model,), assistants=(model,)),
        "chef": replace(base, layout=layout, chefs=(alone,), assistants=(IDLE,)),
        "assistant": replace(base, layout=layout, chefs=(IDLE,), assistants=(alone,), options=knowing),
    }


def _row(model: str, layout: str, cells: dict[str, list[Row]]) -> Row:
    result: Row = {"model": model, "layout": layout, "episodes": len(cells["team"])}
    for condition, rows in cells.items():
        result[f"{condition}_success"] = mean([r["success"] for r in rows])
        result[f"{condition}_steps"] = mean([r["steps"] for r in rows if r["success"]])
    by_episode = {c: {(r["dish"], r["index"]): r for r in rows} for c, rows in cells.items()}
    alone: dict[Any, int | None] = {}  # the quicker soloist's steps, by episode; None: neither delivers
    for key in by_episode["chef"].keys() & by_episode["assistant"].keys():
        lone = [by_episode[role][key] for role in ("chef", "assistant")]
        alone[key] = min((r["steps"] for r in lone if r["success"]), default=None)
    result["solo_feasible"] = mean([float(steps is not None) for steps in alone.values()])
    together = {key: r["steps"] for key, r in by_episode["team"].items() if r["success"]}
    result["time"] = mean([together[key] / steps for key, steps in alone.items() if steps and key in together])
    return result
