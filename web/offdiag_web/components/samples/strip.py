"""A few examples of a finding: pictures or texts where there are any, and the way to all."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import Forbidden, InvalidInput, NotFound
from offdiag.flags.problems import Cause
from offdiag.services.examples.page import Example, browse_examples
from offdiag.services.examples.selection import ExampleQuestion
from offdiag_web.app.context import current_registry
from offdiag_web.components import numbers
from offdiag_web.components.samples.look import SampleLook, sample_looks
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.run import ExamplesAddress

MOST_EXAMPLES = 5
LONGEST_TEXT = 80
_OF_PREDICTED = (Cause.IMPRECISE,)
_OF_ACTUAL = (Cause.MISSED, Cause.DROP, Cause.HIDES)


@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example with the score of its predicted class; `taken_for` is empty for two classes."""

    look: SampleLook
    url: str
    taken_for: str
    score: str
    text: str


@dataclass(frozen=True, slots=True)
class ExampleStrip:
    """A few examples, errors of high confidence first; the title counts all."""

    title: str
    all_url: str
    examples: tuple[ShownExample, ...]


def question_about(cause: Cause, label: str | None, part: str | None) -> ExampleQuestion | None:
    """Examples of the class that were missed, or taken for it; None where none show the cause."""
    if cause is Cause.SLICE:
        return ExampleQuestion(actual=label or None, part=part)
    if label and cause in _OF_ACTUAL:
        return ExampleQuestion(label)
    if label and cause in _OF_PREDICTED:
        return ExampleQuestion(None, label)
    return None


def example_strip(run_id: str, question: ExampleQuestion | None) -> ExampleStrip | None:
    """The first examples of a run; None where there are none, or none to show any more."""
    if question is None:
        return None
    try:
        found = browse_examples(current_registry().database, run_id, question, size=MOST_EXAMPLES)
    except (Forbidden, InvalidInput, NotFound):
        # The run was deleted since, its class is no longer there, or the slice too small.
        return None
    if not found.examples:
        return None
    run = found.detail.run
    looks = sample_looks(
        DatasetAddress(run.project, run.dataset), (each.sample for each in found.examples)
    )
    is_actual = question.actual is not None
    return ExampleStrip(
        title=f"{numbers.count(found.total)} {'missed' if is_actual else 'wrong'}",
        all_url=ExamplesAddress(run.id, question).url(),
        examples=tuple(
            _shown(
                each,
                looks.of(each.sample),
                run.id,
                taken_for=each.predicted if is_actual else each.actual or "",
                names_class=len(run.labels) > 2,
            )
            for each in found.examples
        ),
    )


def _shown(
    example: Example, look: SampleLook, run_id: str, *, taken_for: str, names_class: bool
) -> ShownExample:
    one = ExampleQuestion(sample=str(example.sample))
    return ShownExample(
        look=look,
        url=ExamplesAddress(run_id, one).url(),
        taken_for=numbers.shortened(taken_for, longest=16) if names_class else "",
        score="" if example.confidence is None else f"{example.confidence:.2f}",
        text="" if look.text is None else numbers.shortened(look.text, longest=LONGEST_TEXT),
    )
