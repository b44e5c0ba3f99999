"""What goes wrong with the labels of a multi-label run, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from offdiag.extras import optional
from offdiag.records.runs.multilabel import (
    ConfusedLabelsFound,
    ConfusedQuery,
    LabelCostsFound,
    LabelCostsRequest,
    OutcomeCostsRequest,
    asked_label_costs,
    confused_document,
)
from offdiag.sdk.run import Run
from offdiag.sdk.search import registry_of, resolved_id

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

    at = registry_of([run], url)
    run_id = resolved_id(at, run)

    def stored(database: Database) -> ConfusedLabelsFound:
        from offdiag.services.multilabel import confused_labels_of

        return confused_document(confused_labels_of(database, run_id, confidence=confidence))

    query = ConfusedQuery.asked(confidence=confidence)
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


def label_costs(
    run: str | Run,
    *,
    costs: Mapping[str, float | tuple[float, float] | Mapping[str, float]] | None = None,
    others: float | tuple[float, float] | Mapping[str, float] = 1.0,
    baseline: str | Run | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """What the errors of a multi-label run cost, by label, and which thresholds cost least.

    `costs` has, by label, the cost of missing it, of a miss and of a false alarm, or a mapping of
    `miss`, `false_alarm`, `hit` and `right_rejection`; `others` is for all other labels. False
    alarms cost 1 and the others nothing where they are not given.

    One row for each label: `n`, `missed`, `false_alarms`, `total_cost` with `ci_low` and
    `ci_high`, the cheaper `constant` prediction and its `constant_cost` per example; with scores
    `threshold`, the cheapest on these examples, and `expected_cost` per example, what it costs on
    examples it was not chosen on (cross-fitting). `frame.attrs` has the costs of all labels
    together, per example: `mean_cost` with its interval, `constant_cost`, `expected_cost` and,
    against `baseline`, the paired `difference`.

    Raises `NotFound`, `InvalidInput` for a label that there is none of, `Conflict` for a run whose
    examples have one class each, and `EvaluationPending` where the run is not evaluated, as the
    thresholds are those of its curves, within a minute.
    """
    with optional:
        import pandas as pd

    at = registry_of([run], url)
    run_id = resolved_id(at, run)
    Run(at, run_id).evaluation()  # Thresholds are those of the curves that it stores.
    asked = LabelCostsRequest(
        costs={name: _outcomes(each) for name, each in (costs or {}).items()},
        others=_outcomes(others),
        baseline=None if baseline is None else resolved_id(at, baseline),
    )

    def stored(database: Database) -> LabelCostsFound:
        return asked_label_costs(database, run_id, asked)

    path = f"/runs/{run_id}/label-costs"
    found = at.document("POST", path, asked, LabelCostsFound, stored).plain()
    rows = []
    for each in found.pop("labels"):
        total, choice = each["total_cost"], each["threshold"] or {}
        rows.append(
            {
                **{name: each[name] for name in ("label", "n", "missed", "false_alarms")},
                "total_cost": total["value"],
                "ci_low": total.get("ci_low"),
                "ci_high": total.get("ci_high"),
                "constant": each["constant"],
                "constant_cost": each["constant_cost"],
                "threshold": choice.get("threshold"),
                "expected_cost": choice.get("expected_cost"),
            }
        )
    frame = pd.DataFrame(rows).set_index("label")
    frame.attrs = dict(found.items())
    return frame


def _outcomes(given: float | tuple[float, float] | Mapping[str, float]) -> OutcomeCostsRequest:
    if isinstance(given, Mapping):
        return OutcomeCostsRequest(**given)
    if isinstance(given, tuple):
        return OutcomeCostsRequest(miss=given[0], false_alarm=given[1])
    return OutcomeCostsRequest(miss=given)
