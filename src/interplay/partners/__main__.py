"""`python -m interplay.partners CONFIG.json --out DIR`: make a panel as a configuration says, or go on with it."""

from __future__ import annotations

import argparse
import json
import sys

from interplay.training.__main__ import run_command


def main(arguments: list[str] | None = None) -> int:
    """Build the panel that the command line describes, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m interplay.partners", description=__doc__)
    parser.add_argument("config", help="JSON file with the fields of interplay.partners.config.Build")
    parser.add_argument("--out", required=True, help="folder for all stages; the panel goes to its folder panel/")
    return run_command(parser, _build, arguments)


def _build(args: argparse.Namespace) -> int:
    from interplay.partners.build import build
    from interplay.partners.config import Build
    from interplay.training.loader import as_json, load, with_settings
    from interplay.training.loader import build as read

    config = read(Build, with_settings(as_json(load(args.config, Build)), args.changes))
    panel = build(config, args.out, quiet=args.quiet)
    facts = {"panel": f"{args.out}/panel", "sha256": panel.file_hash, "partners": [m.agent.name for m in panel.members]}
    print(json.dumps(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
