"""`interplay COMMAND ...`: finds the command, imports nothing else.

Exit codes: 0 done; 1 a check found problems (a trace that does not verify, a game or agent that fails its suite);
2 the input cannot be used, and the message says why; 130 interrupted.
"""

from __future__ import annotations

import difflib
import inspect
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from interplay import __version__
from interplay.errors import InterplayError
from interplay.hub.cache import cache_folder
from interplay.papers.index import paper_commands
from interplay.trust import TrustWarning, admit, import_object, trust_data

# A command of several words, such as "partners select", belongs to a group that `interplay partners` lists.
COMMANDS = {  # to `module:Class` within `interplay.cli.commands`, and what it does
    "list": ("listing:List", "games, agents, metrics and panels by name"),
    "play": ("play:PlayCommand", "let agents play a game and keep the traces"),
    "crossplay": ("play:Crossplay", "every agent with every agent, in every seating"),
    "grade": ("grade:GradeCommand", "grade an agent against a panel of partners"),
    "compare": ("compare:Compare", "agents on one panel with common chance, paired differences"),
    "brprox": ("brprox:BRProxCommand", "best-response proximity of a table of returns"),
    "train": ("train:Train", "train agents: self-play, best responses, populations"),
    "sweep": ("train:Sweep", "train every combination of settings, here or on a cluster"),
    "measure": ("measure:Measure", "metrics of a trace set as a tidy table"),
    "report": ("report:ReportCommand", "one HTML file with tables, figures and replays"),
    "replay": ("replay:ReplayCommand", "verify a trace set, or watch an episode"),
    "import": ("exchange:Import", "turn others' recordings into traces"),
    "export": ("exchange:ExportCommand", "write a trace set as JSON lines or CSV"),
    "sql": ("exchange:Sql", "ask a trace set in SQL"),
    "certify": ("certify:Certify", "does a game require cooperation, by search"),
    "hub list": ("hub:ListItems", "trained agents and panels, and where they are"),
    "hub get": ("hub:Get", "bring trained agents and panels into the cache"),
    "hub add": ("hub:Add", "name an agent's file or a panel of your own"),
    "hub verify": ("hub:Verify", "check the files of agents and panels by sha256"),
    "doctor": ("doctor:Doctor", "what is installed, extras, devices, weights and caches"),
    "partners select": ("partners:Select", "the most different partners of a feature table"),
    "partners build": ("partners:BuildCommand", "make a panel: train, select, best responses"),
    "partners show": ("partners:Show", "a panel's partners, and a page about them"),
    "partners audit": ("partners:PanelAudit", "is any known agent above a panel's best responses"),
    "partners baselines": ("partners:Baselines", "measure known agents with a panel"),
    "partners diversity": ("partners:Diversity", "BR-Div and P-Div by the size of a set"),
    "llm run": ("llm:RunCommand", "language models cook together: pairings, levels, resume"),
    "llm play": ("llm:LLMPlayCommand", "language models in any game: cache, limits, resume"),
    "llm serve": ("llm:ServeCommand", "a small real model on this machine"),
    "llm solo": ("llm:SoloCommand", "each role alone with an idle partner, against the team"),
    "llm audit": ("audit:AuditCommand", "what messages achieved, on traces or transcripts"),
    "paper list": ("paper_list:ListResults", "tables and figures of the papers, made by one command each"),
    "bench": ("bench:Bench", "steps per second of a game on this machine"),
    "challenge check": ("challenge:ChallengeCheck", "look a challenge file over before it is served"),
    "challenge example": ("challenge:ChallengeExample", "challenges that come with it, to try and to change"),
    "challenge serve": ("challenge:ChallengeServe", "host a challenge with hidden partners"),
    "challenge register": ("challenge:ChallengeRegister", "register a team; its keys are shown once"),
    "challenge enter": ("challenge:ChallengeEnter", "begin an evaluation with a pre-registered plan"),
    "challenge play": ("challenge:ChallengePlay", "play an evaluation with any agent"),
    "challenge result": ("challenge:ChallengeResult", "fetch a signed result and its traces"),
    "challenge verify": ("challenge:ChallengeVerify", "check what a server signed"),
    "challenge issue": ("challenge:ChallengeIssue", "hand out an evaluation as the host"),
    "challenge baselines": ("challenge:ChallengeBaselines", "fill the leaderboard with baselines"),
    "bridge hanab-live": ("bridge:HanabLive", "an agent plays with people on hanab.live"),
    "challenge books": ("challenge:DatabaseCommand", "audit log and traces, for the host"),
    "study serve": ("study:StudyServe", "run a study with people in the browser"),
    "study simulate": ("study:Simulate", "stand-ins for people try a study before it goes out"),
    "study example": ("study:StudyExample", "studies that come with it, to try and to change"),
    "study words": ("study:Words", "what pages say to people, to be translated"),
    "study validity": ("study_validity:StudyValidity", "what interdependence says of ratings, beyond the score"),
    "study analyse": ("study_analyse:Analyse", "a study's tables and tests, and who is in them"),
    "study preregister": ("study_analyse:Preregister", "a study's plan, dated and hashed"),
    "study participants": ("study_admin:Participants", "who takes part, and where they stand"),
    "study payments": ("study_admin:Payments", "who is owed what; lines for bulk payment"),
    "study settle": ("study_admin:Settle", "approve and pay participants at Prolific"),
    "study export": ("study_admin:StudyExport", "a study's records as tables and traces"),
    "study erase": ("study_admin:Erase", "forget a participant for good"),
    "study researcher": ("study_admin:Researcher", "who may look into a study"),
    "study audit": ("study_admin:StudyAudit", "who did what with a study's data"),
    "study backup": ("study_operate:Backup", "all of a study's database in one file"),
    "study restore": ("study_operate:Restore", "bring a backup back into an empty database"),
    "study close": ("study_operate:Close", "take no more new participants"),
    "study open": ("study_operate:Open", "take new participants again"),
    "study readmit": ("study_operate:Readmit", "a link by which someone comes back to a study"),
    "study power": ("study_analyse:Power", "how many people a study needs"),
}
COMMANDS |= paper_commands()

