"""The files in deploy/: no container engine runs here, so their form and what they call is checked."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from interplay.cli.commands.play import Crossplay
from interplay.cli.commands.study import StudyServe

DEPLOY = Path(__file__).parents[1] / "deploy"
# Of the Compose Specification: what a service, a health check and a dependency may have, as far as we use it.
SERVICE = {
    "build", "cap_drop", "command", "depends_on", "entrypoint", "environment", "healthcheck", "image", "ports",
    "read_only", "restart", "secrets", "security_opt", "tmpfs", "volumes",
}  # fmt: skip
HEALTH = {"test", "interval", "timeout", "retries", "start_period"}
INSTRUCTIONS = {
    "FROM", "RUN", "COPY", "USER", "WORKDIR", "ENV", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD",
}  # fmt: skip


def options():
    return {f"--{name.replace('_', '-')}" for name in StudyServe.__dataclass_fields__}


def test_compose_names_only_what_it_defines():
    text = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(text) == {"name", "services", "volumes", "secrets"}
    for name, service in text["services"].items():
        assert set(service) <= SERVICE, name
        assert ("image" in service) != ("build" in service), name
        assert set(service.get("healthcheck", {})) <= HEALTH
        assert set(service.get("secrets", ())) <= set(text["secrets"])
        named = [volume.partition(":")[0] for volume in service.get("volumes", ())]
        assert all(place in text["volumes"] or place.startswith("./") for place in named)
        for other, rule in service.get("depends_on", {}).items():
            assert rule["condition"] == "service_healthy"
            assert "healthcheck" in text["services"][other]
    build = text["services"]["study"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DEPLOY / "Containerfile"
    command = " ".join(text["services"]["study"]["command"])
    assert set(re.findall(r"--[a-z-]+", command)) <= options()


@pytest.mark.skipif("COMPOSE_SCHEMA" not in os.environ, reason="make test-deploy gets the schema")
def test_compose_follows_the_official_schema():
    """The schema of the Compose Specification as Compose 1.29.2 carries it; the name of a project came after it."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(Path(os.environ["COMPOSE_SCHEMA"]).read_text())
    text = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert isinstance(text.pop("name"), str)
    errors = [f"{list(error.path)}: {error.message}" for error in jsonschema.Draft7Validator(schema).iter_errors(text)]
    assert errors == []
    text["services"]["study"]["port"] = text["services"]["study"].pop("ports")
    assert list(jsonschema.Draft7Validator(schema).iter_errors(text))  # it would find a slip


def test_the_container_copies_what_there_is():
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert {line.split()[0] for line in lines} <= INSTRUCTIONS
    for line in lines:
        if line.startswith("COPY"):
            *sources, _ = line.split()[1:]
            assert all((DEPLOY.parent / source).exists() for source in sources), line
    assert set(re.findall(r'"(--[a-z-]+)"', text)) <= options()


def test_the_unit_calls_what_there_is():
    text = (DEPLOY / "interplay-study.service").read_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    assert shlex.split(command)[1:3] == ["study", "serve"]
    assert set(re.findall(r"--[a-z-]+", command)) <= options()
    sections = re.findall(r"^\[(\w+)\]$", text, re.MULTILINE)
    assert sections == ["Unit", "Service", "Install"]
    for line in text.splitlines():
        assert not line or line[0] in "#[" or re.match(r"[A-Z]\w+=\S", line), line


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_takes_the_unit(tmp_path):
    text = (
        (DEPLOY / "interplay-study.service").read_text().replace("/opt/interplay/bin/interplay", shutil.which("true"))
    )
    (tmp_path / "interplay-study.service").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "interplay-study.service")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_file_says_that_it_is_untested():
    for name in ("Containerfile", "compose.yaml", "interplay-study.service", "ray_job.yaml"):
        assert (DEPLOY / name).read_text().startswith("# UNTESTED")


def ray_job():
    """Of the job for Kubernetes: what it says, and its pods."""
    spec = yaml.safe_load((DEPLOY / "ray_job.yaml").read_text())["spec"]
    groups = [spec["rayClusterSpec"]["headGroupSpec"], *spec["rayClusterSpec"]["workerGroupSpecs"]]
    return spec, [group["template"]["spec"] for group in groups]


def test_the_pods_of_the_ray_job_follow_the_schema_of_kubernetes():
    checker = pytest.importorskip("kubernetes_validate", reason="make test-deploy gets the schema")
    for pod in ray_job()[1]:
        whole = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": pod}
        checker.validate(whole, "1.30", strict=True)
        with pytest.raises(checker.ValidationError):
            checker.validate(whole | {"spec": pod | {"contaners": []}}, "1.30", strict=True)


def test_the_ray_job_calls_what_there_is():
    spec, pods = ray_job()
    for pod in pods:
        volumes = {volume["name"] for volume in pod.get("volumes", ())}
        mounts = {mount["name"] for box in pod["containers"] for mount in box.get("volumeMounts", ())}
        assert mounts == volumes
    words = shlex.split(spec["entrypoint"])
    assert words[:2] == ["interplay", "crossplay"]
    assert {word[2:] for word in words if word.startswith("--")} <= set(Crossplay.__dataclass_fields__)
