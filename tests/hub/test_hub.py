"""Agents and panels by name: found, fetched, added and checked; what is wrong is refused with words."""

import hashlib
import json
import os
import shutil
import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import interplay
from interplay.cli.main import run
from interplay.errors import InterplayError, UnknownName
from interplay.hub import fetch, manifest, store
from interplay.hub.cache import cache_folder
from interplay.hub.manifest import MANIFEST, HubFile, describe_all, parse_manifest, read_manifest, write_manifest
from interplay.hub.store import CHECKOUT, DEMONSTRATION, MissingWeights

DEMO = "trained/overcooked/counter_circuit/hsp-1"
PANEL = "overcooked/counter_circuit:generated"
OTHER = "trained/overcooked/coordination_ring/hsp-1"
OTHER_PANEL = "overcooked/coordination_ring:generated"
OTHER_FILE = f"agents/{OTHER.removeprefix('trained/')}.safetensors"

needs_checkout = pytest.mark.skipif(
    not (CHECKOUT / "agents").is_dir(), reason="the sources of interplay-agents are not here"
)


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine with the package alone and an empty cache."""
    monkeypatch.setenv("INTERPLAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "distribution_folder", lambda: None)
    return tmp_path / "cache" / "hub"


@pytest.fixture
def folder(tmp_path):
    """A folder of the hub with one agent of the index and one that is described there alone."""
    at = tmp_path / "hub"
    source = CHECKOUT / OTHER_FILE
    for name in ("hsp-1", "own-1"):
        target = at / "agents" / "overcooked" / "coordination_ring" / f"{name}.safetensors"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    write_manifest(at / MANIFEST, describe_all(at))
    return at


@needs_checkout
def test_the_manifest_describes_the_files_as_they_are():
    """Whoever retrains writes it anew: `interplay.hub.store.write_index`."""
    found = [*describe_all(DEMONSTRATION), *describe_all(CHECKOUT)]
    assert {item.name: item for item in found} == read_manifest(CHECKOUT / MANIFEST)
    assert {item.licence for item in found} == {"MIT"}
    assert all(item.made and item.scores for item in found)


def test_the_package_alone_has_what_make_grade_needs(bare):
    assert store.local_names("agent") == [DEMO]
    assert store.local_names("panel") == [PANEL]
    assert store.require(DEMO).is_relative_to(DEMONSTRATION)
    game = interplay.make("overcooked/counter_circuit")
    from interplay.partners.panels import panel

    assert len(panel(game).partners) == 20


def test_missing_weights_say_the_command_everywhere(bare, tmp_path, capsys):
    from interplay.partners.panels import panel
    from interplay.partners.tables import find

    told = r"is not on this machine: run `pip install interplay-agents`"
    with pytest.raises(MissingWeights, match=rf"{OTHER} \(0.03 MB\) {told}"):
        interplay.agent(OTHER)
    with pytest.raises(MissingWeights, match=told):
        interplay.agent("greedy:trained/hanabi/2p/proxy-1")
    ring = interplay.make("overcooked/coordination_ring")
    with pytest.raises(MissingWeights, match=rf"{OTHER_PANEL} .*{told}, or take the scripted"):
        panel(ring)  # never another panel without a word
    with pytest.raises(MissingWeights, match=told):
        panel(ring, "people")
    assert panel(ring, "scripted").name == "scripted"
    assert panel(interplay.make("overcooked/cramped_room")).name == "scripted"  # has no generated one
    with pytest.raises(MissingWeights, match=told):
        find("overcooked/coordination_ring")
    with pytest.raises(UnknownName, match=r"did you mean .*hsp-"):
        interplay.agent("trained/overcooked/coordination_ring/hsp-9")
    assert run(["grade", "--game", "overcooked/coordination_ring", "--agent", "stay"]) == 2
    assert "pip install interplay-agents" in capsys.readouterr().err
    assert run(["hub", "verify", OTHER]) == 2
    assert "pip install interplay-agents" in capsys.readouterr().err


def test_challenges_and_studies_say_it_too(bare, tmp_path, capsys):
    pytest.importorskip("yaml")
    from interplay.server.examples import STUDIES

    assert run(["challenge", "check", "hanabi_proxies"]) != 0
    said = capsys.readouterr()
    assert "pip install interplay-agents" in said.err + said.out
    text = STUDIES.files()["overcooked_ranking"].read_text()
    assert "overcooked/trial_partner" in text
    (tmp_path / "study.yaml").write_text(text.replace("overcooked/trial_partner", OTHER))
    assert run(["study", "simulate", str(tmp_path / "study.yaml"), "--participants", "1"]) != 0
    said = capsys.readouterr()
    assert "pip install interplay-agents" in said.err + said.out


@needs_checkout
def test_get_from_a_folder_keeps_what_is_sound(bare, folder):
    found = fetch.get(OTHER, str(folder))
    assert found.path == bare / OTHER_FILE
    assert interplay.agent(OTHER).name == OTHER
    own = "trained/overcooked/coordination_ring/own-1"
    assert fetch.get(own, str(folder)).item == read_manifest(folder / MANIFEST)[own]
    assert own in store.local_names("agent", "overcooked/coordination_ring")
    shutil.rmtree(folder)
    assert fetch.get(own, str(folder)).place == "cache"  # no source is asked again
    assert fetch.get(DEMO).place == "package"
    with pytest.raises(MissingWeights):
        fetch.get(OTHER_PANEL)
    with pytest.raises(UnknownName):
        fetch.get("trained/overcooked/coordination_ring/nobody-1")


@needs_checkout
def test_a_file_that_is_not_the_one_that_is_meant_is_refused(bare, folder):
    (folder / OTHER_FILE).write_bytes((folder / OTHER_FILE).read_bytes()[:-1] + b"\0")
    with pytest.raises(InterplayError, match=r"hsp-1.safetensors is not the file that is meant.*not kept"):
        fetch.get(OTHER, str(folder))
    with (folder / OTHER_FILE).open("ab") as file:
        file.write(b"more")
    with pytest.raises(InterplayError, match="holds more than"):
        fetch.get(OTHER, str(folder))
    assert not (bare / OTHER_FILE).exists()


@needs_checkout
@pytest.mark.parametrize("what", ["file", "folder", "out"])
def test_links_are_refused(bare, folder, tmp_path, what):
    at = folder / OTHER_FILE
    if what == "folder":
        at.parent.rename(tmp_path / "real")
        at.parent.symlink_to(tmp_path / "real", target_is_directory=True)
    else:
        real = folder / "real" if what == "file" else tmp_path / "real"
        at.rename(real)
        at.symlink_to(real)
    with pytest.raises(InterplayError, match=r"is a symbolic link.*Nothing was read"):
        fetch.get(OTHER, str(folder))


@needs_checkout
def test_damage_in_the_cache_is_seen_before_use(bare, folder, capsys):
    path = fetch.get(OTHER, str(folder)).path
    assert run(["hub", "verify", "--json"]) == 0
    assert {row["name"] for row in json.loads(capsys.readouterr().out)["rows"]} == {DEMO, OTHER, PANEL}
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(InterplayError, match=r"damaged or of another version.*interplay hub get"):
        interplay.agent(OTHER)
    assert run(["hub", "verify"]) == 1
    assert "damaged or of another version" in capsys.readouterr().out
    path.unlink()
    path.symlink_to(folder / OTHER_FILE)
    with pytest.raises(InterplayError, match="symbolic link"):
        interplay.agent(OTHER)


@needs_checkout
def test_add_names_ones_own(bare, tmp_path, capsys):
    mine = tmp_path / "policy0.safetensors"
    shutil.copy(CHECKOUT / OTHER_FILE, mine)
    name = "trained/overcooked/coordination_ring/mine-1"
    given = ["hub", "add", str(mine), "--licence", "CC0-1.0", "--name"]
    assert run([*given, name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["made"].startswith("hsp, run 0")
    assert interplay.agent(name).name == name
    assert run(["hub", "list", "--here", "--game", "overcooked/coordination_ring", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["licence"], row["where"]) == (name, "CC0-1.0", "cache")
    assert row["files"][0]["sha256"] == hashlib.sha256(mine.read_bytes()).hexdigest()
    folder = tmp_path / "panel"
    shutil.copytree(CHECKOUT / "panels" / "overcooked" / "coordination_ring" / "chefs", folder)
    panel_name = "overcooked/coordination_ring:mine"
    assert run(["hub", "add", str(folder), "--licence", "MIT", "--name", panel_name]) == 0
    from interplay.partners.panels import panel

    assert panel(interplay.make("overcooked/coordination_ring"), "mine").members
    for wrong, said in {
        name: "is there already",
        OTHER: "is there already",
        "trained/overcooked/counter_circuit/mine-1": "was made for 'overcooked/coordination_ring'",
        "../../mine": "no name of the hub",
        "trained/../../x": "no name of the hub",
        "overcooked/coordination_ring:new": "a panel is a folder",
    }.items():
        capsys.readouterr()
        assert run([*given, wrong]) == 2, wrong
        assert said in capsys.readouterr().err
    (tmp_path / "text.safetensors").write_text("no weights")
    with pytest.raises(InterplayError, match="no safetensors file"):
        fetch.add(tmp_path / "text.safetensors", "trained/overcooked/coordination_ring/t-1", licence="MIT")
    link = tmp_path / "link.safetensors"
    link.symlink_to(mine)
    with pytest.raises(InterplayError, match="symbolic link"):
        fetch.add(link, "trained/overcooked/coordination_ring/l-1", licence="MIT")


def entry(**changes):
    file = {"bytes": 3, "sha256": "0" * 64}
    found = {"game": "g", "licence": "MIT", "made": "so", "scores": {}, "files": {"agents/g/a.safetensors": file}}
    return found | changes


@pytest.mark.parametrize(
    ("name", "item", "said"),
    [
        ("trained/g/a", entry(files={"agents/g/../../b": {"bytes": 3, "sha256": "0" * 64}}), "names others"),
        ("trained/g/a", entry(files={"/etc/passwd": {"bytes": 3, "sha256": "0" * 64}}), "names others"),
        ("trained/g/a", entry(files={}), "too few"),
        ("trained/g/a", entry(files=[]), "no item of the hub"),
        ("trained/g/a", entry(game="h"), "the game is that of the name"),
        ("trained/g/a", entry(licence=3), "are text"),
        ("trained/g/a", entry(scores={"a": "b"}), "no item of the hub"),
        ("trained/g/a", entry(files={"agents/g/a.safetensors": {"bytes": 2**40, "sha256": "0" * 64}}), "are allowed"),
        ("trained/g/a", entry(files={"agents/g/a.safetensors": {"bytes": True, "sha256": "0" * 64}}), "are allowed"),
        ("trained/g/a", entry(files={"agents/g/a.safetensors": {"bytes": 3, "sha256": "0"}}), "no sha256"),
        ("trained/g/a", None, "no item of the hub"),
        ("trained/a", entry(), "no name of the hub"),
        ("g/.hidden:a", entry(), "no name of the hub"),
        ("g:a", entry(files={"panels/g/a/panel.json": {"bytes": 3, "sha256": "0" * 64}}), "too few"),
    ],
)
def test_a_manifest_of_others_is_checked(name, item, said):
    text = json.dumps({"format": "interplay-hub", "version": 1, "items": {name: item}})
    with pytest.raises(InterplayError, match=said):
        parse_manifest(text, "theirs")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "interplay-hub", "items": {}}', "[" * 10_000])
def test_what_is_no_manifest_is_refused(text):
    with pytest.raises(InterplayError, match="theirs"):
        parse_manifest(text, "theirs")


@pytest.mark.parametrize("source", ["http://example.org", "ftp://example.org", "file:///etc", "no/such/folder"])
def test_other_sources_are_refused(bare, source):
    with pytest.raises(InterplayError, match="https"):
        fetch.get(OTHER, source)


class Server:
    """A folder behind https, with a certificate of its own."""

    def __init__(self, folder: Path, certificate: Path):
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path.startswith("/away/"):
                    self.send_response(302)
                    self.send_header("Location", f"http://localhost:1/{self.path}")
                    self.end_headers()
                    return
                path = folder / self.path.removeprefix("/hub/")
                self.send_response(200 if path.is_file() else 404)
                self.end_headers()
                if path.is_file():
                    server.served.append(path.name)
                    self.wfile.write(path.read_bytes())

            def log_message(self, *_):
                pass

        self.served: list[str] = []
        self.http = HTTPServer(("localhost", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.address = f"https://localhost:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server(folder, tmp_path, monkeypatch):
    certificate = tmp_path / "certificate.pem"
    certificate.write_bytes(self_signed())
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("no_proxy", "localhost")
    found = Server(folder, certificate)
    yield found
    found.http.shutdown()
    found.http.server_close()


def self_signed() -> bytes:
    """A private key and a certificate for localhost that is valid for a day."""
    import datetime

    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    kept = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return kept + made.public_bytes(pem)


@needs_checkout
def test_get_over_https(bare, folder, server):
    own = "trained/overcooked/coordination_ring/own-1"
    assert fetch.get(own, f"{server.address}/hub/").place == "cache"
    assert interplay.agent(own).name == own
    assert fetch.get(OTHER, f"{server.address}/hub").path == bare / OTHER_FILE
    assert server.served == [MANIFEST, "own-1.safetensors", "hsp-1.safetensors"]  # the index needs no manifest
    with pytest.raises(InterplayError, match=r"cannot fetch .*people"):
        fetch.get("overcooked/coordination_ring:people", f"{server.address}/hub")


@needs_checkout
def test_https_that_leads_to_http_or_gives_too_much_is_refused(bare, folder, server, monkeypatch):
    with pytest.raises(InterplayError, match="which is not https"):
        fetch.get(OTHER, f"{server.address}/away")
    with (folder / OTHER_FILE).open("ab") as file:
        file.write(b"more")
    with pytest.raises(InterplayError, match="holds more than the"):
        fetch.get(OTHER, f"{server.address}/hub")
    assert not (bare / OTHER_FILE).exists()
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(InterplayError, match=r"cannot fetch .*certificate"):
        fetch.get(OTHER, f"{server.address}/hub")


def test_the_cache_goes_where_it_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("INTERPLAY_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("INTERPLAY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "interplay"
    monkeypatch.delenv("XDG_CACHE_HOME")
    for platform, ending in {
        "linux": ".cache/interplay",
        "darwin": "Library/Caches/interplay",
        "win32": "AppData/Local/interplay/Cache",
    }.items():
        monkeypatch.setattr("sys.platform", platform)
        monkeypatch.delenv("LOCALAPPDATA", raising=False)
        assert cache_folder().as_posix().endswith(ending)


@needs_checkout
def test_a_cache_that_cannot_be_written_is_told(bare, folder, monkeypatch, tmp_path):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("INTERPLAY_CACHE", str(tmp_path / "taken"))
    with pytest.raises(InterplayError, match="cannot write to the cache"):
        fetch.get(OTHER, str(folder))


def test_doctor_tells_what_is_here(bare, capsys):
    assert run(["doctor", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    of = {(row["kind"], row["name"]): row for row in rows}
    assert of["weights", "package"]["state"].startswith("2 of ")
    assert "pip install interplay-agents" in of["weights", "interplay-agents"]["about"]
    assert of["package", "jax"]["state"] != "missing"
    assert ("extra", "server") in of
    assert str(os.environ["INTERPLAY_CACHE"]) in of["cache", "hub"]["about"]
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"interplay {interplay.__version__}"


def test_a_file_is_what_its_record_says():
    assert HubFile("a", 1, "b")._asdict() == {"path": "a", "bytes": 1, "sha256": "b"}
    assert manifest.paths_of("trained/hanabi/2p/op-1") == ["agents/hanabi/2p/op-1.safetensors"]
    assert manifest.game_of("hanabi/2p:people") == "hanabi/2p"
