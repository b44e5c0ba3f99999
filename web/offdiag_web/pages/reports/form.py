"""The form of a report: its fields with what was typed, what is wrong, and the next times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from offdiag.domain.schedule import zone_names
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.reports.scope import MOST_CONDITIONS, MOST_METRICS, MOST_SLICES
from offdiag.services.delivery.message import MOST_TARGETS, WebhookTarget
from offdiag.services.schedules.edit import Choices
from offdiag.services.schedules.page import PlanPreview
from offdiag_web.components.controls import Link, Option
from offdiag_web.pages.reports.fields import Errors, TypedReport
from offdiag_web.pages.reports.texts import due_texts

Kind = Literal["text", "lines"]


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field. `options` are what it suggests; `errors` are sentences about it."""

    name: str
    label: str
    value: str
    hint: str
    kind: Kind = "text"
    errors: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    is_required: bool = False

    @property
    def id(self) -> str:
        return f"f-{self.name}"

    @property
    def n_lines(self) -> int:
        """Height of a field of several lines: what is in it and room for one more."""
        return max(2, min(8, self.value.count("\n") + 2))


@dataclass(frozen=True, slots=True)
class NextTimes:
    """What the plan means, or why it means nothing."""

    words: str
    times: tuple[str, ...]
    zone: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class FormView:
    """The form. `fixed_name` is the name of a report that is changed: it keeps it."""

    fixed_name: str | None
    version: str
    fields: dict[str, FieldView]
    datasets: tuple[Option, ...]
    dataset_errors: tuple[str, ...]
    kept_webhooks: tuple[Option, ...]
    next_times: NextTimes
    errors: tuple[Link, ...]


def form_view(
    typed: TypedReport,
    choices: Choices,
    *,
    preview: PlanPreview | str,
    errors: Errors,
    fixed_name: str | None = None,
    version: int | None = None,
    webhooks: Sequence[WebhookTarget] = (),
) -> FormView:
    """Present the form. `preview` is what the plan means, or a sentence why it means nothing."""
    fields = {each.name: each for each in _fields(typed, choices, errors)}
    return FormView(
        fixed_name=fixed_name,
        version="" if version is None else str(version),
        fields=fields,
        datasets=_datasets(typed, choices),
        dataset_errors=tuple(errors.get("dataset", ())),
        kept_webhooks=tuple(
            Option(str(place), hook.text, str(place) in typed.kept_webhooks)
            for place, hook in enumerate(webhooks)
        ),
        next_times=next_times(preview, zone=typed.zone),
        errors=_summary(errors, fields),
    )


def next_times(preview: PlanPreview | str, *, zone: str) -> NextTimes:
    """Present what a plan means."""
    if isinstance(preview, str):
        return NextTimes("", (), zone, preview)
    return NextTimes(preview.words, due_texts(preview.next_due_times), zone)


def _summary(errors: Errors, fields: dict[str, FieldView]) -> tuple[Link, ...]:
    return tuple(
        Link(_labelled(name, text, fields), f"#f-{name}" if name else None)
        for name, sentences in errors.items()
        for text in sentences
    )


def _labelled(name: str, text: str, fields: dict[str, FieldView]) -> str:
    label = fields[name].label if name in fields else "Dataset" if name == "dataset" else None
    return text if label is None else f"{label}: {text}"


def _datasets(typed: TypedReport, choices: Choices) -> tuple[Option, ...]:
    return tuple(
        Option(
            str(each.id),
            each.name if each.project == DEFAULT_PROJECT else f"{each.name} ({each.project})",
            str(each.id) == typed.dataset,
        )
        for each in choices.datasets
    )


def _fields(typed: TypedReport, choices: Choices, errors: Errors) -> list[FieldView]:
    def made(name: str, label: str, hint: str, **more: object) -> FieldView:
        return FieldView(
            name,
            label,
            getattr(typed, name),
            hint,
            errors=tuple(errors.get(name, ())),
            **more,  # type: ignore[arg-type]  # what FieldView takes beside these
        )

    return [
        made("name", "Name", "Issues of one name are compared with each other.", is_required=True),
        made("model", "Model", "Only runs of this model; * stands for any characters."),
        made("name_contains", "Run name contains", "Only runs whose name contains this."),
        made("tags", "Tags", "Only runs with these tags: key or key=value.", kind="lines"),
        made("baseline", "Baseline", "Id of the run that the others are compared with."),
        made(
            "slices",
            "Slices",
            f"Slices in addition to all examples, such as country=DE; at most {MOST_SLICES}.",
            kind="lines",
        ),
        made(
            "metrics",
            "Metrics",
            f"Keys, at most {MOST_METRICS}; runs are ranked by the first.",
            kind="lines",
            is_required=True,
        ),
        made(
            "cost_matrix",
            "Cost matrix",
            "Adds the cost per 1,000 examples. A name is its newest version, visits@3 the third.",
            options=tuple(sorted({each.name for each in choices.costs})),
        ),
        made(
            "alerts",
            "Alerts",
            "Warn if the whole interval is beyond a limit: recall[df]<0.5, mean_cost>0.7. "
            f"At most {MOST_CONDITIONS}.",
            kind="lines",
        ),
        made(
            "cron",
            "Cron expression",
            "Minute, hour, day of month, month, day of week.",
            is_required=True,
        ),
        made(
            "zone",
            "Time zone",
            "Such as Europe/Ljubljana; times are those its clocks show.",
            options=zone_names(),
            is_required=True,
        ),
        made(
            "folders",
            "Folders",
            f"Below the folder of reports, such as weekly. At most {MOST_TARGETS} targets in all.",
            kind="lines",
        ),
        made("emails", "E-mail addresses", "One for each person or list.", kind="lines"),
        made(
            "webhooks",
            "Webhooks",
            "A signed summary is posted to these addresses. They are not shown again.",
            kind="lines",
        ),
        made(
            "places",
            "Notifications",
            "Names of chats and other services in the setting notify.targets, such as team.",
            kind="lines",
        ),
    ]
