"""What goes wrong with the labels of a multi-label run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offdiag.extras import optional
from offdiag.records.confused import ConfusedLabelsFound, ConfusedQuery, confused_document
from offdiag.sdk.run import Run
from offdiag.sdk.search import resolved_id
from offdiag.sdk.target import target

if TYPE_CHECKING:
    import pandas as pd

    from offdiag.store.database import Database


def confused_labels(
    run: str | Run,
    *,
    confidence: float = 0.95,
    url: str | None = None,
) -> pd.DataFrame:
    """Which labels of a multi-label run are confused, in sentences with their evidence.

    "sea is predicted as sky when sand is present": one row for each significant sentence, with
    `sentence`, `evidence_text`, `kind` ("replaced", "missed" or "added"), `label`, `other`, `when`
    and, of the first table, `errors_with`, `n_with`, `errors_without`, `n_without` and
    `p_adjusted`. At most 5 of 100 runs whose errors do not depend on other labels have any.
    `frame.attrs` has the `method` and `n`.

    Raises `NotFound`, and `Conflict` for a run whose examples have one class each.
    """
    with optional:
        import pandas as pd

    at = target(url)
    run_id = resolved_id(at, run)

    def stored(database: Database) -> ConfusedLabelsFound:
        from offdiag.services.multilabel.confused_labels import confused_labels_of

        return confused_document(confused_labels_of(database, run_id, confidence=confidence))

    query = ConfusedQuery(confidence=confidence)
    path = f"/runs/{run_id}/confused-labels"
    found = at.document("GET", path, query, ConfusedLabelsFound, stored)
    columns = ["sentence", "evidence_text", "kind", "label", "other", "when"]
    numbers = ["errors_with", "n_with", "errors_without", "n_without", "p_adjusted"]
    rows = [
        {name: each[name] for name in columns} | {name: each["evidence"][name] for name in numbers}
        for each in found.plain()["found"]
    ]
    frame = pd.DataFrame(rows, columns=[*columns, *numbers])
    frame.attrs = {"method": found.method, "n": found.n}
    return frame
