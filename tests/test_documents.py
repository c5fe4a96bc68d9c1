"""The Python in the README and the guides runs as printed, and their links lead somewhere."""

from __future__ import annotations

import doctest
import importlib.util
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.cli.main import command_line

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXAMPLES = sorted(ROOT.glob("examples/*.py"))
PACKAGE = ROOT / "src" / "evenhand"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()


def _blocks(document: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL)


def test_the_readme_shows_an_example() -> None:
    """The README has at least one Python block."""
    assert _blocks(ROOT / "README.md")


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if _blocks(d)], ids=lambda path: path.stem)
def test_python_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block runs by itself from an empty folder; blocks with prompts print what is written below them."""
    monkeypatch.chdir(tmp_path)
    prompted = [block for block in _blocks(document) if block.startswith(">>>")]
    for block in _blocks(document):
        if block not in prompted:
            exec(compile(block, document.name, "exec"), {"__name__": "__main__"})
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    runner.run(parser.get_doctest("\n".join(prompted), {}, document.stem, str(document), 0))
    assert runner.failures == 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_links_lead_somewhere(document: Path) -> None:
    """Every link to a file of the project names a file that is there."""
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def _commands(document: Path) -> list[str]:
    """Lines of code that call evenhand: indented, after a prompt, or in a block of shell."""
    text = re.sub(r" *\\\n *", " ", document.read_text())
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    shell = "\n".join(block for language, block in fenced if language in ("", "bash"))
    return re.findall(r"(?m)^(?: {4}|\$ )(evenhand .*)$", text) + re.findall(r"(?m)^(evenhand .*)$", shell)


def test_printed_commands_have_options_that_exist() -> None:
    """Every printed call of evenhand is one that its command line accepts; they are not run."""
    printed = [line for document in DOCUMENTS for line in _commands(document)]
    assert len(printed) > 60
    for line in printed:
        words = shlex.split(line, comments=True)[1:]
        shell = next((place for place, word in enumerate(words) if word in (">", "|", "&")), len(words))
        try:
            command_line().parse_args(words[:shell])
        except SystemExit:
            pytest.fail(f"wrong usage: {line}")


def test_printed_modules_can_be_run() -> None:
    """Every module of benchmarks, scripts and tests that a document runs with `python -m` is there."""
    named = {
        name
        for path in DOCUMENTS
        for name in re.findall(r"python -m ((?:benchmarks|scripts|tests)[\w.]*)", path.read_text())
    }
    assert len(named) > 20
    assert [name for name in sorted(named) if importlib.util.find_spec(name.rstrip(".")) is None] == []


def test_every_decision_is_listed() -> None:
    """The index of decisions links to each of them, in order."""
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[^)]+)\)", (folder / "index.md").read_text())
    assert listed == sorted(path.name for path in folder.glob("0*.md"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example runs from an empty folder to its end."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")


@pytest.mark.process
def test_the_contract_suites_of_the_guide_pass(tmp_path: Path) -> None:
    """The test modules that extend.md shows pass when pytest runs them, each with all tests of its suite."""
    blocks = [block for block in _blocks(ROOT / "docs" / "extend.md") if "Contract" in block]
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        (tmp_path / f"test_block_{number}.py").write_text(block)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[-1]) > 40


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`([\w/-]+\.(?:py|js))`", ARCHITECTURE))))
def test_the_walks_name_files_that_exist(path: str) -> None:
    """Every file that architecture.md names is in the package."""
    assert (PACKAGE / path).is_file()


def test_the_changelog_names_modules_that_exist() -> None:
    """Every module in the second column of its table of moved modules is in the package."""
    table = (ROOT / "CHANGELOG.md").read_text().partition("Modules, all below `evenhand`.")[2].partition("\n\nJSON")[0]
    named = re.findall(r"`([a-z_.]+)`", "\n".join(re.findall(r"(?m)^\|.*\|(.*)\|$", table)))
    modules = {".".join(file.relative_to(PACKAGE).with_suffix("").parts) for file in PACKAGE.rglob("*.py")}
    packages = {module.removesuffix(".__init__") for module in modules}
    assert len(named) > 50
    assert set(named) <= packages


@pytest.mark.parametrize(
    "folder", sorted(str(file.parent.relative_to(PACKAGE)) for file in PACKAGE.glob("*/**/__init__.py"))
)
def test_the_map_names_every_folder(folder: str) -> None:
    """Every package is named in architecture.md, and every room of it is drawn on the map."""
    assert f"`{folder}`" in ARCHITECTURE
    assert f">{folder.split('/')[0]}<" in (ROOT / "docs" / "figures" / "rooms.svg").read_text()


def test_the_glossary_has_the_terms_of_the_pages() -> None:
    """The guide's table of terms on the pages is the one that the pages show, word for word and in the same order."""
    script = (PACKAGE / "service" / "web" / "js" / "glossary.js").read_text()
    shown = re.findall(r'(?m)^  "?([a-z ]+)"?: "(.*)",$', script.partition("MEANINGS = {")[2].partition("};")[0])
    table = (ROOT / "docs" / "glossary.md").read_text().partition("## On the pages")[2]
    written = re.findall(r"(?m)^\| (.+?) \| (.+) \|$", table.partition("|---|---|")[2])
    assert len(shown) == script.count('",\n') > 20
    assert written == shown
