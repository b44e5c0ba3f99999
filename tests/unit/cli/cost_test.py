"""`offdiag cost diff`, `apply`, `rank` and `decide`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offdiag as sdk

Command = Callable[..., Any]
Filled = Callable[[Callable[..., Any]], Any]

COSTS = "[weights.well]\nwell = 0\nill = 1\n\n[weights.ill]\nwell = {miss}\nill = 0\n"
P_ILL = [0.9, 0.3, 0.2, 0.05, 0.6, 0.1, 0.35, 0.15] * 5
ACTUAL = ["ill", "ill", "well", "well", "well", "ill", "ill", "well"] * 5


@pytest.fixture
def runs(filled: Filled) -> list[str]:
    """Ids of a careful and a bold run on one dataset, with costs in two versions."""
    found: list[str] = filled(log_runs)
    return found


def log_runs(folder: Path, offdiag: Command) -> list[str]:
    found = []
    for name, limit in (("bold", 0.5), ("careful", 0.05)):
        run = sdk.log_run(
            y_true=ACTUAL,
            y_pred=["ill" if p >= limit else "well" for p in P_ILL],
            y_score=P_ILL,
            labels=["well", "ill"],
            positive_label="ill",
            dataset="clinic",
            name=name,
        )
        run.evaluation()
        found.append(run.id)
    for miss in (2, 10):
        (folder / "costs.toml").write_text(COSTS.format(miss=miss), encoding="utf-8")
        assert offdiag("cost", "add", "visits", "costs.toml", "--dataset", "clinic").code == 0
    return found


def test_adding_costs_says_which_version_they_follow(
    offdiag: Command, runs: list[str], folder: Path
) -> None:
    (folder / "costs.toml").write_text(COSTS.format(miss=20), encoding="utf-8")

    found = offdiag("cost", "add", "visits", "costs.toml", "--dataset", "clinic")

    assert found.out == "visits@3 is stored. The version before is visits@2.\n"


def test_adding_gains_as_costs_says_that_errors_are_cheaper(
    offdiag: Command, runs: list[str], folder: Path
) -> None:
    (folder / "gains.csv").write_text(",ill,well\nill,20,0\nwell,0,1\n", encoding="utf-8")

    found = offdiag("cost", "add", "gains", "gains.csv", "--dataset", "clinic")

    assert found.out == (
        "gains@1 is stored.\n"
        "For actual well and ill, an error costs less than the correct prediction.\n"
    )


def test_what_two_versions_price_differently_is_listed(offdiag: Command, runs: list[str]) -> None:
    found = offdiag("cost", "diff", "visits@1", "visits@2")
    record = offdiag("cost", "diff", "visits@1", "visits", "--json")
    equal = offdiag("cost", "diff", "visits@2", "visits")

    assert (found.code, record.code) == (1, 1)
    assert [line.split() for line in found.out.splitlines() if "ill" in line] == [
        ["ill", "well", "2", "10", "5"]
    ]
    assert record.json["cells"] == [
        {"actual": "ill", "predicted": "well", "before": 2.0, "after": 10.0}
    ]
    assert (equal.code, equal.out) == (0, "No cost differs.\n")


def test_classes_and_currencies_that_differ_are_named(
    offdiag: Command, runs: list[str], folder: Path
) -> None:
    sdk.log_run(y_true=["ill", "dead"], y_pred=["ill", "dead"], dataset="ward", name="w")
    text = (
        'currency = "EUR"\n[weights.ill]\nill = 0\ndead = 3\n[weights.dead]\nill = 1\ndead = 0\n'
    )
    (folder / "ward.toml").write_text(text, encoding="utf-8")
    offdiag("cost", "add", "ward", "ward.toml", "--dataset", "ward")

    found = offdiag("cost", "diff", "visits", "ward")

    assert found.code == 1
    assert found.out.splitlines() == [
        "Only visits@2 has well.",
        "Only ward@1 has dead.",
        "Currency: none → EUR.",
    ]


def test_runs_are_priced_with_intervals_beside_the_best_constant_answer(
    offdiag: Command, runs: list[str]
) -> None:
    found = offdiag("cost", "apply", *runs, "--matrix", "visits@2")
    record = offdiag("cost", "apply", *runs, "--matrix", "visits@2", "--json").json

    # Of 40 cases the bold run misses 15 and raises 5 alarms, the careful one raises 20.
    costs = {each["name"]: each["mean_cost"] for each in record["runs"]}
    assert [each["name"] for each in record["runs"]] == ["careful", "bold"]
    assert costs["bold"]["value"] == pytest.approx(155 / 40)
    assert costs["careful"]["value"] == pytest.approx(0.5)
    assert costs["bold"]["ci_low"] < 155 / 40 < costs["bold"]["ci_high"]
    assert record["runs"][1]["verdict"] == "dearer"
    assert record["best_constant"] == {"label": "ill", "mean_cost": 0.5}
    assert "costs more" in found.out
    assert "always ill" in found.out
    assert "3,375" in found.out


def test_changed_prices_and_class_shares_are_tried_out(offdiag: Command, runs: list[str]) -> None:
    record = offdiag(
        *("cost", "apply", runs[0], "--matrix", "visits@2"),
        *("--set", "ill>well:20", "--share", "ill:0.1", "--json"),
    ).json

    assert record["edits"] == "ill>well:20"
    assert record["prevalence"] == {"well": 0.9, "ill": 0.1}
    assert record["runs"][0]["mean_cost"]["value"] == pytest.approx(0.1 * 0.75 * 20 + 0.9 * 0.25)


def test_halves_of_amounts_are_rounded_as_pages_round_them(
    offdiag: Command, runs: list[str]
) -> None:
    # 15 misses and 5 false alarms on 40 examples: 1,062.5 per 1,000.
    found = offdiag("cost", "apply", runs[0], "--matrix", "visits", "--set", "ill>well:2.5")

    assert "1,063 [" in found.out


def test_what_is_left_out_is_told_beside_the_result(offdiag: Command, runs: list[str]) -> None:
    found = offdiag("cost", "apply", runs[0], "r_gone", "--json")

    assert found.code == 0
    assert "Run r_gone is left out" in found.err


@pytest.mark.parametrize(
    ("command", "option", "value", "said"),
    [
        ("apply", "--share", "ill=0.8", "“ill=0.8” in share= cannot be used: it is not written"),
        ("rank", "--share", "ill:0.8,well:0.8", "The class shares cannot be used: the shares add"),
        ("apply", "--set", "flu>ill:2", "“flu>ill:2” in set= cannot be used: there is no class"),
        ("rank", "--vary", "flu", "“flu” names no cost that can be moved"),
        ("decide", "--share", "ill=0.8", "“ill=0.8” in share= cannot be used: it is not written"),
    ],
)
def test_an_option_that_cannot_be_understood_is_refused(
    offdiag: Command, runs: list[str], command: str, option: str, value: str, said: str
) -> None:
    where = ("--dataset", "clinic") if command == "rank" else (runs[0],)
    saving = ("--save-as", "odd") if command == "decide" else ()

    found = offdiag("cost", command, *where, "--matrix", "visits@2", option, value, *saving)

    assert found.code == 2
    assert found.out == ""
    assert said in found.err
    assert "Write shares as class:share" in found.err
    assert "odd" not in offdiag("runs", "list").out


def test_scores_are_decided_by_what_is_cheapest_to_expect_and_saved_once(
    offdiag: Command, runs: list[str]
) -> None:
    command = ("cost", "decide", runs[0], "--matrix", "visits@2")
    record = offdiag(*command, "--json").json
    by_threshold = offdiag(*command, "--json", "--threshold", "0.12").json
    first, again = (
        offdiag(*command, "--save-as", "by cost", "--json").json["saved"]["id"] for _ in range(2)
    )
    told = offdiag(*command, "--save-as", "by cost").out

    assert "the prediction with the lowest expected cost" in told
    assert record["matrix_after"] == [[5, 15], [0, 20]]
    assert record["difference"]["ci_high"] < 0
    assert record["saved"] is None
    assert sum(row[1] for row in by_threshold["matrix_after"]) == 30
    assert first == again
    assert f"Saved as {first}." in told
    shown = offdiag("runs", "show", first, "--json").json
    assert shown["derived_from"]["run"] == runs[0]
    assert shown["derived_from"]["recipe"]["costs"] == "visits@2"


def test_the_cheapest_threshold_is_told_without_an_interval_of_the_difference(
    offdiag: Command, runs: list[str]
) -> None:
    found = offdiag(
        "cost", "decide", runs[0], "--matrix", "visits@2", "--threshold", "cheapest"
    ).out

    told = dict(line.split(maxsplit=1) for line in found.splitlines() if " " in line.strip())
    assert told["difference"].strip() == "−3,500"
    assert "so costs are optimistic and no difference is tested" in " ".join(found.split())


def test_what_cannot_be_decided_says_why(offdiag: Command, runs: list[str]) -> None:
    for arguments, problem in (
        (("--threshold", "low"), "neither a number nor"),
        (("--threshold", "0_1"), "neither a number nor"),
        (("--threshold", "nan", "--matrix", "visits"), "is not a threshold"),
        ((), "has no default cost matrix"),
        (("--matrix", "gone"), "has no cost matrix"),
    ):
        found = offdiag("cost", "decide", runs[0], *arguments)

        assert found.code == 2
        assert problem in found.err


def test_runs_that_do_not_exist_are_named(offdiag: Command, runs: list[str]) -> None:
    found = offdiag("cost", "apply", "gone", "lost")

    assert found.code == 2
    assert "none of these runs has been evaluated: 'gone', 'lost'. They may not exist" in found.err


def test_a_rank_of_the_newest_runs_says_so(
    offdiag: Command, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("cost", "rank", "--dataset", "clinic", "--matrix", "visits")
    whole = offdiag(*asked)
    monkeypatch.setattr("offdiag.domain.runs.MOST_COMPARED", 1)

    cut = offdiag(*asked)

    assert "older runs" not in whole.err
    assert "The dataset has older runs; these are the newest 1." in cut.err
    assert [each["run"] for each in offdiag(*asked, "--json").json["runs"]] == [runs[1]]
    named = offdiag("cost", "apply", *runs, "--matrix", "visits", "--json").json
    assert not named["is_cut"]
    assert [each["run"] for each in named["left_out"]] == [runs[1]]


def test_an_empty_dataset_has_nothing_to_rank(offdiag: Command, folder: Path) -> None:
    run = sdk.start_run(dataset="open", name="open", labels=["a", "b"])
    assert run.id

    found = offdiag("cost", "rank", "--dataset", "open")

    assert found.code == 2
    assert "has no evaluated runs" in found.err


def test_costs_are_shown_with_all_their_digits(
    offdiag: Command, runs: list[str], folder: Path
) -> None:
    for miss, alarm in ((1, 2), (1234567, 0.00001)):
        (folder / "costs.toml").write_text(
            f"[weights.ill]\nill = 0\nwell = {miss}\n\n[weights.well]\nill = {alarm}\nwell = 0\n",
            encoding="utf-8",
        )
        added = offdiag("cost", "add", "fees", "costs.toml", "--dataset", "clinic")
        assert added.code == 0, added.err

    shown = offdiag("cost", "show", "fees").out
    changed = offdiag("cost", "diff", "fees@1", "fees@2").out

    assert "1234567" in shown
    assert re.search(r"ill +well +1 +1234567 +1,234,567 ", changed)
    assert re.search(r"well +ill +2 +1e-05 +0\.000005 ", changed)


def test_where_another_run_is_cheapest_is_told_in_plain_numbers(
    offdiag: Command, runs: list[str]
) -> None:
    found = offdiag("cost", "rank", "--dataset", "clinic").out

    assert "e+" not in found
    assert "1,000,000" in found
