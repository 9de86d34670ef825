"""The notebooks run in a real kernel, where an event loop is running, and show what they promise."""

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
SHOWN = {
    "1_first_steps": ["<svg", "State", "episodes in", "Grade", "srcdoc="],
    "2_your_own_agent": ["'action'", "wanderer", "Paired differences", "(93,)"],
    "3_who_helps_whom": ["onion_passer", "removed", "required", "srcdoc="],
}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.ipynb")))
def test_a_notebook_runs_from_top_to_bottom(name, tmp_path):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")  # shipped without outputs
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = "".join(
        "".join(output.get("data", {}).values()) if output.output_type != "stream" else output.text
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    for words in SHOWN[name]:
        assert words in shown, words
