"""Sample weights of logged runs: every way in, what is shown, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from sklearn.metrics import roc_auc_score

import offdiag
from offdiag.cli.commands import offdiag as commands
from offdiag.errors import Conflict, InvalidInput, NotFoundBySlices, UnknownName
from offdiag.inputs.bodies.columns import columns_of
from offdiag.inputs.bodies.formats import read_arrow_body
from offdiag.sdk.run import Run
from offdiag.services.ingest.chunk_stream import write_chunk
from support.logging_runs import batch_of

RNG = np.random.default_rng(11)
N = 240
ACTUAL = RNG.choice(["ill", "well"], N, p=[0.3, 0.7])
PREDICTED = np.where(RNG.random(N) < 0.8, ACTUAL, RNG.choice(["ill", "well"], N))
WEIGHT = RNG.exponential(size=N)
SITE = RNG.choice(["x", "y"], N)
IDS = [f"s{at}" for at in range(N)]


def log(url: str, **changes: Any) -> Run:
    given: dict[str, Any] = {
        "y_true": ACTUAL,
        "y_pred": PREDICTED,
        "sample_weight": WEIGHT,
        "name": "weighted",
        "dataset": "clinic",
    }
    return offdiag.log_run(**given | changes, url=url)


def test_a_run_has_the_values_and_intervals_of_the_same_samples_in_memory(url: str) -> None:
    run = log(url)

    found = run.evaluation()

    memory = offdiag.evaluate_labels(y_true=ACTUAL, y_pred=PREDICTED, sample_weight=WEIGHT)
    expected = offdiag.stats.suite_intervals(memory)
    for key, value in expected.aggregate.items():
        theirs = found.aggregate[key]
        assert theirs.reason == value.reason, key
        assert theirs.ci_method == value.ci_method, key
        for part in ("value", "ci_low", "ci_high"):
            mine = getattr(value, part)
            same = mine if mine is None else pytest.approx(mine, rel=1e-9)
            assert getattr(theirs, part) == same, (key, part)
    assert found.is_weighted
    assert found.n_effective == pytest.approx(WEIGHT.sum() ** 2 / np.square(WEIGHT).sum())
    assert found.weights.samples.sum() == N
    assert found.aggregate["nir_p_value"].reason == "fractional_weights"


def test_the_order_of_samples_and_the_size_of_batches_do_not_matter(url: str) -> None:
    whole = log(url, sample_ids=IDS, dataset="named").evaluation()
    order = RNG.permutation(N)
    shuffled = log(
        url,
        y_true=ACTUAL[order],
        y_pred=PREDICTED[order],
        sample_weight=WEIGHT[order],
        sample_ids=[IDS[at] for at in order],
        dataset="named",
    ).evaluation()
    with offdiag.start_run(name="batches", dataset="named", url=url) as batches:
        for start in range(0, N, 50):
            part = slice(start, start + 50)
            batches.log(
                y_true=ACTUAL[part],
                y_pred=PREDICTED[part],
                sample_ids=IDS[part],
                sample_weight=WEIGHT[part],
            )

    for found in (shuffled, batches.evaluation()):
        assert found.weights.sums == pytest.approx(whole.weights.sums, rel=1e-12)
        assert (found.weights.samples == whole.weights.samples).all()


@pytest.mark.parametrize(
    ("weight", "message"),
    [(WEIGHT[:5], "5 weights for 240 samples"), (np.zeros(N), "all weights are 0")],
)
def test_unusable_weights_are_refused_and_nothing_is_stored(
    url: str, weight: object, message: str
) -> None:
    log(url, dataset="kept")
    with pytest.raises(InvalidInput, match=message) as caught:
        log(url, sample_weight=weight, dataset="refused")

    assert caught.value.field == "sample_weight"
    assert caught.value.hint
    with pytest.warns(UnknownName, match="no dataset 'refused'"):
        assert offdiag.search_runs("attributes.dataset = 'refused'", url=url).empty


def test_batches_with_and_without_weights_are_refused(url: str) -> None:
    labels = ["ill", "well"]
    run = offdiag.start_run(name="mixed", dataset="clinic", labels=labels, url=url)
    run.log(y_true=ACTUAL, y_pred=PREDICTED, sample_weight=WEIGHT)

    with pytest.raises(InvalidInput, match="some batches") as caught:
        run.log(y_true=ACTUAL, y_pred=PREDICTED)

    assert caught.value.field == "sample_weight"


def test_batches_whose_weights_are_all_zero_are_refused(url: str) -> None:
    labels = ["ill", "well"]
    run = offdiag.start_run(name="nothing", dataset="clinic", labels=labels, url=url)
    run.log(y_true=ACTUAL, y_pred=PREDICTED, sample_weight=np.zeros(N))

    with pytest.raises(InvalidInput, match="all weights are 0"):
        run.finish()


def test_sets_of_labels_take_no_weights(url: str) -> None:
    with pytest.raises(InvalidInput, match="sets of labels take no weights"):
        log(url, y_true=[["a"], ["b"]], y_pred=[["a"], []], sample_weight=[1, 2], dataset="sets")


def test_slices_are_of_weights(url: str) -> None:
    run = log(url, slices={"site": SITE})

    run.evaluation()
    found = run.evaluation(slice="site=x")

    keep = SITE == "x"
    expected = offdiag.evaluate_labels(
        y_true=ACTUAL[keep], y_pred=PREDICTED[keep], sample_weight=WEIGHT[keep]
    )
    assert found.aggregate["mcc"].value == pytest.approx(expected.aggregate["mcc"].value)
    gaps = run.slices(limit=1_000)
    memory = offdiag.evaluate_labels(
        y_true=ACTUAL, y_pred=PREDICTED, sample_weight=WEIGHT, slices={"site": SITE}
    ).slices(limit=1_000)
    assert gaps[["slice", "metric", "cases"]].equals(memory[["slice", "metric", "cases"]])
    assert gaps["p"].to_numpy() == pytest.approx(memory["p"].to_numpy())
    assert gaps["n_effective"].to_numpy() == pytest.approx(memory["n_effective"].to_numpy())


def test_errors_cost_what_they_weigh(url: str) -> None:
    weights = {"ill": {"ill": 0, "well": 5}, "well": {"ill": 1, "well": 0}}
    missed = WEIGHT[(ACTUAL == "ill") & (PREDICTED == "well")].sum()
    false_alarms = WEIGHT[(ACTUAL == "well") & (PREDICTED == "ill")].sum()
    total = 5 * missed + false_alarms

    found = offdiag.cost(log(url), weights=weights)

    assert found["total_cost"].value == pytest.approx(total)
    assert found["mean_cost"].value == pytest.approx(total / WEIGHT.sum())
    assert found.best_trivial_label == "ill"
    assert found.counted.total == N
    assert f"of {N} examples" in repr(found)
    memory = offdiag.evaluate_labels(y_true=ACTUAL, y_pred=PREDICTED, sample_weight=WEIGHT)
    assert offdiag.cost(memory, weights=weights).to_dict() == found.to_dict()
    shares = {"ill": 0.01, "well": 0.99}
    rate = missed / WEIGHT[ACTUAL == "ill"].sum()
    alarm_rate = false_alarms / WEIGHT[ACTUAL == "well"].sum()
    elsewhere = offdiag.cost(memory, weights=weights, prevalence=shares)
    assert elsewhere["mean_cost"].value == pytest.approx(0.01 * 5 * rate + 0.99 * alarm_rate)


def test_what_counts_examples_is_refused(url: str) -> None:
    run = log(url, slices={"site": SITE})
    evaluation = run.evaluation()

    for ask in (lambda: evaluation.matrix, lambda: run.fairness("site")):
        with pytest.raises(Conflict, match="the examples of this run have weights") as caught:
            ask()
        assert caught.value.hint


def test_scores_are_weighted_as_in_memory_and_the_rest_says_why_not(url: str) -> None:
    score = np.round(np.where(ACTUAL == "ill", 0.3, 0.0) + 0.7 * RNG.random(N), 1)
    given = {"y_score": score, "positive_label": "ill"}

    found = log(url, **given).evaluation()

    memory = offdiag.evaluate_scores(
        y_true=ACTUAL, y_score=score.astype(np.float32), positive_label="ill", sample_weight=WEIGHT
    )
    expected = roc_auc_score(ACTUAL == "ill", score, sample_weight=WEIGHT)
    assert found.aggregate["roc_auc"].value == pytest.approx(expected)
    for key, value in memory.aggregate.items():
        assert found.aggregate[key].to_dict() == value.to_dict(), key
    for name in ("ill", "well"):
        theirs = memory.per_class["average_precision"][name]
        assert found.per_class["average_precision"][name].to_dict() == theirs.to_dict()
    assert found.aggregate["ece_positive_15"].reason == "scores_not_weighted"


def test_lists_mark_runs_with_weights(registry_url: str) -> None:
    log(registry_url, name="weighted")
    log(registry_url, name="plain", sample_weight=None)
    offdiag.evaluate_pending(url=registry_url)

    found = offdiag.search_runs(url=registry_url).set_index("name")

    assert found["is_weighted"].to_dict() == {"plain": False, "weighted": True}


def test_a_search_by_slices_says_that_it_misses_runs_with_weights(registry_url: str) -> None:
    log(registry_url, name="weighted", slices={"site": SITE})
    log(registry_url, name="plain", sample_weight=None, slices={"site": SITE})
    offdiag.evaluate_pending(url=registry_url)
    by_slice = "recall[ill]@site=x >= 0"

    with pytest.warns(NotFoundBySlices, match="^1 run with sample weights has no metrics"):
        found = offdiag.search_runs(by_slice, url=registry_url)
    listed = CliRunner().invoke(
        commands, ["runs", "list", "--filter", by_slice, "--url", registry_url]
    )

    assert found["name"].tolist() == ["plain"]
    assert "plain" in listed.stdout
    assert listed.stderr.endswith(
        "1 run with sample weights has no metrics of slices and is not found by them.\n"
    )
    for others, names in (
        (f"attributes.name = 'plain' and {by_slice}", {"plain"}),
        ("recall[ill] >= 0", {"plain", "weighted"}),
        (f"{by_slice} or attributes.name = 'weighted'", {"plain", "weighted"}),
        (f"({by_slice} and attributes.name = 'other') or recall[ill] < 0", set()),
        (f"not ({by_slice})", {"weighted"}),
    ):
        found = offdiag.search_runs(others, url=registry_url)  # Warnings are errors.
        assert set(found["name"]) == names, others


def test_weights_travel_with_their_chunk(url: str) -> None:
    labels = log(url).evaluation().weights.labels
    batch = batch_of(labels, y_pred=PREDICTED, y_true=ACTUAL, sample_weight=WEIGHT)

    found = columns_of(read_arrow_body(write_chunk(batch, labels).to_pybytes()), labels)

    assert np.asarray(found.sample_weight).tolist() == WEIGHT.tolist()


@pytest.mark.parametrize("is_lazy", [False, True])
def test_frames_have_a_column_of_weights(url: str, is_lazy: bool) -> None:
    import polars as pl

    frame = pl.DataFrame({"y": ACTUAL, "yhat": PREDICTED, "w": WEIGHT})

    run = offdiag.log_frame(
        frame.lazy() if is_lazy else frame,
        sample_weight="w",
        name="frame",
        dataset="clinic",
        url=url,
    )

    expected = log(url).evaluation().aggregate["mcc"].value
    assert run.evaluation().aggregate["mcc"].value == pytest.approx(expected)


def test_a_weight_that_is_missing_is_named_with_its_row(url: str) -> None:
    import polars as pl

    from offdiag.sdk.frames.rows import BATCH_ROWS

    n = BATCH_ROWS + 10
    frame = pl.LazyFrame({"y": ["a"] * n, "yhat": ["a"] * n, "w": [1.0] * (n - 1) + [None]})

    with pytest.raises(InvalidInput, match=rf"sample_weight='w': the value in row {n - 1}, nan"):
        offdiag.log_frame(frame, sample_weight="w", name="frame", dataset="long", url=url)


def test_frames_that_are_counted_refuse_weights_and_name_columns_that_are_missing(
    url: str,
) -> None:
    import pandas as pd

    frame = pd.DataFrame({"y": ACTUAL, "yhat": PREDICTED, "w": -WEIGHT})
    given: dict[str, Any] = {"name": "frame", "dataset": "clinic", "url": url}

    with pytest.raises(InvalidInput, match="no column 'weight'"):
        offdiag.log_frame(frame, sample_weight="weight", **given)
    with pytest.raises(InvalidInput, match="in row 0"):
        offdiag.log_frame(frame, sample_weight="w", **given)
    with pytest.raises(InvalidInput, match="not counted in place"):
        offdiag.log_frame(frame, sample_weight="w", keep_predictions=False, **given)


def test_files_have_a_column_of_weights(url: str, tmp_path: Path) -> None:
    import pandas as pd

    file = tmp_path / "predictions.csv"
    pd.DataFrame({"y_true": ACTUAL, "y_pred": PREDICTED, "w": WEIGHT}).to_csv(file, index=False)
    named = ["--name", "file", "--dataset", "clinic", "--weight", "w", "--url", url]

    logged = CliRunner().invoke(commands, ["log", str(file), *named])

    assert logged.exit_code == 0, logged.output
    run = offdiag.get_run("file", url=url)
    found = run.evaluation()
    shown = CliRunner().invoke(commands, ["runs", "show", run.id, "--url", url]).output
    expected = log(url).evaluation()
    assert found.weights.sums == pytest.approx(expected.weights.sums)
    assert "Sums of sample weights" in shown
    said = f"240 examples, effective sample size {expected.n_effective:.1f}"
    assert said in " ".join(shown.split())
    file.write_text("y_true,y_pred,w\nill,ill,heavy\n", encoding="utf-8")
    refused = CliRunner().invoke(commands, ["log", str(file), *named])
    assert "column 'w' on line 2 of" in str(refused.exception)
    assert "is 'heavy'. Scores and weights are numbers" in str(refused.exception)


def test_runs_with_weights_are_sorted_and_ranked_apart_from_the_others(url: str) -> None:
    right = log(url, y_pred=ACTUAL, dataset="sorted")
    plain = log(url, sample_weight=None, dataset="sorted")
    offdiag.evaluate_pending(url=url)

    def said(*words: str) -> Result:
        named = [*words, "--dataset", "sorted", "--url", url]
        return CliRunner().invoke(commands, named)

    for order in ("asc", "desc"):
        found = offdiag.search_runs(
            "attributes.dataset = 'sorted'", order_by=f"metrics.mcc {order}", url=url
        )
        assert found["run_id"].tolist() == [plain.id, right.id]
    listed = said("runs", "list", "--sort", "-mcc", "--limit", "1")
    assert plain.id in listed.stdout
    assert "1 run here has sample weights" in listed.stderr
    assert "sample weights" not in said("runs", "list", "--limit", "1").output
    ranked = said("cost", "rank").stderr
    assert "1 run with sample weights is not ranked with runs without." in ranked


def test_gates_take_weighted_values_and_flags_and_judge_no_differences(url: str) -> None:
    run = log(url)
    log(url, name="plain", sample_weight=None)
    offdiag.evaluate_pending(url=url)
    accuracy = run.evaluation().aggregate["overall_accuracy"].value
    assert accuracy is not None

    def gate(*words: str) -> str:
        named = ["gate", run.id, "--baseline", "plain", "--url", url]
        return " ".join(CliRunner().invoke(commands, [*named, *words]).output.split())

    assert "Passed: 1 of 1" in gate("--min", f"overall_accuracy>={accuracy - 1e-9:.12f}")
    assert "Failed: 0 of 1" in gate("--min", f"overall_accuracy>={accuracy + 1e-6:.12f}")
    undefined = gate("--min", "diff(overall_accuracy)>=-0.9", "--markdown")
    assert "undefined (differences of weighted runs are not judged here)" in undefined
    assert "Gate failed: 0 of 1" in undefined
    assert "Passed: 1 of 1" in gate("--min", "no-warning")
    assert "no-flag F16 weighted" in gate("--min", "no-flag F16")


def test_a_class_that_is_never_found_is_flagged_as_a_problem(registry_url: str) -> None:
    predicted = np.full(N, "well")
    run = log(registry_url, y_pred=predicted)
    offdiag.evaluate_pending(url=registry_url)
    found = {flag.rule: flag for flag in run.evaluation().flags}

    size = WEIGHT[ACTUAL == "ill"]
    assert {"F1", "F2", "F3", "F5"} <= found.keys()
    assert found["F3"].evidence["effective_size"] == pytest.approx(
        size.sum() ** 2 / np.square(size).sum()
    )
    assert "Weighted, effective size" in found["F3"].message
    listed = CliRunner().invoke(commands, ["problems", "--url", registry_url]).output
    assert "ill" in listed
