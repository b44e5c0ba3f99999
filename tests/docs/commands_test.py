"""The commands on pages run as they stand, over a registry like the one they are about."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import offdiag as sdk
from offdiag.cli.commands import run
from offdiag.domain.access import Grant, Role
from offdiag.services.access.users import add_user
from offdiag.settings import load_settings
from offdiag.store.schema import open_database
from offdiag_workers.loop import run_worker
from support.command_lines import command_of
from support.once_for_all import made_once
from support.page_blocks import Block, blocks, commands
from support.tracking_stores import write_folder

BLOCKS = blocks("console")
NOT_RUN = {
    "README.md:1": "make installs from the network, and the demo serves until Ctrl-C",
    "CONTRIBUTING.md:1": "make installs from the network",
    "docs/access.md:2": "asks for a password",
    "docs/access.md:1": "asks for a password, and serves until Ctrl-C",
    "docs/contributing/load.md:1": "takes half an hour",
    "docs/logging-over-http.md:1": "needs a server",
    "docs/logging-over-http.md:2": "needs a server",
    "docs/logging-over-http.md:3": "needs a server",
    "examples/README.md:1": "installs from the network, and serves until Ctrl-C",
    "docs/bi.md:1": "needs PostgreSQL",
    "docs/flags.md:2": "numbers of flags are those of one registry",
    "docs/importers.md:2": "W&B made the folder",
    "docs/importers.md:4": "watches until Ctrl-C",
    "docs/contributing/bad-inputs.md:1": "installs from the network, and takes hours",
    "docs/threat-model.md:1": "asks PyPI",
    "docs/contributing/reliability.md:1": "FILE stands for any file",
    "docs/contributing/reliability.md:2": "takes hours",
    "docs/operations.md:1": "needs another machine",
    "docs/operations.md:4": "needs PostgreSQL",
    "docs/operations.md:5": "needs PostgreSQL",
    "docs/operations.md:6": "installs from the network",
    "docs/postgresql.md:1": "needs PostgreSQL",
    "docs/postgresql.md:2": "needs PostgreSQL",
    "docs/postgresql.md:3": "needs PostgreSQL",
    "docs/quickstart.md:1": "serves until Ctrl-C",
    "docs/sdk.md:1": "needs the database of an example; cli/recount_test.py has one",
    "docs/store.md:1": "needs PostgreSQL",
    "docs/team-server.md:1": "changes the machine",
    "docs/team-server.md:2": "changes the machine",
    "docs/team-server.md:3": "needs Docker",
    "docs/team-server.md:4": "needs Kubernetes",
    "docs/team-server.md:5": "needs a server; team_server_page_test.py has one",
    "docs/team-server.md:6": "needs a server; team_server_page_test.py has one",
}
"""Blocks that are read and not run, each with the reason."""

RUN = [block for block in BLOCKS if block.name not in NOT_RUN]
DATASETS = {"docs/gate.md": "derm-7", "docs/costs.md": "breast cancer"}
"""What the runs of a page are on; those of others are on `clinic`."""

OTHERS = {"make", "ssh", "pip", "export", "python", "curl", "createuser", "createdb", "useradd"}
OTHERS |= {
    "echo",
    "install",
    "cp",
    "kubectl",
    "systemctl",
    "docker",
    "python3",
    "/opt/offdiag/bin/pip",
    "pbpaste",
}
"""Programs of others that pages name."""

TABLE = "Method\tAccuracy\tError rate\nOurs\t0.8\t0.2\nTheirs\t0.7\t0.3\n"
CARET = """\
Confusion Matrix and Statistics

          Reference
Prediction  A  B
         A  8  3
         B  2  7
"""


@pytest.fixture(scope="module")
def scene(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files and a registry that pages could be about."""

    def make(folder: Path) -> None:
        shutil.copy(migrated_file, folder / "offdiag.db")
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
                patch.delenv(name)
            # The SDK keeps a registry open by its URL, so a relative one means the first folder.
            patch.setenv("OFFDIAG_URL", f"sqlite:///{folder / 'offdiag.db'}")
            patch.chdir(folder)
            _fill(folder)

    return made_once(tmp_path_factory, "scene of the pages", make)


