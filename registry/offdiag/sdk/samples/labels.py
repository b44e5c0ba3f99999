"""Labels of samples: which ones are suspect, and what people propose for the next version."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from offdiag.domain.labels import TruthRevision, label_text
from offdiag.domain.texts import name_segment
from offdiag.errors import Conflict, InvalidInput
from offdiag.extras import optional
from offdiag.inputs.content.given_samples import sample_name, sample_names
from offdiag.records.base import Request, RequestBody
from offdiag.records.datasets.draft import (
    AnsweredTasks,
    AnswersStored,
    Draft,
    DraftQuery,
    LabelTasks,
    ProposedLabels,
    PublishedDraft,
    TasksQuery,
    UndoneVersion,
    WithdrawnLabels,
    asked_answers,
    asked_import,
    asked_withdrawal,
    draft_document,
)
from offdiag.records.datasets.label_errors import (
    MOST_SUSPECTS,
    NoiseQuery,
    SuspectsQuery,
    noise_request,
    suspects_request,
)
from offdiag.records.datasets.truth import Corrected
from offdiag.sdk.registry import Registry
from offdiag.sdk.target import current_author, target

if TYPE_CHECKING:
    import pandas as pd

    from offdiag.services.truth.revise import Revision
    from offdiag.store.database import Database


def suspect_labels(
    *,
    dataset: str,
    label: object = None,
    at_least: int = 1,
    limit: int = MOST_SUSPECTS,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """The labels of a dataset that independent models contradict, most suspect first, as a frame.

    Of all runs, one for each model and value of its parameter `features` votes: with its
    probabilities, by confident learning (Northcutt et al. 2021), else with its predicted class.
    Runs with the tag or parameter `split=train` do not vote, because a model has often learned the
    wrong labels it was trained on.

    * `dataset`: the name of the dataset.
    * `label`: only labels of this class.
    * `at_least`: only labels that at least this many models contradict. Default: 1.
    * `limit`: the highest number of rows. Default: 10,000.
    * `project`, `url`: the project and the registry. Default: the configured ones.

    Columns are `sample`, `label`, `suggested`, `score` (mean margin of the suggested class over
    the label, from -1 to 1), `against`, `n_models` and `reason`. `frame.attrs` has `models`,
    `n_suspect`, `n_labelled` and `planted`: how many labels made wrong on purpose rank among the
    first 5 %.

    Raises `NotFound` for an unknown dataset, and `Conflict` if no model can vote.
    """
    with optional:
        import pandas as pd

    at = target(url)
    place = project if project is not None else at.project
    asked = SuspectsQuery.model_construct(
        project=place,
        class_label=None if label is None else label_text(label, field_name="label"),
        at_least=at_least,
        limit=limit,
    )
    found = at.ask(suspects_request(dataset, asked)).plain()
    if found["missing"] is not None:
        raise Conflict(found["missing"], field="dataset", hint="Log runs with y_score=.")
    columns = ("sample", "label", "suggested", "score", "against", "reason")
    frame = pd.DataFrame([{name: each[name] for name in columns} for each in found["suspects"]])
    frame = frame.reindex(columns=list(columns))
    frame.insert(5, "n_models", len(found["models"]))
    frame.attrs = {name: found[name] for name in ("models", "n_suspect", "n_labelled", "planted")}
    return frame


def label_noise(
    *,
    dataset: str,
    share: float = 0.03,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """How much wrong labels could change accuracy and rank of the best run of each model.

    * `dataset`: the name of the dataset.
    * `share`: the highest share of wrong labels, 0 to 0.5, for the bounds under any noise.
      Default: 0.03.
    * `project`, `url`: the project and the registry. Default: the configured ones.

    Each model has one row. Columns are `model`, `run`, `accuracy`, `low` and `high` (bounds of
    accuracy under the noise matrix of confident learning, None if it cannot be estimated),
    `any_low` and `any_high` (under any wrong labels up to `share`), and `rank_low` and
    `rank_high`. `frame.attrs` has `estimated`, `missing`, `method`, `pairs` ("A leads B under any
    noise up to 3 %") and, for each model, the bounds of its `recalls`.

    Raises `NotFound`, `InvalidInput` for a share outside 0 to 0.5, and `Conflict` if no model can
    vote.
    """
    with optional:
        import pandas as pd

    at = target(url)
    query = NoiseQuery.asked(project=project if project is not None else at.project, share=share)
    found = at.ask(noise_request(dataset, query))
    if not found.models:
        raise Conflict(
            found.missing or "no model has a vote", field="dataset", hint="Log runs of models."
        )
    plain = found.plain()
    recalls = {each["model"]: each.pop("recalls") for each in plain["models"]}
    frame = pd.DataFrame(plain["models"])
    frame.attrs = {name: plain[name] for name in ("estimated", "missing", "method", "pairs")}
    frame.attrs["recalls"] = recalls
    return frame


def label_draft(
    *, dataset: str, project: str | None = None, url: str | None = None, author: str | None = None
) -> LabelDraft:
    """The labels that people propose for the next version of a dataset, as a `LabelDraft`.

    The draft is read when one of its methods is called.

    * `dataset`: the name of the dataset.
    * `project`, `url`: the project and the registry. Default: the configured ones.
    * `author`: the person who answers. Default: the user of this machine. On a server it is always
      the user of the token.
    """
    at = target(url)
    place = project if project is not None else at.project
    return LabelDraft(at, place, dataset, author or current_author())


class LabelDraft:
    """The draft of the next label version of a dataset, returned by `label_draft`."""

    def __init__(self, at: Registry, project: str, dataset: str, author: str | None) -> None:
        self._at, self._author = at, author
        self._project, self._dataset = project, dataset

    def read(self) -> Draft:
        """Samples with their answers, the people who answered, and their agreement.

        Samples that one other person has answered have no answers yet, so that yours is
        independent.
        """

        def stored(database: Database) -> Draft:
            from offdiag.services.samples.drafts import label_draft as read

            return draft_document(read(database, **self._where), self._author)

        query = DraftQuery(project=self._project, author=self._author)
        return self._at.ask(Request(self._path(), Draft, stored, query))

    def frame(self) -> pd.DataFrame:
        """One row for each answer that `read` shows: `sample`, `label`, `author`, `answer`,
        `note`, `is_final`, `status`, `outcome`; `attrs["agreement"]` has Cohen's kappa of each two
        people."""
        with optional:
            import pandas as pd

        found = self.read()
        columns = ("sample", "label", "author", "answer", "note", "is_final", "status", "outcome")
        frame = pd.DataFrame(
            [
                (
                    *(each.sample, each.label, said.author, said.label),
                    *(said.note, said.is_final, each.status, each.outcome),
                )
                for each in found.samples
                for said in each.answers
            ],
            columns=list(columns),
        )
        frame.attrs["agreement"] = [pair.plain() for pair in found.agreement]
        return frame

    def propose(self, labels: Mapping[Any, object], *, note: str | None = None) -> int:
        """Propose labels of samples, replacing your earlier answers; returns how many.

        `labels` maps sample identifiers to labels. None means that the label cannot be determined;
        publishing then removes it. `note` is a comment. Raises `InvalidInput` for unknown samples
        and classes.
        """
        return self._answer(labels, note, is_final=False)

    def decide(self, labels: Mapping[Any, object], *, note: str | None = None) -> int:
        """Decide labels on which people disagree; returns how many.

        Arguments and errors are those of `propose`.
        """
        return self._answer(labels, note, is_final=True)

    def withdraw(self, samples: Sequence[object]) -> int:
        """Withdraw your answers on `samples`; returns how many there were."""
        body = WithdrawnLabels.asked(
            project=self._project, samples=[sample_name(s) for s in samples], author=self._author
        )
        return self._n_answers(
            "/withdraw", body, lambda at: asked_withdrawal(at, self._dataset, body, body.author)
        )

    def publish(self, *, reason: str, opinions: Literal[1, 2] = 1) -> TruthRevision:
        """Create a label version with the answers that agree; other samples keep their labels.

        * `reason`: why, in words. It is stored with the version.
        * `opinions`: with 2, a sample needs the same answer from two people, or a decision.
          Default: 1.

        Raises `Conflict` if no label would change.
        """

        def stored(database: Database) -> Corrected:
            from offdiag.services.samples.drafts import publish_draft

            made = publish_draft(
                database, **self._where, reason=reason, author=self._author, opinions=opinions
            )
            return _corrected(self._dataset, made)

        body = PublishedDraft.asked(
            project=self._project, reason=reason, opinions=opinions, author=self._author
        )
        asked = Request(self._path("/publish"), Corrected, stored, body, "POST")
        return TruthRevision(**self._at.ask(asked).plain())

    def undo(self, version: int, *, reason: str) -> TruthRevision:
        """Restore the labels that the published `version` changed, in another version.

        `reason` is stored with it. Raises `Conflict` if later versions changed the same samples
        again.
        """

        def stored(database: Database) -> Corrected:
            from offdiag.services.samples.drafts import undo_version

            made = undo_version(
                database, **self._where, number=version, reason=reason, author=self._author
            )
            return _corrected(self._dataset, made)

        body = UndoneVersion.asked(project=self._project, reason=reason, author=self._author)
        path = f"/datasets/{name_segment(self._dataset)}/truth/{version}/undo"
        asked = Request(path, Corrected, stored, body, "POST")
        return TruthRevision(**self._at.ask(asked).plain())

    def tasks(
        self, tool: Literal["label-studio", "argilla"] = "label-studio", *, limit: int = 200
    ) -> list[dict[str, Any]]:
        """Samples of the draft and suspect labels, as Label Studio or Argilla imports them.

        `tool` is "label-studio", the default, or "argilla"; `limit` is the highest number of
        tasks.
        """

        def stored(database: Database) -> LabelTasks:
            from offdiag.services.samples.tasks import label_tasks

            return LabelTasks(tasks=label_tasks(database, **self._where, tool=tool, limit=limit))

        query = TasksQuery.asked(project=self._project, tool=tool, limit=limit)
        return self._at.ask(Request(self._path("/tasks"), LabelTasks, stored, query)).tasks

    def import_answers(self, tasks: list[dict[str, Any]]) -> int:
        """Add the answers in an export of either tool, each under its author; returns how many."""
        body = AnsweredTasks.asked(project=self._project, tasks=tasks, author=self._author)
        return self._n_answers(
            "/tasks", body, lambda at: asked_import(at, self._dataset, body, body.author)
        )

    def _answer(self, labels: Mapping[Any, object], note: str | None, *, is_final: bool) -> int:
        if not isinstance(labels, Mapping):
            raise InvalidInput(
                f"{type(labels).__name__} is not a mapping.",
                field="labels",
                hint="Give {sample: label}, as a Series with samples as index has in .to_dict().",
            )
        texts = [
            None if label is None else label_text(label, field_name="labels")
            for label in labels.values()
        ]
        given = dict(zip(sample_names(labels), texts, strict=True))
        body = ProposedLabels.asked(
            project=self._project,
            samples=list(given),
            labels=list(given.values()),
            note=note,
            author=self._author,
        )
        return self._n_answers(
            "/decide" if is_final else "",
            body,
            lambda at: asked_answers(at, self._dataset, body, body.author, is_final=is_final),
        )

    def _n_answers(
        self, part: str, body: RequestBody, stored: Callable[[Database], AnswersStored]
    ) -> int:
        asked = Request(self._path(part), AnswersStored, stored, body, "POST")
        return self._at.ask(asked).n_answers

    @property
    def _where(self) -> dict[str, Any]:
        return {"project": self._project, "dataset": self._dataset}

    def _path(self, part: str = "") -> str:
        return f"/datasets/{name_segment(self._dataset)}/draft{part}"


def _corrected(dataset: str, made: Revision) -> Corrected:
    from offdiag.services.truth.revise import summary_of

    return Corrected.model_validate(summary_of(dataset, made).to_dict())
