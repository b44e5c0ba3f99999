"""Runs by a metric of their slices, in the grammar of gates: the values are those of a gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from offdiag.errors import Forbidden, InvalidInput
from offdiag.services.run_search import search_runs
from offdiag.store.database import Database
from support.gates import judged
from support.kinds import Kind
from support.logging_runs import log, work_off
from support.sites import FOUND, log_sites

BETTER: Mapping[str, tuple[int, int, int, int]] = {**FOUND, "z": (18, 2, 1, 19)}


@pytest.fixture(scope="module")
def registry(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Two runs with slices, and one without; to be read only."""
    with databases.new(tmp_path_factory.mktemp("sites")) as database:
        log_sites(database, name="worse")
        log_sites(database, BETTER, name="better")
        log(database, dataset="other")
        work_off(database)
        yield database


def found(database: Database, text: str) -> set[str]:
    return {run.name for run in search_runs(database, filter_text=text).runs}


NAMES: dict[str, set[str]] = {
    "recall[ill]@site=z < 0.5": {"worse"},
    "metrics.recall[ill]@site=z >= 0.5": {"better"},
    "not recall[ill]@site=z < 0.5 and attributes.dataset = 'holdout'": {"better"},
    "recall[ill]@site=z < 0.5 or overall_accuracy@site=z > 0.9": {"worse", "better"},
    "recall[ill]@device=a & site=z < 0.5": {"worse"},
    "low(recall[ill]@site=z) > 0.65": {"better"},
    "high(recall[ill])@site=z < 0.65": {"worse"},
    "low(recall[ill]) > 0.7": {"better"},
    "worst(recall[ill], by=site) < 0.5": {"worse"},
    "gap(recall[ill], by=site) > 0.3": {"worse"},
    "high(worst(recall[ill], by=site)) < 0.8": {"worse"},
    "recall[ill]@site=nowhere >= 0": set(),
    "recall[ill]@colour=red >= 0": set(),
    "recall[nobody]@site=z >= 0": set(),
}
"""Names of the runs that each filter finds."""


@pytest.mark.both_databases
def test_runs_are_found_by_a_slice(registry: Database) -> None:
    assert {text: found(registry, text) for text in NAMES} == NAMES


def test_slices_of_sets_of_labels_have_the_metrics_of_sets(database: Database) -> None:
    """Of three labels the last one is not on site z, and counts as 0 in its macro F1."""
    log(
        database,
        y_true=[["a"], ["a", "b"], ["b"], ["c"]],
        y_pred=[["a"], ["a"], ["a", "b"], ["c"]],
        labels=["a", "b", "c"],
        slices={"site": ["z", "z", "z", "y"]},
        sample_ids=[1, 2, 3, 4],
    )
    log(database, y_true=["a", "b"] * 2, slices={"site": ["z"] * 4}, dataset="d", y_pred=["a"] * 4)
    work_off(database)
    value = (4 / 5 + 2 / 3 + 0) / 3

    for text, n_found in (
        (f"macro_f1@site=z > {value - 1e-9} and macro_f1@site=z < {value + 1e-9}", 1),
        ("subset_accuracy@site=z > 0.3 and subset_accuracy@site=z < 0.4", 1),
        ("recall[b]@site=z = 0.5", 1),
        ("subset_accuracy@site=z >= 0", 1),
        ("overall_accuracy@site=z >= 0", 1),
        ("mcc@site=z > -1", 0),
        ("balanced_accuracy@site=z > 0.5", 0),
    ):
        assert len(search_runs(database, filter_text=text).runs) == n_found, text


CONDITIONS = [
    *("recall[ill]@site=z", "precision[well]@site=z", "overall_accuracy@site=x & device=b"),
    *("f1[ill]@site=x & device=b", "mcc@site=z"),
    *(
        f"{over}({metric}, by=site)"
        for over in ("worst", "gap")
        for metric in ("recall[ill]", "f1")
    ),
]


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_value_and_its_interval_are_those_of_a_gate(registry: Database, text: str) -> None:
    text = text.replace("(f1,", "(f1[well],")
    (run,) = search_runs(registry, filter_text=f"{text} > -2 and attributes.name = 'worse'").runs
    gate = judged(registry, run.id, f"{text} >= 0")

    value, expected = run.metrics[text.replace("site=x & device=b", "device=b & site=x")], None
    (finding,) = gate.findings
    expected = finding.value
    assert expected is not None
    assert value.value == pytest.approx(expected.value)
    if "mcc" not in text:
        assert (value.ci_low, value.ci_high) == pytest.approx((expected.ci_low, expected.ci_high))


def test_a_gap_within_rounding_of_a_number_is_equal_to_it(database: Database) -> None:
    """0.8 - 0.7 is a little more than 0.1 in floats."""
    log_sites(database, {"x": (16, 4, 2, 18), "y": (14, 6, 2, 18)})
    work_off(database)
    gap = "gap(recall[ill], by=site)"
    run = search_runs(database, filter_text=f"{gap} >= 0").runs[0]
    assert run.metrics[gap].value == 0.10000000000000009

    assert found(database, f"{gap} <= 0.1 and {gap} = 0.1 and {gap} in (0.1)") == {"sites"}
    assert found(database, f"{gap} > 0.1 or {gap} != 0.1 or {gap} < 0.1") == set()


REFUSED = {
    "recall@site=z < 0.5": "metric 'recall' of a whole run",
    "roc_auc@site=z > 0.5": "not searched by 'roc_auc' of a slice",
    "recall[ill]@a=1 & b=2 & c=3 > 0.5": "has 3 columns",
    "worst(recall[ill]) > 0.5": "`, by=` and a slice column was expected",
    "worst(recall[ill]@site=z, by=device) > 0.5": "cannot be combined",
    "worst(low(recall[ill]), by=device) > 0.5": "cannot be applied inside",
}


def test_what_slices_do_not_have_is_refused(registry: Database) -> None:
    for text, said in REFUSED.items():
        with pytest.raises(InvalidInput, match=said):
            found(registry, text)
    with pytest.raises(InvalidInput, match="cannot be sorted by a slice"):
        search_runs(registry, order_by=["recall[ill]@site=z"])


def test_groups_that_overlap_have_no_gap(database: Database) -> None:
    tags = [["a", "b"] if at % 2 else ["b"] for at in range(145)]
    log_sites(database, slices={"tags": tags})
    work_off(database)

    assert found(database, "gap(recall[ill], by=tags) >= 0") == set()
    assert found(database, "worst(recall[ill], by=tags) >= 0") == {"sites"}


def test_where_small_groups_are_hidden_runs_are_not_searched_by_slices(
    registry: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "10")

    with pytest.raises(Forbidden, match="small groups are hidden"):
        found(registry, "recall[ill]@site=z < 0.5")
