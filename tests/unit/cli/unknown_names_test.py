"""A list that is empty because nothing has the wanted name says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import offdiag as sdk

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def _logged(filled: Callable[[Callable[..., Any]], Any]) -> None:
    filled(log_both)


def log_both(*_: object) -> None:
    """A run without flags in each of two projects."""
    for project, dataset in (("skin", "holdout"), ("eyes", "fundus")):
        sdk.log_run(
            y_true=["a", "b"], y_pred=["a", "b"], name="r", dataset=dataset, project=project
        )


@pytest.mark.parametrize(
    "command", [("runs", "list"), ("flags", "list"), ("problems",)], ids=lambda words: words[0]
)
@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (("--dataset", "holdot"), "There is no dataset 'holdot'. Did you mean 'holdout'?"),
        (("--dataset", "zzz"), "There is no dataset 'zzz'."),
        (
            ("--dataset", "holdout", "--project", "eyes"),
            "There is no dataset 'holdout' in project 'eyes'.",
        ),
        (("--project", "sikn"), "Project 'sikn' has no datasets. Did you mean 'skin'?"),
    ],
)
def test_an_unknown_name_is_said_beside_an_empty_list(
    offdiag: Command, command: tuple[str, ...], wanted: tuple[str, ...], said: str
) -> None:
    answer = offdiag(*command, *wanted)

    assert (answer.code, answer.err) == (0, f"{said}\n")
    assert "There are no such" in answer.out


@pytest.mark.parametrize(
    "wanted", [("--dataset", "holdout"), ("--project", "eyes"), ("--dataset", "h*"), ()]
)
def test_a_known_name_with_nothing_to_list_is_no_mistake(
    offdiag: Command, wanted: tuple[str, ...]
) -> None:
    assert offdiag("runs", "list", "--filter", "metrics.mcc > 0.999", *wanted).err == ""


def test_a_list_without_conditions_is_of_all_runs(offdiag: Command) -> None:
    sdk.get_run("r", dataset="holdout").delete()
    sdk.get_run("r", dataset="fundus").delete()

    assert offdiag("runs", "list").out == "There are no runs.\n"
    assert offdiag("runs", "list", "--dataset", "holdout").out == "There are no such runs.\n"
