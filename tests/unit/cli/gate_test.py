"""`offdiag gate`: exit codes and output, for pipelines and for people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from offdiag import log_run

Command = Callable[..., Any]

PREDICTIONS = "y,yhat\n" + "cat,cat\n" * 8 + "cat,dog\n" * 2 + "dog,dog\n" * 6 + "dog,cat\n" * 4


@pytest.fixture
def predictions(folder: Path) -> str:
    (folder / "p.csv").write_text(PREDICTIONS, encoding="utf-8")
    return "p.csv"


def of_file(offdiag: Command, file: str, *arguments: str) -> Any:
    return offdiag("gate", "--file", file, "--true", "y", "--pred", "yhat", *arguments)


def logged(offdiag: Command, file: str, name: str) -> str:
    columns = ("--true", "y", "--pred", "yhat")
    answer = offdiag("log", file, *columns, "--dataset", "pets", "--name", name, "--json")
    return str(answer.json["id"])


def test_a_file_passes_that_meets_every_condition_and_no_other(
    offdiag: Command, predictions: str
) -> None:
    passed = of_file(offdiag, predictions, "--min", "recall[cat]>=0.8", "--require", "no-warning")
    failed = of_file(offdiag, predictions, "--min", "recall[cat]>=0.8", "--min", "low(mcc)>=0.5")

    assert passed.code == 0
    assert "Passed: 2 of 2 conditions passed." in passed.out
    assert passed.err == ""
    assert failed.code == 1
    assert "FAILED  low(mcc)>=0.5" in failed.out
    assert "Failed: 1 of 2 conditions passed." in failed.out


def test_what_was_not_compared_is_told_in_words(offdiag: Command, folder: Path) -> None:
    (folder / "p.csv").write_text("y,yhat\ncat,cat\ncat,cat\ndog,cat\n", encoding="utf-8")
    asked = ("--min", "precision[dog]>=0.5", "--min", "low(macro_f1)>=0")

    told = of_file(offdiag, "p.csv", *asked, "--markdown").out

    assert "undefined (this class was never predicted)" in told
    assert "| 0.4, no interval |" in told


MARKDOWN = """\
### Gate failed: 1 of 2 conditions passed.

