"""Input and address of an audit of published numbers, and example tables to try it on.

Some of these tables from the literature contain misprints, which is why they are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from offdiag.audit.table_text.headers import read_meaning, written
from offdiag.audit.table_text.interpretation import Corrections, read_table_text
from offdiag.errors import InvalidInput
from offdiag_web.urls.query_string import with_query

HEAD_FIELD = "read:"
"""The name of a field that corrects the meaning of a head begins with this: `read:Macro F1`."""
CLASSES, MODELS = "classes", "models"
PERCENT, FRACTION = "percent", "fraction"

_NO_HEADS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedAudit:
    """The text of each field, empty if nothing was entered.

    `names` is "classes" or "models", `unit` "percent" or "fraction", and `heads` contains what was
    entered next to the heads of the table.
    """

    table: str = ""
    classes: str = ""
    positive: str = ""
    names: str = ""
    unit: str = ""
    heads: Mapping[str, str] = field(default_factory=lambda: _NO_HEADS)

    @property
    def corrections(self) -> Corrections:
        return Corrections(
            heads={head: text for head, text in self.heads.items() if text.strip()},
            classes=self.classes,
            positive=self.positive,
            are_models={CLASSES: False, MODELS: True}.get(self.names),
            is_percent={FRACTION: False, PERCENT: True}.get(self.unit),
        )


TEXT_FIELDS = ("table", "classes", "positive", "names", "unit")


def typed_audit(values: Mapping[str, str]) -> TypedAudit:
    """What a form or an address contains; an example fills fields that are empty."""
    # Browsers send line breaks as CR LF.
    texts = {name: values.get(name, "").replace("\r\n", "\n") for name in TEXT_FIELDS}
    example = published_table(values.get("example", ""))
    if example is not None and not texts["table"].strip():
        texts["table"] = example.table
        texts["classes"] = texts["classes"] or example.classes
        texts["positive"] = texts["positive"] or example.positive
    heads = {
        name.removeprefix(HEAD_FIELD): values[name]
        for name in values
        if name.startswith(HEAD_FIELD)
    }
    return TypedAudit(**texts, heads=heads)


def with_real_corrections(typed: TypedAudit) -> TypedAudit:
    """The same without corrections that equal what is recognised anyway.

    A form sends the meanings of all heads. Raises `InvalidInput` for invalid ones.
    """
    reading = read_table_text(typed.table, replace(typed, heads={}).corrections)
    found = {head.head: head.meaning for head in reading.heads}
    heads = {
        head: written(read_meaning(text))
        for head, text in typed.heads.items()
        if text.strip() and head in found
    }
    return replace(
        typed, heads={head: text for head, text in heads.items() if text != found[head]}
    )


def without_heads_that_fail(typed: TypedAudit) -> TypedAudit:
    """The same with only the corrections of heads that are valid."""

    def is_readable(text: str) -> bool:
        try:
            read_meaning(text)
        except InvalidInput:
            return False
        return True

    heads = {head: text for head, text in typed.heads.items() if is_readable(text)}
    return replace(typed, heads=heads)


AUDIT = "/audit"
LONGEST_LINK = 4_000
"""Most characters of an address that every browser, proxy and mail program accepts."""


def audit_url(typed: TypedAudit, form: str = "") -> str:
    """The page of an audit, its export if `form` is "json", or its card for slides if "svg".

    A text that is one of the examples is replaced by its name.
    """
    place = "/card.svg" if form == "svg" else f".{form}" if form else ""
    path = f"{AUDIT}{place}"
    said = (typed.table.strip(), typed.classes, typed.positive)
    example = next(
        (
            example
            for example in PUBLISHED_TABLES
            if (example.table.strip(), example.classes, example.positive) == said
        ),
        None,
    )
    if example is not None:
        typed = replace(typed, table="", classes="", positive="")
    values: dict[str, str | None] = {name: getattr(typed, name) for name in TEXT_FIELDS}
    values |= {f"{HEAD_FIELD}{head}": text for head, text in typed.heads.items()}
    values["example"] = None if example is None else example.name
    return with_query(path, values)


def example_url(example: PublishedTable) -> str:
    return with_query(AUDIT, {"example": example.name})


def fits_link(typed: TypedAudit) -> bool:
    """Whether the address of an audit is short enough to be shared."""
    return len(audit_url(typed)) <= LONGEST_LINK


LECTURE = "“Machine Learning & Signals Learning”, chapter 12, Classification Performance Metrics"
COURSE = "“Confusion Matrix: MCC, Kappa, and Cost-Sensitive Evaluation”"
ZENG = "Zeng 2025, Mathematics 13(16) 2609"
KRSTINIC = "Krstinić et al. 2020, on multi-label confusion matrices"


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """An example. `name` is its name in addresses, `title` says which table of `source` it is."""

    name: str
    title: str
    source: str
    table: str
    classes: str = ""
    positive: str = ""


PUBLISHED_TABLES = (
    PublishedTable(
        name="screening",
        title="Screening of 10,000 patients",
        source=COURSE,
        table="""\
\tPred +\tPred -
True +\t80\t20
True -\t200\t9,700

