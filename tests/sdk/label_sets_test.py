"""What a training job sees of a run whose cases carry sets of labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    hamming_loss,
    jaccard_score,
    multilabel_confusion_matrix,
)

import offdiag
from offdiag.errors import Conflict
from support.set_runs import IDS, LABELS, PREDICTED_SETS, TRUE_SETS, random_sets


@pytest.fixture
def url(registry_url: str) -> str:
    return registry_url


def test_a_stored_run_agrees_with_scikit_learn(url: str) -> None:
    true, predicted = random_sets(300, 6)
    frames = [pd.DataFrame(each.astype(int), columns=list("abcdef")) for each in (true, predicted)]
    run = offdiag.log_run(
        y_true=frames[0], y_pred=frames[1], name="forest", dataset="sets", url=url
    )

    found = run.evaluation()

    value = {key: each.value for key, each in found.aggregate.items()}
    assert value["subset_accuracy"] == pytest.approx(accuracy_score(true, predicted))
    assert value["hamming_loss"] == pytest.approx(hamming_loss(true, predicted))
    for average in ("micro", "macro", "weighted"):
        assert value[f"{average}_f1"] == pytest.approx(
            f1_score(true, predicted, average=average, zero_division=0)
        )
    assert value["example_f1_zd0"] == pytest.approx(
        f1_score(true, predicted, average="samples", zero_division=0)
    )
    assert value["example_jaccard_zd0"] == pytest.approx(
        jaccard_score(true, predicted, average="samples", zero_division=0)
    )
    tables = found.label_counts[["tn", "fp", "fn", "tp"]].to_numpy().reshape(-1, 2, 2)
    assert np.array_equal(tables, multilabel_confusion_matrix(true, predicted))
    assert list(found.label_counts.index) == list("abcdef")


def test_the_matrix_and_its_shares_name_their_axes(url: str) -> None:
    run = offdiag.log_run(
        y_true=TRUE_SETS, y_pred=PREDICTED_SETS, labels=LABELS, name="run", dataset="sets", url=url
    )

    found = run.evaluation()

    here = offdiag.evaluate_multilabel(y_true=TRUE_SETS, y_pred=PREDICTED_SETS, labels=LABELS)
    for name in ("multilabel_matrix", "row_share", "column_share"):
        frame = getattr(found, name)
        assert (frame.index.name, frame.columns.name) == ("actual", "predicted")
        pd.testing.assert_frame_equal(frame, getattr(here, name))
    assert found.empty_sets == here.empty_sets
    stored = found.to_dict()
    assert json.loads(json.dumps(stored, allow_nan=False)).keys() == here.to_dict().keys()
    assert "fractional shares, Algorithm 1" in found._repr_html_()
    with pytest.raises(Conflict, match="carry sets of labels"):
        _ = found.confusion_matrix


def test_a_run_of_single_classes_has_no_views_of_sets(url: str) -> None:
    found = offdiag.evaluate_labels(y_true=["a", "b"], y_pred=["a", "a"])

    with pytest.raises(Conflict, match="one class each"):
        _ = found.multilabel_matrix


def test_corrections_of_sets_may_stand_in_a_file(url: str, tmp_path: Path) -> None:
    offdiag.log_run(
        y_true=TRUE_SETS,
        y_pred=PREDICTED_SETS,
        labels=LABELS,
        sample_ids=IDS,
        name="run",
        dataset="sets",
        url=url,
    )
    file = tmp_path / "labels.csv"
    file.write_text("id,label\n11,sea|sand\n12,boat\n")

    made = offdiag.revise_truth(dataset="sets", labels=file, reason="second look", url=url)

    assert made.n_corrected == 2
