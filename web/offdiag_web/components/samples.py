"""Content of samples on pages, as far as readers may see it, and answers about their labels.

Samples are shown alone or as a few examples of a finding. Stored images are sent as responses in
which nothing can execute, whatever was uploaded.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from flask import Request, Response, request

from offdiag.domain.number_text import number
from offdiag.domain.sample_content import FieldValue, SampleContent, filled
from offdiag.errors import Forbidden, InvalidInput, NotFound
from offdiag.flags.problems import Cause
from offdiag.services.examples.page import Example, browse_examples
from offdiag.services.examples.selection import ExampleQuestion
from offdiag.services.samples.content import ShownSamples, shown_samples
from offdiag.services.samples.drafts import DraftStatus, LabelDraft, answer_labels
from offdiag.store.datasets import dataset_named
from offdiag.store.samples import Picture
from offdiag_web.app.context import current_registry
from offdiag_web.components import numbers
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.run import ExamplesAddress

SHOW = "content"
"""The parameter with which readers ask for hidden content."""
MOST_FIELDS = 6
LONGEST_TEXT = 240


@dataclass(frozen=True, slots=True)
class SampleLook:
    """The content of one sample; everything is None if nothing is stored or may be shown.

    `image_url` is a small image and `large_url` a larger one; `is_hidden` says that there is
    content that the reader has not asked for.
    """

    sample: str
    image_url: str | None = None
    large_url: str | None = None
    text: str | None = None
    more_text: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    audio: str | None = None
    link: str | None = None
    is_hidden: bool = False


@dataclass(frozen=True)
class SampleLooks:
    """Content of samples by name. `field_names` are columns that some of the samples have, of
    which `numeric_fields` have numbers alone."""

    by_name: Mapping[str, SampleLook]
    has_images: bool
    has_texts: bool
    field_names: tuple[str, ...]
    is_hidden: bool
    numeric_fields: frozenset[str] = frozenset()

    @property
    def has_any(self) -> bool:
        """Whether there is anything to show besides ids."""
        return self.has_images or self.has_texts or bool(self.field_names)

    def of(self, sample: object) -> SampleLook:
        return self.by_name[str(sample)]


def sample_looks(address: DatasetAddress, samples: Iterable[object]) -> SampleLooks:
    """The content of samples, in one query."""
    registry, show = current_registry(), request.args.get(SHOW)
    names = [str(sample) for sample in samples]
    if not names:
        return SampleLooks({}, has_images=False, has_texts=False, field_names=(), is_hidden=False)
    project, dataset, hosts = address.project, address.name, registry.content_hosts
    with registry.database.read() as session:
        shown = shown_samples(session, names, hosts, project=project, dataset=dataset)
    is_hidden = shown.is_hidden and show != "shown"
    within = _small_pictures(shown.content.values())
    looks = {name: _look(shown, address, name, within, is_hidden=is_hidden) for name in names}
    stored = shown.content.values()
    fields: dict[str, bool] = {}
    for content in stored:
        for field, value in (content.fields or {}).items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            fields[field] = fields.get(field, True) and is_number
    return SampleLooks(
        looks,
        has_images=shown.has_images,
        has_texts=any(content.text is not None for content in stored),
        field_names=tuple(fields)[:MOST_FIELDS],
        is_hidden=shown.is_hidden,
        numeric_fields=frozenset(field for field, is_number in fields.items() if is_number),
    )


MOST_BYTES_WITHIN = 24_576
"""Most bytes of images embedded in a page; others are requested separately once visible."""


def _small_pictures(contents: Iterable[SampleContent]) -> dict[str, str]:
    """Small images as data URLs by sample, the first ones that fit into a page."""
    found, n_bytes = {}, 0
    for content in contents:
        if content.small_picture:
            n_bytes += len(content.small_picture)
            if n_bytes > MOST_BYTES_WITHIN:
                break
            data = b64encode(content.small_picture).decode("ascii")
            found[content.sample] = f"data:{content.image_type};base64,{data}"
    return found


def _look(
    shown: ShownSamples,
    address: DatasetAddress,
    name: str,
    within: Mapping[str, str],
    *,
    is_hidden: bool,
) -> SampleLook:
    if is_hidden:
        return SampleLook(name, is_hidden=True)
    content = shown.content.get(name)
    image = large = None
    if content is not None and content.image_digest is not None:
        image = within.get(name) or address.image_url(name, content.image_digest)
        large = address.image_url(name, content.image_digest, is_large=True)
    elif shown.image_template is not None:
        image = large = filled(shown.image_template, name)
    text = None if content is None else content.text
    is_long = text is not None and len(text) > LONGEST_TEXT
    return SampleLook(
        name,
        image,
        large,
        text=text[:LONGEST_TEXT] if text is not None else None,
        more_text=text[LONGEST_TEXT:] if text is not None and is_long else None,
        fields=tuple(
            (name, _value(value))
            for name, value in ({} if content is None else content.fields or {}).items()
        ),
        audio=None if content is None else content.audio,
        link=shown.link_of(name),
    )


def _value(value: FieldValue) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return numbers.shortened(str(value), longest=60)


NOTHING_ACTS = "default-src 'none'; sandbox"
"""Even if a browser took an image for a page, that would have no origin and no scripts."""


def picture_response(picture: Picture, request: Request) -> Response:
    """An image encoded by offdiag; its address contains its digest, so it is fetched only once."""
    response = Response(picture.data, mimetype=picture.media_type)
    response.headers["Content-Security-Policy"] = NOTHING_ACTS
    response.headers["Content-Disposition"] = "inline"
    response.set_etag(picture.digest)
    response.cache_control.private = True
    response.cache_control.max_age = 86_400
    return cast(Response, response.make_conditional(request))


LEAVE_OUT = ""
"""The value of the form that says that a label cannot be determined."""


def answer_from_form(*, project: str, dataset: str, person: str, is_final: bool = False) -> int:
    """Store a person's label of the samples selected in the form, and return their number.

    Raises `InvalidInput` without samples or without a label, and what `answer_labels` raises.
    """
    label = request.form.get("label")
    if label is None:
        raise InvalidInput("no label is selected.", field="labels", hint="Choose one.")
    if label == LEAVE_OUT:
        _require_named_classes(project, dataset)
    return answer_labels(
        current_registry().database,
        project=project,
        dataset=dataset,
        labels=dict.fromkeys(selected_samples(), None if label == LEAVE_OUT else label),
        author=person,
        note=request.form.get("note"),
        is_final=is_final,
        version=request.form.get("version", type=int),
    )


def _require_named_classes(project: str, dataset: str) -> None:
    """Raise `InvalidInput` if an empty label is ambiguous because a class has an empty name."""
    with current_registry().database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
    if LEAVE_OUT in known.labels.names:
        raise InvalidInput(
            "a class of this dataset has an empty name, which here stands for “cannot be told”.",
            field="labels",
            hint=f"In Python the two differ: offdiag.label_draft(dataset={dataset!r}).propose("
            "{sample: ''}) or {sample: None}.",
        )


def selected_samples() -> list[str]:
    """The samples selected in the form. Raises `InvalidInput` if there are none."""
    found = request.form.getlist("sample")
    if not found:
        raise InvalidInput(
            "no example is selected.", field="sample", hint="Select examples first."
        )
    return found


def no_longer_listed(listed: Iterable[int | str]) -> list[str]:
    """A notice of samples selected in a form that its page no longer lists, if there are any."""
    shown = set(map(str, listed))
    gone = [name for name in request.form.getlist("sample") if name not in shown]
    if not gone:
        return []
    few = numbers.plural(len(gone), "selected example is", "selected examples are")
    names = numbers.listed([numbers.shortened(name) for name in gone])
    return [f"{few} no longer listed and no longer selected: {names}."]


MOST_EXAMPLES = 5
LONGEST_TEXT_OF_STRIP = 80
_OF_PREDICTED = (Cause.IMPRECISE,)
_OF_ACTUAL = (Cause.MISSED, Cause.DROP, Cause.HIDES)


@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example with the score of its predicted class; with two classes, `taken_for` is empty."""

    look: SampleLook
    url: str
    taken_for: str
    score: str
    text: str


