"""Every column of the tables in our reports is explained in the page's glossary."""

import pytest

from interplay.reports.document import TableSection
from interplay.reports.glossary import meaning


@pytest.fixture(autouse=True)
def all_columns_explained(monkeypatch):
    """Look at all tables that a test writes into pages. Modules that write real reports import this fixture."""
    unknown, write = set(), TableSection.html

    def look(self, context):
        unknown.update(c.name for c in self.columns if not (self.meanings.get(c.name) or meaning(c.name)))
        return write(self, context)

    monkeypatch.setattr(TableSection, "html", look)
    yield
    assert not unknown, f"columns that no glossary explains: {sorted(unknown)}"
