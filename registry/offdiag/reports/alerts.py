"""Alerts: an interval beyond a limit, or evidence that a share fell below a floor.

Testing each edition at 5 % raises a false alert nearly every month, and so does adding up results
until one is significant. Betting does not: a capital of 1 is split equally between bets on a drop
that begins with each of the next 365 batches, and grows with the likelihood ratio of what is
observed. While the share is at least its floor, the capital ever reaches 20 with a probability of
at most 5 %, whatever the sizes of the batches and however often they are read (Ville's
inequality).

Sources: Shafer (2021), JRSS A 184, 407; Waudby-Smith and Ramdas (2024), JRSS B 86, 1; starts are
mixed as by Shin, Ramdas and Rinaldo (2024), NEJSDS 2, 229.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.reports.scope import Condition, Side
from offdiag.reports.snapshot import RunFigures

BATCHES = 365
"""Batches covered by one promise; with the next one it begins again."""
ODDS = 20.0
"""Capital that raises an alert for one watched share: false alerts in `BATCHES` at most 5 %."""
DROPS = (0.005, 0.01, 0.02, 0.04, 0.08)
"""Drops below the floor that are bet on, with a fifth of the capital each."""
SHARES = frozenset({"overall_accuracy", "subset_accuracy", "error_rate", "recall"})
"""Metrics that are a share of samples with a yes-or-no fact."""
ROUNDING = 1e-9
"""Tolerance, as a share of the samples, for a product that should be a whole number of them."""
BATCH_AXIS, DROP_AXIS = 0, 1
"""Axes of an array with a value for each batch and drop."""


@dataclass(frozen=True, slots=True)
class Batch:
    """New samples of one edition: `hits` of `n_samples` have the fact that is watched."""

    edition: int
    truth_number: int
    hits: int
    n_samples: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that one condition is met for one model, oldest batch first.

    `limit` is `ODDS` times the number of conditions that are watched in this way.
    """

    condition: Condition
    model: str | None
    limit: float
    batches: tuple[Batch, ...]

    @property
    def is_of_new_samples(self) -> bool:
        """Whether editions bring new samples; only then is evidence gathered."""
        return len(self.batches) > 1

    @property
    def odds(self) -> float:
        """The capital after the last batch."""
        return float(self.line[-1])

    @property
    def line(self) -> NDArray[np.float64]:
        """The capital after each batch, shape (n_batches,)."""
        return odds_of(
            [batch.hits for batch in self.batches],
            [batch.n_samples for batch in self.batches],
            floor=floor_of(self.condition),
        )

    @property
    def is_raised(self) -> bool:
        return self.is_of_new_samples and self.odds >= self.limit

    @property
    def start(self) -> int:
        """The edition with which the drop most likely began."""
        ratios = _log_ratios(
            [batch.hits for batch in self.batches],
            [batch.n_samples for batch in self.batches],
            floor_of(self.condition),
        )
        since_each = np.cumsum(ratios[::-1], axis=BATCH_AXIS)[::-1]
        shares = np.logaddexp.reduce(since_each, axis=DROP_AXIS)
        return self.batches[int(np.argmax(shares))].edition


def odds_of(hits: Sequence[int], n_samples: Sequence[int], *, floor: float) -> NDArray[np.float64]:
    """Capital after each of n batches that bets on a share below `floor`, shape (n,).

    At most `BATCHES` batches. Capitals above e^700 are reported as e^700.
    """
    ratios = _log_ratios(hits, n_samples, floor)
    line = np.empty(len(hits))
    begun = np.full(ratios.shape[DROP_AXIS], -np.inf)
    for at, ratio in enumerate(ratios):
        begun = np.logaddexp(begun, -np.log(BATCHES)) + ratio
        waiting = (BATCHES - at - 1) / BATCHES
        line[at] = np.exp(np.minimum(begun, 700.0)).mean() + waiting
    return line


def gathered(
    before: Sequence[Evidence],
    runs: Sequence[RunFigures],
    conditions: Sequence[Condition],
    *,
    edition: int,
    truth_number: int,
) -> tuple[Evidence, ...]:
    """The evidence up to the previous edition, with what this one adds to it.

    The newest run of each model counts. Samples that were counted before are not new evidence:
    they have the same `truth_number`, that of the first version of their ground truth. A model
    without a run keeps its evidence for `BATCHES` editions: if it were forgotten, its capital
    would begin again, and false alerts would be more likely than promised.
    """
    watched = [each for each in conditions if is_share(each)]
    limit = ODDS * max(1, len(watched))
    kept = [each for each in before if edition - each.batches[-1].edition < BATCHES]
    known = {(each.condition, each.model): each.batches for each in kept}
    newest: dict[str | None, RunFigures] = {}
    for run in sorted(runs, key=lambda run: (run.logged_at, run.id)):
        newest[run.model] = run
    missing = dict.fromkeys(each.model for each in kept if each.model not in newest)
    found = []
    for condition in watched:
        for model in (*newest, *missing):
            batches = known.get((condition, model), ())
            counted = _counted(newest[model], condition) if model in newest else None
            is_new = all(batch.truth_number != truth_number for batch in batches)
            if counted is not None and is_new:
                past = () if len(batches) == BATCHES else batches
                batches = (*past, Batch(edition, truth_number, *counted))
            if batches:
                found.append(Evidence(condition, model, limit, batches))
    return tuple(found)


