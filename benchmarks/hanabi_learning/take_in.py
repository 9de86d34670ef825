"""What run.py left behind becomes part of the repository: curves, policies, and what the package ships.

    python benchmarks/hanabi_learning/take_in.py FOLDER... --work WORK          # results.json and STAGE.tar of each
    python benchmarks/hanabi_learning/take_in.py --work WORK --ship             # roster.json's policies -> the package

- results/stages/STAGE.json holds every attempt at a stage: its configuration, curve, last line and policies, the one
  with the highest return first, of equals that with most steps. An attempt of the same configuration is replaced by a
  longer one, so that a folder may be taken in again while it grows. No attempt is lost.
- WORK/STAGE/*.safetensors are the policies of the first attempt. WORK need not outlive the evaluation.
- results/speed.json gets the rows of speed.json, if a folder has one: a configuration that was measured again is
  replaced.
- `--ship` copies what roster.json names into interplay-agents as int8 (a scale for each output), writes its manifests,
  and removes what the table does not name. It refuses to let the package's data grow beyond the table's limit.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import tarfile
from pathlib import Path
from typing import Any

import roster as table
from roster import DATA, PACKAGE, RESULTS, Listed

from interplay.hub.store import write_index

MANIFEST = "manifest.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, help="folders that run.py wrote, or single results files")
    parser.add_argument("--work", type=Path, help="folder for the policies")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--ship", action="store_true", help="then copy what roster.json names into the package")
    parser.add_argument("--roster", type=Path, default=table.ROSTER)
    parser.add_argument("--data", type=Path, default=DATA, help="the package's folder of Hanabi policies")
    given = parser.parse_args()
    if not given.folders and not given.ship:
        parser.error("name folders to take in, or --ship")
    for folder in given.folders:
        take_in(folder, given.results, given.work)
    if given.ship:
        ship(table.read(given.roster), given.work, given.data, given.results)
        if given.data == DATA:
            write_index()
    return 0


def take_in(folder: Path, results: Path, work: Path | None) -> list[str]:
    """Merge one folder; the stages that were taken in."""
    file = folder if folder.is_file() else folder / "results.json"
    speeds = [] if folder.is_file() else sorted(folder.glob("speed.json"))
    if not file.is_file() and not speeds:
        raise SystemExit(f"error: {folder} has neither results.json nor speed.json: is it what run.py wrote?")
    taken = []
    for stage, told in (read(file) if file.is_file() else {}).items():
        if not told.get("curve") or "config" not in told:
            print(f"{stage}: nothing was trained ({told.get('error', 'no curve')})")
            continue
        policies = unpacked(file.parent / f"{stage}.tar")
        attempt = attempt_of(told, policies)
        first = merged(results / "stages" / f"{stage}.json", stage, attempt)
        if first and policies and work is not None:
            place(work / stage, policies)
        taken.append(stage)
        kept = "" if first else "; a longer attempt stays the first"
        print(f"{stage}: {steps_of(attempt):.3g} steps, {len(policies)} policies{kept}")
    for speed in speeds:
        add_speeds(results / "speed.json", read(speed))
    return taken


def read(file: Path) -> dict[str, Any]:
    try:
        return json.loads(file.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SystemExit(f"error: {file} is damaged or no JSON: {error}") from None


def attempt_of(told: dict[str, Any], policies: dict[str, bytes]) -> dict[str, Any]:
    """What is kept of a stage: no paths of the machine that trained it."""
    config = json.loads(json.dumps(told["config"]))
    work = str(Path(config.pop("output", {}).get("folder", "/nowhere/STAGE")).parent)
    kept: dict[str, Any] = {"config": without_paths(config, work)}
    kept |= {key: told[key] for key in ("device", "wall_s", "error", "continues") if key in told}
    kept["policies"] = [described(name, held) for name, held in policies.items()]
    return kept | {"last": told.get("last") or told["curve"][-1], "curve": told["curve"]}


def without_paths(value: Any, work: str) -> Any:
    """Places within the work folder as STAGE/..., others by their last name."""
    if isinstance(value, dict):
        return {key: without_paths(one, work) for key, one in value.items()}
    if isinstance(value, list):
        return [without_paths(one, work) for one in value]
    if isinstance(value, str) and value.endswith(".npz"):
        return Path(value).name
    if not isinstance(value, str) or not value.startswith("/"):
        return value
    return value.removeprefix(f"{work}/") if value.startswith(f"{work}/") else Path(value).name


def unpacked(path: Path) -> dict[str, bytes]:
    """The policies of a tar file by name. A snapshot in the middle of training is none."""
    if not path.is_file():
        return {}
    found = {}
    with tarfile.open(path) as tar:
        for member in tar.getmembers():
            held = tar.extractfile(member)
            if member.isfile() and held is not None and member.name.endswith(".safetensors"):
                data = held.read()
                if header_of(data).get("format") == "interplay-policy":
                    found[Path(member.name).name] = data
    return dict(sorted(found.items()))


def header_of(data: bytes) -> dict[str, Any]:
    """The header of a policy in memory."""
    length = int.from_bytes(data[:8], "little")
    told = json.loads(data[8 : 8 + length]).get("__metadata__", {}).get("interplay", "{}")
    return json.loads(told)


def described(name: str, data: bytes) -> dict[str, Any]:
    import hashlib

    return {"file": name, "sha256": hashlib.sha256(data).hexdigest(), **header_of(data)["training"]}


def merged(path: Path, stage: str, attempt: dict[str, Any]) -> bool:
    """Put an attempt into its stage's file; whether it is the first now."""
    before = json.loads(path.read_text())["attempts"] if path.is_file() else []
    before, attempt = continued(before, attempt)
    same = [one for one in before if one["config"] == attempt["config"]]
    rest = [one for one in before if one["config"] != attempt["config"]]
    longer = [one for one in same if steps_of(one) > steps_of(attempt) or len(one["curve"]) > len(attempt["curve"])]
    attempt = longer[0] if longer else attempt
    if not attempt["policies"]:  # such as curves that were kept without them
        attempt["policies"] = next((one["policies"] for one in same if one["policies"]), [])
    attempts = sorted([*rest, attempt], key=worth_of, reverse=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(stage, attempts))
    return attempts[0] is attempt and not longer


