"""What texts and cards need of flags and evaluations, and lines of tables in texts."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from offdiag.domain.hierarchy import Collapse
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue
from offdiag.flags.warning import MinorityWarning
from offdiag.metrics.counted import Counted


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an evaluation: the run, its dataset and its label version.

    `server_url` is the address of the dashboard; None if it is not known.
    """

    run_id: str
    run_name: str
    dataset: str
    truth_version: int | None = None
    server_url: str | None = None

    @property
    def url(self) -> str | None:
        """Page of the run; None if no server is known."""
        return None if self.server_url is None else f"{self.server_url}/runs/{self.run_id}"

    @property
    def labels_text(self) -> str:
        """ "derm-7 v3"."""
        version = "" if self.truth_version is None else f" v{self.truth_version}"
        return f"{self.dataset}{version}"


class DisplayedFlag(Protocol):
    """A flag; `severity` and `state` as texts."""

    @property
    def rule(self) -> str: ...

    @property
    def severity(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def state(self) -> str: ...


class DisplayedEvaluation(Protocol):
    """An evaluation of K classes, or of sets of K labels; values by class are in label order."""

    @property
    def counted(self) -> Counted: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def aggregate(self) -> Mapping[str, MetricValue]: ...

    @property
    def per_class(self) -> Mapping[str, Mapping[str, MetricValue]]: ...

    @property
    def flags(self) -> Sequence[DisplayedFlag]: ...

    @property
    def warning(self) -> MinorityWarning | None: ...

    @property
    def confidence(self) -> float: ...

    @property
    def collapse(self) -> Collapse | None: ...

    @property
    def origin(self) -> Origin | None: ...


def interval_name(confidence: float) -> str:
    """ "95 % CI"."""
    return f"{100 * confidence:.6g} % CI"


WIDTH = 79
"""Characters of a line."""


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int] = ()
) -> list[str]:
    """Lines of a table, with texts of the first column shortened to fit into `WIDTH` characters.

    `right` has the positions of columns that are aligned to the right.
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    widths[0] = max(8, min(widths[0], WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1)))
    lines = []
    for first, *others in [head, *rows]:
        cells = [shortened(first, longest=widths[0]), *others]
        aligned_cells = [
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(aligned_cells).rstrip())
    return lines
