"""What a training job sees: one call to log, one to read, and sentences when it is wrong."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import offdiag
from offdiag.errors import InvalidInput, LabelNote
from offdiag.sdk.open_run import OpenRun
from offdiag.services.ingest.batch import CHUNK_SIZE
from offdiag.services.jobs.submit import evaluation_key
from offdiag.store import job_lease, jobs
from offdiag.store.database import Database


@pytest.fixture
def url(registry_url: str) -> str:
    return registry_url


def test_a_run_is_logged_and_evaluated_without_any_server(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'registry.db'}"  # A file that is not there yet.
    run = offdiag.log_run(y_true=["a", "b", "b"], y_pred=["a", "b", "a"], name="first", url=url)

    evaluation = run.evaluation()

    assert run.id.startswith("r_")
    assert run.url.endswith(f"/runs/{run.id}")
    assert evaluation.aggregate["overall_accuracy"].value == pytest.approx(2 / 3)
    assert evaluation.per_class["recall"]["b"].value == 0.5
    frame = evaluation.confusion_matrix
    assert (frame.index.name, frame.columns.name) == ("actual", "predicted")
    assert frame.loc["b", "a"] == 1


def test_a_run_without_a_name_is_named_after_its_model_its_key_or_the_time(url: str) -> None:
    labels = ["a", "b"]
    frame = pd.DataFrame({"y": ["a", "b"], "yhat": ["a", "a"]})
    with offdiag.start_run(dataset="d", labels=labels, url=url) as opened:
        opened.log(y_true=["a"], y_pred=["a"])
    of_time = [
        opened.finish(),
        offdiag.log_run(y_true=["a", "b"], y_pred=["a", "a"], url=url),
        offdiag.log_matrix(
            [[1, 0], [0, 1]], labels=labels, orientation="actual_rows", dataset="d", url=url
        ),
        offdiag.log_frame(frame, url=url),
        offdiag.log_frame(frame, dataset="d", keep_predictions=False, url=url),
    ]
    of_model = offdiag.log_frame(frame, model="forest", url=url)
    of_key = offdiag.log_frame(frame, client_key="job 7", url=url)

    names = [run.name for run in of_time]
    assert all(re.fullmatch(r"run \d{4}-\d\d-\d\d [\d:]{8} [a-z0-9]{4}", name) for name in names)
    assert len(set(names)) == len(names)
    assert (of_model.name, of_key.name) == ("forest", "job 7")


def test_a_retry_without_a_name_continues_its_run(url: str) -> None:
    again = [
        offdiag.start_run(dataset="d", labels=["a", "b"], client_key="job 7", url=url)
        for _ in range(2)
    ]

    assert again[0].id == again[1].id


def test_unique_names_of_one_model_are_told_apart(url: str) -> None:
    names = {
        offdiag.log_run(
            y_true=["a", "b"], y_pred=["a", "a"], model="forest", unique_name=True, url=url
        ).name
        for _ in range(3)
    }

    assert len(names) == 3
    assert all(name.startswith("forest 2") for name in names)


def test_an_unusable_model_is_not_reported_as_an_unusable_name(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        offdiag.log_run(y_true=["a", "b"], y_pred=["a", "a"], model=" ", url=url)

    assert caught.value.field == "model"


def test_what_is_read_back_equals_what_is_computed_in_memory(url: str) -> None:
    truth, predicted = ["x", "y", "y", "z"], ["x", "x", "y", "y"]
    stored = offdiag.log_run(y_true=truth, y_pred=predicted, name="run", url=url).evaluation()

    computed = offdiag.evaluate_labels(y_true=truth, y_pred=predicted)

    for key, value in computed.aggregate.items():
        kept = stored.aggregate[key]
        assert (kept.value, kept.reason, kept.limit) == (value.value, value.reason, value.limit)
    for key, values in computed.per_class.items():
        for label, value in values.items():
            kept = stored.per_class[key][label]
            assert (kept.value, kept.reason) == (value.value, value.reason)


def test_batches_of_a_training_loop_become_one_run(url: str) -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, CHUNK_SIZE + 5_000)
    predicted = rng.integers(0, 3, CHUNK_SIZE + 5_000)

    with offdiag.start_run(name="loop", dataset="d", labels=[0, 1, 2], url=url) as run:
        for start in range(0, len(truth), 999):
            batch = slice(start, start + 999)
            run.log(y_true=truth[batch], y_pred=predicted[batch])

    matrix = run.evaluation().matrix
    assert matrix.total == len(truth)
    assert matrix.counts[1, 2] == np.sum((truth == 1) & (predicted == 2))


@pytest.mark.parametrize(
    ("before", "now", "note"),
    [
        ([1, 2, 3], ["01", "02", "03"], r"sample_ids .* such as '1' and '01' \(kind\)"),
        (["a", "b", "c"], ["c", "A", "b"], r"sample_ids .* such as 'a' and 'A' \(case\)"),
        ([1, 2, 3], None, "has sample_ids, and this run has none"),
    ],
)
def test_the_same_samples_named_otherwise_are_noted(
    url: str, before: list[Any], now: list[Any] | None, note: str
) -> None:
    facts: dict[str, Any] = {"y_true": ["x", "x", "y"], "name": "n", "dataset": "d", "url": url}
    offdiag.log_run(y_pred=["x", "y", "y"], sample_ids=before, **facts)

    with pytest.warns(LabelNote, match=note):
        offdiag.log_run(y_pred=["y", "x", "y"], sample_ids=now, **facts)


def test_the_same_samples_named_otherwise_are_noted_after_a_correction(url: str) -> None:
    """Then other labels are no reason to take them for other samples."""
    facts: dict[str, Any] = {"y_true": ["x", "x", "y"], "y_pred": ["x", "y", "y"], "url": url}
    facts |= {"name": "n", "dataset": "d"}
    offdiag.log_run(sample_ids=["01", "02", "03"], **facts)
    offdiag.revise_truth(dataset="d", labels={"02": "y"}, reason="A second reading.", url=url)

    with pytest.warns(LabelNote, match=r"sample_ids .* such as '01' and '1' \(kind\)"):
        offdiag.log_run(sample_ids=[1, 2, 3], **facts)


@pytest.mark.parametrize("ids", [["04", "2", "x"], [4, 5, 6], ["x", "y", "z"]])
def test_other_samples_with_as_many_of_each_class_are_not(url: str, ids: list[Any]) -> None:
    """As of the next fold."""
    facts: dict[str, Any] = {"y_true": ["x", "x", "y"], "name": "n", "dataset": "d", "url": url}
    offdiag.log_run(y_pred=["x", "y", "y"], sample_ids=[1, 2, 3], **facts)

    offdiag.log_run(y_pred=["y", "x", "y"], sample_ids=ids, **facts)


@pytest.mark.parametrize("batches", [False, True])
def test_predictions_without_the_ids_of_their_labels_are_refused(url: str, batches: bool) -> None:
    """Labels with ids are stored in the order of the ids: by position, they are of others."""
    facts: dict[str, Any] = {"name": "n", "dataset": "d", "url": url}
    offdiag.log_run(y_true=["x", "y", "x"], y_pred=["x"] * 3, sample_ids=["c", "a", "b"], **facts)

    def log(y_pred: list[str]) -> None:
        if batches:
            with offdiag.start_run(**facts) as run:
                run.log(y_pred=y_pred)
        else:
            offdiag.log_run(y_pred=y_pred, **facts)

    with pytest.raises(InvalidInput, match="have sample_ids, and are stored in their order") as no:
        log(["x", "y", "x"])
    assert no.value.field == "sample_ids"


def test_an_unknown_id_is_named_with_the_known_one_that_is_alike(url: str) -> None:
    """Without its place, which is that in the order of the ids."""
    facts: dict[str, Any] = {"name": "n", "dataset": "d", "url": url}
    ids = ["001", "002", "003"]
    offdiag.log_run(y_true=["x", "y", "x"], y_pred=["x"] * 3, sample_ids=ids, **facts)

    with pytest.raises(InvalidInput, match=r"^sample_ids: 1 is not a sample") as no:
        offdiag.log_run(y_pred=["x", "y", "x"], sample_ids=[3, 2, 1], **facts)
    assert "'001' and '1' (kind)" in str(no.value.hint)


@pytest.mark.parametrize("batches", [False, True])
def test_the_same_labels_in_another_order_are_noted(url: str, batches: bool) -> None:
    """As of a loader that shuffles: its runs could be compared with none."""

    def log(y_true: list[str], **given: Any) -> None:
        if batches:
            with offdiag.start_run(name="n", dataset="d", labels=["a", "b"], url=url) as run:
                run.log(y_true=y_true, y_pred=y_true, **given)
        else:
            offdiag.log_run(y_true=y_true, y_pred=y_true, name="n", dataset="d", url=url, **given)

    log(["a", "b", "b"])
    with pytest.warns(LabelNote, match="label version 1 of dataset 'd', in another order"):
        log(["b", "a", "b"])

    log(["b", "a", "b"])  # This order is known by now.
    log(["a", "a", "b"])  # These are other examples.
    log(["b", "a", "a"], sample_ids=[1, 2, 3])  # These have names.


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("ids", [None, [3, 1, 2]])
def test_labels_and_predictions_that_seem_swapped_are_noted(
    url: str, batches: bool, ids: list[int] | None
) -> None:
    truth, predicted = ["a", "b", "b"], ["a", "a", "b"]
    given: dict[str, Any] = {"name": "n", "dataset": "d", "labels": ["a", "b"], "url": url}

    def log(y_true: list[str], y_pred: list[str]) -> None:
        if batches:
            with offdiag.start_run(**given) as run:
                run.log(y_true=y_true, y_pred=y_pred, sample_ids=ids)
        else:
            offdiag.log_run(y_true=y_true, y_pred=y_pred, sample_ids=ids, **given)

    log(truth, predicted)
    with pytest.warns(LabelNote, match="of dataset 'd', and y_true has others: they seem to be"):
        log(predicted, truth)


def test_other_labels_of_named_samples_are_noted(url: str) -> None:
    """As of a file that was mended by hand: its runs could be compared with none before."""

    def log(y_true: list[str], ids: list[int]) -> None:
        offdiag.log_run(
            y_true=y_true, y_pred=["b"] * 3, sample_ids=ids, name="n", dataset="d", url=url
        )

    log(["a", "b", "b"], [1, 2, 3])
    with pytest.warns(LabelNote, match="other labels than label version 1 .* 1 of its 3 samples"):
        log(["a", "b", "a"], [1, 3, 2])

    log(["a", "b", "b"], [1, 2, 3])  # These are the first ones.
    log(["a", "b", "a"], [1, 2, 4])  # These are other samples.


def test_an_exception_in_the_loop_leaves_the_run_open(url: str) -> None:
    run = offdiag.start_run(name="loop", dataset="d", labels=["a", "b"], url=url)

    with pytest.raises(RuntimeError, match="out of memory"):
        _log_and_fail(run)

    with pytest.raises(offdiag.Conflict, match="is still open"):
        run.evaluation()


def _log_and_fail(run: OpenRun) -> None:
    with run:
        run.log(y_true=["a"], y_pred=["b"])
        raise RuntimeError("out of memory")


def test_a_refused_batch_leaves_the_batches_before_it_as_they_were(url: str) -> None:
    with offdiag.start_run(name="loop", dataset="d", labels=["a", "b"], url=url) as run:
        run.log(y_true=["a"], y_pred=["b"])
        with pytest.raises(offdiag.InvalidInput, match="'c' at index 0"):
            run.log(y_true=["c"], y_pred=["b"])
        with pytest.raises(offdiag.InvalidInput, match="some batches of this run"):
            run.log(y_pred=["b"])

    assert run.evaluation().aggregate["n"].value == 1


def test_a_worker_that_does_not_end_means_an_error_with_the_way_out(url: str) -> None:
    run = offdiag.log_run(y_true=["a"], y_pred=["a"], name="run", url=url)
    with closing(Database(url)) as database, database.write() as session:
        job = jobs.find_by_key(session, evaluation_key(run.id))
        assert job is not None
        job_lease.claim(session, job.work_id, token="t", lease_s=60, max_attempts=5)

    with pytest.raises(offdiag.EvaluationPending, match="Start `offdiag worker`"):
        run.evaluation(timeout=0.0)
