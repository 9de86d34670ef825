"""Count lines of code without docstrings, comments and blank lines, by package.

python tools/count_code.py                 # src/interplay of this checkout
python tools/count_code.py PATH [PATH ...]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text: str) -> int:
    """The number of lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def main(paths: list[str]) -> None:
    """Print the lines of each package and of all."""
    for root in [Path(p) for p in paths] or [Path(__file__).parents[1] / "src" / "interplay"]:
        counts: Counter[str] = Counter()
        for path in sorted(root.rglob("*.py")):
            counts[path.relative_to(root).parts[0].removesuffix(".py")] += code_lines(path.read_text(encoding="utf-8"))
        for package, lines in sorted(counts.items()):
            print(f"{lines:7,} {package}")
        print(f"{sum(counts.values()):7,} {root}")


if __name__ == "__main__":
    main(sys.argv[1:])