Accuracy: 9,780/10,000 = 97.8%
Precision: 80/280 = 28.6%
Recall: 80/100 = 80%
MCC ≈ 0.47
""",
    ),
    PublishedTable(
        name="screening-without-matrix",
        title="The same without its matrix",
        source=COURSE,
        table="Accuracy 97.8%\nPrecision 28.6%\nRecall 80%\nMCC 0.47\n",
        classes="+ 100, - 9900",
        positive="+",
    ),
    PublishedTable(
        name="antibody-test",
        title="Antibody test, example 12.1",
        source=LECTURE,
        table="""\
\tPredicted Yes\tPredicted No
Actual Yes\t141\t67
Actual No\t0\t31

Accuracy = (141+31)/239 = 0.7196652 ≈ 72.0%
Precision = 141/(0+141) = 1 = 100%
Recall = 141/(141+67) = 0.678 = 67.8%
""",
    ),
    PublishedTable(
        name="constant-answer",
        title="A constant prediction, example 12.3",
        source=LECTURE,
        table="""\
Accuracy = 990/1000 = 0.99 = 99%
Precision = 0/(0+0) = Undefined
Recall = 0/(0+10) = 0
Specificity = 990/1000 = 0.99 = 99%
F1 = 0
""",
        classes="Yes 10, No 990",
        positive="Yes",
    ),
    PublishedTable(
        name="three-classes",
        title="Three classes, example 12.5 and table 12.3",
        source=LECTURE,
        table="""\
\tPredicted A\tPredicted B\tPredicted C\tTotal
Actual A\t72\t6\t2\t80
Actual B\t8\t6\t1\t15
Actual C\t2\t1\t2\t5
Total\t82\t13\t5\t100

Metric\tClass A (80)\tClass B (15)\tClass C (5)
Precision\t72/82 ≈ 87.8%\t6/13 ≈ 46.2%\t2/5 = 40.0%
Recall\t72/80 = 90.0%\t6/15 = 40.0%\t2/5 = 40.0%
F1\t88.9%\t42.9%\t40.0%

Macro precision ≈ 58.0%
Macro recall ≈ 56.7%
Macro F1 ≈ 57.3%
Micro precision = 80/100 = 80.0%
Accuracy = 80%
""",
    ),
    PublishedTable(
        name="wine-averages",
        title="Wine, table 11",
        source=ZENG,
        table="""\
\tOriginal\tPermuted\tTransposed
Macro precision\t0.57768158\t0.57768158\t0.57768158
Macro recall\t0.57685881\t0.57685881\t0.57685881
Macro F1\t0.57101539\t0.57101539\t0.57101539
Micro precision\t0.59259259\t0.59259259\t0.59259259
Micro recall\t0.59259259\t0.59259259\t0.59259259
Micro F1\t0.59259259\t0.59259259\t0.59259259
Weighted precison\t0.60238630\t0.60238630\t0.60238630
Weighted recall\t0.59259259\t0.59259259\t0.59259259
Weighted F1\t0.59151430\t0.591514300\t0.591514300
Overall accuracy\t0.59259259\t0.59259259\t0.59259259
Error rate\t0.40740741\t0.40740741\t0.40740741
Average accuracy\t0.72839506\t0.72839506\t0.72839506
Macro F1 (MH)\t0.57726990\t0.57726990\t0.57726990
""",
        classes="Class 1 19, Class 2 21, Class 3 14",
    ),
    PublishedTable(
        name="wine-classes",
        title="Wine, table 10",
        source=ZENG,
        table="""\
\tOriginal Precision\tOriginal Recall\tPermuted Precision\tPermuted Recall\
\tTransposed Precision\tTransposed Recall
Class 1 (y = 0)\t0.571429\t0.421053\t0.388889\t0.500000\t0.388889\t0.500000
Class 2 (y = 1)\t0.772727\t0.809524\t0.571429\t0.421053\t0.571429\t0.421053
Class 3 (y = 2)\t0.388889\t0.500000\t0.772727\t0.809524\t0.772727\t0.809524
""",
        classes="Class 1 19, Class 2 21, Class 3 14",
    ),
    PublishedTable(
        name="cifar-10",
        title="CIFAR-10, section 6.2",
        source=ZENG,
        table="""\
Overall accuracy: 0.7080
Macro precision: 0.7186
Macro recall: 0.7080
Weighted precision: 0.7186
""",
        classes="10 x 1000",
    ),
    PublishedTable(
        name="four-labels",
        title="Four labels, table 1",
        source=KRSTINIC,
        table="""\
Predicted class
\tλ1\tλ2\tλ3\tλ4\tRecall
λ1\t8\t0\t0\t0\t1.00
λ2\t4\t9\t1\t1\t0.60
λ3\t3\t0\t7\t0\t0.80
λ4\t1\t0\t2\t9\t0.75
Precision\t0.50\t1.00\t0.70\t0.90
""",
    ),
)


def published_table(name: str) -> PublishedTable | None:
    """The published table of that name, or None."""
    return next((table for table in PUBLISHED_TABLES if table.name == name), None)
