"""A comparison as Markdown, to be pasted into a review."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from offdiag.comparison import wording
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.wording import letter
from offdiag.domain.values import MetricValue
from offdiag.reports.wording import visible
from offdiag.services.comparison.comparing import RunComparison
from offdiag_web.presenters.comparison.samples_text import samples_text, truth_text

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&#])")


def comparison_markdown(found: RunComparison, *, link: str) -> str:
    """The runs, the verdict, the metrics and the address of the page."""
    return "\n".join(_lines(found, link)) + "\n"


def _lines(found: RunComparison, link: str) -> Iterator[str]:
    for position, run in enumerate(found.runs):
        yield f"* **{letter(position)}** {_escaped(run.name)} ({run.id})"
    yield ""
    if found.refusal is not None:
        yield _escaped(found.refusal.why)
    if found.verdict is not None:
        yield f"**{_escaped(found.verdict.headline)}** {_escaped(' '.join(found.verdict.details))}"
        yield ""
        yield from _table(found.result)
    yield ""
    about = f"{truth_text(found)} · {samples_text(found)}" if not found.refusal else ""
    yield " · ".join(part for part in (_escaped(about), f"<{link}>") if part)


def _table(result: PairComparison | ManyComparison | None) -> Iterator[str]:
    match result:
        case PairComparison():
            level = wording.level_text(result.confidence)
            yield from _rows(
                ("Metric", "A", "B", "B − A", f"{level} CI alone", "Together", "Verdict"),
                [
                    (
                        wording.title(each.key),
                        _number(each.first),
                        _number(each.second),
                        wording.gap_text(each.key, each.difference),
                        wording.gap_interval(each.key, each.difference) or "none",
                        wording.simultaneous_interval(each) or "none",
                        wording.outcome_text(each),
                    )
                    for each in result.metrics
                ],
            )
        case ManyComparison():
            yield from _rows(
                (
                    "Metric",
                    *(letter(at) for at in range(len(result.matrices))),
                    *(["Highest, on new examples"] if result.best_of_many else []),
                ),
                [
                    (
                        wording.title(key),
                        *(
                            f"{_number(each.value)} {wording.STANDINGS[each.standing]}".strip()
                            for each in places
                        ),
                        *_corrected(result, key),
                    )
                    for key, places in result.places.items()
                ],
            )
        case None:
            return


def _corrected(many: ManyComparison, key: str) -> list[str]:
    if not many.best_of_many:
        return []
    best = many.best_of_many.get(key)
    return ["" if best is None else _number(best.corrected)]


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _line(head)
    yield _line(["---", *["--:"] * (len(head) - 1)])
    yield from map(_line, rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: MetricValue) -> str:
    return "undefined" if value.value is None else f"{value.value:.3f}"


def _escaped(text: str) -> str:
    """Names are anybody's input: nothing in them may become a heading, a link or a tag."""
    return _SPECIAL.sub(r"\\\1", visible(text))
