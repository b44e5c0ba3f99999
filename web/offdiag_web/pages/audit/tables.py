"""Tables of the literature to try the audit on: numbers as they were printed.

Some of them hold misprints, which is why they are here.
"""

from __future__ import annotations

from dataclasses import dataclass

LECTURE = "“Machine Learning & Signals Learning”, chapter 12, Classification Performance Metrics"
COURSE = "“Confusion Matrix: MCC, Kappa, and Cost-Sensitive Evaluation”"
ZENG = "Zeng 2025, Mathematics 13(16) 2609"
KRSTINIC = "Krstinić et al. 2020, on multi-label confusion matrices"


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """`name` stands in addresses, `title` says which table of `source` it is."""

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
    """The table of that name, if there is one."""
    return next((table for table in PUBLISHED_TABLES if table.name == name), None)
