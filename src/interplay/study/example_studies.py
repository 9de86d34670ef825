"""Studies that come with the package: to look at, to try, and to take as a beginning of one's own."""

from __future__ import annotations

from pathlib import Path

from interplay.errors import InterplayError, UnknownName

SHIPPED = Path(__file__).parent / "examples"  # where an installed package has them; `pyproject.toml` puts them there
SOURCES = Path(__file__).parents[3] / "studies"  # where they are written


def examples() -> dict[str, Path]:
    """By name."""
    folder = SHIPPED if SHIPPED.is_dir() else SOURCES
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def example(name: str) -> Path:
    known = examples()
    if name not in known:
        raise UnknownName("example study", name, list(known))
    return known[name]


def write_example(name: str, out: Path | None = None) -> Path:
    """A copy to change. Nothing is overwritten."""
    source, path = example(name), out or Path(f"{name}.yaml")
    if path.is_dir():
        path = path / f"{name}.yaml"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(source.read_text(encoding="utf-8"))
    except FileExistsError:
        raise InterplayError(f"{path} is there already: choose another name with --out") from None
    except OSError as error:
        raise InterplayError(f"cannot write {path}: {error.strerror}") from None
    return path
