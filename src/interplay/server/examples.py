"""Studies and challenges that come with the package, to try and to change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from interplay.errors import InterplayError, UnknownName
from interplay.untrusted_files import read_text

PACKAGE = Path(__file__).parents[1]
LARGEST = 1_000_000  # bytes of a file


@dataclass(frozen=True)
class ExampleFiles:
    """The example files of one kind."""

    kind: str  # what one of them is
    shipped: Path  # where an installed package has them; `pyproject.toml` puts them there
    written: Path  # where they are written

    def files(self) -> dict[str, Path]:
        """Return the files by name."""
        folder = self.shipped if self.shipped.is_dir() else self.written
        return {path.stem: path for path in sorted(folder.glob("*.yaml"))}

    def resolve(self, path: str | Path) -> Path:
        """Return the file at a path; where there is none, the example of this name."""
        return Path(path) if Path(path).exists() else self.files().get(str(path), Path(path))

    def read(self, file: Path) -> str:
        """The text of a file; where there is none, an error that names ours."""
        if not file.exists():
            ours = ", ".join(self.files())
            raise InterplayError(
                f"cannot read the {self.kind} {file}: no such file; a {self.kind} of ours goes by its name: {ours}"
            )
        return read_text(file, limit=LARGEST)

    def copy(self, name: str, out: Path | None = None) -> Path:
        """A copy to change. Nothing is overwritten."""
        known, path = self.files(), out or Path(f"{name}.yaml")
        if name not in known:
            raise UnknownName(f"example {self.kind}", name, list(known))
        if path.is_dir():
            path = path / f"{name}.yaml"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(known[name].read_text(encoding="utf-8"))
        except FileExistsError:
            raise InterplayError(f"{path} is there already: choose another name with --out") from None
        except OSError as error:
            raise InterplayError(f"cannot write {path}: {error.strerror}") from None
        return path


STUDIES = ExampleFiles("study", PACKAGE / "study" / "examples", PACKAGE.parents[1] / "studies")
CHALLENGES = ExampleFiles("challenge", PACKAGE / "challenge" / "examples", PACKAGE.parents[1] / "challenges")
