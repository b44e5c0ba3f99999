"""The view of the page of examples."""

from __future__ import annotations

from dataclasses import dataclass, replace

from werkzeug.wrappers import Response

from offdiag.domain.runs import Task
from offdiag.metrics.counted import numbers_of
from offdiag.services.examples.page import MOST_EXPORTED, Example, ExamplePage, NoExamples
from offdiag.services.examples.selection import AS_LOGGED, ExampleOrder, Kind, SortKey
from offdiag_web.app.errors import Failure
from offdiag_web.components import numbers
from offdiag_web.components.classes import (
    ClassHead,
    class_head,
    label_head,
    listed_choices,
    quoted_name,
)
from offdiag_web.components.controls import Caution, Segment, SortHead, aria_sort
from offdiag_web.components.runs.frame import run_page
from offdiag_web.components.samples import (
    SampleLook,
    SampleLooks,
    no_longer_listed,
    sample_looks,
)
from offdiag_web.pages.run_examples.counts import ExampleCounts, sentence, title
from offdiag_web.pages.run_examples.filters import cell_stepper, kept_fields, kind_segments, terms
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.run import ExamplesAddress

LONGEST_SET = 60
"""Most characters of a set of labels that are shown."""
MOST_SLICE_COLUMNS = 6
"""Most slice columns that are shown; all are in the exports."""


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """One prediction; `result` is "right", "wrong" or "no label", `top` classes with scores.

    For sets, `missed` and `spurious` are labels.
    """

    sample: str
    actual: ClassHead
    predicted: ClassHead
    result: str
    confidence: str | None
    margin: str | None
    top: tuple[tuple[ClassHead, str], ...]
    slices: tuple[str, ...]
    look: SampleLook
    content: tuple[str, ...]
    """Fields of the sample, in the order of the columns."""
    missed: str = ""
    spurious: str = ""
    agreeing: str = ""
    """ "2 of 4 models", if examples are sorted by it."""


def examples_view(
    page: ExamplePage,
    address: ExamplesAddress,
    notices: list[str],
    failure: Failure | None = None,
) -> Response:
    """Present a page according to its address, with the error about its form if there is one."""
    run = page.detail.run
    dataset = DatasetAddress(run.project, run.dataset)
    looks = sample_looks(dataset, (each.sample for each in page.examples))
    question, results = address.question, page.detail.results
    counts = None
    if results is not None and not page.missing:
        counts = ExampleCounts(numbers_of(results.counted), page.detail.run.hierarchy)
    n_unlabelled = 0 if results is None else results.facts.n_unlabelled
    of_sets = page.detail.run.task is Task.MULTILABEL
    has_margin = page.detail.run.score_columns > 1 and not of_sets
    head = "examples" if page.missing else title(address.question, page.total)
    lines = _lines(page, looks)
    return run_page(
        "run_examples/page.html",
        page.detail,
        "examples",
        address=address,
        notices=[*notices, *no_longer_listed(each.sample for each in page.examples)],
        failure=failure,
        title=head,
        sentence=None if counts is None else sentence(counts.of(question), question),
        missing=None if page.missing is None else _why_missing(page.missing),
        kinds=kind_segments(counts, address, n_unlabelled=n_unlabelled),
        terms=terms(counts, address, n_unlabelled=n_unlabelled),
        stepper=cell_stepper(counts, address),
        choices=listed_choices(_names(page)),
        kept=kept_fields(address),
        sample_head=_sort_head(
            "Example" if page.has_ids else "Position", AS_LOGGED, page, address
        ),
        confidence_head=_score_head("Score", SortKey.CONFIDENCE, page, address)
        if page.has_scores
        else None,
        margin_head=_score_head("Margin", SortKey.MARGIN, page, address) if has_margin else None,
        top_head=_top_head(page),
        has_one_score=_has_one_score(page),
        shows_agreement=page.n_models > 0,
        shows_errors=of_sets,
        slice_heads=page.slice_names[:MOST_SLICE_COLUMNS],
        lines=lines,
        looks=looks,
        groups=_groups(lines, address) if looks.has_images and not address.as_list else (),
        forms=_forms(address) if looks.has_images else (),
        sorts=_sorts(page, address),
        content_url=replace(address, with_content=not address.with_content).url(),
        shows_result=question.kind is Kind.ALL and not question.is_cell,
        range_text=_range_text(page),
        first_url=replace(address, cursor=None).url() if page.before else None,
        previous_url=replace(address, cursor=page.before).url() if page.before else None,
        next_url=replace(address, cursor=page.after).url() if page.after else None,
        all_url=ExamplesAddress(address.run_id).url(),
        label_form=None if of_sets or page.missing else _label_form(page, address),
        notes=_notes(
            page,
            shows_order=any(each.is_current for each in _sorts(page, address)),
            asks_agreement=question.order is not None and question.order.key is SortKey.AGREEMENT,
        ),
    )


