"""Costs in reports: told per 1,000 cases, ranked from below, compared by one cost matrix only."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.metric_text import value_text
from offdiag.reports.document import read_scope, report_document, scope_document
from offdiag.reports.files import csv_text, html_page
from offdiag.reports.headline import further_sentences, headline
from offdiag.reports.report import Report
from offdiag.reports.scope import MOST_METRICS, Condition, ReportScope, Side, condition_text
from offdiag.reports.snapshot import ConstantPrediction, CostFigures, RunFigures
from offdiag.reports.tables import runs_table
from support.optional import present
from support.report_figures import SCOPE, report, run, snapshot, value

COSTED = replace(SCOPE, cost_matrix="visits")
PLAIN_DIGEST = "421e5a7495f92317ef513b8351d2ce3f0231d394d8bc4062ba67ade553e6211e"
"""Of one run at 0.5, as it was before reports knew costs."""
VISITS = CostFigures("visits", 3, "EUR", ConstantPrediction("nv", 3.22))


def costed(name: str, level: float, cost: MetricValue, **changes: Any) -> RunFigures:
    """A run whose metrics have one value, but for its mean cost."""
    plain = run(name, level, **changes)
    return replace(plain, metrics={**plain.metrics, "mean_cost": cost})


def issue_of(*runs: RunFigures, previous: Report | None = None, **changes: Any) -> Report:
    return report(snapshot(runs, **{"costs": VISITS} | changes), previous, scope=COSTED)


TWO = issue_of(costed("dear", 0.9, value(1.127, 0.1)), costed("cheap", 0.8, value(0.704, 0.05)))


def test_a_scope_with_costs_has_the_mean_cost_among_its_metrics() -> None:
    assert COSTED.metrics == (*SCOPE.metrics, "mean_cost")


def test_a_scope_that_names_a_metric_of_costs_keeps_its_own_order() -> None:
    scope = replace(SCOPE, metrics=("mean_cost", "mcc"), cost_matrix="visits@2")

    assert scope.metrics == ("mean_cost", "mcc")
    assert scope.ranking_metric == "mean_cost"


def test_a_stored_scope_with_costs_and_all_metrics_can_be_read_again() -> None:
    keys = ("mcc", "balanced_accuracy", "macro_f1", "overall_accuracy", "cohen_kappa")
    many = (*keys, "macro_recall", "macro_precision", "weighted_f1")
    scope = replace(SCOPE, metrics=many, cost_matrix="visits")

    assert len(many) == MOST_METRICS
    assert read_scope(scope_document(scope)) == scope


def test_a_scope_stored_before_there_were_costs_can_still_be_read() -> None:
    document = scope_document(SCOPE)
    del document["cost_matrix"]

    assert read_scope(document) == SCOPE


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"metrics": ("mcc", "mean_cost")}, "metrics"),
        ({"alerts": (Condition("mean_cost", Side.ABOVE, 0.7),)}, "alerts"),
    ],
)
def test_costs_cannot_be_asked_for_without_a_cost_matrix(given: Any, field: str) -> None:
    with pytest.raises(InvalidInput, match="needs a cost matrix") as caught:
        replace(SCOPE, **given)

    assert caught.value.field == field


def test_the_best_constant_answer_is_no_metric_that_ranks() -> None:
    with pytest.raises(InvalidInput, match="does not rank runs"):
        ReportScope(project="p", dataset="d", cost_matrix="c", metrics=("best_trivial_class",))


def test_a_mean_cost_is_told_per_thousand_cases() -> None:
    condition = Condition("mean_cost", Side.ABOVE, 0.7)

    assert value_text("mean_cost", value(0.7043, 0.05)) == "704.3 (654.3 – 754.3)"
    assert value_text("mcc", value(0.7043, 0.05)) == "0.704 (0.654 – 0.754)"
    assert condition_text(condition) == "Cost per 1,000 examples above 700.0"


def test_runs_have_a_place_by_cost_beside_their_place() -> None:
    table = present(runs_table(TWO))

    assert table.columns[-2:] == ("Cost per 1,000 examples", "place by cost")
    assert [(row[1], *row[-2:]) for row in table.rows] == [
        ("dear", "1,127.0 (1,027.0 – 1,227.0)", "2"),
        ("cheap", "704.0 (654.0 – 754.0)", "1"),
    ]


def test_the_table_of_runs_says_by_what_costs_and_what_a_constant_answer_would_cost() -> None:
    table = present(runs_table(TWO))

    assert table.note.endswith(
        "Costs in EUR are by visits@3; always predicting nv would cost 3,220.0 per 1,000 examples."
    )


def test_ranked_by_cost_the_cheapest_is_best_and_has_one_place_only() -> None:
    scope = replace(COSTED, metrics=("mean_cost", "mcc"))
    shown = report(TWO.snapshot, scope=scope)
    table = present(runs_table(shown))

    assert [row[1] for row in table.rows] == ["cheap", "dear"]
    assert "place by cost" not in table.columns
    assert "cheap has the lowest cost per 1,000 examples: 704.0 (654.0 – 754.0)." in " ".join(
        further_sentences(shown)
    )


def test_a_dearer_successor_is_told_with_the_difference_per_thousand_cases() -> None:
    before = issue_of(costed("focal", 0.8, value(0.70, 0.01)))
    now = issue_of(costed("focal", 0.8, value(0.80, 0.01), id="r_2"), previous=before)

    assert headline(now) == (
        "One thing changed beyond its interval: focal gained 100.0 cost per 1,000 examples "
        "(+80.0 to +120.0)."
    )


def test_costs_by_another_version_are_not_compared_and_that_is_said() -> None:
    before = issue_of(
        costed("dear", 0.9, value(1.127, 0.1)), costed("cheap", 0.8, value(0.704, 0.05))
    )
    now = issue_of(
        costed("dear", 0.9, value(0.2, 0.01), id="r_3"),
        costed("cheap", 0.8, value(0.9, 0.01)),
        previous=before,
        costs=replace(VISITS, version=4),
    )

    assert headline(now) == "No change exceeds its interval."
    assert now.findings.rank_changes == ()
    assert further_sentences(now)[0] == (
        "Costs are those of visits@4 and were those of visits@3 before, so they were not compared."
    )


def test_the_line_of_best_costs_starts_anew_with_other_costs() -> None:
    scope = replace(COSTED, metrics=("mean_cost",))
    first = report(TWO.snapshot, scope=scope)
    same = report(TWO.snapshot, first, scope=scope)
    other = report(replace(TWO.snapshot, costs=replace(VISITS, version=4)), same, scope=scope)

    assert [len(each.history) for each in (first, same, other)] == [1, 2, 1]


def test_files_keep_the_cost_per_case_and_the_page_tells_it_per_thousand() -> None:
    page = html_page(TWO)
    lines = csv.DictReader(io.StringIO(csv_text(TWO)))
    costs = [line["value"] for line in lines if line["metric"] == "mean_cost"]

    assert costs == ["1.127", "0.704"]
    assert "704.0 (654.0 – 754.0)" in page
    assert "visits@3, in EUR" in page


def test_the_digest_covers_the_cost_matrix_and_is_unchanged_where_there_is_none() -> None:
    plain = report(snapshot([run("a", 0.5)]))
    other = issue_of(*TWO.snapshot.runs, costs=replace(VISITS, version=4))

    assert report_document(TWO)["data_digest"] != report_document(other)["data_digest"]
    assert "costs" in json.dumps(report_document(plain)["snapshot"])
    assert report_document(plain)["data_digest"] == PLAIN_DIGEST
