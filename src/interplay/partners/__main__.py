"""`python -m interplay.partners CONFIG.json --out DIR`: make a panel as a configuration says, or go on with it."""

from __future__ import annotations

import argparse
import json
import sys

from interplay.errors import InterplayError
from interplay.trust import admit, trust_data


def main(arguments: list[str] | None = None) -> int:
    """Build the panel that the command line describes, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m interplay.partners", description=__doc__)
    parser.add_argument("config", help="JSON file with the fields of interplay.partners.config.Build")
    parser.add_argument("changes", nargs="*", metavar="place=value", help="changes to it, such as candidates=128")
    parser.add_argument("--out", required=True, help="folder for all stages; the panel goes to its folder panel/")
    parser.add_argument("--trust", action="store_true", help="let names in files run code, as module:Thing does")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    args = parser.parse_intermixed_args(arguments)
    admit(sys.argv if arguments is None else arguments)
    before = trust_data(args.trust)
    try:
        return _build(args)
    except InterplayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        trust_data(before)


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
