"""A run in the hands of a training job: its chunks, predictions and curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from offdiag.domain.labels import label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.runs import Derivation, PromotionRole
from offdiag.errors import Conflict
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.sdk import provenance
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.registry import (
    DecideQuestion,
    Decision,
    ExampleTable,
    OpenedRun,
    PromoteQuestion,
    Registry,
    Threshold,
)
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag.services.ingest.batch import (
    CHUNK_SIZE,
    Batch,
    concatenated,
    read_batch,
    require_alike,
)

if TYPE_CHECKING:
    import pandas as pd


class ChunkBuffer:
    """Cuts a stream of batches into full chunks, and hands each to `put` with its number.

    A chunk leaves the buffer only after `put` returned. What is cut depends on the order of
    the cases alone, so that a repeated attempt sends the same bytes under the same number.
    """

    def __init__(
        self,
        put: Callable[[int, Batch], None],
        size_for: Callable[[Batch], int] = lambda _: CHUNK_SIZE,
    ) -> None:
        """`size_for` says how many cases like those of the first batch make a chunk."""
        self._put = put
        self._size_for = size_for
        self._size = CHUNK_SIZE
        self._waiting: list[Batch] = []
        self._n_waiting = 0
        self._seq = 0

    def add(self, batch: Batch) -> None:
        """Take one batch and hand on the chunks that are full.

        Raises `InvalidInput`, and takes nothing, when the batch carries other arrays than the
        ones before it.
        """
        if self._waiting:
            require_alike(self._waiting[0], batch)
        elif self._seq == 0:
            self._size = self._size_for(batch)
        self._waiting.append(batch)
        self._n_waiting += len(batch)
        while self._n_waiting >= self._size:
            self._hand_on(self._size)

    @property
    def n_chunks(self) -> int:
        """Chunks handed on so far."""
        return self._seq

    def flush(self) -> None:
        """Hand on what is left: a chunk that is not full, behind any that could not leave."""
        while self._waiting:
            self._hand_on(self._size)

    def _hand_on(self, size: int) -> None:
        everything = concatenated(self._waiting)
        self._waiting = [everything]
        self._put(self._seq, everything.slice(0, size))
        self._seq += 1
        rest = everything.slice(size, len(everything))
        self._waiting = [rest] if len(rest) else []
        self._n_waiting = len(rest)


ExampleKind = Literal["wrong", "right", "unlabelled", "all"]


def example_question(*, actual: object, predicted: object, kind: ExampleKind) -> ExampleQuestion:
    """What `Run.examples` asks. Raises `InvalidInput` for what cannot be a class."""
    return ExampleQuestion(
        actual=None if actual is None else label_text(actual, field_name="actual"),
        predicted=None if predicted is None else label_text(predicted, field_name="predicted"),
        kind=Kind(kind),
    )


def examples_frame(found: ExampleTable) -> pd.DataFrame:
    """One row for each prediction, as `Run.examples` says."""
    import pandas as pd

    columns = {
        "sample": [row.sample for row in found.rows],
        "actual": [row.actual if row.sets is None else row.sets[0] for row in found.rows],
        "predicted": [row.predicted if row.sets is None else row.sets[1] for row in found.rows],
        **_score_columns(found),
        **{name: [row.slices[name] for row in found.rows] for name in found.slice_names},
    }
    index = pd.Index([row.index for row in found.rows], name="index")
    return pd.DataFrame(columns, index=index)


def _score_columns(found: ExampleTable) -> dict[str, list[float | None]]:
    if not found.has_scores:
        return {}
    return {
        "confidence": [row.confidence for row in found.rows],
        "margin": [row.margin for row in found.rows],
    }


def operating_points_frame(points: OperatingPoints) -> pd.DataFrame:
    """One row for each kept threshold, as `Run.operating_points` says."""
    import pandas as pd

    return pd.DataFrame(
        {
            "threshold": points.thresholds,
            "true_positives": points.true_positives,
            "false_positives": points.false_positives,
            "recall": points.recall,
            "false_positive_rate": points.false_positive_rate,
            "precision": points.precision(),
        }
    )


class Run:
    """A logged run. Its predictions are stored and never change."""

    def __init__(self, registry: Registry, run_id: str) -> None:
        self._registry = registry
        self.id = run_id

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    @property
    def url(self) -> str:
        """Address of this run in the dashboard."""
        return self._registry.page_of(self.id)

    def derivation(self) -> Derivation | None:
        """Whose scores the run was decided from and by which rule; None for a logged run.

        Raises `NotFound` for a run that was deleted.
        """
        return self._registry.derivation(self.id)

    def decision_rule(self) -> Mapping[str, Any] | None:
        """The rule that predicted from the scores of a run that was logged without predictions.

        "rule" is "arg_max", or "threshold" with the "positive" class and the "threshold"; None
        where predictions were logged. Raises `NotFound` for a run that was deleted.
        """
        return self._registry.decision_rule(self.id)

    def costs(self, name: str) -> CostMatrix:
        """The costs that are stored as `name`, or in a version of it as `name@2`.

        They are looked for in the project of the run. Raises `NotFound`, and `Conflict` for
        costs of other classes.
        """
        return self._registry.costs_for_run(self.id, name)

    def decide(
        self,
        *,
        weights: object = None,
        threshold: Threshold = None,
        positive: object = None,
        prevalence: object = None,
        save_as: str | None = None,
    ) -> Decision[Run]:
        """Decide the cases anew from their scores, and say what that changes.

        `weights` are costs as `offdiag.cost` takes them, a name such as `visits@2`, or None for
        those the dataset is judged by. Each case gets the answer that is cheapest to expect, for
        which scores have to be probabilities; with two classes `threshold` flags from a score on
        instead, or from the "cheapest" one on these cases. `positive` is the class that is
        flagged where the dataset names none, the rarer one by default. `prevalence` is the share
        of each class at deployment. With `save_as` the answers are kept as a run of that name;
        the same rule again is the same run. Raises `InvalidInput` for a rule that scores or
        classes do not allow, `NotFound`, and `Conflict` where no costs are known.
        """
        self.evaluation()
        found = self._registry.decide(
            self.id,
            DecideQuestion(
                weights=weights,
                threshold=threshold,
                positive=None if positive is None else label_text(positive, field_name="positive"),
                prevalence=prevalence,
                save_as=save_as,
                author=provenance.author(),
            ),
        )
        saved = None if found.saved is None else Run(self._registry, found.saved)
        return Decision.of(found, saved)

    def approve(
        self, *, reason: str, gate: Iterable[str] = (), although_gate_fails: bool = False
    ) -> None:
        """Make the run the champion of its dataset, in place of the one before.

        `gate` are conditions such as "recall[mel] >= 0.8" that it is checked with first; what
        they find is recorded with the reason, the author, the time and the metrics. Raises
        `InvalidInput` without a reason and `Conflict` for a run that fails the gate, unless
        `although_gate_fails`.
        """
        self._promote(PromotionRole.CHAMPION, reason, gate, although_gate_fails)

    def propose(self, *, reason: str | None = None, gate: Iterable[str] = ()) -> None:
        """Make the run the candidate of its dataset: the proposed next champion.

        `gate` is that of `approve`, and what it finds is recorded, too. Raises `Conflict` for
        the champion.
        """
        self._promote(PromotionRole.CANDIDATE, reason, gate, although_gate_fails=False)

    def _promote(
        self,
        role: PromotionRole,
        reason: str | None,
        gate: Iterable[str],
        although_gate_fails: bool,
    ) -> None:
        conditions = (gate,) if isinstance(gate, str) else tuple(gate)
        self.evaluation()
        self._registry.promote(
            self.id,
            PromoteQuestion(role, reason, conditions, although_gate_fails, provenance.author()),
        )

    def evaluation(
        self,
        timeout: float = 60.0,
        *,
        slice: str | None = None,  # noqa: A002 - the word of the field
        collapse: str | Iterable[str] = (),
    ) -> Evaluation:
        """Every metric of the run, computed here or waited for at most `timeout` seconds.

        With a `slice` such as "country=DE" or "country=DE & device=phone", only of the cases
        in it. `collapse` names groups of the dataset's hierarchy that are looked at as one
        class each, "*" all outermost ones. Raises `EvaluationPending` when the time is up,
        `EvaluationFailed` when the worker gave up, and `InvalidInput` for an unknown group.
        """
        groups = (collapse,) if isinstance(collapse, str) else tuple(collapse)
        return self._registry.evaluation(self.id, timeout_s=timeout, part=slice, groups=groups)

    def examples(
        self,
        *,
        actual: object = None,
        predicted: object = None,
        kind: ExampleKind = "wrong",
        limit: int = 1_000,
    ) -> pd.DataFrame:
        """At most `limit` predictions: those of a cell where both classes are named, else a kind.

        With scores, the ones the model was surest of come first and the columns `confidence`
        (the score of the predicted class) and `margin` (less the largest other one) are there;
        slice columns follow. The index is the number of the prediction in the run.

        Of a multi-label run `actual` and `predicted` name a label, and the columns hold tuples of
        labels: `examples(actual="sea")` are the cases whose "sea" was missed,
        `examples(predicted="sea")` those where it is spurious, `examples()` all wrong sets.
        `confidence` is then the score of the label that is named. Raises
        `InvalidInput` for a class that there is none of and `Conflict` for a run without
        predictions.
        """
        question = example_question(actual=actual, predicted=predicted, kind=kind)
        return examples_frame(self._registry.examples(self.id, question, limit))

    def operating_points(self, positive: object = None) -> pd.DataFrame:
        """Thresholds of a class, the positive one unless named, strictest first, with counts.

        They are those the dashboard draws: few, each exact. Raises `InvalidInput` for a class
        that there is none of and `Conflict` where there are no curves.
        """
        name = None if positive is None else label_text(positive, field_name="positive")
        return operating_points_frame(self._registry.operating_points(self.id, name))


class OpenRun(Run):
    """A run that takes predictions batch by batch.

    Use it in a `with` block: leaving the block finishes the run; an exception leaves it open,
    with the batches stored so far, so that a half-done run is never mistaken for a whole one.
    """

    def __init__(self, registry: Registry, opened: OpenedRun) -> None:
        super().__init__(registry, opened.run_id)
        self._opened = opened
        self._buffer = ChunkBuffer(opened.put, opened.chunk_size)
        self._lock = Lock()
        self._finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._opened.leave()
        elif not self._finished:
            self.finish()

    def log(
        self,
        *,
        y_pred: object | None = None,
        y_true: object | None = None,
        y_score: object | None = None,
        sample_ids: object | None = None,
        slices: object | None = None,
    ) -> None:
        """Add one batch of n predictions, made from `y_score` as by `log_run` without `y_pred`.

        `y_true` may be left out in every batch when the dataset has ground truth already, or
        when labels will come later. `slices` are columns of the batch, as `log_run` takes them.
        A batch with an error is refused as a whole. Raises `InvalidInput`, and `Conflict`
        after `finish()`.
        """
        if self._finished:
            raise Conflict(
                f"run {self.id} is finished and cannot be changed.",
                field="run",
                hint="Start a new run for more predictions.",
            )
        if not self._opened.keeps:
            return
        batch = read_batch(
            y_pred=y_pred,
            y_true=y_true,
            y_score=y_score,
            ids=sample_ids,
            slices=slices,
            labels=self._opened.labels,
            positive_label=self._opened.positive_label,
        )
        warn_of(label_notes((), whole_floats=batch.whole_floats))
        with self._lock:
            self._buffer.add(batch)

    def finish(self) -> Run:
        """Store what is buffered and close the run. Finishing twice is the same as once."""
        with self._lock:
            if not self._finished:
                self._buffer.flush()
                self.id = self._opened.finish(self._buffer.n_chunks)
                self._finished = True
        return Run(self._registry, self.id)
