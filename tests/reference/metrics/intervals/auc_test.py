"""scikit-learn as an oracle for areas, the definition for their variance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from offdiag.metrics.intervals.discrimination import parts_of_mean_placement, placements


@pytest.mark.parametrize("digits", [0, 1, 8], ids=["many ties", "some ties", "no ties"])
@pytest.mark.parametrize("n_samples", [12, 400])
def test_area_and_variance_follow_from_all_pairs(n_samples: int, digits: int) -> None:
    rng = np.random.default_rng(n_samples + digits)
    truth = rng.random(n_samples) < 0.4
    truth[:4] = [True, True, False, False]
    score = np.round(rng.normal(size=n_samples) + truth, digits)
    positives, negatives = score[truth], score[~truth]
    won = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)

    found = placements(truth, score)

    assert found.area == pytest.approx(roc_auc_score(truth, score), rel=1e-12)
    assert sum(
        parts_of_mean_placement(found.of_positives, found.of_negatives) or ()
    ) == pytest.approx(
        won.mean(axis=1).var(ddof=1) / len(positives)
        + won.mean(axis=0).var(ddof=1) / len(negatives),
        rel=1e-10,
    )
