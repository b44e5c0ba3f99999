"""Which labels of a multi-label run are confused, and what its errors cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from offdiag.domain.column_names import by_label
from offdiag.errors import InvalidInput
from offdiag.extras import optional
from offdiag.records.runs.multilabel import (
    ConfusedQuery,
    LabelCostsRequest,
    OutcomeCostsRequest,
    confused_request,
    label_costs_request,
)
from offdiag.sdk.run import Run
from offdiag.sdk.search import registry_of, resolved_id

if TYPE_CHECKING:
    import pandas as pd


def confused_labels(
    run: str | Run,
    *,
    confidence: float = 0.95,
    url: str | None = None,
) -> pd.DataFrame:
    """Which labels of a multi-label run are confused, in sentences with their evidence.

    * `run`: an id, a name or a `Run`.
    * `confidence`: the level of the tests. Default: 0.95.
    * `url`: the registry. Default: that of a `Run`, else the configured one.

    A sentence is for example "sea is predicted as sky when sand is present". The frame has one row
    for each significant sentence, with the columns `sentence`, `evidence_text`, `kind`
    ("replaced", "missed" or "added"), `label`, `other`, `when` and, of the first table of the
    evidence, `errors_with`, `n_with`, `errors_without`, `n_without` and `p_adjusted`.
    `frame.attrs` has the `method` and `n`. At most 5 of 100 runs whose errors do not depend on
    other labels have any sentence.

    Raises `NotFound`, `InvalidInput` for a confidence outside (0, 1), and `Conflict` for a run
    whose examples have one class each.
    """
    with optional:
        import pandas as pd

    at = registry_of([run], url)
    run_id = resolved_id(at, run)
    found = at.ask(confused_request(run_id, ConfusedQuery.asked(confidence=confidence)))
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

    * `run`: an id, a name or a `Run`.
    * `costs`: by label, the cost of a miss, a pair of the costs of a miss and of a false alarm, or
      a mapping of `miss`, `false_alarm`, `hit` and `right_rejection`. A false alarm costs 1 by
      default, a hit and a right rejection nothing.
    * `others`: the same for all other labels. Default: 1.
    * `baseline`: a run to compare the mean cost with.
    * `url`: the registry. Default: that of a `Run`, else the configured one.

    Returns one row for each label:

    * `n`, `missed`, `false_alarms`: numbers of examples.
    * `total_cost`, `ci_low`, `ci_high`: the cost, with its interval.
    * `constant`, `constant_cost`: the cheaper constant prediction, and its cost per example.
    * `threshold`: with scores, the threshold with the lowest cost on these examples.
    * `expected_cost`: its cost per example on examples it was not chosen on (cross-fitting).

    `frame.attrs` has the costs of all labels together per example: `mean_cost` with its interval,
    `constant_cost`, `expected_cost` and, against `baseline`, the paired `difference`.

    Raises `NotFound`, `InvalidInput` for an unknown label, `Conflict` for a run whose examples
    have one class each, and `EvaluationPending` if the run, whose curves have the thresholds, is
    not evaluated within a minute.
    """
    with optional:
        import pandas as pd

    costs = by_label(costs, field="costs")
    if not isinstance(costs, Mapping | None):
        raise InvalidInput(
            f"{type(costs).__name__} does not say which label costs what.",
            field="costs",
            hint="Give {label: cost}.",
        )
    at = registry_of([run], url)
    run_id = resolved_id(at, run)
    Run(at, run_id).evaluation()  # Thresholds are those of the curves that it stores.
    asked = LabelCostsRequest(
        costs={name: _outcomes(each) for name, each in (costs or {}).items()},
        others=_outcomes(others),
        baseline=None if baseline is None else resolved_id(at, baseline),
    )
    found = at.ask(label_costs_request(run_id, asked)).plain()
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


_PAIR = ("miss", "false_alarm")


def _outcomes(given: float | tuple[float, float] | Mapping[str, float]) -> OutcomeCostsRequest:
    if isinstance(given, Mapping):
        return OutcomeCostsRequest.asked(**given)
    if isinstance(given, tuple) and len(given) == len(_PAIR):
        return OutcomeCostsRequest.asked(**dict(zip(_PAIR, given, strict=True)))
    return OutcomeCostsRequest.asked(miss=given)