USAGE = f"""usage: interplay COMMAND [arguments]

interplay {__version__}: measure how agents work together, not only what they score.

commands:
{chr(10).join(f"  {name:<18} {what}" for name, (_, what) in COMMANDS.items() if name.count(" ") < 2)}

examples:
  interplay grade --game overcooked/counter_circuit --agent overcooked/greedy
  interplay crossplay --game overcooked/cramped_room --agents overcooked/greedy random stay --out traces
  interplay measure traces --metrics score --json

`interplay COMMAND --help` tells more.

Traces, panels, study and challenge files of others name registered games and agents only. With --trust after any
command, they may also name code (module:Thing, file.py:thing), which then runs as you."""

TRUST = "--trust"


_show_other = warnings.showwarning


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    try:
        code = run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1  # as rich exits then
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command line; its exit code."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version"):
        print(f"interplay {__version__}")
        return 0
    words = next((n for n in (3, 2, 1) if " ".join(arguments[:n]) in COMMANDS and len(arguments) >= n), 0)
    if words:
        return _guarded(" ".join(arguments[:words]), arguments[words:])
    for n in (2, 1):
        name = " ".join(arguments[:n])
        group = {full: what for full, what in COMMANDS.items() if full.startswith(f"{name} ")}
        if len(arguments) >= n and group:
            if len(arguments) == n or arguments[n] in ("-h", "--help"):
                print(_usage_of(name, group))
                return 0 if len(arguments) > n else 2
            return _unknown(" ".join(arguments[: n + 1]), group)
    return _unknown(arguments[0], COMMANDS)


def _unknown(name: str, known: dict[str, tuple[str, str]]) -> int:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"commands: {', '.join(known)}"
    return _refuse(f"unknown command {name!r}; {hint}")


def _usage_of(name: str, group: dict[str, tuple[str, str]]) -> str:
    inner = {full.removeprefix(f"{name} "): what for full, (_, what) in group.items()}
    wide = max(10, *map(len, inner))
    lines = (f"  {word:<{wide}} {what}" for word, what in inner.items())
    return f"usage: interplay {name} COMMAND [arguments]\n\ncommands:\n" + "\n".join(lines)


def _guarded(name: str, rest: list[str]) -> int:
    import tyro

    warnings.showwarning = _show_warning
    # What was compiled once need not be compiled by the next command.
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_folder() / "jax"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")
    admit(rest)  # whatever stands on a command line was typed by a person
    before = trust_data(TRUST in rest)
    try:
        kind = import_object(f"interplay.cli.commands.{COMMANDS[name][0]}")
        command = tyro.cli(
            kind,
            prog=f"interplay {name}",
            args=[word for word in rest if word != TRUST],
            description=inspect.cleandoc(kind.__doc__),
        )
        return int(command.run() or 0)
    except InterplayError as error:
        return _refuse(str(error))
    except ModuleNotFoundError as error:
        if name.split()[0] not in ("challenge", "study"):
            raise
        return _refuse(f"studies and challenges need more packages: pip install 'interplay[server]' ({error})")
    except KeyboardInterrupt:
        print("interplay: interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        if error.filename is None:
            raise
        return _refuse(f"{error.filename}: {(error.strerror or 'cannot be used').lower()}")
    finally:
        trust_data(before)


def _show_warning(message: Warning | str, category: type[Warning], filename: str, line: int, *rest: Any) -> None:
    if issubclass(category, TrustWarning):
        print(f"interplay: warning: {message}", file=sys.stderr)
    else:
        _show_other(message, category, filename, line, *rest)


def _refuse(message: str) -> int:
    print(f"interplay: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