| | condition | found | note |
| --- | --- | --- | --- |
| passed | recall\\[cat\\]\\>=0.8 | 0.8 \\[0.490162, 0.943318\\] |  |
| **FAILED** | recall\\["a\\|b"\\]\\>=0.9 | 0.6 \\[0.312674, 0.83182\\] |  |
"""


def test_markdown_is_a_table_that_no_class_name_breaks(offdiag: Command, folder: Path) -> None:
    (folder / "p.csv").write_text(PREDICTIONS.replace("dog", "a|b"), encoding="utf-8")

    answer = of_file(
        *(offdiag, "p.csv", "--markdown"),
        *("--min", "recall[cat]>=0.8", "--min", 'recall["a|b"]>=0.9'),
    )

    assert answer.code == 1
    assert answer.out == MARKDOWN


def test_a_stored_run_is_compared_with_its_baseline(
    folder: Path, offdiag: Command, predictions: str
) -> None:
    (folder / "better.csv").write_text(PREDICTIONS.replace("dog,cat", "dog,dog"), "utf-8")
    before, after = logged(offdiag, "better.csv", "old"), logged(offdiag, predictions, "new")
    asked = ("gate", after, "--baseline", before, "--min", "diff(recall[dog])>=-0.3")

    answer = offdiag(*asked, "--json")
    markdown = offdiag(*asked, "--markdown").out

    assert answer.code == 1
    (condition,) = answer.json["conditions"]
    assert condition["measured"] == pytest.approx(-0.4)
    assert condition["value"]["ci_low"] < -0.4 < condition["value"]["ci_high"]
    assert (answer.json["run"], answer.json["baseline"]) == (after, before)
    assert markdown.endswith(f"\n\nRun `{after}`, baseline `{before}`.\n")


def test_junit_has_a_test_for_each_condition(
    folder: Path, offdiag: Command, predictions: str
) -> None:
    answer = of_file(
        *(offdiag, predictions, "--junit", "gate.xml"),
        *("--min", "recall[cat]>=0.8", "--min", "low(mcc)>=0.5"),
    )
    (suite,) = ET.parse(folder / "gate.xml").getroot()

    assert answer.code == 1
    assert "FAILED  low(mcc)>=0.5" in answer.out
    assert suite.attrib == {"name": "offdiag gate", "tests": "2", "failures": "1"}
    passed, failed = suite
    assert (passed.attrib["name"], list(passed)) == ("recall[cat]>=0.8", [])
    assert failed[0].tag == "failure"
    assert failed[0].attrib["message"].startswith("-0.0290004 of 0.408248")


def test_a_junit_file_that_cannot_be_written_is_named(offdiag: Command, predictions: str) -> None:
    answer = of_file(offdiag, predictions, "--junit", "none/gate.xml", "--min", "mcc>=0")

    assert answer.code == 2
    assert "'none/gate.xml' cannot be written: No such file or directory." in answer.err


def test_a_file_that_is_given_as_a_run_is_told_apart(offdiag: Command, predictions: str) -> None:
    told = offdiag("gate", predictions, "--min", "mcc>=0.5")

    assert told.code == 2
    assert told.err == (
        "offdiag: run: there is no run 'p.csv', but a file of this name. Check it with --file "
        "p.csv.\n"
    )


@pytest.mark.usefixtures("no_registry")
def test_no_registry_is_needed_for_a_file(
    folder: Path, offdiag: Command, predictions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_URL", "nonsense://")

    answer = of_file(offdiag, predictions, "--min", "n=20", "--json")

    assert answer.code == 0
    assert [path.name for path in folder.iterdir()] == ["p.csv"]
    assert answer.json == {
        "passed": True,
        "run": None,
        "baseline": None,
        "champion": None,
        "not_paired": None,
        "conditions": [
            {
                "condition": "n=20",
                "passed": True,
                "measured": 20.0,
                "reason": None,
                "value": {"value": 20.0, "reason": None, "limit": None},
                "note": "",
            }
        ],
    }


def test_costs_come_from_a_file(folder: Path, offdiag: Command, predictions: str) -> None:
    (folder / "costs.csv").write_text(",cat,dog\ncat,0,1\ndog,5,0\n", encoding="utf-8")

    answer = of_file(
        offdiag, predictions, "--weights", "costs.csv", "--min", "total_cost<=21", "--json"
    )

    assert (answer.code, answer.json["conditions"][0]["measured"]) == (1, 22.0)


def test_a_matrix_is_judged_in_the_orientation_it_states(folder: Path, offdiag: Command) -> None:
    (folder / "m.csv").write_text(",a,b\na,9,1\nb,4,6\n", encoding="utf-8")

    rows = offdiag(
        "gate", "--file", "m.csv", "--matrix", "--orientation", "actual_rows",
        "--min", "recall[a]>=0.9",
    )  # fmt: skip
    columns = offdiag(
        "gate", "--file", "m.csv", "--matrix", "--orientation", "actual_columns",
        "--min", "recall[a]>=0.9",
    )  # fmt: skip

    assert (rows.code, columns.code) == (0, 1)


def test_what_cannot_be_judged_is_an_error_and_no_verdict(
    folder: Path, offdiag: Command, predictions: str
) -> None:
    (folder / "p.csv").write_text("y_true,y_pred\ncat,cat\ndog,cat\n", encoding="utf-8")
    cases: list[tuple[list[str], str]] = [
        (["--file", "p.csv"], "no condition is given"),
        (["--file", "p.csv", "--min", "mcc"], "is not a condition"),
        (["--file", "p.csv", "--baseline", "r_1", "--min", "mcc>=0"], "leave --baseline out"),
        (["--file", "gone.csv", "--min", "mcc>=0"], "cannot be read"),
        (["--min", "mcc>=0"], "Name a run, or a file with --file."),
        (["r_1", "--file", "p.csv", "--min", "mcc>=0"], "Name a run, or a file with --file."),
        (["r_1", "--min", "mcc>=0"], "there is no run 'r_1'"),
    ]
    for arguments, says in cases:
        answer = offdiag("gate", *arguments)

        assert answer.code == 2
        assert says in answer.err
        assert answer.out == ""


def test_a_hostile_class_name_cannot_repaint_the_terminal(folder: Path, offdiag: Command) -> None:
    (folder / "p.csv").write_text("y,yhat\n\x1b[2J,\x1b[2J\nb,b\n", encoding="utf-8")

    answer = of_file(offdiag, "p.csv", "--min", 'recall["\\u001b[2J"]>=0.5')

    assert answer.code == 0
    assert "\x1b" not in answer.out


@pytest.fixture
def by_site(folder: Path) -> str:
    """Predictions of two sites: 18 of 20 "ill" are found at x, 5 of 20 at z."""
    lines = ["y_true,y_pred,site"]
    for site, hits in (("x", 18), ("z", 5)):
        lines += [f"ill,{'ill' if place < hits else 'well'},{site}" for place in range(20)]
        lines += [f"well,well,{site}"] * 20
    file = folder / "by-site.csv"
    file.write_text("\n".join(lines))
    return str(file)


def test_slices_of_a_file_are_its_columns(offdiag: Command, by_site: str) -> None:
    cases: list[tuple[str, float, int]] = [
        ("recall[ill]@site=z>=0.5", 0.25, 1),
        ("gap(recall[ill], by=site)<=0.7", 0.65, 0),
    ]
    for condition, measured, exit_code in cases:
        done = offdiag("gate", "--file", by_site, "--min", condition, "--json")

        assert done.code == exit_code
        (found,) = done.json["conditions"]
        assert found["value"]["value"] == pytest.approx(measured)
    other = offdiag("gate", "--file", by_site, "--min", "recall[ill]@scanner=a>=0.5")
    assert other.code == 2
    assert "scanner" in other.err


SCORED = "y,yhat,p,site\n" + "".join(
    f"{actual},{'ill' if p >= 0.5 else 'well'},{p},{site}\n"
    for site, shift in (("north", 0.0), ("south", 0.3))
    for n, (actual, p) in enumerate(
        [("ill", 0.9), ("well", 0.2), ("ill", 0.4), ("well", 0.1)] * 10
    )
    for p in [round(abs(p - (shift if n % 3 == 0 else 0)), 3)]
)


def test_a_file_with_scores_meets_conditions_as_the_run_that_is_logged_of_it(
    offdiag: Command, folder: Path
) -> None:
    (folder / "p.csv").write_text(SCORED, encoding="utf-8")
    scores = ("--score", "p", "--positive", "ill")
    conditions = [
        *("--min", "roc_auc>=0.9", "--min", "low(roc_auc)>=0.9", "--min", "brier_half<=0.2"),
        *("--min", "roc_auc@site=south>=0.9", "--min", "precision>=0.5", "--min", "n=80"),
    ]
    y_true, y_pred, p, site = zip(
        *(line.split(",") for line in SCORED.splitlines()[1:]), strict=True
    )
    run = log_run(
        y_true=y_true,
        y_pred=y_pred,
        y_score=list(map(float, p)),
        slices={"site": site},
        positive_label="ill",
        name="n",
        dataset="d",
    )

    of_run = offdiag("gate", run.id, *conditions, "--json")
    found = of_file(offdiag, "p.csv", *scores, *conditions, "--json")

    # A run stores scores in single precision.
    for of_file_, stored in zip(found.json["conditions"], of_run.json["conditions"], strict=True):
        for key in ("measured", "passed", "reason", "note"):
            assert of_file_[key] == pytest.approx(stored[key]), stored
        assert of_file_["measured"] is not None
    assert found.err == ""


def test_scores_decide_the_predictions_of_a_file_without_them(
    offdiag: Command, folder: Path
) -> None:
    (folder / "p.csv").write_text(SCORED, encoding="utf-8")
    cells = [line.split(",") for line in SCORED.splitlines()]
    without = [",".join((actual, *others)) for actual, _, *others in cells]
    (folder / "scores.csv").write_text("\n".join(without) + "\n", encoding="utf-8")
    asked = ("--true", "y", "--score", "p", "--positive", "ill")
    conditions = [
        *("--min", "precision>=0.5", "--min", "roc_auc>=0.9", "--min", "n=80"),
        *("--min", "recall[ill]@site=south>=0.5"),
    ]

    of_column = of_file(offdiag, "p.csv", *asked[2:], *conditions, "--json").json
    decided = offdiag("gate", "--file", "scores.csv", "--no-pred", *asked, *conditions, "--json")

    assert decided.json["conditions"] == of_column["conditions"]
    refused = offdiag("gate", "--file", "scores.csv", "--true", "y", "--no-pred", *conditions)
    assert (refused.code, "Name them with --score." in refused.err) == (2, True)
    unnamed = offdiag("gate", "--file", "scores.csv", *asked, *conditions)
    assert (unnamed.code, "--no-pred" in unnamed.err) == (2, True)


def test_scores_of_each_class_are_matched_by_name(offdiag: Command, folder: Path) -> None:
    lines = ["y,yhat,p_b,p_a,p_c", *["a,a,0.1,0.8,0.1", "b,b,0.7,0.2,0.1", "c,c,0.1,0.2,0.7"] * 4]
    (folder / "p.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scores = [f"--score=p_{label}" for label in "bac"]

    found = of_file(offdiag, "p.csv", *scores, "--min", "roc_auc_ovr_macro=1", "--json")

    assert (found.code, found.json["conditions"][0]["measured"]) == (0, 1.0)


def test_scores_that_cannot_be_meant_are_refused(offdiag: Command, folder: Path) -> None:
    (folder / "p.csv").write_text(SCORED, encoding="utf-8")
    (folder / "m.json").write_text("{}", encoding="utf-8")
    condition = ("--min", "roc_auc>=0.9")

    for arguments, said in (
        (("--file", "p.csv", "--true", "y", "--pred", "yhat", "--score", "p"), "positive_label"),
        (("--file", "p.csv", "--positive", "ill"), "Add --score, or leave out --positive."),
        (("--file", "m.json", "--score", "p"), "a matrix has no scores"),
        (("r_4bcd6fgh8jkm", "--score", "p"), "--score"),
    ):
        answer = offdiag("gate", *arguments, *condition)
        assert (answer.code, said in answer.err) == (2, True), answer.err


def test_a_metric_of_scores_names_the_option_that_a_file_needs(
    offdiag: Command, predictions: str
) -> None:
    answer = of_file(
        offdiag, predictions, "--min", "roc_auc>=0.9", "--min", "roc_auc[cat]>=0.9", "--json"
    )

    assert answer.code == 1
    for each in answer.json["conditions"]:
        assert (each["reason"], "--score COLUMN" in each["note"]) == ("no_scores", True)


def test_classes_that_look_alike_are_noted_once(offdiag: Command, folder: Path) -> None:
    (folder / "p.csv").write_text(SCORED.replace("well", "Ill"), encoding="utf-8")

    answer = of_file(offdiag, "p.csv", "--score", "p", "--positive", "ill", "--min", "roc_auc>=0")

    assert (answer.code, answer.err) == (0, "Note: Classes look alike: 'Ill' and 'ill' (case).\n")


def test_a_value_just_below_its_limit_is_not_printed_as_the_limit(
    offdiag: Command, folder: Path
) -> None:
    (folder / "matrix.csv").write_text(
        "actual,cat,dog\ncat,9999999,1\ndog,0,50\n", encoding="utf-8"
    )
    condition = ("--min", "recall[cat]>=1")

    answer = offdiag(
        "gate", "--file", "matrix.csv", "--matrix", "--orientation", "actual_rows", *condition
    )

    assert answer.code == 1
    assert "0.9999999 [" in answer.out
