"""Questions in SQL: the same numbers as the SDK gives, on both databases, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds
import pytest
from sqlalchemy import event

import offdiag
from offdiag.errors import DatabaseUnavailable, InvalidInput, NotFound
from offdiag.metrics.catalogue import SPECS
from offdiag.services.retention.deletion import delete_run
from offdiag.services.sql import run_query
from offdiag.store.database import Database, Session
from offdiag.store.relations.columns import RELATIONS, RequestedColumns, RunScope, schema_of
from offdiag.store.relations.predictions import (
    PredictedRun,
    Progress,
    predicted_run,
    prediction_rows,
)
from support.logging_runs import work_off
from support.scored_runs import ScoredCases, log_scored, scored_cases, stream_scored


def ask(database: Database, text: str, **scope: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """All rows of an answer."""
    with run_query(database, text, RunScope(**scope), timeout_s=60) as answer:
        return [
            tuple(row.values())
            for batch in answer.batches
            for row in batch.to_pylist(maps_as_pydicts="strict")
        ]


@pytest.fixture
def evaluated(database: Database) -> offdiag.Run:
    """A run with scores, identifiers, slices, parameters, an undefined metric and flags."""
    cases = scored_cases(120)
    rare = ["cat" if name == "owl" else name for name in cases.actual if name is not None]
    run = offdiag.log_run(
        y_true=rare,
        y_pred=["fox" if name == "dog" else name for name in cases.predicted],
        y_score=cases.scores,
        labels=list(cases.labels),
        sample_ids=cases.ids,
        slices={"country": cases.country},
        name="rare",
        dataset="animals",
        project="zoo",
        model="net",
        params={"lr": 0.1},
        tags={"team": "x"},
        url=database.url,
    )
    work_off(database)
    return run


@pytest.mark.both_databases
def test_values_cells_flags_and_facts_of_runs_are_those_of_the_sdk(
    database: Database, evaluated: offdiag.Run
) -> None:
    evaluation = evaluated.evaluation()
    matrix = evaluation.confusion_matrix
    columns = "value, reason, tends_to, ci_low, ci_high"

    aggregates = ask(database, f"SELECT key, {columns} FROM metrics WHERE class IS NULL")
    of_classes = ask(database, f"SELECT key, class, {columns} FROM metrics WHERE class <> 'x'")
    cells = ask(database, "SELECT actual, predicted, count FROM cells")
    flags = ask(database, "SELECT rule, class, severity, message FROM flags")
    runs = ask(
        database,
        "SELECT run_id, project, dataset, task, name, model, state, n_predictions, truth_version,"
        " params->>'lr', tags->>'team', created_at <= finished_at FROM runs",
    )

    assert {key: tuple(rest) for key, *rest in aggregates} == {
        key: (value.value, value.reason, value.limit, value.ci_low, value.ci_high)
        for key, value in evaluation.aggregate.items()
    }
    assert {(key, label): tuple(rest) for key, label, *rest in of_classes} == {
        (key, label): (value.value, value.reason, value.limit, value.ci_low, value.ci_high)
        for key, values in evaluation.per_class.items()
        for label, value in values.items()
    }
    assert any(value.reason for value in evaluation.per_class["precision"].values())
    assert {(actual, predicted): count for actual, predicted, count in cells} == {
        (actual, predicted): matrix.loc[actual, predicted]
        for actual in matrix.index
        for predicted in matrix.columns
        if matrix.loc[actual, predicted]
    }
    assert set(flags) == {
        (flag.rule, flag.class_label, flag.severity, flag.message) for flag in evaluation.flags
    }
    assert len(flags) > 2
    assert runs == [
        (
            *(evaluated.id, "zoo", "animals", "multiclass", "rare", "net", "evaluated"),
            *(120, 1, "0.1", "x", True),
        )
    ]
    # A relation may be joined with itself and with others.
    assert ask(
        database,
        "SELECT count(*), avg((a.actual = b.predicted)::INT) = any_value(m.value) "
        "FROM predictions a JOIN predictions b USING (run_id, position) "
        "JOIN metrics m ON m.run_id = a.run_id AND m.key = 'overall_accuracy'",
    ) == [(120, True)]


def by_sample(cases: ScoredCases) -> dict[str, tuple[object, ...]]:
    assert cases.ids is not None
    return {
        str(name): (actual, predicted, scores, {"country": country})
        for name, actual, predicted, scores, country in zip(
            cases.ids,
            cases.actual,
            cases.predicted,
            cases.scores.tolist(),
            cases.country,
            strict=True,
        )
    }


QUESTION = "SELECT sample_id, actual, predicted, scores, slices FROM predictions"


def test_predictions_are_what_was_logged_whatever_the_chunks(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offdiag.services.ingest.truth.CHUNK_SIZE", 37)
    monkeypatch.setattr("offdiag.services.truth.revise.CHUNK_SIZE", 37)
    cases = scored_cases(200, n_unlabelled=15)
    streamed = stream_scored(database, cases, chunk=23)
    logged = log_scored(database, cases)
    work_off(database)  # Until then, labels that came late do not count.

    for run_id in (streamed, logged):
        found = ask(database, QUESTION, runs=(run_id,))

        assert {name: tuple(rest) for name, *rest in found} == by_sample(cases)
        assert len(found) == 200


def test_samples_without_identifiers_are_named_by_their_position(
    database: Database,
) -> None:
    cases = scored_cases(10, ids="none")
    log_scored(database, cases, y_score=None, slices=None)

    found = ask(database, "SELECT position, sample_id, score, scores, slices "
                "FROM predictions ORDER BY position")  # fmt: skip

    assert found == [(at, str(at), None, None, {}) for at in range(10)]


def test_a_single_score_is_that_of_the_positive_class(database: Database) -> None:
    run = offdiag.log_run(
        y_true=["no", "ill"],
        y_pred=["no", "ill"],
        y_score=[0.25, 0.75],
        positive_label="ill",
        name="one",
        dataset="d",
        url=database.url,
    )
    both = offdiag.log_run(
        y_true=["no", "ill"],
        y_pred=["no", "ill"],
        y_score=np.array([[0.5, 0.5], [0.875, 0.125]]),
        labels=["ill", "no"],
        positive_label="ill",
        name="two",
        dataset="d",
        url=database.url,
    )

    found = ask(database, "SELECT run_id, list(score ORDER BY position) "
                "FROM predictions GROUP BY ALL")  # fmt: skip

    assert dict(found) == {run.id: [0.25, 0.75], both.id: [0.5, 0.875]}


def test_runs_of_sets_of_labels_have_metrics_and_no_cells(database: Database) -> None:
    run = offdiag.log_run(
        y_true=[{"a"}, {"a", "b"}, set(), {"c"}],
        y_pred=[{"a"}, {"b"}, {"c"}, {"c"}],
        labels=["a", "b", "c"],
        name="tags",
        dataset="tags",
        url=database.url,
    )
    work_off(database)
    expected = run.evaluation().aggregate["example_f1"].value

    found = ask(database, "SELECT value FROM metrics WHERE key = 'example_f1'")

    assert found == [(expected,)]
    assert ask(database, "SELECT * FROM cells") == []
    assert ask(database, "SELECT * FROM predictions") == []
    assert ask(database, "SELECT task FROM runs") == [("multilabel",)]


def test_runs_say_whether_their_metrics_are_weighted(database: Database) -> None:
    for name, weight in (("plain", None), ("weighted", [1, 2, 1])):
        offdiag.log_run(
            y_true=["a", "b", "b"],
            y_pred=["a", "b", "a"],
            sample_weight=weight,
            name=name,
            dataset="ab",
            url=database.url,
        )
    work_off(database)

    found = ask(
        database,
        "SELECT name, is_weighted, value FROM runs JOIN metrics USING (run_id) "
        "WHERE key = 'overall_accuracy' ORDER BY name",
    )

    assert found == [("plain", False, 2 / 3), ("weighted", True, 3 / 4)]
    cells = ask(
        database,
        "SELECT actual, predicted, count FROM cells JOIN runs USING (run_id) "
        "WHERE is_weighted ORDER BY ALL",
    )
    assert cells == [("a", "a", 1), ("b", "a", 1), ("b", "b", 1)]


def test_a_question_about_one_run_reads_no_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = scored_cases(20)
    runs = [log_scored(database, cases, name=str(number)) for number in range(3)]
    other = log_scored(database, cases, dataset="other")
    read: list[str] = []

    def noted(session: Session, run_id: str) -> PredictedRun | None:
        read.append(run_id)
        return predicted_run(session, run_id)

    monkeypatch.setattr("offdiag.services.sql.predicted_run", noted)

    def read_by(condition: str) -> set[str]:
        read.clear()
        ask(database, f"SELECT actual FROM predictions WHERE {condition}")
        return set(read)

    assert read_by(f"run_id = '{runs[1]}' AND actual = 'cat'") == {runs[1]}
    assert read_by(f"run_id IN ('{runs[0]}', '{runs[2]}')") == {runs[0], runs[2]}
    assert read_by("dataset = 'other'") == {other}
    assert read_by(f"run_id = '{runs[1]}' OR actual = 'cat'") == {*runs, other}


def statements_of(database: Database, text: str) -> list[str]:
    found: list[str] = []
    with database.read() as session:
        engine = session.get_bind().engine

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    ask(database, text)
    event.remove(engine, "before_cursor_execute", note)
    return found


def test_what_a_question_does_not_name_is_not_read(database: Database) -> None:
    log_scored(database, scored_cases(20))
    work_off(database)

    nothing = " ".join(statements_of(database, "SELECT 1"))
    codes = " ".join(statements_of(database, "SELECT predicted FROM predictions"))
    scores = " ".join(statements_of(database, "SELECT score FROM predictions"))
    of_one_key = statements_of(
        database, "SELECT value FROM metrics WHERE key = 'mcc' AND class IS NULL"
    )

    assert "prediction_chunk" not in nothing
    assert "metric_value" not in nothing
    assert "prediction_chunk" in codes
    assert "score_chunk" not in codes
    assert "sample_ids" not in codes
    assert "truth_slice" not in codes
    assert "score_chunk" in scores
    assert not any("class_values" in statement for statement in of_one_key)
    (of_values,) = (statement for statement in of_one_key if "metric_value" in statement)
    assert of_values.count("?") > len({spec.key for spec in SPECS}) - 3


def test_an_end_of_reading_reads_no_further(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream_scored(database, scored_cases(100), chunk=2)
    starts: list[int] = []

    def noted(*given: Any, after: Progress, **named: Any) -> Any:
        starts.append(after.start)
        return prediction_rows(*given, after=after, **named)

    monkeypatch.setattr("offdiag.services.sql.prediction_rows", noted)

    assert len(ask(database, "SELECT position FROM predictions LIMIT 1")) == 1

    assert 0 < len(starts) < 25


def test_a_scope_holds_for_every_relation(database: Database) -> None:
    cases = scored_cases(20)
    kept = log_scored(database, cases)
    other = log_scored(database, cases, dataset="other")
    gone = log_scored(database, cases, name="gone")
    delete_run(database, gone, by="me")
    count = "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM predictions)"

    assert ask(database, count) == [(2, 40)]
    assert ask(database, count, datasets=("scored",)) == [(1, 20)]
    assert ask(database, "SELECT run_id FROM runs", runs=(kept, other)) == [
        (kept,),
        (other,),
    ]
    with pytest.raises(NotFound, match="no run is in the project 'nobody'"):
        ask(database, count, projects=("nobody",))
    with pytest.raises(NotFound, match=f"there is no run '{gone}'"):
        ask(database, count, runs=(gone,))


def test_an_empty_registry_has_empty_relations_with_all_columns(database: Database) -> None:
    for relation, columns in RELATIONS.items():
        with run_query(database, f"SELECT * FROM {relation}", RunScope(), timeout_s=60) as answer:
            assert answer.schema.names == [column.name for column in columns]
            assert list(answer.batches) == []


def test_sql_reaches_no_file_and_changes_nothing(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "secret.csv"
    file.write_text("a\n1\n", encoding="utf-8")
    cases: list[str] = [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_csv('https://example.org/x.csv')",
        "COPY (SELECT 1) TO '{file}.new'",
        "ATTACH '{file}.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW runs",
        "CALL pragma_version()",
        "PRAGMA database_list; SELECT 1",
        "SELECT 1; SELECT 2",
        "",
    ]
    for text in cases:
        with pytest.raises(InvalidInput) as caught:
            ask(database, text.format(file=file))

        assert caught.value.field == "query"
        assert list(folder.iterdir()) == [file]


def test_mistakes_are_one_sentence(database: Database) -> None:
    log_scored(database, scored_cases(5))
    cases: list[tuple[str, str]] = [
        ("SELEKT 1", "syntax error at or near"),
        ("SELECT nix FROM runs", 'column "nix" not found'),
        ("SELECT * FROM nix", "nix does not exist"),
        # A variable of the program is no relation.
        ("SELECT * FROM relations", "relations does not exist"),
        ("SELECT CAST(name AS INT) FROM runs", "Could not convert string"),
    ]
    for text, sentence in cases:
        with pytest.raises(InvalidInput) as caught:
            ask(database, text)

        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "LINE 1" not in str(caught.value)


def test_an_error_of_the_database_is_the_answer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_scored(database, scored_cases(5))

    def fail(*_: object, **_named: object) -> None:
        raise DatabaseUnavailable("it went away.", hint="Try again.")

    monkeypatch.setattr("offdiag.services.sql.prediction_rows", fail)

    with pytest.raises(DatabaseUnavailable, match="it went away"):
        ask(database, "SELECT * FROM predictions")


def test_a_condition_keeps_every_part_that_could_fulfil_it() -> None:
    field = ds.field
    wanted = RequestedColumns.of(
        schema_of("metrics"), ["value"], (field("key") == "mcc") & field("class").is_null()
    )

    assert wanted.schema.names == ["key", "class", "value"]
    assert wanted.possible(
        [
            field("key") == "mcc",
            field("key") == "f1",
            field("class").is_null(),
            field("class").is_valid(),
            field("class") == "cat",
        ]
    ) == [0, 2]
