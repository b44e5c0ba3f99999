"""What exists is documented, and what is documented exists."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import offdiag
from offdiag.cli.commands import COMMANDS
from offdiag.importers import DIALECTS
from offdiag.settings import describe_settings
from offdiag.settings.load import FLAT_VARIABLES
from offdiag.store.models import Base

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def headings(path: str, level: int) -> list[str]:
    return re.findall(rf"^{'#' * level} `(.+)`$", text_of(path), flags=re.MULTILINE)


def test_every_setting_is_described_with_its_default(tmp_path: Path) -> None:
    page = text_of("docs/configuration.md")
    sections = {
        name: page.split(f"### `{name}`\n")[1].split("###")[0]
        for name in headings("docs/configuration.md", 3)
    }
    rows = dict(re.findall(r"^\| `(flags\.\w+)` \| (`.+?`) \|", page, flags=re.MULTILINE))

    described = {name: text for name, text in {**sections, **rows}.items() if name != "flags"}

    settings = describe_settings({}, folder=tmp_path)
    assert list(described) == [row.key for row in settings]
    for row in settings:
        shown = f'"{row.value}"' if isinstance(row.value, str) else str(row.value)
        shown = shown.lower() if isinstance(row.value, bool) else shown
        assert f"`{shown}`" in described[row.key], row.key


def test_every_short_variable_is_documented() -> None:
    page = text_of("docs/configuration.md")

    for name, key in FLAT_VARIABLES.items():
        assert f"| `{name}` | " in page
        assert f"`{key}`" in page


def test_every_verb_has_a_heading() -> None:
    assert headings("docs/cli.md", 2) == [f"offdiag {verb}" for verb in COMMANDS]


def test_every_error_is_explained() -> None:
    errors = {
        name
        for name, home in offdiag._HOMES.items()
        if home == "offdiag.errors" and name != "OffdiagError"
    }

    explained = set(re.findall(r"^\| `(\w+)` \|", text_of("docs/sdk.md"), flags=re.MULTILINE))

    assert explained == errors


def test_every_public_function_is_in_the_sdk_page() -> None:
    page = text_of("docs/sdk.md")
    names = set(offdiag.__all__) - {"__version__", "errors"}
    functions = [name for name in sorted(names) if name.islower()]

    assert [name for name in functions if f"`{name}`" not in page] == []


def test_every_table_is_in_the_store_page() -> None:
    named = set(re.findall(r"`(\w+)`", text_of("docs/store.md").split("## What is kept")[1]))

    assert set(Base.metadata.tables) <= named


def test_every_dependency_is_justified() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    page = text_of("docs/decisions/008-dependencies.md")
    wanted = chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {re.split(r"[\[<>=,]", requirement)[0] for requirement in wanted} - {"offdiag"}

    missing = {name for name in names if name not in page and "stubs" not in name}

    assert not missing


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    pages = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))
    index = text_of("docs/decisions/README.md")

    assert [int(name[:3]) for name in pages] == list(range(1, len(pages) + 1))
    assert all(f"]({name})" in index for name in pages)
    for name in pages:
        page = text_of(f"docs/decisions/{name}")
        assert page.startswith(f"# {name[:3]} ")
        assert "Accepted." in page


def test_make_targets_that_are_mentioned_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), flags=re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]
    pages += DOCS.glob("contributing/*.md")

    for page in pages:
        mentioned = set(re.findall(r"(?:\$ |`)make ([a-z-]+)", page.read_text(encoding="utf-8")))
        assert mentioned <= targets, page


def test_every_dialect_is_on_the_page_of_importers() -> None:
    page = text_of("docs/importers.md")

    assert {name for name in DIALECTS if f"| `{name}` |" not in page} == set(), (
        "add a line to the table of docs/importers.md"
    )


def test_modules_named_for_contributors_exist() -> None:
    tables = re.findall(r"^\| .*\|$", text_of("CONTRIBUTING.md"), flags=re.MULTILINE)
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py|\.txt)?)`", "\n".join(tables)))
    folders = (ROOT, ROOT / "registry/offdiag", ROOT / "web")

    assert len(named) > 20
    assert {each for each in named if not any((at / each).exists() for at in folders)} == set(), (
        "a table of CONTRIBUTING.md names modules that do not exist"
    )


def test_changes_are_collected_above_those_of_the_version() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    versions = re.findall(r"^## (.+)$", text_of("CHANGELOG.md"), flags=re.MULTILINE)

    assert versions[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(project['version'])} \(\d{{4}}-\d\d-\d\d\)", versions[1])


def test_no_page_is_left_unwritten() -> None:
    unwritten = re.compile(
        r"lorem ipsum|coming soon|to be written|\bTBD\b|\bTODO\b|\?\?\?", re.IGNORECASE
    )
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "config").rglob("*.*")]
    written = [page for page in pages if "__pycache__" not in page.parts]

    assert [
        page.name for page in written if unwritten.search(page.read_text(encoding="utf-8"))
    ] == []