def _label_form(page: ExamplePage, address: ExamplesAddress) -> dict[str, object] | None:
    run = page.detail.run
    if run.truth is None:
        return None
    return {
        "draft_url": DatasetAddress(run.project, run.dataset).draft_url(),
        "version": run.truth.number,
        "classes": run.labels.names,
        "label": address.question.predicted or "",
    }


def _names(page: ExamplePage) -> tuple[str, ...]:
    """All names that examples can be filtered by: classes, and groups if there are any."""
    run = page.detail.run
    groups = () if run.hierarchy is None else tuple(run.hierarchy.by_name)
    return (*run.labels.names, *groups)


def _why_missing(missing: NoExamples) -> Caution:
    match missing:
        case NoExamples.ONLY_A_MATRIX:
            return Caution(
                "No predictions are stored.",
                "This run was logged as a finished matrix, or as the counts of a frame, so the "
                "examples in a cell are not known. To see them here, log predictions with "
                "offdiag.log_run(y_true=…, y_pred=…, sample_ids=…).",
            )
        case NoExamples.STILL_OPEN:
            return Caution(
                "This run is still open for predictions.",
                "Its examples are shown once it is finished.",
            )


def _sort_head(
    text: str, order: ExampleOrder, page: ExamplePage, address: ExamplesAddress
) -> SortHead:
    is_current = page.order.key is order.key
    return SortHead(
        text,
        address.sorted_by(order).url(),
        aria_sort(is_current=is_current, descending=is_current and page.order.descending),
    )


def _score_head(text: str, key: SortKey, page: ExamplePage, address: ExamplesAddress) -> SortHead:
    """The head for a score: sorts highest first, or lowest first if that is the current order."""
    descending = not (page.order.key is key and page.order.descending)
    return _sort_head(text, ExampleOrder(key, descending), page, address)


def _has_one_score(page: ExamplePage) -> bool:
    return page.detail.run.score_columns == 1 and page.detail.run.positive_label is not None


def _top_head(page: ExamplePage) -> str:
    if _has_one_score(page) and page.detail.run.positive_label is not None:
        return f"Logged score, {quoted_name(page.detail.run.positive_label)}"
    return "Largest scores"


def _groups(
    lines: tuple[ExampleLine, ...], address: ExamplesAddress
) -> tuple[tuple[str, tuple[ExampleLine, ...]], ...]:
    if address.question.is_cell:
        return (("", lines),) if lines else ()
    by_cell: dict[str, list[ExampleLine]] = {}
    for line in lines:
        heading = f"{line.actual.short} \N{RIGHTWARDS ARROW} {line.predicted.short}"
        by_cell.setdefault(heading, []).append(line)
    return tuple((heading, tuple(each)) for heading, each in by_cell.items())


def _forms(address: ExamplesAddress) -> tuple[Segment, ...]:
    return tuple(
        Segment(text, replace(address, as_list=as_list).url(), address.as_list is as_list)
        for text, as_list in (("Images", False), ("List", True))
    )


def _sorts(page: ExamplePage, address: ExamplesAddress) -> tuple[Segment, ...]:
    """Sort orders for tiles, which have no column heads, and those without a head."""
    orders = [("As logged", AS_LOGGED)]
    if page.detail.run.task is not Task.MULTILABEL:
        orders.insert(0, ("Fewest models agree", ExampleOrder(SortKey.AGREEMENT)))
    if page.has_scores:
        orders = [
            ("Highest score", ExampleOrder(SortKey.CONFIDENCE, descending=True)),
            ("Lowest score", ExampleOrder(SortKey.CONFIDENCE)),
            ("Smallest margin", ExampleOrder(SortKey.MARGIN)),
            ("Lowest score of the label", ExampleOrder(SortKey.ACTUAL)),
            *orders,
        ]
    if len(orders) == 1:
        return ()
    return tuple(
        Segment(text, address.sorted_by(order).url(), page.order == order)
        for text, order in orders
    )


