"""Files written by the libraries themselves give the numbers of the libraries themselves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pycm
import pytest
from sklearn import metrics

from offdiag import evaluate_labels, evaluate_matrix
from offdiag.importers import ImportedLabels, ImportedMatrix, read
from offdiag.sdk.evaluations.evaluation import Evaluation

NAMES = ["cat", "dog", "cow"]
LEFT_OPEN = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""PyCM does not close the file it writes."""


@pytest.fixture
def answers() -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(7)
    actual = rng.choice(NAMES, 300, p=[0.6, 0.3, 0.1])
    predicted = np.where(rng.random(300) < 0.6, actual, rng.choice(NAMES, 300))
    return actual.tolist(), predicted.tolist()


def evaluated(content: ImportedMatrix | ImportedLabels) -> Evaluation:
    if isinstance(content, ImportedMatrix):
        return evaluate_matrix(
            content.matrix, labels=content.labels, orientation=content.orientation.value
        )
    return evaluate_labels(y_true=content.y_true, y_pred=content.y_pred, labels=content.labels)


def recalls(evaluation: Evaluation) -> dict[str, float | None]:
    return {label: value.value for label, value in evaluation.per_class["recall"].items()}


def expected(answers: tuple[list[str], list[str]]) -> dict[str, float]:
    found = metrics.recall_score(*answers, labels=NAMES, average=None)
    return dict(zip(NAMES, found.tolist(), strict=True))


def test_scikit_learn(tmp_path: Path, answers: tuple[list[str], list[str]]) -> None:
    np.save(tmp_path / "cm.npy", metrics.confusion_matrix(*answers))
    np.savetxt(tmp_path / "cm.txt", metrics.confusion_matrix(*answers))
    report = metrics.classification_report(*answers, output_dict=True)
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")

    for name in ("cm.npy", "cm.txt"):
        found = read("sklearn", tmp_path / name, report=tmp_path / "report.json")

        assert recalls(evaluated(found.content)) == pytest.approx(expected(answers))


def test_swapped_arguments_of_scikit_learn_are_noticed(
    tmp_path: Path, answers: tuple[list[str], list[str]]
) -> None:
    np.save(tmp_path / "cm.npy", metrics.confusion_matrix(*answers[::-1]))
    report = metrics.classification_report(*answers, output_dict=True)
    (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")

    with pytest.raises(ValueError, match="transposed"):
        read("sklearn", tmp_path / "cm.npy", report=tmp_path / "report.json")


@LEFT_OPEN
@pytest.mark.parametrize("with_vectors", [True, False])
def test_pycm(tmp_path: Path, answers: tuple[list[str], list[str]], with_vectors: bool) -> None:
    matrix = pycm.ConfusionMatrix(*answers, digit=5)
    status = matrix.save_obj(str(tmp_path / "cm"), address=False, save_vector=with_vectors)
    assert status["Status"]

    found = read("pycm", tmp_path / "cm.obj")

    assert isinstance(found.content, ImportedLabels) is with_vectors
    assert recalls(evaluated(found.content)) == pytest.approx(matrix.TPR)


@LEFT_OPEN
def test_pycm_from_a_transposed_table(
    tmp_path: Path, answers: tuple[list[str], list[str]]
) -> None:
    counts = metrics.confusion_matrix(*answers, labels=NAMES)
    table = {
        predicted: {
            actual: int(counts[NAMES.index(actual), NAMES.index(predicted)]) for actual in NAMES
        }
        for predicted in NAMES
    }
    matrix = pycm.ConfusionMatrix(matrix=table, transpose=True)
    matrix.save_obj(str(tmp_path / "cm"), address=False)

    found = read("pycm", tmp_path / "cm.obj")

    assert recalls(evaluated(found.content)) == pytest.approx(expected(answers))


def test_pandas(tmp_path: Path, answers: tuple[list[str], list[str]]) -> None:
    actual, predicted = (pd.Series(values) for values in answers)
    table = pd.crosstab(actual, predicted, rownames=["Actual"], colnames=["Predicted"])
    turned = pd.crosstab(predicted, actual, rownames=["Predicted"], colnames=["Actual"])
    table.to_csv(tmp_path / "rows.csv")
    turned.to_csv(tmp_path / "columns.csv")

    for name in ("rows.csv", "columns.csv"):
        found = read("csv", tmp_path / name)

        assert recalls(evaluated(found.content)) == pytest.approx(expected(answers))