@dataclass(frozen=True, slots=True)
class ExampleStrip:
    """A few examples, errors with high confidence first; the title counts all."""

    title: str
    all_url: str
    examples: tuple[ShownExample, ...]


def question_about(cause: Cause, label: str | None, part: str | None) -> ExampleQuestion | None:
    """Examples of the class that were missed or predicted as it; None if none show the cause."""
    if cause is Cause.SLICE:
        return ExampleQuestion(actual=label or None, part=part)
    if label and cause in _OF_ACTUAL:
        return ExampleQuestion(label)
    if label and cause in _OF_PREDICTED:
        return ExampleQuestion(None, label)
    return None


def example_strip(run_id: str, question: ExampleQuestion | None) -> ExampleStrip | None:
    """The first examples of a run; None if there are none, or none that can be shown any more."""
    if question is None:
        return None
    try:
        found = browse_examples(current_registry().database, run_id, question, size=MOST_EXAMPLES)
    except (Forbidden, InvalidInput, NotFound):
        # The run has been deleted since, its class is gone, or the slice is too small.
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
        score="" if example.confidence is None else number(example.confidence, decimals=2),
        text=""
        if look.text is None
        else numbers.shortened(look.text, longest=LONGEST_TEXT_OF_STRIP),
    )


def draft_text(found: LabelDraft) -> str:
    """ "9 changes by 2 people; 3 examples have different answers."; empty without answers."""
    if not found.items:
        return ""
    n_open = sum(item.status is DraftStatus.DISAGREE for item in found.items)
    text = (
        f"{numbers.plural(found.n_changes, 'change')} by "
        f"{numbers.plural(len(found.people), 'person', 'people')}"
    )
    if not n_open:
        return f"{text}."
    verb = "has" if n_open == 1 else "have"
    return f"{text}; {numbers.plural(n_open, 'example')} {verb} different answers."
