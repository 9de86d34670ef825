"""Write frontend/src/types.ts from the Python types in interplay/study/http/messages.py.

python tools/typescript_types.py            # write the file
python tools/typescript_types.py --check    # exit 1 if it is stale
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict

from interplay.study.http import messages

TARGET = Path(__file__).parents[1] / "frontend" / "src" / "types.ts"
HEAD = """/** What travels between the browser and the server, as JSON.
 *
 * Written by tools/typescript_types.py from study/http/messages.py: change that file and run `make front`.
 */

/** Nothing chosen is null. */
export type Answer = string | number | boolean | (string | number)[] | null;
export type Answers = Record<string, Answer>;
"""
UNIONS = {"Page": messages.OurPage, "FromServer": messages.FromServer, "ToServer": messages.ToServer}
NAMES = {"QuestionView": "Question"}  # where the browser's word is another
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}


def type_name(model: type) -> str:
    return NAMES.get(model.__name__, model.__name__)


def typescript(kind: Any) -> str:
    """Return the TypeScript of a Python annotation."""
    origin, args = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if is_typeddict(kind):
        return type_name(kind)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in args)
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(typescript(arg) for arg in args))
    if origin is list:
        inner = typescript(args[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {typescript(args[1])}>"
    if origin is tuple:
        return f"[{', '.join(typescript(arg) for arg in args)}]"
    raise TypeError(f"no TypeScript for {kind!r}")


def interface(model: Any) -> str:
    """Return a TypedDict as an interface: its own fields, with their comments."""
    source = inspect.getsource(model)
    parent = re.match(r"class \w+\((\w+)\)", source)  # a TypedDict does not keep its base in Python 3.11
    base = getattr(messages, parent[1]) if parent and parent[1] != "TypedDict" else None
    comments = dict(re.findall(r"^    (\w+): [^#\n]*# (?!pyright)(.*)$", source, re.MULTILINE))
    hints = get_type_hints(model, include_extras=True)
    own = [name for name in re.findall(r"^    (\w+): ", source, re.MULTILINE) if name in hints]
    lines = [f"/** {inspect.getdoc(model)} */", f"export interface {type_name(model)} "]
    lines[-1] += f"extends {type_name(base)} {{" if base is not None else "{"
    for name in own:
        kind, optional = hints[name], get_origin(hints[name]) is NotRequired
        text = typescript(get_args(kind)[0] if optional else kind)
        comment = f" // {comments[name]}" if name in comments else ""
        lines.append(f"  {name}{'?' if optional else ''}: {text};{comment}")
    return "\n".join([*lines, "}"])


def render() -> str:
    """Return the whole file."""
    models = [m for m in vars(messages).values() if is_typeddict(m) and m.__module__ == messages.__name__]
    parts = [HEAD, *(interface(model) + "\n" for model in models)]
    for name, union in UNIONS.items():
        members = "\n".join(f"  | {type_name(member)}" for member in get_args(union))
        parts.append(f"export type {name} =\n{members};\n")
    return "\n".join(parts)


if __name__ == "__main__":
    text = render()
    if "--check" in sys.argv[1:]:
        sys.exit(0 if TARGET.read_text(encoding="utf-8") == text else f"{TARGET} is stale: run `make front`")
    TARGET.write_text(text, encoding="utf-8")
