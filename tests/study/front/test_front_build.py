"""The front end that the package ships was built from the sources that stand beside it. Needs no node."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

import interplay.study
from interplay.study.protocol.translations import browser_words

WEB = Path(__file__).parents[3] / "frontend"
STATIC = Path(interplay.study.__file__).parent / "static"
LOOSE = re.compile(r":\s*any\b|\bas any\b|<any>|@ts-(ignore|nocheck|expect-error)|\beval\(|new Function")
FIXED = ("build.mjs", "package-lock.json", "package.json", "tsconfig.json")

pytestmark = pytest.mark.skipif(not WEB.is_dir(), reason="the sources of the front end are only in the repository")


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sources(web: Path) -> str:
    """As frontend/build.mjs: one hash over the lines of `sha256sum`, sorted by path."""
    paths = [p for p in (web / "src").rglob("*") if p.is_file()] + [web / name for name in FIXED]
    lines = sorted((p.relative_to(web).as_posix(), sha(p)) for p in paths)
    return hashlib.sha256("".join(f"{digest}  {name}\n" for name, digest in lines).encode()).hexdigest()


def build() -> dict:
    return json.loads((STATIC / "build.json").read_text())


def test_the_shipped_build_is_fresh():
    assert build()["sources"] == sources(WEB), "the front end's sources changed since its build: run `make front`"


def test_the_shipped_files_are_the_built_ones():
    shipped = {p.name: sha(p) for p in STATIC.iterdir() if p.name != "build.json"}
    assert shipped == build()["files"], "a file in static/ was changed by hand: change its source and run `make front`"


def test_a_changed_a_new_and_a_renamed_source_are_noticed(tmp_path):
    web = tmp_path / "web"
    (web / "src" / "pages").mkdir(parents=True)
    for name in FIXED:
        (web / name).write_text(name)
    page = web / "src" / "pages" / "a.ts"
    page.write_text("1")
    seen = {sources(web)}
    page.write_text("2")
    seen.add(sources(web))
    (web / "src" / "b.ts").write_text("")
    seen.add(sources(web))
    page.rename(web / "src" / "pages" / "c.ts")
    seen.add(sources(web))
    assert len(seen) == 4


def test_the_shell_obeys_the_servers_policy():
    """No script or style in the page itself, nothing from elsewhere, and addresses that change with the build."""
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?://", page)
    version = build()["sources"][:12]
    assert re.findall(r'(?:src|href)="([./][^"]+)"', page) == [
        f"../static/style.css?v={version}",  # under whatever prefix the server stands
        f"../static/app.js?v={version}",
    ]


def test_the_sources_are_strict():
    options = json.loads((WEB / "tsconfig.json").read_text())["compilerOptions"]
    assert options["strict"] is True
    assert options["noUncheckedIndexedAccess"] is True
    loose = [
        path.name
        for path in (WEB / "src").rglob("*.ts")
        if re.search(
            r":\s*any\b|\bas any\b|<any>|@ts-(ignore|nocheck|expect-error)|\beval\(|new Function", path.read_text()
        )
    ]
    assert loose == []


def test_every_source_is_short():
    long = {p.name: n for p in (WEB / "src").rglob("*.ts") if (n := len(p.read_text().splitlines())) > 400}
    long.pop("types.ts", None)  # written by tools/typescript_types.py
    assert long == {}


def test_both_languages_have_every_word():
    """tsc holds the table of Chinese to every key; here that no text is empty and the blanks to fill are the same."""
    text = (WEB / "src" / "words.ts").read_text()
    english, chinese = (
        dict(re.findall(r'^  (\w+): "(.*)",$', text.split(begin)[1].split("\n}")[0], re.MULTILINE))
        for begin in ("const EN = {", "const ZH: Record<Word, string> = {")
    )
    assert len(english) > 80
    assert english.keys() == chinese.keys()
    for word, value in english.items():
        assert chinese[word].strip()
        assert sorted(re.findall(r"\{\d\}", value)) == sorted(re.findall(r"\{\d\}", chinese[word])), word


def test_the_server_knows_every_word_of_the_browser():
    text = (WEB / "src" / "words.ts").read_text().split("const EN = {")[1].split("\n}")[0]
    english = dict(re.findall(r'^  (\w+): "(.*)",$', text, re.MULTILINE))
    assert {key: texts["en"] for key, texts in browser_words().items()} == english
