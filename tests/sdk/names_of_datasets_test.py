"""A new dataset whose name looks like that of another is noted wherever it is logged."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import offdiag
from offdiag.cli.commands import run as offdiag_command
from offdiag.errors import LabelNote
from offdiag.store.database import Database
from support.servers import serving

SAID = (
    "Dataset 'Pets' is new, and 'pets' exists, which differs by case. Only runs of one dataset "
    "are compared: if both are the same, use one name."
)
CLASSES = ["cat", "dog", "dog"]
FRAME = pd.DataFrame({"y": CLASSES, "one": CLASSES, "two": CLASSES})


def log_open_run(**facts: Any) -> None:
    run = offdiag.start_run(labels=["cat", "dog"], name="run", **facts)
    run.log(y_true=CLASSES, y_pred=CLASSES)
    run.finish()


LOGGED: dict[str, Callable[..., object]] = {
    "log_run": lambda **facts: offdiag.log_run(
        y_true=CLASSES, y_pred=CLASSES, name="run", **facts
    ),
    "start_run": log_open_run,
    "log_matrix": lambda **facts: offdiag.log_matrix(
        [[1, 0], [0, 2]], orientation="actual_rows", labels=["cat", "dog"], name="run", **facts
    ),
    "log_frame": lambda **facts: offdiag.log_frame(
        FRAME, predicted="one", name="run", keep_predictions=False, **facts
    ),
    "paired counts": lambda **facts: offdiag.log_frame(
        FRAME, predicted={"a": "one", "b": "two"}, keep_predictions=False, **facts
    ),
}


@pytest.mark.parametrize("is_served", [False, True])
@pytest.mark.parametrize("how", LOGGED)
def test_a_dataset_that_may_be_another_is_noted_once(
    sqlite_database: Database, how: str, *, is_served: bool
) -> None:
    here = nullcontext(str(sqlite_database.url))
    with serving(sqlite_database) if is_served else here as at:
        LOGGED[how](dataset="pets", url=at)
        with pytest.warns(LabelNote, match=re.escape(SAID)) as caught:
            LOGGED[how](dataset="Pets", url=at)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            LOGGED[how](dataset="Pets", url=at)
            LOGGED[how](dataset="PETS", project="other", url=at)

    assert [str(each.message) for each in caught] == [SAID]


def test_the_command_line_notes_it_too(
    sqlite_database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = str(sqlite_database.url)
    LOGGED["log_run"](dataset="pets", url=url)
    file = tmp_path / "run.csv"
    file.write_text("y_true,y_pred\ncat,cat\ndog,dog\n")
    command = ["log", str(file), "--name", "run", "--dataset", "Pets", "--url", url]

    assert offdiag_command(command) == 0

    assert SAID in " ".join(capsys.readouterr().err.split())
