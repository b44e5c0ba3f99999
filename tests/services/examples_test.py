"""The predictions behind a cell: which, in which order, page by page, whatever the chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete

from offdiag.errors import InvalidInput, LabelNote, NotFound
from offdiag.services.examples import page as examples_page
from offdiag.services.examples.page import (
    Example,
    ExampleExport,
    ExamplePage,
    browse_examples,
    export_examples,
)
from offdiag.services.examples.selection import ExampleOrder, ExampleQuestion, Kind, SortKey
from offdiag.store.database import Database
from offdiag.store.models import ScoreChunkRow
from support.dashboard import counted_statements
from support.kinds import Kind as DatabaseKind
from support.logging_runs import correct_labels, evaluate, log, work_off
from support.scored_runs import DATASET, ScoredCases, log_scored, scored_cases, stream_scored

QUESTIONS = {
    "wrong": ExampleQuestion(),
    "right": ExampleQuestion(kind=Kind.RIGHT),
    "all": ExampleQuestion(kind=Kind.ALL),
    "unlabelled": ExampleQuestion(kind=Kind.UNLABELLED),
    "a cell": ExampleQuestion("cat", "dog"),
    "a correct cell": ExampleQuestion("cat", "cat"),
    "missed": ExampleQuestion(actual="fox"),
    "false alarms": ExampleQuestion(predicted="owl"),
    "all of a class": ExampleQuestion(actual="fox", kind=Kind.ALL),
    "by a part of its name": ExampleQuestion(kind=Kind.ALL, sample="/01"),
}
ORDERS = {
    "as logged": ExampleOrder(SortKey.LOGGED),
    "most sure": ExampleOrder(SortKey.CONFIDENCE, descending=True),
    "least sure": ExampleOrder(SortKey.CONFIDENCE),
    "closest call": ExampleOrder(SortKey.MARGIN),
    "clearest": ExampleOrder(SortKey.MARGIN, descending=True),
    "label least likely": ExampleOrder(SortKey.ACTUAL),
    "fewest models agree": ExampleOrder(SortKey.AGREEMENT),
    "most models agree": ExampleOrder(SortKey.AGREEMENT, descending=True),
}


@dataclass(frozen=True)
class Shared:
    """A run in many small chunks, twenty of its samples without a label; to be read only."""

    database: Database
    run_id: str
    cases: ScoredCases


@pytest.fixture(scope="module")
def shared(databases: DatabaseKind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with databases.new(tmp_path_factory.mktemp("examples")) as database:
        cases = scored_cases(n_unlabelled=20)
        with pytest.MonkeyPatch.context() as patch:
            # Many chunks of few samples, as millions would have.
            patch.setattr("offdiag.services.truth.revise.CHUNK_SIZE", 37)
            patch.setattr("offdiag.services.ingest.truth.CHUNK_SIZE", 37)
            run_id = stream_scored(database, cases, chunk=23)
        work_off(database)
        yield Shared(database, run_id, cases)


@pytest.mark.parametrize(
    ("asked", "by"),
    # What is meant and in which order are found apart.
    [
        *product(QUESTIONS, ("as logged", "closest call")),
        *product(
            ("wrong", "all"), (by for by in ORDERS if by not in {"as logged", "closest call"})
        ),
    ],
)
def test_all_pages_together_are_what_sorting_everything_gives(
    shared: Shared, asked: str, by: str
) -> None:
    question, order = QUESTIONS[asked], ORDERS[by]

    shown = _all_pages(shared.database, shared.run_id, replace(question, order=order))

    wanted = _sorted(shared.cases, question, order)
    assert [example.sample for example in shown] == [_ids(shared.cases)[at] for at in wanted]
    assert [example.index for example in shown] == wanted


@pytest.mark.parametrize("by", ["as logged", "most sure", "fewest models agree"])
def test_going_back_shows_the_pages_that_were_seen_on_the_way(shared: Shared, by: str) -> None:
    database, run_id = shared.database, shared.run_id
    question = ExampleQuestion(kind=Kind.ALL, order=ORDERS[by])
    forth = [browse_examples(database, run_id, question, size=55)]
    while forth[-1].after is not None:
        forth.append(browse_examples(database, run_id, question, cursor=forth[-1].after, size=55))

    back = [forth[-1]]
    while back[-1].before is not None:
        back.append(browse_examples(database, run_id, question, cursor=back[-1].before, size=55))

    # The last page is short, so pages on the way back are cut elsewhere but hold the same.
    seen = [example for page in reversed(back) for example in page.examples]
    assert seen == [example for page in forth for example in page.examples]
    assert [page.start for page in forth] == [0, 55, 110, 165]
    assert [page.start for page in back] == [165, 110, 55, 0]


@pytest.mark.parametrize(
    ("log_it", "ids"),
    [
        (log_scored, "int"),
        (lambda db, it: stream_scored(db, it, chunk=50), "text"),
        (lambda db, it: stream_scored(db, it, chunk=50), "none"),
    ],
)
def test_an_example_is_what_was_logged(
    database: Database, ids: Any, log_it: Callable[[Database, ScoredCases], str]
) -> None:
    cases = scored_cases(120, ids=ids)
    run_id = log_it(database, cases)

    shown = browse_examples(database, run_id, ExampleQuestion(kind=Kind.ALL), size=500)

    at = {name: place for place, name in enumerate(cases.ids or range(len(cases)))}
    assert shown.total == len(shown.examples) == 120
    assert shown.slice_names == ("country",)
    for example in shown.examples:
        place = at[example.sample]
        assert (example.actual, example.predicted) == (cases.actual[place], cases.predicted[place])
        scores = cases.scores[place].astype(np.float64)
        own = cases.labels.index(example.predicted)
        assert example.confidence == scores[own]
        assert example.margin == scores[own] - np.delete(scores, own).max()
        assert [each.score for each in example.top] == np.sort(scores)[::-1][:3].tolist()
        assert scores[cases.labels.index(example.top[0].label)] == scores.max()
        assert example.slices == {"country": cases.country[place]}


def test_every_cell_has_as_many_examples_as_the_matrix_says(shared: Shared) -> None:
    database, run_id = shared.database, shared.run_id
    matrix = evaluate(database, run_id).matrix

    for (actual, predicted), count in np.ndenumerate(matrix.counts):
        names = matrix.labels.names
        question = ExampleQuestion(names[actual], names[predicted])
        assert browse_examples(database, run_id, question).total == count
    unlabelled = ExampleQuestion(kind=Kind.UNLABELLED)
    assert browse_examples(database, run_id, unlabelled).total == 20


def test_with_one_column_the_other_class_has_what_is_left_of_one(
    database: Database,
) -> None:
    run = log(
        database,
        y_true=["n", "n", "y"],
        y_pred=["n", "y", "y"],
        y_score=[0.25, 0.75, 0.5],
        positive_label="y",
    )

    shown = browse_examples(database, run.id, ExampleQuestion(kind=Kind.ALL)).examples

    assert [(e.index, e.confidence, e.margin) for e in shown] == [
        (0, 0.75, 0.5),
        (1, 0.75, 0.5),
        (2, 0.5, 0.0),
    ]
    assert [(each.label, each.score) for each in shown[0].top] == [("y", 0.25)]


def test_with_one_column_of_log_odds_the_other_class_has_the_negative_score(
    database: Database,
) -> None:
    run = log(
        database,
        y_true=["n", "n", "y", "y"],
        y_pred=["n", "y", "y", "n"],
        y_score=[-3.0, 0.5, 2.0, -0.25],
        positive_label="y",
    )
    work_off(database)

    shown = browse_examples(database, run.id, ExampleQuestion(kind=Kind.ALL)).examples
    by_margin = browse_examples(
        database, run.id, ExampleQuestion(kind=Kind.ALL, order=ExampleOrder(SortKey.MARGIN))
    ).examples

    assert [(e.index, e.confidence, e.margin) for e in shown] == [
        (0, 3.0, 6.0),
        (2, 2.0, 4.0),
        (1, 0.5, 1.0),
        (3, 0.25, 0.5),
    ]
    assert [e.index for e in by_margin] == [3, 1, 2, 0]


def test_an_answer_that_was_not_the_largest_score_has_a_negative_margin(
    database: Database,
) -> None:
    run = log(database, y_score=np.tile([0.25, 0.75, 0.0], (6, 1)))

    shown = browse_examples(database, run.id, ExampleQuestion(kind=Kind.ALL)).examples

    assert {example.predicted: example.margin for example in shown} == {
        "a": -0.5,
        "b": 0.5,
        "c": -0.75,
    }


def test_without_scores_or_results_examples_stand_as_they_were_logged_whatever_is_asked(
    database: Database,
) -> None:
    run = log(database)

    found = browse_examples(
        database, run.id, ExampleQuestion(kind=Kind.ALL, order=ORDERS["most sure"])
    )

    assert found.order == ORDERS["as logged"]
    assert [example.index for example in found.examples] == [0, 1, 2, 3, 4, 5]
    assert found.examples[0].confidence is None
    assert not found.has_scores
    assert browse_examples(database, run.id, ExampleQuestion()).total == 2
    for question, field in (
        (ExampleQuestion(actual="cow"), "actual"),
        (ExampleQuestion(predicted="cow"), "predicted"),
        (ExampleQuestion(actual="a", kind=Kind.UNLABELLED), "actual"),
    ):
        with pytest.raises(InvalidInput) as raised:
            browse_examples(database, run.id, question)
        assert raised.value.field == field


def test_examples_stand_beside_the_truth_that_the_results_were_made_with(
    database: Database,
) -> None:
    cases = scored_cases(40)
    run_id = log_scored(database, cases)
    evaluate(database, run_id)
    wrong = browse_examples(database, run_id, ExampleQuestion()).examples[0]
    correct_labels(database, {wrong.sample: wrong.predicted}, dataset=DATASET)

    before = browse_examples(database, run_id, ExampleQuestion())
    evaluate(database, run_id)
    after = browse_examples(database, run_id, ExampleQuestion())

    assert wrong.sample in [example.sample for example in before.examples]
    assert wrong.sample not in [example.sample for example in after.examples]
    assert after.total == before.total - 1


def test_a_sample_known_by_its_position_is_found_by_its_number(
    database: Database,
) -> None:
    run_id = log_scored(database, scored_cases(ids="none"))

    found = browse_examples(database, run_id, ExampleQuestion(kind=Kind.ALL, sample="123"))

    assert [example.sample for example in found.examples] == [123]


@pytest.mark.both_databases
def test_a_page_takes_six_statements_however_many_chunks_there_are(database: Database) -> None:
    few = stream_scored(database, scored_cases(30), chunk=30)
    work_off(database)
    with counted_statements() as small:
        browse_examples(database, few, ExampleQuestion())
    with pytest.warns(LabelNote, match="of the 30 samples in both"):
        many = stream_scored(database, scored_cases(60, seed=6), chunk=5)
    work_off(database)

    for question in (*QUESTIONS.values(), ExampleQuestion(order=ORDERS["as logged"])):
        with counted_statements() as large:
            browse_examples(database, many, question)
        assert len(large) <= 6
    assert len(small) <= 6


def test_an_export_holds_all_examples_in_the_order_of_the_run(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples_page, "_EXPORTED_AT_ONCE", 29)
    question = ExampleQuestion(kind=Kind.ALL)
    in_order = replace(question, order=ORDERS["as logged"])

    export = export_examples(shared.database, shared.run_id, question)

    assert isinstance(export, ExampleExport)
    assert (export.total, export.n_exported) == (200, 200)
    assert list(export.examples) == _all_pages(shared.database, shared.run_id, in_order)


def test_an_export_whose_run_is_removed_meanwhile_ends_with_an_error(
    database: Database,
) -> None:
    run_id = stream_scored(database, scored_cases(), chunk=23)
    export = export_examples(database, run_id, ExampleQuestion())
    with database.write() as session:
        session.execute(delete(ScoreChunkRow))

    assert isinstance(export, ExampleExport)
    with pytest.raises(NotFound, match="removed while it was read"):
        list(export.examples)


def _all_pages(database: Database, run_id: str, question: ExampleQuestion) -> list[Example]:
    page: ExamplePage = browse_examples(database, run_id, question, size=61)
    found = list(page.examples)
    while page.after is not None:
        assert page.start + len(page.examples) == len(found)
        page = browse_examples(database, run_id, question, cursor=page.after, size=61)
        found += page.examples
    assert len(found) == page.total
    return found


def _sorted(cases: ScoredCases, question: ExampleQuestion, order: ExampleOrder) -> list[int]:
    """Numbers of the samples that a question means, in order, found by looking at each of them."""
    found = [at for at in range(len(cases)) if _is_meant(cases, question, at)]
    keys = {at: _key(cases, order.key, at) for at in found}
    return sorted(found, key=lambda at: (-keys[at] if order.descending else keys[at], at))


def _is_meant(cases: ScoredCases, question: ExampleQuestion, at: int) -> bool:
    actual, predicted = cases.actual[at], cases.predicted[at]
    if question.sample is not None and question.sample not in _ids(cases)[at]:
        return False
    if question.actual is not None and question.actual != actual:
        return False
    if question.predicted is not None and question.predicted != predicted:
        return False
    if question.is_cell:
        return True
    return {
        Kind.ALL: True,
        Kind.WRONG: actual is not None and actual != predicted,
        Kind.RIGHT: actual == predicted,
        Kind.UNLABELLED: actual is None,
    }[question.kind]


def _key(cases: ScoredCases, key: SortKey, at: int) -> float:
    scores: list[float] = cases.scores[at].astype(np.float64).tolist()
    actual = cases.actual[at]
    of_label = -np.inf if actual is None else scores[cases.labels.index(actual)]
    own = scores.pop(cases.labels.index(cases.predicted[at]))
    return {
        SortKey.LOGGED: 0.0,
        SortKey.CONFIDENCE: own,
        SortKey.ACTUAL: of_label,
        SortKey.MARGIN: own - max(scores),
        # The run itself is the only model of its dataset.
        SortKey.AGREEMENT: -1.0 if actual is None else float(actual == cases.predicted[at]),
    }[key]


def _ids(cases: ScoredCases) -> list[Any]:
    assert cases.ids is not None
    return cases.ids