def _fill(folder: Path) -> None:
    (tumours,) = (block.text for block in blocks("toml") if block.name == "docs/costs.md:1")
    files = {
        "predictions.csv": "y,yhat\nill,ill\nwell,well\nwell,ill\n",
        "table9.csv": "actual,A,B,C\nA,72,6,2\nB,8,6,1\nC,2,1,2\n",
        "table.json": '{"reported": {"accuracy": 0.8}, "class_counts": {"a": 10, "b": 10}}',
        "table.txt": TABLE,
        "tumours.toml": tumours,
        "screening.csv": "actual,well,ill\nwell,970,20\nill,2,8\n",
        "corrections.csv": "id,label\ns1,well\ns2,ill\n",
        "notes.csv": "id,note,ward\ns1,coughs,East\ns2,sleeps,West\n",
        "costs.toml": "[weights.ill]\nill = 0\nwell = 9\n[weights.well]\nill = 1\nwell = 0\n",
        "confusion.txt": CARET,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_folder(folder, experiment="lesions")
    generator = np.random.default_rng(1)
    for dataset, project, labels in (
        ("clinic", "default", ["ill", "well"]),
        ("holdout", "default", ["ill", "well"]),
        ("derm-7", "default", ["df", "mel", "nv"]),
        ("lesions", "lesions", ["mel", "nv"]),
        ("digits", "digits", ["3", "8"]),
        ("cards", "fraud", ["fine", "fraud"]),
        ("breast cancer", "default", ["benign", "malignant"]),
    ):
        truth = generator.choice(labels, 200).tolist()
        for name, share in (("first", 0.7), ("second", 0.95)):
            right = generator.random(200) < share
            kept = zip(truth, right, generator.choice(labels, 200).tolist(), strict=True)
            predicted = [actual if is_right else other for actual, is_right, other in kept]
            sdk.log_run(
                y_true=truth,
                y_pred=predicted,
                y_score=generator.dirichlet(np.ones(len(labels)), 200),
                labels=labels,
                sample_ids=[f"s{number}" for number in range(200)],
                slices={"country": generator.choice(["DE", "SI"], 200).tolist()}
                if name == "first"
                else None,
                name=name,
                dataset=dataset,
                project=project,
            ).evaluation()
        if dataset == "clinic":
            for number in range(3):
                other = "well" if truth[number] == "ill" else "ill"
                sdk.revise_truth(dataset=dataset, labels={f"s{number}": other}, reason="Again.")
    (folder / "older.toml").write_text(tumours.replace("= 1", "= 2", 1), encoding="utf-8")
    older = ["missed tumour", "older.toml", "--dataset", "breast cancer"]
    assert run(["cost", "add", *older]) == 0
    with closing(open_database(f"sqlite:///{folder / 'offdiag.db'}")) as database:
        add_user(database, name="ana", password=None, grants=[Grant(Role.ADMIN)])
        run_worker(database, load_settings().jobs, stop=threading.Event(), until_idle=True)


def ours(text: str) -> Iterator[list[str]]:
    """The words of the commands of ours in a text, pipes and other programs cut off."""
    for words in commands(text):
        ends = [place for place, word in enumerate(words) if word in {"|", ">"}]
        parts = [words[: min(ends, default=len(words))]]
        if "|" in words:
            parts.append(words[words.index("|") + 1 :])
        for part in parts:
            program = part[0].rsplit("/", 1)[-1]
            assert program == "offdiag" or part[0] in OTHERS, part
            if program == "offdiag":
                yield part[1:]


def with_runs(text: str, dataset: str) -> str:
    """The text with ids that exist in place of those that do not."""
    runs = iter(list(sdk.search_runs(filter=f"attributes.dataset = '{dataset}'")["run_id"]) * 9)
    known: dict[str, str] = {}
    return re.sub(
        r"(?<!\w)r_[0-9a-z]+…?", lambda found: known.setdefault(found.group(), next(runs)), text
    )


@pytest.mark.parametrize("block", [pytest.param(block, id=block.name) for block in BLOCKS])
def test_commands_of_a_page_exist(block: Block) -> None:
    for words in ours(block.text):
        assert command_of(words).callback is not None


@pytest.mark.parametrize("page", list(dict.fromkeys(block.page for block in RUN)))
def test_commands_of_a_page_run_one_after_the_other(
    page: str,
    scene: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(scene, tmp_path / "scene")
    monkeypatch.chdir(tmp_path / "scene")
    for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OFFDIAG_URL", f"sqlite:///{tmp_path / 'scene' / 'offdiag.db'}")
    text = "\n".join(block.text for block in RUN if block.page == page)
    text = text.replace("/srv/offdiag", str(tmp_path)).replace(" RUN ", " r_0 ")
    text = with_runs(text, DATASETS.get(page, "clinic"))

    for words in ours(text):
        assert words[0] not in {"serve", "worker", "demo", "watch"}, "it goes on until Ctrl-C"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
        code = run(words)
        captured = capfd.readouterr()
        assert code in {0, 1}, captured.err


def test_only_blocks_that_exist_are_left_out() -> None:
    assert set(NOT_RUN) <= {block.name for block in BLOCKS}
    assert len(BLOCKS) - len(NOT_RUN) >= 15
