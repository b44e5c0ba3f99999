"""A run in the hands of a training job."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from offdiag.domain.runs import Derivation
from offdiag.errors import Conflict
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.sdk.buffer import ChunkBuffer
from offdiag.sdk.evaluation import Evaluation
from offdiag.sdk.flag import Flag, Judgement
from offdiag.sdk.run_frames import ExampleKind, examples_frame, operating_points_frame
from offdiag.sdk.target import Target
from offdiag.services.cost_matrices import CostName, costs_for_run
from offdiag.services.evaluation.reading import evaluation_of
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.flags.inbox import flags_that_fire
from offdiag.services.flags.settings import thresholds_in
from offdiag.services.ingest.batch import Batch, read_batch
from offdiag.services.ingest.chunks import put_chunk
from offdiag.services.ingest.derived import derivation_of_run
from offdiag.services.ingest.finishing import finish_run
from offdiag.store.datasets import DatasetRecord
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.flags import FlagRecord

if TYPE_CHECKING:
    import pandas as pd


class Run:
    """A logged run. Its predictions are stored and never change."""

    def __init__(self, target: Target, run_id: str) -> None:
        self._target = target
        self.id = run_id

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    @property
    def url(self) -> str:
        """Address of this run in the dashboard."""
        return self._target.page_of(self.id)

    def derivation(self) -> Derivation | None:
        """Whose scores the run was decided from and by which rule; None for a logged run.

        Raises `NotFound` for a run that was deleted.
        """
        return derivation_of_run(self._target.database, self.id)

    def costs(self, name: str) -> CostMatrix:
        """The costs that are stored as `name`, or in a version of it as `name@2`.

        They are looked for in the project of the run. Raises `NotFound`, and `Conflict` for
        costs of other classes.
        """
        wanted = CostName.parse(name)
        return costs_for_run(self._target.database, self.id, wanted).costs

    def evaluation(self, timeout: float = 60.0, *, slice: str | None = None) -> Evaluation:  # noqa: A002 - the word of the field
        """Every metric of the run, computed here or waited for at most `timeout` seconds.

        With a `slice` such as "country=DE" or "country=DE & device=phone", only of the cases
        in it. Raises `EvaluationPending` when the time is up and `EvaluationFailed` when the
        worker gave up.
        """
        if slice is not None:
            part = evaluation_of_slice(self._target.database, self.id, slice)
            thresholds = thresholds_in(self._target.settings.flags)
            return _shown(part, Judgement.of_matrix(part.matrix, thresholds))
        stored = evaluation_of(
            self._target.database,
            self.id,
            timeout_s=timeout,
            lease_s=self._target.settings.jobs.lease_s,
            policy=self._target.policy,
        )
        raised = flags_that_fire(self._target.database, self.id)
        return _shown(
            stored, Judgement(tuple(map(_flag, raised)), badge=bool(stored.hides_minority))
        )

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
        slice columns follow. The index is the number of the prediction in the run. Raises
        `InvalidInput` for a class that there is none of and `Conflict` for a run without
        predictions.
        """
        return examples_frame(
            self._target.database,
            self.id,
            actual=actual,
            predicted=predicted,
            kind=kind,
            limit=limit,
        )

    def operating_points(self, positive: object = None) -> pd.DataFrame:
        """Thresholds of a class, the positive one unless named, strictest first, with counts.

        They are those the dashboard draws: few, each exact. Raises `InvalidInput` for a class
        that there is none of and `Conflict` where there are no curves.
        """
        return operating_points_frame(self._target.database, self.id, positive=positive)


def _shown(stored: StoredEvaluation, judgement: Judgement) -> Evaluation:
    return Evaluation.of_values(
        stored.matrix,
        aggregate=stored.aggregate,
        per_class=stored.per_class,
        judgement=judgement,
    )


def _flag(flag: FlagRecord) -> Flag:
    return Flag(
        flag.content.rule,
        flag.standing.severity.value,
        flag.content.class_label,
        flag.content.message,
        dict(flag.content.evidence),
        flag.standing.state.value,
    )


class OpenRun(Run):
    """A run that takes predictions batch by batch.

    Use it in a `with` block: leaving the block finishes the run; an exception leaves it open,
    with the batches stored so far, so that a half-done run is never mistaken for a whole one.
    """

    def __init__(self, target: Target, run_id: str, dataset: DatasetRecord) -> None:
        super().__init__(target, run_id)
        self._dataset = dataset
        self._buffer = ChunkBuffer(self._put)
        self._finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and not self._finished:
            self.finish()

    def log(
        self,
        *,
        y_pred: object,
        y_true: object | None = None,
        y_score: object | None = None,
        sample_ids: object | None = None,
        slices: object | None = None,
    ) -> None:
        """Add one batch of n predictions.

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
        self._buffer.add(
            read_batch(
                y_pred=y_pred,
                y_true=y_true,
                y_score=y_score,
                ids=sample_ids,
                slices=slices,
                labels=self._dataset.labels,
                positive_label=self._dataset.positive_label,
            )
        )

    def finish(self) -> Run:
        """Store what is buffered and close the run. Finishing twice is the same as once."""
        self._buffer.flush()
        finish_run(self._target.database, self.id)
        self._finished = True
        return Run(self._target, self.id)

    def _put(self, seq: int, batch: Batch) -> None:
        put_chunk(self._target.database, self.id, seq, batch)
