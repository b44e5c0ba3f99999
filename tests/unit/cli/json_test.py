"""Every command that reads prints one JSON object, the same one again, and no NaN."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest

import offdiag as sdk
from offdiag.cli.commands import offdiag as root
from offdiag.cli.commands import run

READING = {
    "db check": (),
    "sql": ("SELECT * FROM metrics ORDER BY ALL",),
    "evaluate": ("p.csv",),
    "audit": ("--reported", "accuracy=0.5", "--class-counts", "a=1,b=1"),
    "gate": ("RUN", "--min", "mcc>=0.1"),
    "flags list": (),
    "flags show": ("1",),
    "cost list": (),
    "cost show": ("price",),
    "cost apply": ("RUN", "--matrix", "price"),
    "cost rank": ("--dataset", "d"),
    "cost diff": ("price@1", "price@2"),
    "cost labels": ("SETS", "--cost", "sea=5:1"),
    "runs list": (),
    "runs show": ("RUN",),
    "runs history": ("RUN",),
    "runs slices": ("RUN",),
    "runs fairness": ("RUN", "--by", "site"),
    "runs confused": ("SETS",),
    "samples show": ("d",),
    "samples suspects": ("d",),
    "samples noise": ("d",),
    "draft show": ("d",),
    "compare": ("RUN", "OTHER"),
    "leaders": ("d",),
    "methods": ("d",),
    "problems": (),
    "truth show": ("d",),
    "truth diff": ("d", "1", "2"),
    "truth impact": ("d", "1..2"),
    "hierarchy show": ("d",),
    "verify": (),
    "schedule list": (),
    "schedule show": ("weekly",),
    "report list": (),
    "report show": ("friday",),
    "jobs list": (),
    "user list": (),
    "user audit": (),
    "token list": (),
    "link list": (),
    "doctor": (),
}
"""Arguments of each command that reads; RUN, OTHER and SETS stand for ids."""

WRITING = {
    *(
        "db backup",
        "db copy",
        "db restore",
        "db upgrade",
        "db views",
        "log",
        "export",
        "sync",
        "recompute",
        "recount",
    ),
    *("flags acknowledge", "flags assign", "flags comment", "flags dismiss", "flags reopen"),
    *("flags snooze", "cost add", "cost decide", "cost default", "runs baseline", "runs delete"),
    *("runs restore", "truth revise", "hierarchy clear", "hierarchy set", "gc", "jobs retry"),
    *("samples log", "samples remove", "samples set"),
    *("draft answer", "draft import", "draft publish", "draft undo"),
    *("schedule add", "schedule pause", "schedule remove", "schedule resume", "schedule run"),
    *(
        "approve",
        "propose",
        "report create",
        "user add",
        "user disable",
        "user role",
        "token create",
        "token revoke",
        "link revoke",
        "server init",
    ),
}
"""Commands that change something; their tests are those of what they change."""

OF_SERVERS = {"whoami"}
"""Commands that need a server; over_http_test.py has one."""

PASSING = {"age_s", "seen_at", "duration_s", "free"}
"""Members that tell how much time went by."""


def with_json(
    group: click.Group = root, parent: click.Context | None = None, path: str = ""
) -> Iterator[str]:
    context = click.Context(group, parent=parent)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from with_json(command, context, f"{path}{name} ")
        elif command is not None and any("--json" in each.opts for each in command.params):
            yield f"{path}{name}"


@pytest.fixture(scope="module")
def ids(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Ids of two runs, and of one with sets, in a working folder with something of everything."""
    folder: Path = tmp_path_factory.mktemp("json")
    shutil.copy(migrated_file, folder / "offdiag.db")
    costs = "[weights.a]\na = 0\nb = %d\n[weights.b]\na = 1\nb = 0\n"
    files = {
        "p.csv": "y_true,y_pred\na,a\nb,b\nb,a\n",
        "c1.toml": costs % 4,
        "c2.toml": costs % 5,
        "groups.json": '{"both": ["a", "b"]}',
    }
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
            patch.delenv(name)
        patch.chdir(folder)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        truth = ["a"] * 60 + ["b"] * 10
        runs = [
            sdk.log_run(
                y_true=truth,
                y_pred=["a"] * (60 + wrong) + ["b"] * (10 - wrong),
                sample_ids=list(range(70)),
                slices={"site": ["x", "y"] * 35},
                name=f"wrong {wrong}",
                dataset="d",
            )
            for wrong in (10, 2)
        ]
        for logged in runs:
            logged.evaluation()
        sets = sdk.log_run(
            y_true=[["sea"], ["sky"], ["sea", "sky"], []],
            y_pred=[["sea"], ["sea"], ["sky"], []],
            name="sets",
            dataset="photos",
        )
        sets.evaluation()
        sdk.revise_truth(dataset="d", labels={0: "b"}, reason="Read again.")
        for logged in runs:
            logged.evaluation()
        for words in (
            ("cost", "add", "price", "c1.toml", "--dataset", "d"),
            ("cost", "add", "price", "c2.toml", "--dataset", "d"),
            ("hierarchy", "set", "d", "groups.json"),
            ("schedule", "add", "weekly", "--cron", "0 7 * * 1", "--dataset", "d"),
            ("report", "now", "friday", "--dataset", "d"),
        ):
            assert run(words) == 0, words
        yield {"RUN": runs[0].id, "OTHER": runs[1].id, "SETS": sets.id}


def without_time(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_time(each) for key, each in value.items() if key not in PASSING}
    return [without_time(each) for each in value] if isinstance(value, list) else value


def refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


@pytest.mark.parametrize("path", READING)
def test_what_a_command_reads_is_one_object(
    path: str, ids: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    words = [*path.split(), *(ids.get(word, word) for word in READING[path]), "--json"]

    found = []
    for _ in range(2):
        code = run(words)
        captured = capfd.readouterr()
        assert code in {0, 1}, captured.err
        found.append(json.loads(captured.out, parse_constant=refuse))

    assert isinstance(found[0], dict)
    assert found[0]
    if path not in {"doctor", "verify"}:  # They tell of the moment, too.
        assert without_time(found[0]) == without_time(found[1])


def test_every_command_with_json_is_known_to_read_or_to_write() -> None:
    known = {*READING, *WRITING, *OF_SERVERS}
    imports = {path for path in with_json() if path.startswith("import ")}

    assert set(with_json()) - imports == known
