"""Scores mean the same whatever the order of their named columns, through every way in."""

from __future__ import annotations

import io
import itertools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import offdiag
from offdiag.cli.commands import offdiag as command
from offdiag.sdk.run import Run
from offdiag.sdk.target import target
from offdiag.store.database import Database
from support.servers import serving

CLASSES = ("a", "b", "c", "d")
N = 24
RNG = np.random.default_rng(3)
TRUTH = [*CLASSES, *RNG.choice(CLASSES, N - len(CLASSES)).tolist()]
SCORES: NDArray[np.float32] = RNG.dirichlet(np.ones(len(CLASSES)), N).astype(np.float32)
FOUND = [CLASSES[place] for place in SCORES.argmax(axis=1)]
SETS = [{label} for label in TRUTH]

Order = Sequence[str]
Entry = Callable[["Place", Order], dict[str, Any]]
_numbers = itertools.count()


class Refused(Exception):
    """What a server says of scores that it does not take."""


class Place:
    """A registry in a file, the server over it, and a folder for files."""

    def __init__(self, folder: Path, url: str, server: str) -> None:
        self.folder = folder
        self.url = url
        self.server = server

    def facts(self, url: str | None = None) -> dict[str, Any]:
        """What is said about a new run of a dataset of its own."""
        return {"name": "run", "dataset": f"d{next(_numbers)}", "url": url or self.url}


@pytest.fixture(scope="module")
def place(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("columns")
    url = f"sqlite:///{shutil.copy(migrated_file, folder / 'registry.db')}"
    database = Database(url)
    with serving(database) as server:
        yield Place(folder, url, server)
    database.close()


def columns(order: Order, prefix: str = "") -> dict[str, NDArray[np.float32]]:
    """The scores by class, in this order; a class that there is none of has those of the last."""
    return {
        f"{prefix}{label}": SCORES[:, CLASSES.index(label) if label in CLASSES else -1]
        for label in order
    }


def table(order: Order, prefix: str = "") -> dict[str, Any]:
    """Everything about the samples in one table."""
    scores = {name: values.tolist() for name, values in columns(order, prefix).items()}
    return {"y": TRUTH, "yhat": FOUND, **scores}


def values(found: Any) -> dict[str, Any]:
    """Aggregates but for those that need a declared order of the classes."""
    return {key: value.value for key, value in found.aggregate.items() if "kappa_" not in key}


def of_run(run: offdiag.Run) -> dict[str, Any]:
    confidence = run.examples(kind="all").sort_index()["confidence"].tolist()
    return {**values(run.evaluation()), "confidence": confidence}


def in_memory(make: Callable[[Any], object]) -> Entry:
    return lambda _, order: values(
        offdiag.evaluate_scores(y_true=TRUTH, y_score=make(columns(order)))
    )


def of_sets(_: Place, order: Order) -> dict[str, Any]:
    return values(
        offdiag.evaluate_multilabel(y_true=SETS, y_pred=SETS, y_score=pd.DataFrame(columns(order)))
    )


def in_one_call(make: Callable[[Any], object], *, remote: bool = False) -> Entry:
    def log(place: Place, order: Order) -> dict[str, Any]:
        facts = place.facts(place.server if remote else None)
        run = offdiag.log_run(y_true=TRUTH, y_pred=FOUND, y_score=make(columns(order)), **facts)
        return of_run(run)

    return log


def in_batches(place: Place, order: Order) -> dict[str, Any]:
    with offdiag.start_run(labels=CLASSES, **place.facts()) as run:
        for start in range(0, N, 8):
            rows = slice(start, start + 8)
            scores = pd.DataFrame(columns(order))[rows]
            run.log(y_true=TRUTH[rows], y_pred=FOUND[rows], y_score=scores)
    return of_run(run)


def in_frame(make: Callable[[Any], object], prefix: str = "") -> Entry:
    def log(place: Place, order: Order) -> dict[str, Any]:
        names = list(columns(order, prefix))
        return of_run(offdiag.log_frame(make(table(order, prefix)), score=names, **place.facts()))

    return log


def in_frame_by_class(place: Place, order: Order) -> dict[str, Any]:
    by_class = {label: f"s{at}" for at, label in enumerate(order)}
    frame = pl.DataFrame(table(order)).rename(by_class)
    return of_run(offdiag.log_frame(frame, score=by_class, **place.facts()))


class Estimator:
    """Knows its classes in an order of its own."""

    def __init__(self, order: Order) -> None:
        self.classes_ = np.array(order)

    def predict(self, X: NDArray[np.float32]) -> NDArray[np.str_]:
        found: NDArray[np.str_] = np.array(CLASSES)[X.argmax(axis=1)]
        return found

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.take(X, [CLASSES.index(label) for label in self.classes_], axis=1)

    def get_params(self) -> dict[str, Any]:
        return {}


def of_estimator(place: Place, order: Order) -> dict[str, Any]:
    return of_run(offdiag.sklearn.log_estimator(Estimator(order), SCORES, TRUTH, **place.facts()))


def from_file(place: Place, order: Order) -> dict[str, Any]:
    file = place.folder / "cases.csv"
    pd.DataFrame(table(order)).to_csv(file, index=False)
    facts = place.facts()
    said = invoked(
        *("log", str(file), "--pred", "yhat", *("--name", "run", "--dataset", facts["dataset"])),
        *("--url", place.url, *options(order)),
    )
    return of_run(Run(target(place.url), said["id"]))


def evaluated_file(place: Place, order: Order) -> dict[str, Any]:
    file = place.folder / "scores.parquet"
    pd.DataFrame(table(order, "p_")).to_parquet(file)
    said = invoked("evaluate", str(file), *options(f"p_{label}" for label in order))
    return {key: value["value"] for key, value in said["aggregate"].items()}


def options(scores: Iterable[str]) -> list[str]:
    return ["--true", "y", *(part for name in scores for part in ("--score", name)), "--json"]


def invoked(*arguments: str) -> Any:
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    return json.loads(done.stdout)


def over_http(kind: str, write: Callable[[Order], bytes]) -> Entry:
    def log(place: Place, order: Order) -> dict[str, Any]:
        facts = place.facts()
        with httpx.Client(base_url=f"{place.server}/api/v1") as client:
            body = {"name": "run", "dataset": facts["dataset"], "labels": CLASSES}
            run_id = client.post("/runs", json=body).json()["id"]
            sent = client.put(
                f"/runs/{run_id}/chunks/0", content=write(order), headers={"Content-Type": kind}
            )
            if sent.is_error:
                raise Refused(sent.text)
            client.post(f"/runs/{run_id}/finish", json={})
        return of_run(Run(target(place.url), run_id))

    return log


def as_json(order: Order) -> bytes:
    scores = {label: values.astype(float).tolist() for label, values in columns(order).items()}
    return json.dumps({"y_true": TRUTH, "y_pred": FOUND, "y_score": scores}).encode()


def body_table(order: Order) -> pa.Table:
    return pa.table({"y_true": TRUTH, "y_pred": FOUND, **columns(order, "y_score.")})


def as_arrow(order: Order) -> bytes:
    found = body_table(order)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, found.schema) as writer:
        writer.write_table(found)
    return sink.getvalue()


