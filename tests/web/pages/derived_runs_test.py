"""A run that was decided anew says so wherever its metadata is shown."""

from __future__ import annotations

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.metrics.costs.decisions import ExpectedCostRule, ThresholdRule, described
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.services.decisions.rules import CHOSEN_HERE
from offdiag.services.ingest.derive_run import derive_run
from offdiag.store.database import Database
from support.filled_once import filled_once
from support.logging_runs import log_ill, work_off
from support.pages import PageClient


@pytest.fixture
@filled_once
def derived(database: Database) -> tuple[str, str]:
    """Ids of a run and of the one derived from it."""
    actual = ["ill", "well", "well"]
    source = log_ill(database, y_true=actual, p=[0.4, 0.3, 0.1], dataset="holdout")
    rule = ExpectedCostRule(
        cost_matrix([[0, 1], [4, 0]], labels=LabelSet.declared(["well", "ill"]))
    )
    run = derive_run(
        database,
        source_id=source.id,
        rule=rule,
        recipe=described(rule, costs="visits@2"),
        name="by cost",
    )
    work_off(database)
    return source.id, run.id


def test_the_metadata_name_the_source_and_the_rule(
    client: PageClient, derived: tuple[str, str]
) -> None:
    source, run = derived

    page = client.page(f"/runs/{run}/meta")

    link = next(link for link in page.all("a") if link.text == source)
    assert link["href"] == f"/runs/{source}"
    assert "From the scores of" in (link.parent.text if link.parent else "")
    assert "visits@2" in page.one("main").text
    assert "Decision rule applied" not in client.page(f"/runs/{source}/meta").one("main").text


def test_a_comparison_with_a_threshold_chosen_on_the_same_examples_tests_nothing(
    client: PageClient, database: Database, derived: tuple[str, str]
) -> None:
    source = derived[0]
    rule = ThresholdRule(positive=1, threshold=0.35, positive_label="ill")
    recipe = described(rule, chosen=CHOSEN_HERE)
    run = derive_run(database, source_id=source, rule=rule, recipe=recipe, name="cheapest")
    work_off(database)

    said = "The threshold was chosen on these examples, so the results are optimistic."
    assert said in client.page(f"/runs/{run.id}").one("main").text
    assert all(said not in client.page(f"/runs/{each}").one("main").text for each in derived)
    page = client.page(f"/compare?runs={source},{run.id}").one("main").text

    assert "the threshold of B was chosen on these examples, which flatters it" in page
    assert "not tested: a threshold was chosen on these examples" in page
    for claim in ("McNemar", "weights", "no example differs"):
        assert claim not in page


def test_lists_say_why_a_run_above_the_best_has_no_star(
    client: PageClient, database: Database, derived: tuple[str, str]
) -> None:
    actual = ["ill", "well"] * 20
    for name, score in (("model", 0.4), ("other", 0.3)):
        facts = RunFacts(name=name)
        p = [score, 0.1] * 20
        source = log_ill(database, y_true=actual, p=p, dataset="many", facts=facts)
    rule = ThresholdRule(positive=1, threshold=0.25, positive_label="ill")
    recipe = described(rule, chosen=CHOSEN_HERE)
    derive_run(database, source_id=source.id, rule=rule, recipe=recipe, name="cheapest")
    work_off(database)

    legend = "○ not tested: threshold chosen on these examples"
    for path in ("/runs?q=dataset:many", "/runs"):
        page = client.page(path)
        marks = [cell.text for cell in page.all("td", "best") if cell.text]
        assert marks == ["○not tested", "★best value", "★best value"]
        assert legend in page.one("p", "list-legend").text
    assert "○" not in client.page("/runs?q=dataset:holdout").one("main").text
