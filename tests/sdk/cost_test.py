"""`offdiag.cost` with costs that a registry keeps."""

from __future__ import annotations

import pandas as pd
import pytest

import offdiag
from offdiag.errors import InvalidInput
from offdiag.sdk.run import Run
from offdiag.services.cost_matrices import add_costs
from offdiag.store.schema import open_database

LABELS = ["well", "ill"]


@pytest.fixture(scope="module")
def run(url: str) -> Run:
    """One of two ill cases is missed; two versions say what that costs."""
    logged = offdiag.log_run(
        y_true=["ill", "ill", "well", "well"],
        y_pred=["ill", "well", "well", "ill"],
        labels=LABELS,
        name="rules",
        dataset="clinic",
        url=url,
    )
    for price in (5.0, 10.0):
        weights = {"well": {"well": 0.0, "ill": 1.0}, "ill": {"well": price, "ill": 0.0}}
        add_costs(
            open_database(url),
            project="default",
            dataset="clinic",
            name="visits",
            weights=weights,
            currency="EUR",
        )
    return logged


def test_costs_are_found_by_name_in_their_newest_version(run: Run) -> None:
    found = offdiag.cost(run, weights="visits")

    assert found["total_cost"].value == 11.0
    assert found.costs.currency == "EUR"


def test_a_version_stays_what_it_was(run: Run) -> None:
    assert offdiag.cost(run, weights="visits@1")["total_cost"].value == 6.0


def test_class_shares_at_deployment_are_taken_by_label(run: Run) -> None:
    found = offdiag.cost(run, weights="visits", prevalence={"well": 0.9, "ill": 0.1})

    assert found["mean_cost"].value == pytest.approx(0.9 * 0.5 + 0.1 * 5)
    series = pd.Series({"well": 0.9, "ill": 0.1})
    for shares in (series, series[::-1]):
        again = offdiag.cost(run, weights="visits", prevalence=shares)
        assert again["mean_cost"].value == found["mean_cost"].value
    with pytest.raises(InvalidInput, match="prevalence"):
        offdiag.cost(run, weights="visits", prevalence={0.9, 0.1})


def test_a_matrix_finds_costs_in_the_registry_that_is_named(run: Run, url: str) -> None:
    matrix = offdiag.evaluate_matrix([[90, 10], [2, 8]], labels=LABELS, orientation="actual_rows")

    found = offdiag.cost(matrix, weights="visits@2", project="default", url=url)

    assert found["total_cost"].value == 30.0


def test_unknown_names_and_other_classes_are_refused(run: Run, url: str) -> None:
    with pytest.raises(offdiag.NotFound, match="cost matrix"):
        offdiag.cost(run, weights="none")
    with pytest.raises(offdiag.Conflict, match="is for the classes"):
        offdiag.cost([[9, 1], [2, 8]], weights="visits", labels=["a", "b"], url=url)


def test_costs_of_another_dataset_are_refused(run: Run, url: str) -> None:
    other = offdiag.log_run(
        y_true=["a", "b"], y_pred=["a", "a"], name="other", dataset="letters", url=url
    )

    with pytest.raises(offdiag.Conflict, match="is for the classes"):
        offdiag.cost(other, weights="visits")
