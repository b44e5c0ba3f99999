"""`offdiag evaluate --score`: metrics of scores in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

EVENT = "y_true,p\nill,0.9\nwell,0.2\nill,0.4\nwell,0.6\n"


@pytest.fixture
def event(folder: Path) -> str:
    (folder / "event.csv").write_text(EVENT, encoding="utf-8")
    return "event.csv"


def test_a_single_score_is_that_of_the_positive_class(event: str, offdiag: Command) -> None:
    answer = offdiag("evaluate", event, "--score", "p", "--positive", "ill", "--json")

    assert answer.code == 0
    assert answer.json["positive_label"] == "ill"
    assert answer.json["aggregate"]["roc_auc"]["value"] == 0.75
    assert answer.json["n_cases"] == 4


def test_blanks_beside_a_number_mean_nothing(event: str, folder: Path, offdiag: Command) -> None:
    (folder / "blanks.csv").write_text(EVENT.replace(",0", ", 0"), encoding="utf-8")

    answers = [
        offdiag("evaluate", file, "--score", "p", "--positive", "ill", "--json")
        for file in (event, "blanks.csv")
    ]

    assert answers[0].json == answers[1].json


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.csv", "y_true;p\na;12\nb;1.250\n", "1.250 of column 'p' may be 1.25 or 1250"),
        (
            "s.csv",
            "y_true,p\na,0.5\nb,1_0\n",
            "the value of column 'p' on line 3 of s.csv is '1_0'",
        ),
        (
            "s.jsonl",
            '{"y_true": "a", "p": 0.5}\n{"y_true": "b", "p": "0.7"}\n',
            "column 'p' mixes values of types float and str",
        ),
    ],
)
def test_what_is_no_column_of_numbers_is_refused_in_words(
    folder: Path, offdiag: Command, name: str, text: str, says: str
) -> None:
    (folder / name).write_text(text, encoding="utf-8")

    answer = offdiag("evaluate", name, "--score", "p", "--positive", "b")

    assert answer.code == 2
    assert says in answer.err


def test_people_see_tables(event: str, offdiag: Command) -> None:
    answer = offdiag("evaluate", event, "--score", "p", "--positive", "ill")

    assert answer.code == 0
    assert "average_precision" in answer.out
    assert "brier_half" in answer.out
    assert "Classes, one-vs-rest" in answer.out


def test_calibration_errors_stand_beside_those_of_a_calibrated_model(
    event: str, offdiag: Command
) -> None:
    arguments = ("evaluate", event, "--score", "p", "--positive", "ill")

    table = " ".join(offdiag(*arguments).out.split())
    error = offdiag(*arguments, "--json").json["aggregate"]["ece_positive_15"]

    assert "about the interval" in table
    assert (error["ci_low"], error["ci_high"]) == (None, None)
    assert error["ci_method"].startswith(
        "consistency resampling, 999 draws; a calibrated model would show about "
    )


def test_intervals_of_few_examples_are_called_unreliable(tmp_path: Path, offdiag: Command) -> None:
    file = tmp_path / "few.csv"
    rows = [f"{'ill' if i < 6 else 'well'},{(i % 7 + 1) / 10}" for i in range(60)]
    file.write_text("\n".join(["y_true,p", *rows]))

    table = offdiag("evaluate", str(file), "--score", "p", "--positive", "ill").out

    (line,) = (each for each in table.splitlines() if each.split()[:1] == ["log_loss"])
    assert "[" in line
    assert "unreliable, smallest class has n = 6" in line


@pytest.mark.parametrize("option", ["--advise", "--matrix"])
def test_what_needs_predicted_classes_is_refused(
    event: str, offdiag: Command, option: str
) -> None:
    answer = offdiag("evaluate", event, "--score", "p", "--positive", "ill", option)

    assert answer.code == 2
    assert f"{option}: it is for predicted classes, not scores." in answer.err
