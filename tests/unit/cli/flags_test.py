"""`offdiag flags`, `offdiag cost` and `offdiag runs baseline`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offdiag.cli.decide.flags import inbox_table
from offdiag.records.flag import CountedFlags

Command = Callable[..., Any]
Filled = Callable[[Callable[..., Any]], Any]

HEAD = "y_true,y_pred\n"
BLIND = HEAD + "common,common\n" * 50 + "rare,common\n" * 20
BETTER = HEAD + "common,common\n" * 50 + "rare,rare\n" * 18 + "rare,common\n" * 2
COSTS = 'currency = "EUR"\n[weights.common]\ncommon = 0\nrare = 1\n[weights.rare]\n'
COSTS += "common = 10\nrare = 0\n"


def log(offdiag: Command, folder: Path, text: str, name: str) -> str:
    """Log predictions and have them evaluated by gating them."""
    (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    answer = offdiag("log", f"{name}.csv", "--dataset", "d", "--name", name, "--json")
    run_id = str(answer.json["id"])
    assert offdiag("gate", run_id, "--min", "n>=1").code == 0
    return run_id


@pytest.fixture
def blind(filled: Filled) -> str:
    return str(filled(log_blind))


def log_blind(folder: Path, offdiag: Command) -> str:
    (folder / "costs.toml").write_text(COSTS, encoding="utf-8")
    return log(offdiag, folder, BLIND, "blind")


def flags(offdiag: Command, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = offdiag("flags", "list", *arguments, "--json").json["flags"]
    return found


def flag_of(offdiag: Command, rule: str) -> dict[str, Any]:
    return flags(offdiag, "--rule", rule, "--state", "all")[0]


def test_flags_are_listed_the_gravest_first_and_filtered(offdiag: Command, blind: str) -> None:
    found = flags(offdiag)
    answer = offdiag("flags", "list")
    badge = flags(offdiag, "--badge", "--class", "rare", "--at-least", "critical")

    grades = ["info", "medium", "high", "critical"]
    ranks = [grades.index(flag["severity"]) for flag in found]
    assert ranks == sorted(ranks, reverse=True)
    assert {flag["run"] for flag in found} == {blind}
    assert f"{len(found)} open" in answer.out
    assert "More flags" not in answer.err
    cut = offdiag("flags", "list", "--limit", "1")
    assert cut.err == "More flags match; these are the first 1. --limit shows more.\n"
    assert {flag["rule"] for flag in badge} == {"F3", "F4"}
    assert offdiag("flags", "list", "--dataset", "other").out == "There are no such flags.\n"
    assert {flag["run"] for flag in flags(offdiag, "--run", "blind")} == {blind}
    unknown = offdiag("flags", "list", "--run", "blnd")
    assert unknown.code == 2
    assert "there is no run 'blnd'" in unknown.err


def test_problems_that_the_default_leaves_out_are_hinted_at(
    offdiag: Command, folder: Path, blind: str
) -> None:
    assert blind
    assert "rare missed" in offdiag("problems").out
    log(offdiag, folder, HEAD + "common,common\n" * 50 + "rare,rare\n" * 20, "sound")

    said = offdiag("problems").out

    assert said == (
        "There are no such problems. --low includes those of low severity and of old runs.\n"
    )
    assert "rare missed" in offdiag("problems", "--low").out
    assert offdiag("problems", "--low", "--state", "closed").out == "There are no such problems.\n"


def test_one_flag_is_shown_with_what_fired_and_runs_to_use_instead(
    folder: Path, offdiag: Command, blind: str
) -> None:
    better = log(offdiag, folder, BETTER, "better")
    flag = flag_of(offdiag, "F3")

    shown = offdiag("flags", "show", str(flag["id"]), "--json").json
    table = offdiag("flags", "show", f"F-{flag['id']}").out

    assert [entry["kind"] for entry in shown["history"]] == ["opened"]
    assert all({"what", "measured", "threshold"} <= set(each) for each in shown["fired"])
    (found,) = shown["better"]
    assert (found["run"], found["recall_gain"]["won"]) == (better, 18)
    for title in ("Conditions", "History", "Alternatives for rare"):
        assert title in table


def test_a_condition_on_an_undefined_value_says_why(folder: Path, offdiag: Command) -> None:
    log(offdiag, folder, HEAD + "common,common\n" * 95 + "rare,common\n" * 5, "constant")
    flag = flag_of(offdiag, "F8")

    table = " ".join(offdiag("flags", "show", str(flag["id"])).out.split())

    assert "MCC undefined (one class was predicted for all examples) <= 0.3 yes" in table


def test_flags_are_settled_opened_again_assigned_and_commented_on(
    offdiag: Command, blind: str
) -> None:
    ids = [str(flag["id"]) for flag in flags(offdiag)[:2]]
    for verb, options, state in (
        ("acknowledge", [], "acknowledged"),
        ("snooze", ["--until", "2099-01-01"], "snoozed"),
        ("dismiss", ["--reason", "by design"], "dismissed"),
    ):
        settled = offdiag("flags", verb, *ids, *options, "--author", "lee", "--json").json["flags"]
        opened = offdiag("flags", "reopen", *ids, "--json").json["flags"]

        assert [flag["state"] for flag in settled] == [state, state]
        assert [flag["state"] for flag in opened] == ["open", "open"]
    offdiag("flags", "assign", ids[0], "--to", "kim")
    answer = offdiag("flags", "comment", ids[0], "--text", "See the notebook.")

    shown = offdiag("flags", "show", ids[0], "--json").json
    assert (shown["history"][1]["kind"], shown["history"][1]["author"]) == ("acknowledged", "lee")
    assert answer.out == f"F-{ids[0]} is open.\n"
    assert shown["assignee"] == "kim"
    assert shown["history"][-1]["text"] == "See the notebook."


def test_what_cannot_be_done_is_an_error(offdiag: Command, blind: str) -> None:
    for arguments, says in (
        (["flags", "snooze", "1", "--until", "soon"], "'soon' is not a time"),
        (["flags", "acknowledge", "999"], "there is no flag 999"),
        (["cost", "default", "d"], "Name a cost matrix, or give --none."),
        (["cost", "show", "gone@3"], "has no cost matrix 'gone@3'"),
    ):
        answer = offdiag(*arguments)

        assert answer.code == 2
        assert says in answer.err


def test_a_gate_takes_the_costs_of_the_dataset_or_those_that_are_named(
    offdiag: Command, blind: str
) -> None:
    offdiag("cost", "add", "misses", "costs.toml", "--dataset", "d")
    condition = ("--min", "total_cost=200")

    unknown = offdiag("gate", blind, *condition)
    named = offdiag("gate", blind, "--cost-matrix", "misses", *condition)
    offdiag("cost", "default", "d", "misses")
    default = offdiag("gate", blind, *condition)

    assert [unknown.code, named.code, default.code] == [2, 0, 0]


def test_a_baseline_is_pinned_and_a_gate_compares_with_it(
    folder: Path, offdiag: Command, blind: str
) -> None:
    better = log(offdiag, folder, BETTER, "better")

    pinned = offdiag("runs", "baseline", better, "--json").json
    gated = offdiag("gate", blind, "--min", "diff(recall[rare])>=-0.1", "--json")

    assert (pinned["baseline"], pinned["runs_asked"]) == (better, 2)
    assert (gated.code, gated.json["baseline"]) == (1, better)
    assert offdiag("runs", "baseline", "--dataset", "d", "--json").json["baseline"] == better
    cleared = offdiag("runs", "baseline", "--dataset", "d", "--clear")
    assert cleared.out == "There is no baseline.\n"
    assert offdiag("runs", "baseline").code == 2


def test_more_flags_than_are_counted_are_a_lower_bound() -> None:
    table = inbox_table(CountedFlags(counts={"open": 1_000, "closed": 17}, flags=[]))

    assert str(table.caption) == "1,000+ open, 17 closed."