def continued(before: list[dict[str, Any]], attempt: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """An attempt that continues another takes over its curve and its seconds; the other is then no more."""
    began = set(attempt.get("continues", ()))
    earlier = [one for one in before if began and began <= {policy["sha256"] for policy in one["policies"]}]
    if not earlier:
        return before, attempt
    whole = attempt | {"curve": [*earlier[0]["curve"], *attempt["curve"]]}
    if "wall_s" in attempt and "wall_s" in earlier[0]:
        whole["wall_s"] = round(attempt["wall_s"] + earlier[0]["wall_s"], 1)
    return [one for one in before if one is not earlier[0]], whole


def worth_of(attempt: dict[str, Any]) -> tuple[float, float]:
    """The return at the end of training, if there is one (beliefs have none), then the steps."""
    reached = attempt["last"].get("return")
    return -math.inf if reached is None or math.isnan(reached) else float(reached), steps_of(attempt)


def steps_of(attempt: dict[str, Any]) -> float:
    """Of one run; for clones the epochs, of which there are as many as lines."""
    return float(attempt["curve"][-1].get("steps") or len(attempt["curve"]))


def written(stage: str, attempts: list[dict[str, Any]]) -> str:
    """A file that can be read and compared: a line for each line of a curve."""
    out = io.StringIO()
    out.write(f'{{"kind": "stage", "stage": {json.dumps(stage)}, "attempts": [\n')
    for number, one in enumerate(attempts):
        head = {key: value for key, value in one.items() if key != "curve"}
        fields = ",\n  ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
        lines = ",\n   ".join(json.dumps(line) for line in one["curve"])
        out.write(f' {{{fields},\n  "curve": [\n   {lines}]}}{"," if number + 1 < len(attempts) else ""}\n')
    out.write("]}\n")
    return out.getvalue()


def place(folder: Path, policies: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.safetensors"):
        old.unlink()
    for name, data in policies.items():
        (folder / name).write_bytes(data)


def add_speeds(path: Path, told: dict[str, Any]) -> None:
    """Rows of speed.py; what failed replaces nothing."""
    held = json.loads(path.read_text()) if path.is_file() else {"jaxmarl": told["jaxmarl"], "rows": []}
    rows = {(row["configuration"], row["flags"]): row for row in held["rows"]}
    for row in told["rows"]:
        place = row["configuration"], row["flags"]
        if "steps_per_s" in row or place not in rows:
            rows[place] = row
    path.write_text(json.dumps({"jaxmarl": told["jaxmarl"], "rows": list(rows.values())}, indent=1) + "\n")
    print(f"speed: {len(told['rows'])} rows")


def ship(roster: dict[str, Any], work: Path | None, data: Path, results: Path) -> dict[str, Any]:
    """The policies of the table into the package, and the manifest that tells where each comes from."""
    at = data / MANIFEST
    before = json.loads(at.read_text()) if at.is_file() else {}
    chosen: dict[str, tuple[Listed, Path]] = {}
    for players in (2, 3):
        for one in table.listed(roster, players):
            file = table.file_of(one, work) if one.ship else None
            if file is not None and not is_trained_for(file, players):
                raise SystemExit(f"error: {file} is no policy of hanabi/{players}p")
            if file is not None:
                chosen[one.shipped_at] = one, file
            elif one.ship:
                print(f"{one.shipped_at}: {one.stage} has not been trained; left out")
    compacted = {name: compact(file) for name, (_, file) in chosen.items()}
    check_size(roster["limit_mb"], data, sum(map(len, compacted.values())))
    for old in sorted(data.glob("*/*.safetensors")):
        if old.relative_to(data).with_suffix("").as_posix() not in chosen:
            print(f"{old.relative_to(data)}: not in the table; removed")
            old.unlink()
    manifest = {}
    for name, (one, _) in sorted(chosen.items()):
        target = data / f"{name}.safetensors"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(compacted[name])
        told = described(one.name, compacted[name])
        source = table.header(target).get("stored", {}).get("from_sha256")
        kept = {key: told[key] for key in ("sha256", "algorithm", "run", "hold", "clone", "steps") if key in told}
        kept |= {"from_sha256": source} if source else {}
        device = device_of(results, one.stage, {"sha256": source or told["sha256"]}) or before.get(name, {}).get(
            "device"
        )
        manifest[name] = {"stage": one.stage, **kept, "bytes": len(compacted[name]), "device": device}
    at.write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{len(manifest)} policies shipped, {sum(map(len, compacted.values())) / 1e6:.1f} MB")
    return manifest


def is_trained_for(file: Path, players: int) -> bool:
    return table.header(file).get("game", {}).get("id") == f"hanabi/{players}p"


def compact(file: Path) -> bytes:
    """The file's bytes as the package holds them: int8, with the hash of the file that it was made from."""
    from safetensors.numpy import save

    from interplay.agents.neural import FORMAT, stored_as

    about = table.header(file)
    if "stored" in about or about.get("format") != FORMAT:  # networks over moves are small as they are
        return file.read_bytes()
    about["stored"] = {"precision": "int8", "from_sha256": table.sha256(file)}
    return save(stored_as(_arrays(file), "int8", str(file)), metadata={"interplay": json.dumps(about)})


def _arrays(file: Path) -> dict[str, Any]:
    from interplay.agents.neural import opened

    return opened(file)[1]


def check_size(limit_mb: float, data: Path, hanabi: int) -> None:
    """All data of the package, with these policies in place of those of before."""
    rest = sum(f.stat().st_size for f in PACKAGE.rglob("*") if f.is_file() and DATA not in f.parents)
    total = (rest + hanabi) / 1e6
    if total > limit_mb:
        raise SystemExit(f"error: the package's data would be {total:.1f} MB, {limit_mb} are allowed: ship fewer")
    print(f"the package's data: {total:.1f} MB of {limit_mb}")


def device_of(results: Path, stage: str, told: dict[str, Any]) -> str | None:
    """Where the attempt with this policy was trained, or the only one, if its policies are unknown."""
    file = results / "stages" / f"{stage}.json"
    attempts = json.loads(file.read_text())["attempts"] if file.is_file() else []
    for attempt in attempts:
        if any(one["sha256"] == told["sha256"] for one in attempt["policies"]):
            return attempt.get("device")
    return attempts[0].get("device") if len(attempts) == 1 and not attempts[0]["policies"] else None


if __name__ == "__main__":
    sys.exit(main())
