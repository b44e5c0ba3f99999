"""Logging over HTTP: every format, every step again, and bodies that must not get through."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from werkzeug.test import TestResponse

from offdiag.domain.labels import LabelSet
from offdiag.services.evaluation.results import stored_evaluation
from offdiag.services.ingest.batch import read_batch
from offdiag.services.ingest.chunk_stream import MEDIA_TYPE, write_chunk
from offdiag.store.database import Database
from support.logging_runs import log, work_off
from support.pages import PageClient

LABELS = LabelSet.declared(["a", "b"])
CHUNK: dict[str, Any] = {
    "y_pred": ["a", "b", "b"],
    "y_true": ["a", "a", "b"],
    "y_score": [[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]],
    "sample_ids": ["x", "y", "z"],
    "slices": {"country": ["DE", "SI", "DE"]},
}
CSV = (
    "y_pred,y_true,y_score.a,y_score.b,sample_ids,slices.country\r\n"
    "a,a,0.7,0.3,x,DE\r\nb,a,0.2,0.8,y,SI\r\nb,b,0.5,0.5,z,DE\r\n"
)
PARQUET = "application/vnd.apache.parquet"


def arrow() -> bytes:
    batch = read_batch(
        y_pred=CHUNK["y_pred"],
        y_true=CHUNK["y_true"],
        y_score=CHUNK["y_score"],
        ids=CHUNK["sample_ids"],
        slices=CHUNK["slices"],
        labels=LABELS,
        positive_label=None,
    )
    return bytes(write_chunk(batch, LABELS))


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.ipc.open_stream(arrow()).read_all(), sink)
    return sink.getvalue()


def opened(client: PageClient, **said: object) -> str:
    body = {"name": "run", "dataset": "d", "labels": ["a", "b"], **said}
    answer = client.post("/api/v1/runs", json=body)
    assert answer.status_code == 201, answer.get_json()
    run_id: str = answer.get_json()["id"]
    return run_id


def put(
    client: PageClient, run_id: str, data: bytes, kind: str = MEDIA_TYPE, **headers: str
) -> TestResponse:
    return client.put(
        f"/api/v1/runs/{run_id}/chunks/0",
        data=data,
        content_type=kind,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


@pytest.mark.both_databases
def test_a_run_is_opened_filled_and_finished(client: PageClient, database: Database) -> None:
    run_id = opened(client)

    stored = put(client, run_id, arrow())
    finished = client.post(f"/api/v1/runs/{run_id}/finish", json={"n_chunks": 1})

    assert (stored.status_code, finished.status_code) == (201, 200)
    assert finished.get_json()["n_predictions"] == 3
    work_off(database)
    found = stored_evaluation(database, run_id)
    assert found.matrix.counts.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("kind", [None, "application/json", "application/x-www-form-urlencoded"])
def test_a_run_is_finished_without_a_body(client: PageClient, kind: str | None) -> None:
    run_id = opened(client)
    put(client, run_id, arrow())

    finished = client.post(f"/api/v1/runs/{run_id}/finish", data=b"", content_type=kind)

    assert (finished.status_code, finished.get_json()["n_predictions"]) == (200, 3)


def test_a_run_without_a_name_is_named_after_its_model_or_the_time(client: PageClient) -> None:
    of_model, of_time = (
        client.post("/api/v1/runs", json={"dataset": "d", "labels": ["a", "b"], **said})
        for said in ({"model": "forest"}, {})
    )

    names = [
        client.get(f"/api/v1/runs/{each.get_json()['id']}").get_json()["name"]
        for each in (of_model, of_time)
    ]
    assert names[0] == "forest"
    assert re.fullmatch(r"run \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [a-z0-9]{4}", names[1])


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_scores_in_place_of_predictions_are_refused_as_such(client: PageClient, kind: str) -> None:
    run_id = opened(client, labels=[0, 1])
    columns = {"y_pred": [0.25, 0.75], "y_true": [0, 1]}

    answer = put_columns(client, run_id, columns, kind)

    assert answer.status_code == 422
    error = answer.get_json()["error"]
    assert error["field"] == "y_pred"
    assert "regression or scores" in f"{error['message']} {error['hint']}"
    assert "did you mean y_score" in f"{error['message']} {error['hint']}".lower()


@pytest.mark.parametrize(
    ("columns", "field", "message"),
    [
        ({"y_pred": ["a", None]}, "y_pred[1]", "The value null does not fit."),
        ({"y_pred": ["a"], "sample_ids": [1.5]}, "sample_ids[0]", "The value 1.5 does not fit."),
        ({"y_pred": ["a"], "y_score": ["x"]}, "y_score[0]", "The value 'x' does not fit."),
        ({"y_pred": ["a"], "y_true": ["a", "b"]}, "y_pred", "y_true has 2 values, y_pred has 1."),
    ],
)
def test_the_place_of_a_wrong_value_is_the_one_in_the_body(
    client: PageClient, columns: dict[str, Any], field: str, message: str
) -> None:
    run_id = opened(client, labels=["a", "b"])

    error = put_columns(client, run_id, columns, "json").get_json()["error"]

    assert (error["field"], error["message"]) == (field, message)


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_whole_floats_are_labels_with_a_notice(client: PageClient, kind: str) -> None:
    run_id = opened(client, labels=[False, True])

    answer = put_columns(client, run_id, {"y_pred": [0.0, 1.0], "y_true": [0, 1]}, kind)

    assert answer.status_code == 201
    assert answer.get_json()["notices"] == [
        (
            "y_pred holds floats that are whole numbers; they are read as integers, so 1.0 is "
            "the label '1'."
        )
    ]


def put_columns(
    client: PageClient, run_id: str, columns: dict[str, Any], kind: str
) -> TestResponse:
    if kind == "json":
        return client.put(f"/api/v1/runs/{run_id}/chunks/0", json=columns)
    if kind == "csv":
        rows = [
            ",".join(columns),
            *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
        ]
        return put(client, run_id, "\r\n".join(rows).encode(), "text/csv")
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return put(client, run_id, sink.getvalue(), PARQUET)


def test_opening_tells_of_look_alikes_and_of_the_positive_class(client: PageClient) -> None:
    body = {"name": "run", "dataset": "d", "labels": ["a", "A"]}
    alike = client.post("/api/v1/runs", json=body).get_json()
    usual = client.post(
        "/api/v1/runs", json={**body, "dataset": "e", "labels": [-1, 1]}
    ).get_json()
    matrix = {**body, "dataset": "f", "matrix": [[1, 0], [0, 1]], "orientation": "actual_rows"}
    counts = {**body, "labels": None, "actual": ["a"], "predicted": ["a"], "sizes": [1]}
    counts |= {"dataset": "g", "counted_on": "duckdb", "actual": ["a", "A"]}
    counts |= {"predicted": ["a", "A"], "sizes": [1, 2]}

    note = ["Classes look alike: 'a' and 'A' (case)."]
    assert alike["notices"] == note
    assert alike["labels"]["look_alikes"] == [["a", "A"]]
    assert client.post("/api/v1/matrices", json=matrix).get_json()["notices"] == note
    assert client.post("/api/v1/counts", json=counts).get_json()["notices"] == note
    assert (usual["positive_label"], usual["positive_by_convention"]) == ("1", True)
    assert usual["notices"] == []


def test_every_format_says_the_same(client: PageClient) -> None:
    run_id = opened(client)

    answers = [
        put(client, run_id, arrow()),
        put(client, run_id, parquet(), PARQUET),
        put(client, run_id, CSV.encode(), "text/csv"),
        put(client, run_id, gzip.compress(CSV.encode()), "text/csv", Content_Encoding="gzip"),
        client.put(f"/api/v1/runs/{run_id}/chunks/0", json=CHUNK),
    ]

    assert [answer.status_code for answer in answers] == [201, 200, 200, 200, 200]
    assert [answer.get_json()["was_there"] for answer in answers] == [
        False,
        True,
        True,
        True,
        True,
    ]


def test_other_content_under_a_number_is_a_conflict(client: PageClient) -> None:
    run_id = opened(client)
    put(client, run_id, arrow())

    answer = client.put(
        f"/api/v1/runs/{run_id}/chunks/0", json={**CHUNK, "y_pred": ["b", "b", "b"]}
    )

    assert answer.status_code == 409
    assert answer.get_json()["error"]["field"] == "seq"


def test_a_digest_is_compared(client: PageClient) -> None:
    run_id = opened(client)
    right = base64.b64encode(hashlib.sha256(arrow()).digest()).decode()
    other = base64.b64encode(hashlib.sha256(b"other").digest()).decode()

    refused = put(client, run_id, arrow(), Content_Digest=f"sha-256=:{other}:")
    taken = put(client, run_id, arrow(), Content_Digest=f"sha-256=:{right}:")

    assert (refused.status_code, taken.status_code) == (400, 201)
    assert refused.get_json()["error"]["field"] == "Content-Digest"


def test_what_cannot_be_meant_leaves_nothing_behind(client: PageClient) -> None:
    for data, kind, encoding, status in [
        (arrow()[:-9], MEDIA_TYPE, "identity", 400),
        (b"", MEDIA_TYPE, "identity", 400),
        (parquet()[:-9], PARQUET, "identity", 400),
        (b"y_pred,y_true\na\n", "text/csv", "identity", 422),
        (b"y_pred,y_pred\na,b\n", "text/csv", "identity", 422),
        (b"y_pred\n", "text/csv", "identity", 422),
        (b"a,b\nb,a\n", "text/csv", "identity", 422),
        (b"y_pred\n\xe4\n", "text/csv", "identity", 422),
        (b"y_pred;sample_weight\na;850\nb;1.250\n", "text/csv", "identity", 422),
        (b'{"y_pred": ["a"', "application/json", "identity", 400),
        (b'{"y_pred": ["a", NaN]}', "application/json", "identity", 400),
        (b'{"y_pred": []}', "application/json", "identity", 422),
        (b'{"y_pred": ["a"], "y_true": ["a", "b"]}', "application/json", "identity", 422),
        (b'{"y_pred": ["a"], "sample_ids": [1.5]}', "application/json", "identity", 422),
        (b"\x80\x04K\x01.", "application/octet-stream", "identity", 415),
        (b"\x93NUMPY", "application/x-npy", "identity", 415),
        (gzip.compress(b"y_pred\n" + b"a\n" * 30_000_000, 1), "text/csv", "gzip", 413),
        (gzip.compress(CSV.encode())[:-4], "text/csv", "gzip", 400),
        (b"no gzip", "text/csv", "gzip", 400),
        (CSV.encode(), "text/csv", "br", 415),
    ]:
        run_id = opened(client)

        answer = put(client, run_id, data, kind, Content_Encoding=encoding)

        assert answer.status_code == status, answer.get_json()
        assert answer.get_json()["error"]["message"], data[-40:]
        nothing = client.post(f"/api/v1/runs/{run_id}/finish", json={})
        assert nothing.get_json()["error"]["message"].endswith("has no predictions."), data[-40:]


def test_rows_are_counted_before_they_are_encoded(client: PageClient) -> None:
    run_id = opened(client)
    table = pa.table({"y_pred": pa.array(np.zeros(3_000_000, np.int8))})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as writer:
        writer.write_table(table)

    answer = put(client, run_id, bytes(sink.getvalue()))

    assert answer.status_code == 413
    assert "3,000,000 rows" in answer.get_json()["error"]["message"]


def test_sets_are_counted_by_their_labels_before_they_are_encoded(client: PageClient) -> None:
    n_labels, n_rows = 10_000, 110_000
    run_id = opened(client, labels=[str(label) for label in range(n_labels)])
    table = pa.table({"y_pred": pa.array([["0"]] * n_rows)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)

    answer = put(client, run_id, bytes(sink.getvalue()))

    assert answer.status_code == 413
    assert "110,000 sets of 10,000 labels" in answer.get_json()["error"]["message"]


def test_a_matrix_is_logged_once(client: PageClient) -> None:
    body = {
        "name": "m",
        "dataset": "d",
        "labels": ["a", "b"],
        "matrix": [[1, 2], [3, 4]],
        "orientation": "actual_columns",
        "client_key": "key",
    }

    first, again = (client.post("/api/v1/matrices", json=body) for _ in range(2))
    other = client.post("/api/v1/matrices", json={**body, "matrix": [[9, 2], [3, 4]]})

    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 409)
    assert first.get_json() == again.get_json()
    refused = other.get_json()["error"]
    assert (refused["code"], refused["kind"]) == ("conflict", "key_used")


def test_a_matrix_of_decimals_that_may_be_shares_is_noted(client: PageClient) -> None:
    body = {"name": "m", "dataset": "d", "labels": ["a", "b", "c"], "orientation": "actual_rows"}
    shares = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    counts = [[int(cell) for cell in row] for row in shares]

    of_shares, of_counts = (
        client.post("/api/v1/matrices", json={**body, "matrix": matrix}).get_json()
        for matrix in (shares, counts)
    )

    (note,) = of_shares["notices"]
    assert note.startswith("every row of the matrix adds up to 1, as shares do")
    assert of_counts["notices"] == []


def test_a_server_notes_slices_of_counts_and_of_datasets(
    client: PageClient, database: Database
) -> None:
    of_sex = "Values of slices['sex'] look alike: 'F' and 'f' (case)."
    counts = {
        "name": "counted",
        "dataset": "counted",
        "counted_on": "sql",
        "actual": ["a", "b"],
        "predicted": ["a", "b"],
        "sizes": [5, 7],
        "slices": {"sex": ["F", "f"], "site": ["", "x"]},
    }
    log(database, y_true=["a", "b"], y_pred=["a", "b"], dataset="rows")
    columns = {"project": "default", "columns": {"sex": ["F", "f"]}}

    counted = client.post("/api/v1/counts", json=counts).get_json()
    added = client.post("/api/v1/datasets/rows/slices", json=columns).get_json()

    similar, empty = counted["notices"]
    assert similar == of_sex
    assert empty.startswith("slices['site'] is an empty text for 5 samples, which no slice of it")
    assert added["notices"] == [of_sex]