def as_parquet(order: Order) -> bytes:
    sink = io.BytesIO()
    pq.write_table(body_table(order), sink)
    return sink.getvalue()


def as_csv(order: Order) -> bytes:
    text: str = body_table(order).to_pandas().to_csv(index=False)
    return text.encode()


IN_MEMORY: dict[str, Entry] = {
    "evaluate_scores, pandas": in_memory(pd.DataFrame),
    "evaluate_scores, polars": in_memory(pl.DataFrame),
    "evaluate_scores, pyarrow": in_memory(pa.table),
    "evaluate_scores, record batch": in_memory(pa.RecordBatch.from_pydict),
    "evaluate_scores, mapping": in_memory(dict),
    "evaluate_multilabel": of_sets,
    "offdiag evaluate": evaluated_file,
}
STORED: dict[str, Entry] = {
    "log_run, pandas": in_one_call(pd.DataFrame),
    "log_run, mapping": in_one_call(dict),
    "log_run to a server": in_one_call(pd.DataFrame, remote=True),
    "run.log": in_batches,
    "log_frame, pandas": in_frame(pd.DataFrame),  # Other libraries: sdk/frames_test.py.
    "log_frame, names with a prefix": in_frame(pl.LazyFrame, "p_"),
    "log_frame, columns by class": in_frame_by_class,
    "sklearn.log_estimator": of_estimator,
    "offdiag log": from_file,
    "HTTP, JSON": over_http("application/json", as_json),
    "HTTP, Arrow": over_http("application/vnd.apache.arrow.stream", as_arrow),
    "HTTP, Parquet": over_http("application/vnd.apache.parquet", as_parquet),
    "HTTP, CSV": over_http("text/csv", as_csv),
}
ENTRIES = IN_MEMORY | STORED
DECLARING = ("log_frame, columns by class", "sklearn.log_estimator")
"""Ways in whose score columns declare classes that the data lack."""


@pytest.fixture(scope="module")
def expected(place: Place) -> dict[str, dict[str, Any]]:
    """What comes of scores without names, in the order of the labels."""
    stored = offdiag.log_run(y_true=TRUTH, y_pred=FOUND, y_score=SCORES, **place.facts())
    of_sets = offdiag.evaluate_multilabel(y_true=SETS, y_pred=SETS, y_score=SCORES)
    in_memory = values(offdiag.evaluate_scores(y_true=TRUTH, y_score=SCORES))
    doubles = values(offdiag.evaluate_scores(y_true=TRUTH, y_score=SCORES.astype(np.float64)))
    return (
        dict.fromkeys(IN_MEMORY, in_memory)
        | dict.fromkeys(STORED, of_run(stored))
        | {"evaluate_multilabel": values(of_sets), "offdiag evaluate": doubles}
    )


@pytest.mark.parametrize("name", ENTRIES)
def test_another_order_of_named_columns_is_evaluated_alike(
    place: Place, expected: dict[str, dict[str, Any]], name: str
) -> None:
    # A cycle, which is not its own inverse: columns that are moved the wrong way are noticed.
    assert ENTRIES[name](place, ["d", "a", "b", "c"]) == expected[name]


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in DECLARING])
def test_columns_of_other_classes_are_refused_by_name(place: Place, name: str) -> None:
    with pytest.raises(
        (offdiag.InvalidInput, Refused), match=r"are not the classes|do not match the"
    ):
        ENTRIES[name](place, ["a", "b", "c", "e"])
