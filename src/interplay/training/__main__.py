"""`python -m interplay.training CONFIG.json`: train as a configuration says, from start or from the last checkpoint."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from interplay.errors import InterplayError
from interplay.trust import admit, trust_data


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: Of the command line; None: those of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m interplay.training", description=__doc__)
    parser.add_argument("config", help="JSON file with the fields of interplay.training.config.Experiment")
    parser.add_argument("--out", help="folder for log, checkpoints and policies; a killed run there goes on")
    parser.add_argument("--teaming", type=float, help="pay hand-overs that end in a soup this much (rewards.teaming)")
    return run_command(parser, _train, arguments)


def run_command(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], int], arguments: list[str] | None
) -> int:
    """Parse a configuration's changes and the common options, do the work, and return the exit status.

    Args:
        parser: With the configuration's file and the command's own options.
        work: What the command does.
        arguments: Of the command line; None: those of this process.
    """
    parser.add_argument("changes", nargs="*", metavar="place=value", help="changes to it, such as envs=8")
    parser.add_argument("--trust", action="store_true", help="let names in files run code, as module:Thing does")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    args = parser.parse_intermixed_args(arguments)  # changes may stand before or after the options
    admit(sys.argv if arguments is None else arguments)
    before = trust_data(args.trust)
    try:
        return work(args)
    except InterplayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        trust_data(before)


def _train(args: argparse.Namespace) -> int:
    from interplay.training.algorithms import train
    from interplay.training.config import Experiment
    from interplay.training.loader import as_json, build, load, with_settings

    changes = list(args.changes) + ([f"output.folder={json.dumps(args.out)}"] if args.out else [])
    changes += [] if args.teaming is None else [f"rewards.teaming={args.teaming}"]
    experiment = build(Experiment, with_settings(as_json(load(args.config, Experiment)), changes))
    if experiment.output.folder is None:
        print("note: no output.folder (or --out) was given, so no policies will be kept", file=sys.stderr)
    trained = train(experiment, quiet=args.quiet)
    last = trained.curve[-1]
    columns = ("update", "steps", "return", "returns", "held_out", "chance", "nats_a_card", "nats_by_copies")
    summary = {k: last[k] for k in columns if k in last}
    summary["folder"] = None if experiment.output.folder is None else str(Path(experiment.output.folder))
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