def is_share(condition: Condition) -> bool:
    """Whether a condition bounds a share on a side that can be bet against."""
    worse = Side.ABOVE if condition.metric == "error_rate" else Side.BELOW
    return (
        not condition.is_of_slices
        and condition.metric in SHARES
        and condition.side is worse
        and DROPS[-1] < floor_of(condition) < 1
    )


def floor_of(condition: Condition) -> float:
    """The smallest share of samples with the good fact that does not call for a warning."""
    return 1 - condition.limit if condition.side is Side.ABOVE else condition.limit


def _counted(run: RunFigures, condition: Condition) -> tuple[int, int] | None:
    """Samples with the good fact, and all samples examined for it.

    None for a weighted share, which does not belong to a number of samples; bets need numbers.
    """
    of_class = run.of_class(condition.class_label)
    measured = _value(run, condition)
    n_samples = run.n_scored if of_class is None else round(of_class.support)
    if measured is None or measured.value is None or n_samples == 0 or run.has_weights:
        return None
    hits = round(measured.value * n_samples)
    if abs(hits - measured.value * n_samples) > ROUNDING * n_samples:
        return None
    return (n_samples - hits if condition.side is Side.ABOVE else hits), n_samples


def _log_ratios(
    hits: Sequence[int], n_samples: Sequence[int], floor: float
) -> NDArray[np.float64]:
    """Log likelihood ratio of each batch, each drop against none, shape (n, n_drops)."""
    x = np.asarray(hits, np.float64)[:, None]
    n = np.asarray(n_samples, np.float64)[:, None]
    dropped = floor - np.asarray(DROPS)[None, :]
    return np.asarray(x * np.log(dropped / floor) + (n - x) * np.log((1 - dropped) / (1 - floor)))


@dataclass(frozen=True, slots=True)
class Alert:
    """A run that meets a condition. `is_new` if the previous report did not warn of it.

    `evidence` is that of all editions together, None if the interval of the run decided.
    """

    condition: Condition
    run_id: str
    run_name: str
    value: MetricValue
    is_new: bool
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A condition that cannot be judged from a run's value, with the reason in words."""

    condition: Condition
    run_id: str
    run_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Alerts:
    """What was warned of, what could not be judged, and the evidence that continues to grow."""

    raised: tuple[Alert, ...]
    unjudged: tuple[Unjudged, ...]
    evidence: tuple[Evidence, ...] = ()


def find_alerts(
    runs: Sequence[RunFigures],
    conditions: Sequence[Condition],
    before: Sequence[Alert],
    evidence: Sequence[Evidence] = (),
    on_slices: Mapping[str, Sequence[tuple[Condition, MetricValue]]] = MappingProxyType({}),
    *,
    evidence_before: Sequence[Evidence] = (),
) -> Alerts:
    """Check every run against every condition, in their order.

    `on_slices` are the values of conditions about slices, by the id of the run.
    If editions bring new samples, `evidence` decides about a share in place of the interval:
    it is that of each condition and model so far, and `evidence_before` that up to the previous
    edition, which may lack a run of a model that it warned of earlier.
    """
    known = {(alert.condition, alert.run_id) for alert in before}
    known_models = {
        (each.condition, each.evidence.model) for each in before if each.evidence is not None
    } | {(each.condition, each.model) for each in evidence_before if each.is_raised}
    gathered = {(each.condition, each.model): each for each in evidence if each.is_of_new_samples}
    raised, unjudged = [], []
    for condition in conditions:
        for run in runs:
            value = _value(run, condition)
            if condition.is_of_slices:
                value = dict(on_slices.get(run.id, ())).get(condition)
            over_editions = gathered.get((condition, run.model))
            reason = _why_not_judged(value)
            if value is None or reason is not None:
                text = reason or "the report does not hold this value"
                unjudged.append(Unjudged(condition, run.id, run.name, text))
            elif over_editions is not None:
                if over_editions.is_raised:
                    is_new = (condition, run.model) not in known_models
                    raised.append(Alert(condition, run.id, run.name, value, is_new, over_editions))
            elif is_met(condition, value):
                is_new = (condition, run.id) not in known
                raised.append(Alert(condition, run.id, run.name, value, is_new))
    return Alerts(tuple(raised), tuple(unjudged), tuple(evidence))


def is_met(condition: Condition, value: MetricValue) -> bool:
    """Whether the interval of a value excludes the limit, on the bad side."""
    if value.ci_low is None or value.ci_high is None:
        return False
    if condition.side is Side.BELOW:
        return value.ci_high < condition.limit
    return value.ci_low > condition.limit


def _value(run: RunFigures, condition: Condition) -> MetricValue | None:
    if condition.class_label is None:
        return run.metrics.get(condition.metric)
    of_class = run.of_class(condition.class_label)
    return None if of_class is None else of_class.values[condition.metric]


def _why_not_judged(value: MetricValue | None) -> str | None:
    if value is None:
        return None
    if value.value is None:
        return f"it is {value.undefined_text}"
    if value.ci_low is None or value.ci_high is None:
        return "it has no interval"
    return None