def _lines(page: ExamplePage, looks: SampleLooks) -> tuple[ExampleLine, ...]:
    agreeing = page.n_agreeing if page.n_models else (None,) * len(page.examples)
    return tuple(
        _line(example, n, page, looks) for example, n in zip(page.examples, agreeing, strict=True)
    )


def _line(
    example: Example, n_agreeing: int | None, page: ExamplePage, looks: SampleLooks
) -> ExampleLine:
    of = f"of {numbers.plural(page.n_models, 'model')}"
    look = looks.of(example.sample)
    fields = dict(look.fields)
    return ExampleLine(
        sample=str(example.sample),
        actual=_answer(example, example.actual),
        predicted=_answer(example, example.predicted),
        result=_result(example),
        confidence=None if example.confidence is None else numbers.metric(example.confidence),
        margin=None if example.margin is None else numbers.metric(example.margin),
        top=tuple((class_head(each.label), numbers.metric(each.score)) for each in example.top),
        slices=tuple(example.slices[name] for name in page.slice_names[:MOST_SLICE_COLUMNS]),
        missed="" if example.sets is None else _listed(example.sets.missed),
        spurious="" if example.sets is None else _listed(example.sets.spurious),
        look=look,
        content=tuple(fields.get(name, "") for name in looks.field_names),
        agreeing="" if n_agreeing is None else f"{numbers.count(n_agreeing)} {of}",
    )


def _answer(example: Example, text: str | None) -> ClassHead:
    """A class by its name; a set of labels, with more room."""
    if example.sets is None or text is None:
        return label_head(text)
    return ClassHead(text, numbers.shortened(text, longest=LONGEST_SET))


def _listed(names: tuple[str, ...]) -> str:
    return numbers.listed([numbers.shortened(name) for name in names]) if names else ""


def _result(example: Example) -> str:
    if example.actual is None:
        return "no label"
    return "right" if example.actual == example.predicted else "wrong"


def _range_text(page: ExamplePage) -> str:
    shown = numbers.plural(page.total, "example")
    if len(page.examples) == page.total:
        return shown
    first, last = page.start + 1, page.start + len(page.examples)
    return f"{numbers.count(first)}\N{EN DASH}{numbers.count(last)} of {shown}"


def _notes(page: ExamplePage, *, shows_order: bool, asks_agreement: bool) -> tuple[str, ...]:
    notes = [] if shows_order else [_order_note(page)]
    if asks_agreement and not page.n_models:
        notes.append("No model has a vote on labels: see the tab Suspect labels of the dataset.")
    if page.has_scores:
        notes.append(_score_note(page))
    if not page.has_ids:
        notes.append("Samples were logged without identifiers; positions count from 0.")
    hidden = page.slice_names[MOST_SLICE_COLUMNS:]
    if hidden:
        notes.append(f"Also in the exports: {numbers.listed(hidden)}.")
    notes.append(_export_note(page.total))
    return tuple(notes)


_SORTED_BY = {
    SortKey.CONFIDENCE: "score",
    SortKey.MARGIN: "margin",
    SortKey.ACTUAL: "score of the label",
    SortKey.AGREEMENT: "number of models that predict the label",
}


def _order_note(page: ExamplePage) -> str:
    if page.order.key is SortKey.LOGGED:
        return "In the order logged."
    what = _SORTED_BY[page.order.key]
    which = "Largest" if page.order.descending else "Smallest"
    return f"{which} {what} first."


def _score_note(page: ExamplePage) -> str:
    if page.detail.run.task is Task.MULTILABEL:
        return "Score: that of the chosen label."
    if page.detail.run.score_columns == 1:
        other = f"1 {numbers.MINUS} it" if page.sum_of_both else "its negative"
        return f"Score: the logged one, or {other} where the other class is predicted."
    return "Score: that of the predicted class. Margin: score minus the largest of another class."


def _export_note(total: int) -> str:
    if total <= MOST_EXPORTED:
        return "CSV and JSON have all, in the order logged."
    limit, of = numbers.count(MOST_EXPORTED), numbers.count(total)
    return f"CSV and JSON have the first {limit} of {of}, in the order logged."
