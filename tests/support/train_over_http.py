"""A training script: logs so many predictions batch by batch and prints what came of it.

    python train_over_http.py URL N [scores]

With scores it does not wait for an evaluation, which takes longer than all the rest.
It knows nothing of tests.
"""

import json
import sys

import numpy as np

import offdiag

BATCH = 5_000


def main(url: str, n: int, *, with_scores: bool) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, n)
    predicted = np.where(rng.random(n) < 0.2, 1 - truth, truth)
    scores = rng.random(n, dtype=np.float32)
    with offdiag.start_run(
        name="loop",
        dataset="stream",
        labels=[0, 1],
        positive_label=1,
        client_key="loop/1",
        url=url,
    ) as run:
        for start in range(0, n, BATCH):
            part = slice(start, start + BATCH)
            run.log(
                y_true=truth[part],
                y_pred=predicted[part],
                y_score=scores[part] if with_scores else None,
            )
            sys.stdout.write(f"{start}\n")
            sys.stdout.flush()
    evaluation = None if with_scores else run.evaluation(timeout=60).to_dict()
    outcome = {"id": run.id, "evaluation": evaluation}
    sys.stdout.write(f"{json.dumps(outcome)}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), with_scores="scores" in sys.argv)
