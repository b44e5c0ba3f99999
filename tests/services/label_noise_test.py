"""How much wrong labels matter for models of a dataset, and when it cannot be told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput
from offdiag.records.datasets.label_errors import noise_document
from offdiag.services.samples.noise import LabelNoise, label_noise
from offdiag.store.database import Database
from support.logging_runs import log

N, WRONG = 1_000, 40
CLASSES = np.array(["a", "b", "c"])


def add(
    database: Database,
    model: str,
    errors: int,
    *,
    scores: bool = True,
    seed: int = 0,
    **given: Any,
) -> None:
    """A model that errs on the last samples; the first 40 labels are wrong."""
    true = np.arange(N) % 3
    labels, predicted = true.copy(), true.copy()
    labels[:WRONG] = (labels[:WRONG] + 1) % 3
    predicted[N - errors :] = (predicted[N - errors :] + 1) % 3
    own = np.full((N, 3), 0.05) + 0.85 * np.eye(3)[predicted]
    log(
        database,
        dataset="d",
        facts=RunFacts(name=model, model=model, params={"seed": seed}),
        y_true=CLASSES[labels],
        y_pred=CLASSES[predicted],
        y_score=own if scores else None,
        labels=CLASSES.tolist(),
        sample_ids=list(range(N)),
        **given,
    )


def noise(database: Database, **asked: Any) -> LabelNoise:
    return label_noise(database, project="default", dataset="d", **asked)


def test_ranges_include_what_right_labels_give(database: Database) -> None:
    for model, errors in (("net", 20), ("forest", 120), ("twin", 22)):
        add(database, model, errors)

    found = noise(database)

    # Errors that all models make look like wrong labels: 20 more.
    assert found.estimated == pytest.approx((WRONG + 20) / N, abs=0.01)
    for each, accuracy in zip(found.models, (0.98, 0.978, 0.88), strict=True):
        assert each.low is not None
        assert each.high is not None
        assert each.low <= accuracy <= each.high + 0.002
        wrong = WRONG / N
        assert [each.accuracy, each.any_high] == pytest.approx(
            [accuracy - wrong, accuracy - wrong + 0.03]
        )
    assert [(m.rank_low, m.rank_high) for m in found.models] == [(1, 2), (1, 2), (3, 3)]


def test_models_whose_runs_have_weights_are_left_out(database: Database) -> None:
    weights = np.linspace(0.1, 3.0, N)
    add(database, "net", 20, sample_weight=weights)
    add(database, "survey", 10, sample_weight=weights)

    assert noise(database).models == ()
    assert noise(database).missing is not None
    add(database, "net", 30)
    add(database, "forest", 120)

    found = noise(database)

    assert [each.family.name for each in found.models] == ["net", "forest"]
    assert found.models[0].accuracy == pytest.approx(1 - (WRONG + 30) / N)
    assert [(m.rank_low, m.rank_high) for m in found.models] == [(1, 1), (2, 2)]
    assert len(found.pairs) == 1
    assert noise_document(found).method.endswith("Left out, with sample weights: survey.")


def test_an_order_holds_up_to_a_share_of_wrong_labels(database: Database) -> None:
    for model, errors in (("net", 20), ("forest", 120), ("twin", 22)):
        add(database, model, errors)

    statements = [pair.statement for pair in noise_document(noise(database)).pairs]

    assert statements == [
        "net and twin show no significant difference, even if all labels are right.",
        "net leads forest under any noise up to 3.8 %.",
        "twin leads forest under any noise up to 3.7 %.",
    ]
    places = [(m.rank_low, m.rank_high) for m in noise(database, share=0.04).models]
    assert places == [(1, 3), (1, 3), (1, 3)]


def test_an_order_allows_for_the_choice_of_the_best_run_of_a_model(database: Database) -> None:
    add(database, "net", 20)
    add(database, "forest", 28)
    (one_each,) = noise(database).pairs
    for seed in range(1, 6):
        add(database, "net", 25 - seed, seed=seed)

    (best_of_six,) = noise(database).pairs

    # One label may be wrong, and none where the leader is the best of six runs.
    assert one_each.difference == best_of_six.difference == 0.008
    assert (one_each.share, best_of_six.share) == (0.001, 0.0)


def test_without_probabilities_noise_is_not_estimated(database: Database) -> None:
    for model, errors in (("net", 20), ("forest", 120), ("rules", 60)):
        add(database, model, errors, scores=False)

    found = noise(database)

    assert found.estimated is None
    assert "No model has probabilities" in str(found.missing)
    assert {model.low for model in found.models} == {None}
    assert found.pairs[0].share is not None


def test_what_cannot_be_asked_is_refused(database: Database) -> None:
    log(database, dataset="d")
    with pytest.raises(InvalidInput, match="share of wrong labels"):
        noise(database, share=0.7)
    log(database, dataset="constant", y_pred=["a"] * 6)
    found = label_noise(database, project="default", dataset="constant")
    assert (found.models, "largest class" in str(found.missing)) == ((), True)
