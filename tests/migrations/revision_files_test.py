"""The folder of revisions tells the chain: order, names and head."""

from __future__ import annotations

import re
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

import offdiag_migrations

VERSIONS = offdiag_migrations.FOLDER / "versions"
FILES = sorted(file for file in VERSIONS.glob("*.py") if file.stem != "__init__")


def chain() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(offdiag_migrations.FOLDER))
    return ScriptDirectory.from_config(config)


def test_there_is_one_head_and_the_head_file_names_it() -> None:
    heads = chain().get_heads()

    assert heads == [offdiag_migrations.head()]


def test_the_head_is_the_last_file() -> None:
    assert offdiag_migrations.head() == FILES[-1].stem


def test_a_revision_is_called_like_its_file() -> None:
    found = {Path(script.path).stem: script.revision for script in chain().walk_revisions()}

    assert found == {file.stem: file.stem for file in FILES}


def test_the_numbers_count_up_from_one_along_the_chain() -> None:
    oldest_first = [script.revision for script in reversed(list(chain().walk_revisions()))]

    assert [int(name[:4]) for name in oldest_first] == list(range(1, len(FILES) + 1))


def test_a_name_has_four_digits_and_fits_the_version_column() -> None:
    for file in FILES:
        assert re.fullmatch(r"\d{4}_[a-z0-9_]+", file.stem)
        # Alembic's own table has 32 characters, which only PostgreSQL enforces.
        assert len(file.stem) <= 32


def test_the_list_of_revisions_needs_no_alembic() -> None:
    oldest_first = [script.revision for script in reversed(list(chain().walk_revisions()))]

    assert list(offdiag_migrations.revisions()) == oldest_first


def test_a_revision_says_in_one_line_what_it_does() -> None:
    for script in chain().walk_revisions():
        assert re.fullmatch(r"[A-Z][^\n]+\.", script.doc), script.revision
