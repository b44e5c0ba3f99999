"""Options for the scope of a report and where it is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from offdiag.reports.scope import ReportScope
    from offdiag.services.delivery.message import Target

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ReportInput:
    """The options of a report as they were given."""

    dataset: str
    model: str | None
    name_contains: str | None
    tag: tuple[str, ...]
    baseline: str | None
    slice_: tuple[str, ...]
    metric: tuple[str, ...]
    alert: tuple[str, ...]
    cost_matrix: str | None
    folder: tuple[str, ...]
    email: tuple[str, ...]
    webhook: tuple[str, ...]

    def scope(self, project: str) -> ReportScope:
        """The scope that is meant. Raises `InvalidInput`."""
        from offdiag.reports.scope import DEFAULT_METRICS, ReportScope, RunTerm, TermField
        from offdiag.services.reports.alerts import alert_condition

        terms = [RunTerm(TermField.TAG, *_tag(text)) for text in self.tag]
        if self.model is not None:
            terms.append(RunTerm(TermField.MODEL, self.model))
        if self.name_contains is not None:
            terms.append(RunTerm(TermField.NAME, self.name_contains))
        return ReportScope(
            project=project,
            dataset=self.dataset,
            terms=tuple(terms),
            baseline=self.baseline,
            slices=self.slice_,
            metrics=self.metric or DEFAULT_METRICS,
            alerts=tuple(map(alert_condition, self.alert)),
            cost_matrix=self.cost_matrix,
        )

    def targets(self) -> tuple[Target, ...]:
        """Where the report goes. Raises `InvalidInput`."""
        from offdiag.services.delivery.message import EmailTarget, FolderTarget, WebhookTarget

        return (
            *map(FolderTarget, self.folder),
            *map(EmailTarget, self.email),
            *map(WebhookTarget, self.webhook),
        )


def report_options(command: Command) -> Command:
    """All options of a report; the command gets them as keywords of `ReportInput`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _tag(text: str) -> tuple[str, str | None]:
    key, separator, value = text.partition("=")
    return (key, value) if separator else (key, None)


_OPTIONS = (
    click.option("--dataset", required=True, help="Dataset whose runs are reported."),
    click.option("--model", help="Only runs of this model; * stands for any characters."),
    click.option("--name-contains", metavar="TEXT", help="Only runs whose name contains this."),
    click.option("--tag", multiple=True, metavar="KEY[=VALUE]", help="Only runs with this tag."),
    click.option("--baseline", metavar="RUN", help="Run that the others are compared with."),
    click.option(
        "--slice",
        "slice_",
        multiple=True,
        metavar="SLICE",
        help="Slice to report in addition to all examples, such as country=DE.",
    ),
    click.option(
        "--metric",
        multiple=True,
        metavar="KEY",
        help="Metric to report; runs are ranked by the first.  "
        "[default: balanced_accuracy, mcc, macro_f1, overall_accuracy]",
    ),
    click.option(
        "--alert",
        multiple=True,
        metavar="CONDITION",
        help="Warn when the whole interval is beyond a limit, such as 'recall[df]<0.5'.",
    ),
    click.option(
        "--cost-matrix",
        metavar="NAME[@VERSION]",
        help="Cost matrix to report costs by; its newest version unless one is named.",
    ),
    click.option(
        "--folder",
        multiple=True,
        metavar="NAME",
        help="Write the files to this folder of reports.",
    ),
    click.option("--email", multiple=True, metavar="ADDRESS", help="Send the report there."),
    click.option("--webhook", multiple=True, metavar="URL", help="Post a signed summary there."),
)
