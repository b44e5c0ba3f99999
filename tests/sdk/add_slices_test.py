"""Slice columns are added to a dataset that is there, and its runs can be read by them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import offdiag
from offdiag.cli.commands import offdiag as commands
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.sdk.run import Run

IDS = ["s3", "s1", "s2", "s4"]
ACTUAL = ["ill", "ill", "well", "well"]
PREDICTED = ["ill", "well", "well", "ill"]


@pytest.fixture
def run(registry_url: str) -> Run:
    return offdiag.log_run(
        y_true=ACTUAL,
        y_pred=PREDICTED,
        sample_ids=IDS,
        name="rules",
        dataset="clinic",
        url=registry_url,
    )


def accuracy(run: Run, part: str) -> float | None:
    return run.evaluation(slice=part).aggregate["overall_accuracy"].value


def test_values_of_other_samples_are_added_by_a_later_call(run: Run, registry_url: str) -> None:
    def add(ids: list[str], site: list[str]) -> tuple[str, ...]:
        columns = {"site": site}
        return offdiag.add_slices(
            dataset="clinic", ids=ids, columns=columns, url=registry_url
        ).columns

    assert add(["s1", "s2"], ["A", "B"]) == ("site",)
    assert add(["s1", "s2"], ["A", "B"]) == ()
    assert add(["s2", "s3"], ["B", "A"]) == ("site",)

    assert accuracy(run, "site=A") == 0.5  # s1 and s3
    with pytest.raises(Conflict, match="sample 's1' has site 'A', not 'B'"):
        add(["s1"], ["B"])


def test_without_identifiers_there_is_a_value_for_each_sample(registry_url: str) -> None:
    run = offdiag.log_run(
        y_true=ACTUAL, y_pred=PREDICTED, name="rules", dataset="unnamed", url=registry_url
    )
    columns = {"site": ["A", "A", "B", "B"]}
    offdiag.add_slices(dataset="unnamed", columns=columns, url=registry_url)

    assert accuracy(run, "site=B") == 0.5
    with pytest.raises(InvalidInput, match="were logged without identifiers"):
        offdiag.add_slices(dataset="unnamed", ids=IDS, columns=columns, url=registry_url)


@pytest.mark.usefixtures("run")
def test_values_without_the_identifiers_of_their_samples_are_refused(registry_url: str) -> None:
    """Samples with identifiers are stored in the order of the identifiers."""
    with pytest.raises(InvalidInput, match="have identifiers, and are stored in their order"):
        offdiag.add_slices(
            dataset="clinic", columns={"site": ["A", "A", "B", "B"]}, url=registry_url
        )


@pytest.mark.usefixtures("run")
def test_another_number_of_values_is_compared_with_the_identifiers(registry_url: str) -> None:
    with pytest.raises(InvalidInput, match=r"ids has 4 values, slices\['site'\] has 1"):
        offdiag.add_slices(dataset="clinic", ids=IDS, columns={"site": ["A"]}, url=registry_url)


@pytest.mark.usefixtures("run")
def test_unknown_samples_and_datasets_are_named(registry_url: str) -> None:
    columns = {"site": ["A"]}
    with pytest.raises(InvalidInput, match="'s9' is not a sample"):
        offdiag.add_slices(dataset="clinic", ids=["s9"], columns=columns, url=registry_url)
    with pytest.raises(NotFound, match="has no dataset 'hospital'"):
        offdiag.add_slices(dataset="hospital", ids=["s1"], columns=columns, url=registry_url)


@pytest.mark.parametrize("read", ["lists", "evaluation", "evaluate_pending"])
def test_flags_on_added_columns_are_raised_without_a_worker(url: str, read: str) -> None:
    site = ["a", "b", "z"] * 100
    actual = ["ill", "ill", "ill", "well", "well", "well"] * 50
    predicted = ["well" if where == "z" else one for one, where in zip(actual, site, strict=True)]
    run = offdiag.log_run(y_true=actual, y_pred=predicted, name="rules", dataset=read, url=url)
    assert {flag.slice for flag in run.evaluation().flags} == {None}
    offdiag.add_slices(dataset=read, columns={"site": site}, url=url)

    match read:
        case "lists":
            said = CliRunner().invoke(commands, ["flags", "list", "--url", url])
            assert "site=z" in said.stdout
        case "evaluate_pending":
            assert offdiag.evaluate_pending(url=url) >= 1
            assert offdiag.evaluate_pending(url=url) == 0

    assert "site=z" in {flag.slice for flag in run.evaluation().flags}
