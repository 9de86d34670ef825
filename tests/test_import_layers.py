"""Data flows one way: a package may import from packages to its left, never to its right."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "interplay"
FLOW = ["hub", "games", "agents", "rollout", "traces", "symbolic", "metrics", "stats", "reports"]
LEAVES = {"errors", "table", "registry", "progress", "trust", "untrusted_files", "config", "markdown"}
ALLOWED = {room: set(FLOW[: FLOW.index(room) + 1]) for room in FLOW} | {
    "training": {"games", "agents", "rollout", "training"},
    "partners": {*FLOW[:-1], "training", "partners"},
    "server": {*FLOW, "partners", "server"},
    "study": {*FLOW, "partners", "server", "study"},
    "challenge": {*FLOW, "partners", "server", "challenge"},
    "llm": {*FLOW, "llm"},
    "bridges": {*FLOW, "bridges"},
    "papers": {*FLOW, "partners", "training", "llm", "study", "challenge", "api", "papers"},
    "cli": {*FLOW, "partners", "training", "server", "study", "challenge", "llm", "bridges", "api", "papers", "cli"},
    "api": {*FLOW, "partners", "training", "api"},
}
DECLARATIONS = {"interplay.symbolic.declare"}  # the leaf that games import to declare their symbolic domain


def imported(path: Path) -> set[str]:
    """Every module of interplay that a file imports, at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which package is meant"
            found |= {f"{node.module}.{name.name}" for name in node.names} | {node.module or ""}
    return {name for name in found if name.startswith("interplay.")}


def package_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def violations(path: Path) -> list[str]:
    room = package_of(path)
    if room in LEAVES:
        return [f"{path.name} imports {m}" for m in imported(path) if m.split(".")[1] not in LEAVES]
    wrong = []
    for module in imported(path):
        target = module.split(".")[1]
        declared = room == "games" and any(module == d or module.startswith(d + ".") for d in DECLARATIONS)
        is_room = (SOURCE / target).is_dir() or target in ALLOWED
        if is_room and target not in ALLOWED[room] and not declared and module != f"interplay.{target}":
            wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    return wrong


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_packages_import_only_to_their_left(path):
    if path.parent == SOURCE and path.name == "__init__.py":
        return
    assert package_of(path) in ALLOWED.keys() | LEAVES, f"{path} is in no package that ARCHITECTURE.md names"
    assert violations(path) == []


def test_the_rule_can_fail(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    for room in ("games", "metrics", "stats"):
        (tmp_path / room).mkdir()
    bad = tmp_path / "metrics" / "bad.py"
    bad.write_text("def f():\n    from interplay.stats.bootstrap import bootstrap\n")
    assert "metrics/bad.py imports interplay.stats.bootstrap" in violations(bad)
    declared = tmp_path / "games" / "domain.py"
    declared.write_text("from interplay.symbolic.declare import declare\n")
    assert violations(declared) == []


def test_import_is_quiet_and_light():
    """`import interplay` prints nothing and does not load JAX."""
    code = "import sys, interplay; assert 'jax' not in sys.modules and 'numpy' not in sys.modules, 'heavy'"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


WHO_ASKS = {"rollout/seat.py", "rollout/check_agent.py"}  # the suite of the contract looks at what a policy gives
CONTAINS_POLICIES = ("agents/", "training/algorithms/comedi.py")  # agents that are made of others


def asked(path: Path) -> list[str]:
    """Calls of a policy's `act(memory, observation, legal, key)`, or of a session's `act(view)`."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    acts = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "act"]
    acts = [call for call in acts if ast.unparse(call.func) != "partner_rollout.act"]  # a function, not a policy's
    of_policy = [c for c in acts if len(c.args) == 4 or any(isinstance(arg, ast.Starred) for arg in c.args)]
    of_session = [c for c in acts if "session" in ast.unparse(c.func)]
    return [ast.unparse(call) for call in {*of_policy, *of_session}]


def test_one_place_asks_agents_for_actions():
    others = {}
    for path in SOURCE.rglob("*.py"):
        name = str(path.relative_to(SOURCE))
        if asked(path) and name not in WHO_ASKS and not name.startswith(CONTAINS_POLICIES):
            others[name] = asked(path)
    assert others == {}
    assert all(asked(SOURCE / name) for name in WHO_ASKS)  # what the rule looks for is there
