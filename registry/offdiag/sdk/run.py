"""A logged run: its facts, its results, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from offdiag.domain.labels import label_text
from offdiag.domain.runs import (
    Derivation,
    FoundRun,
    PromotionRole,
    RunState,
    Scalar,
    StaleReason,
    plain_entries,
    require_entries,
    stored_note,
)
from offdiag.domain.texts import name_segment, shortened
from offdiag.errors import EvaluationFailed, EvaluationPending, NotFound, OffdiagError
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.records.base import Request, ResponseBody
from offdiag.records.promotion import NewPromotion, asked_promotion
from offdiag.records.runs.run import RunChanges
from offdiag.records.runs.slices import (
    FairnessQuery,
    SlicesQuery,
    fairness_request,
    slices_request,
)
from offdiag.sdk.display.displayed import Origin
from offdiag.sdk.display.evaluation_card import run_card
from offdiag.sdk.display.evaluation_text import facts_text
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.evaluations.slices import fairness_frame, slices_frame
from offdiag.sdk.examples import (
    ExampleKind,
    example_query,
    examples_frame,
    examples_of_run,
    operating_points,
    operating_points_frame,
)
from offdiag.sdk.registry import Decision, Registry, Threshold, noted_run
from offdiag.sdk.target import current_author
from offdiag.settings import load_settings

if TYPE_CHECKING:
    import pandas as pd

    from offdiag.audit.findings import AuditReport
    from offdiag.store.database import Database


class Run:
    """A logged run. Its stored predictions never change.

    `name`, `params` and other facts are read from the registry on first use.
    """

    def __init__(self, registry: Registry, run_id: str) -> None:
        self._registry = registry
        self.id = run_id

    def __repr__(self) -> str:
        """ "Run effnet-b3 (r_4bcd6fgh8jkm), derm-7 v3, accuracy 0.828, df missed (1 of 17)".

        Only the id if the registry cannot be reached.
        """
        with suppress(OffdiagError):
            found = self._read()
            name = f"{shortened(found.name, longest=40)} ({self.id})"
            about = f"Run {name}, {self._origin(found).labels_text}"
            evaluation = self._evaluated(found)
            return about + (
                f", {found.state.value}" if evaluation is None else facts_text(evaluation)
            )
        return f"Run({self.id!r})"

    def _repr_html_(self) -> str:
        found = self._read()
        return run_card(self._origin(found), found.state.value, self._evaluated(found))

    def _read(self) -> FoundRun:
        found = self._registry.find(self.id)
        if found is None:
            raise NotFound(
                f"there is no run {self.id!r}.",
                field="run",
                hint="It may have been deleted, or not be on the server yet.",
            )
        return found

    @cached_property
    def _facts(self) -> FoundRun:
        return self._read()

    def _evaluated(self, found: FoundRun) -> Evaluation | None:
        """The evaluation if it exists; nothing is computed for it."""
        if found.state is not RunState.EVALUATED:
            return None
        with suppress(EvaluationPending, EvaluationFailed):
            stored = self._registry.evaluation(self.id, timeout_s=0.0, part=None, groups=())
            return replace(stored, origin=self._origin(found))
        return None

    @property
    def name(self) -> str:
        """The name of the run."""
        return self._facts.name

    @property
    def model(self) -> str | None:
        """The name of the model; None if none was given."""
        return self._facts.model

    @property
    def project(self) -> str:
        """The project of the run."""
        return self._facts.project

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self._facts.dataset

    @property
    def author(self) -> str | None:
        """The user who logged the run; None if not known."""
        return self._facts.author

    @property
    def created_at(self) -> datetime:
        """When the run was logged, in UTC."""
        return self._facts.created_at

    @property
    def params(self) -> dict[str, Scalar]:
        """Parameters by name; nested ones have names with dots."""
        return dict(self._facts.params)

    @property
    def state(self) -> str:
        """ "open", "finished" (not evaluated yet), "evaluated" or "failed", read each time."""
        return self._read().state.value

    @property
    def tags(self) -> dict[str, Scalar]:
        """Tags by name, read on each access because others may change them."""
        return dict(self._read().tags)

    def reported(self, timeout: float = 60.0) -> AuditReport | None:
        """Audit of the metrics reported with a logged matrix; None if there are none.

        Waits at most `timeout` seconds for the evaluation, as `evaluation` does.
        """
        from offdiag.audit.audit import audit_of_tags

        return audit_of_tags(self.tags, self.evaluation(timeout=timeout).matrix)

    def add_tags(self, tags: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Add tags, or replace those with the same names; other tags stay.

        Use `run.add_tags(review="done")`, or pass a mapping as `tags` for names that are not
        identifiers. Values are text, numbers, booleans or None, or values that `log_run` converts
        to these. Raises `InvalidInput`.
        """
        given = plain_entries(tags, "tags") | plain_entries(named, "tags")
        require_entries(given, "tags")
        self._change(RunChanges(add_tags=given))

    @property
    def note(self) -> str | None:
        """The note about the run, a text of at most 5,000 characters; None if there is none.

        Assigning a text replaces the note; None or "" removes it.
        """
        return noted_run(self._registry, self.id).note

    @note.setter
    def note(self, text: str | None) -> None:
        self._change(RunChanges(note=stored_note(text or "")))

    def _change(self, asked: RunChanges) -> None:
        def stored(database: Database) -> ResponseBody:
            from offdiag.services.run_notes import change_run

            change_run(database, self.id, added_tags=asked.add_tags, note=asked.note)
            return ResponseBody()

        self._registry.ask(Request(f"/runs/{self.id}", ResponseBody, stored, asked, "PATCH"))

    def delete(self) -> None:
        """Delete the run. A second call changes nothing.

        `offdiag runs restore` restores it until `offdiag gc` deletes it permanently. Raises
        `NotFound`.
        """
        self._registry.delete_run(self.id, by=current_author())

    def evaluate(self, timeout: float = 60.0) -> Evaluation:
        """The evaluation, as from `evaluation(timeout)`; a failed one is tried again."""
        self._registry.retry_evaluation(self.id)
        return self.evaluation(timeout)

    @property
    def url(self) -> str:
        """Address of this run in the dashboard."""
        return self._registry.page_of(self.id)

    def derivation(self) -> Derivation | None:
        """The run and the decision rule that this run was derived from; None for a logged run.

        Raises `NotFound` for a deleted run.
        """
        return self._read().derivation

    def decision_rule(self) -> Mapping[str, Any] | None:
        """The rule that predicted from the scores, for a run that was logged without predictions.

        "rule" is "arg_max", or "threshold" with the "positive" class and the "threshold". None if
        predictions were logged. Raises `NotFound` for a deleted run.
        """
        return noted_run(self._registry, self.id).decision_rule

    def costs(self, name: str) -> CostMatrix:
        """The costs stored under `name` in the project of the run; `name@2` is their version 2.

        Raises `NotFound`, and `Conflict` for costs of other classes.
        """
        from offdiag.sdk.cost import costs_for_run

        return costs_for_run(self._registry, self.id, self.project, name)

    def decide(
        self,
        *,
        weights: object = None,
        threshold: Threshold = None,
        positive: object = None,
        prevalence: object = None,
        save_as: str | None = None,
    ) -> Decision[Run]:
        """Apply a decision rule to the scores, and return a `Decision`: what the rule changes.

        Each sample gets the prediction with the lowest expected cost, for which scores must be
        probabilities. With `threshold`, the positive class of two is predicted from that score on
        instead.

        * `weights`: costs as `offdiag.cost` takes them, or a name such as `visits@2`. Default:
          those of the dataset.
        * `threshold`: a score, or "cheapest" for the one with the lowest cost on these samples;
          differences then have no intervals, because the threshold was chosen on the same samples.
        * `positive`: the class that `threshold` predicts, if the dataset has no positive class.
          Default: the rarer one.
        * `prevalence`: the share of each class at deployment.
        * `save_as`: store the predictions as a run of this name. The same rule again gives the
          same run.

        Raises `InvalidInput` for a rule that scores or classes do not allow, `NotFound`, and
        `Conflict` if no costs are known.
        """
        from offdiag.sdk.cost import decide

        self.evaluation()
        found = decide(
            self._registry,
            self.id,
            weights=weights,
            threshold=threshold,
            positive=None if positive is None else label_text(positive, field_name="positive"),
            prevalence=prevalence,
            save_as=save_as,
        )
        saved = None if found.run is None else Run(self._registry, found.run)
        return Decision(**vars(found) | {"run": saved})

    def approve(
        self, *, reason: str, gate: Iterable[str] = (), although_gate_fails: bool = False
    ) -> None:
        """Make the run the champion of its dataset, replacing the previous one.

        * `reason`: why, in words. It is recorded with the author, the time and the metrics.
        * `gate`: conditions such as "recall[mel] >= 0.8". They are checked first, and recorded
          too.
        * `although_gate_fails`: approve a run that fails the gate. Default: False.

        Raises `InvalidInput` without a reason, and `Conflict` for a run that fails the gate.
        """
        self._promote(PromotionRole.CHAMPION, reason, gate, although_gate_fails)

    def propose(self, *, reason: str | None = None, gate: Iterable[str] = ()) -> None:
        """Make the run the candidate of its dataset: the proposed next champion.

        `reason` and `gate` are those of `approve`; the outcome of the gate is recorded, too.
        Raises `Conflict` for the champion.
        """
        self._promote(PromotionRole.CANDIDATE, reason, gate, although_gate_fails=False)

    def _promote(
        self,
        role: PromotionRole,
        reason: str | None,
        gate: Iterable[str],
        although_gate_fails: bool,
    ) -> None:
        self.evaluation()
        place = self._facts
        asked = NewPromotion.model_construct(
            project=place.project,
            run=self.id,
            reason=reason,
            author=current_author(),
            gate=[gate] if isinstance(gate, str) else list(gate),
            although_gate_fails=although_gate_fails,
        )
        self._registry.ask(
            Request(
                f"/datasets/{name_segment(place.dataset)}/{role}",
                ResponseBody,
                lambda at: asked_promotion(
                    at, role, self.id, asked, author=asked.author, settings=load_settings()
                ),
                asked,
                "PUT",
            )
        )

    def evaluation(
        self,
        timeout: float = 60.0,
        *,
        slice: str | None = None,  # noqa: A002 - the word of the field
        collapse: str | Iterable[str] = (),
    ) -> Evaluation:
        """Every metric of the run, computed here or awaited from a worker.

        * `timeout`: how many seconds to wait. Default: 60.
        * `slice`: only the samples of a slice such as "country=DE" or "country=DE & device=phone".
        * `collapse`: a group, or several, of the dataset's hierarchy to treat as one class each;
          "*" for all outermost groups.

        Raises `EvaluationPending` on timeout, `EvaluationFailed` if the evaluation failed, and
        `InvalidInput` for an unknown group.
        """
        groups = (collapse,) if isinstance(collapse, str) else tuple(collapse)
        found = self._registry.evaluation(self.id, timeout_s=timeout, part=slice, groups=groups)
        return replace(found, origin=self._origin(self._read()))

    def _origin(self, found: FoundRun) -> Origin:
        return Origin(
            self.id, found.name, found.dataset, found.truth_version, self._registry.server_url
        )

    def examples(
        self,
        *,
        actual: object = None,
        predicted: object = None,
        kind: ExampleKind = "wrong",
        slice: str | None = None,  # noqa: A002 - the word of the field
        limit: int = 1_000,
    ) -> pd.DataFrame:
        """Predictions of the run as a frame: those of one cell of the matrix, or of one kind.

        * `actual`, `predicted`: the classes of the cell.
        * `kind`: "wrong", "right", "unlabelled" or "all", used unless both classes are given.
          Default: "wrong".
        * `slice`: only the samples of a slice such as "country=DE".
        * `limit`: the highest number of rows. Default: 1,000.

        The index is the number of the prediction in the run. With scores, the most confident
        predictions come first, with the columns `confidence` (score of the predicted class) and
        `margin` (that score minus the highest other one). With a single score s, the other class
        has 1 - s if scores are probabilities, otherwise -s. Slice columns follow. A run whose
        labels were corrected is evaluated first, as by `evaluation`.

        In a multi-label run, `actual` and `predicted` are labels, and the columns have tuples of
        labels: `examples(actual="sea")` are samples with "sea" missed, `examples(predicted="sea")`
        those with a spurious "sea", `examples()` all wrong sets. `confidence` is the score of the
        given label.

        Raises `InvalidInput` for an unknown class, another `kind` and a `limit` below 1, and
        `Conflict` for a run without predictions.
        """
        query = example_query(actual=actual, predicted=predicted, kind=kind, part=slice)
        found = examples_of_run(self._registry, self.id, query, limit)
        if found.outdated is not None and StaleReason.TRUTH_REVISED in found.outdated.reasons:
            self.evaluation()
            found = examples_of_run(self._registry, self.id, query, limit)
        return examples_frame(found)

    def fairness(self, by: str, *, class_label: object = None) -> pd.DataFrame:
        """How much the groups of the slice column `by` differ, by the usual fairness criteria.

        Returns one row for each class and criterion (`demographic_parity`, `equalized_odds`,
        `equal_opportunity`, `predictive_parity`): the `difference` between the highest and the
        lowest rate, and their `ratio`, each with its 95 % interval. With two classes this is the
        positive one, with more each class against the rest, or only `class_label`.

        `frame.attrs` has the `rates` of the groups, the sizes of the `groups`, those that are
        `too_small`, `n_suppressed` others, how many examples are `n_without_value`, and a sentence
        per class on `conflicts` between criteria. Raises `UnknownKey` for a column that the
        samples do not have.
        """
        label = None if class_label is None else label_text(class_label, field_name="class_label")
        asked = FairnessQuery.asked(by=by, class_label=label)
        return fairness_frame(self._registry.ask(fairness_request(self.id, asked)))

    def slices(
        self, metric: str | None = None, *, limit: int = 100, columns: Sequence[str] = ()
    ) -> pd.DataFrame:
        """The slices on which the run is worse than on the rest, most surprising first.

        Every slice of one column, and every combination of two with enough samples, is tested on
        accuracy, averages over classes and the recall of each class. `p_adjusted` and the interval
        of `gap` hold for all tests together; `confirmed` says whether a held-out half agrees. The
        frame is empty if no slice is worse, or without slice columns. A run that is not evaluated
        yet is evaluated first, as by `evaluation`.

        * `metric`: only the slices of this metric, such as "recall".
        * `limit`: the highest number of rows. Default: 100.
        * `columns`: three slice columns, to test only their slices and combinations, including
          those of all three.

        Raises `InvalidInput` for another number of columns and for a metric that slices are not
        tested on, such as precision.
        """
        self.evaluation()
        named = ",".join(columns) or None
        query = SlicesQuery.asked(metric=metric, limit=limit, columns=named)
        found = self._registry.ask(slices_request(self.id, query))
        is_weighted = any(gap.n_effective is not None for gap in found.gaps)
        return slices_frame(found.gaps, is_weighted=is_weighted)

    def operating_points(self, positive: object = None) -> pd.DataFrame:
        """Thresholds of a class, as in the dashboard, with exact counts; strictest first.

        `positive` is the class, by default the positive one. It is predicted where its score is at
        least the threshold; the class of two without a score of its own, where the score of the
        other one is below it. A run that is not evaluated yet is evaluated first, as by
        `evaluation`. Raises `InvalidInput` for an unknown class, and `Conflict` if there are no
        curves.
        """
        self.evaluation()
        name = None if positive is None else label_text(positive, field_name="positive")
        return operating_points_frame(operating_points(self._registry, self.id, name))
