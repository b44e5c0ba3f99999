"""Whole tables in the layouts that papers, tools and terminals print."""

from __future__ import annotations

import pytest

from offdiag.audit.table_text.classes import ClassFacts
from offdiag.audit.table_text.headers import Meaning, written
from offdiag.audit.table_text.interpretation import Corrections, Reading, read_table_text
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from support.optional import present

REPORT = """\
              precision    recall  f1-score   support

           0       0.57      0.42      0.48        19
           1       0.77      0.81      0.79        21

    accuracy                           0.59        40
   macro avg       0.67      0.61      0.63        40
weighted avg       0.68      0.63      0.64        40
"""


def read(text: str, **told: object) -> Reading:
    """A text as it is read."""
    return read_table_text(text, Corrections(**told))  # type: ignore[arg-type]  # By name.


def numbers(reading: Reading) -> list[tuple[str, str]]:
    """Model, metric and class of each number in the short form, and the number."""
    return [
        (written(Meaning(n.key, label=n.label, model=n.model or None)), n.text)
        for n in reading.numbers
    ]


MODELS = [
    ("overall_accuracy @SVM", "0.93"),
    ("f1 @SVM", "0.91"),
    ("overall_accuracy @CNN", "0.95"),
    ("f1 @CNN", "0.92"),
]


@pytest.mark.parametrize(
    "text",
    [
        "Model\tAccuracy\tF1\nSVM\t0.93\t0.91\nCNN\t0.95\t0.92",
        "| Model | Acc. | F1 |\n|---|--:|:-:|\n| SVM | 0.93 | **0.91** |\n| CNN | 0.95 | 0.92 |",
        "Model,Accuracy,F1\nSVM,0.93,0.91\nCNN,0.95,0.92",
        "Model;Accuracy;F1\nSVM;0,93;0,91\nCNN;0,95;0,92",
        "Model Accuracy F1\nSVM 0.93 0.91\nCNN 0.95 0.92",
        "Model   Accuracy   F1\nSVM     0.93       0.91\nCNN     0.95       0.92",
        r"Model & Accuracy & $F_1$ \\ \hline SVM & 0.93 & 0.91 \\ CNN [12] & 0.95 & 0.92 \\",
        "Table 2. Results.\nMethod\tAcc\tF-score\n\nSVM\t0.93\t0.91\n\nCNN\t0.95\t0.92",
    ],
)
def test_a_table_of_models_is_the_same_in_every_layout(text: str) -> None:
    reading = read(text)

    assert numbers(reading) == MODELS
    assert reading.models == ("SVM", "CNN")
    assert reading.classes is None


def test_models_may_stand_in_the_columns() -> None:
    reading = read("Metric\tSVM\tCNN\nAccuracy\t0.93\t0.95\nF1\t0.91\t0.92")

    assert sorted(numbers(reading)) == sorted(MODELS)


def test_a_report_has_classes_averages_and_support() -> None:
    reading = read(REPORT)

    assert reading.classes == ClassFacts(("0", "1"), (19, 21))
    assert numbers(reading)[:3] == [
        ("precision[0]", "0.57"),
        ("recall[0]", "0.42"),
        ("f1[0]", "0.48"),
    ]
    assert numbers(reading)[6:] == [
        ("overall_accuracy", "0.59"),
        ("macro_precision", "0.67"),
        ("macro_recall", "0.61"),
        ("macro_f1", "0.63"),
        ("weighted_precision", "0.68"),
        ("weighted_recall", "0.63"),
        ("weighted_f1", "0.64"),
    ]
    assert [n.name for n in reading.numbers[6:8]] == ["accuracy", "macro avg precision"]


def test_a_report_whose_gaps_were_lost_is_the_same() -> None:
    collapsed = "\n".join(" ".join(line.split()) for line in REPORT.splitlines())

    assert numbers(read(collapsed)) == numbers(read(REPORT))


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Precision = TP/(TP+FP) =", "Precision"),
        ("Precision:", "Precision"),
        ("Precision ≈", "Precision"),
        ("Class 1 (y = 0)", "Class 1 (y = 0)"),
    ],
)
def test_a_label_ends_where_a_formula_begins(label: str, name: str) -> None:
    assert read(f"{label} 0.895").heads[0].head == name


def test_classes_may_be_counted_in_the_heads() -> None:
    reading = read("Metric\tClass A (80)\tClass B (15)\nRecall\t72/80 ≈ 90.0%\t40.0%")

    assert reading.classes == ClassFacts(("Class A", "Class B"), (80, 15))
    assert numbers(reading) == [
        ("recall[Class A]", "72/80"),
        ("recall[Class A]", "90.0%"),
        ("recall[Class B]", "40.0%"),
    ]


@pytest.mark.parametrize(
    "line", ["Classes: A 80, B 15", "Test set: A = 80, B = 15", "Support: A (80); B (15)"]
)
def test_a_line_may_list_the_classes(line: str) -> None:
    reading = read(f"{line}\nAccuracy 0.9")

    assert reading.classes == ClassFacts(("A", "B"), (80, 15))
    assert reading.unread == ()


WINE = ((8, 3, 8), (1, 17, 3), (5, 2, 7))


BARE = "8 3 8\n1 17 3\n5 2 7"
COMMAS = "8,3,8\n1,17,3\n5,2,7"
CORNER = """Actual \\ Predicted\ta\tb\tc
a\t8\t3\t8
b\t1\t17\t3
c\t5\t2\t7"""
NAMED = """Predicted a Predicted b Predicted c
Actual a 8 3 8
Actual b 1 17 3
Actual c 5 2 7"""
CARET = """          Reference
Prediction  a   b  c
        a   8   3  8
        b   1  17  3
        c   5   2  7"""
TWO_HEADS = """          Predicted
Actual    a   b  c
      a   8   3  8
      b   1  17  3
      c   5   2  7"""
NUMBERED = """    0   1   2
0   8   3   8
1   1  17   3
2   5   2   7"""
TOTALS = """Predicted class
a b c Total
a 8 3 8 19
b 1 17 3 21
c 5 2 7 14
Total 14 22 18 54"""
ROWS, COLUMNS = SourceOrientation.ACTUAL_ROWS, SourceOrientation.ACTUAL_COLUMNS


@pytest.mark.parametrize(
    ("text", "labels", "orientation"),
    [
        (BARE, "123", None),
        (COMMAS, "123", None),
        (CORNER, "abc", None),
        (NAMED, "abc", ROWS),
        (CARET, "abc", COLUMNS),
        (TWO_HEADS, "abc", ROWS),
        (NUMBERED, "012", None),
        (TOTALS, "abc", ROWS),
    ],
)
def test_matrices_are_found_with_what_they_say_of_their_axes(
    text: str, labels: str, orientation: SourceOrientation | None
) -> None:
    reading = read(f"{text}\nAccuracy : 0.59")

    assert reading.matrix is not None
    assert reading.matrix.counts == WINE
    assert reading.matrix.labels == tuple(labels)
    assert reading.matrix.orientation is orientation
    assert numbers(reading)[-1] == ("overall_accuracy", "0.59")


def test_metrics_at_the_sides_of_a_matrix_belong_to_its_classes() -> None:
    reading = read("a b Recall\na 8 2 0.80\nb 1 9 0.90\nPrecision 0.89 0.82")

    assert present(reading.matrix).counts == ((8, 2), (1, 9))
    assert sorted(numbers(reading)) == [
        ("precision[a]", "0.89"),
        ("precision[b]", "0.82"),
        ("recall[a]", "0.80"),
        ("recall[b]", "0.90"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\tVal\t\tTest\t\nModel\tAcc\tF1\tAcc\tF1\nSVM\t0.9\t0.8\t0.88\t0.79",
        "\tVal\tTest\nModel\tAcc\tF1\tAcc\tF1\nSVM\t0.9\t0.8\t0.88\t0.79",
        "Model\tVal Acc\tVal F1\tTest Acc\tTest F1\nSVM\t0.9\t0.8\t0.88\t0.79",
    ],
)
def test_groups_of_columns_are_models_of_their_own(text: str) -> None:
    reading = read(text)

    assert numbers(reading) == [
        ("overall_accuracy @SVM, Val", "0.9"),
        ("f1 @SVM, Val", "0.8"),
        ("overall_accuracy @SVM, Test", "0.88"),
        ("f1 @SVM, Test", "0.79"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Predicted Yes No Actual Yes 141 67 No 0 31", 1),
        ("Accuracy 0.9\nPrecision 0.9 0.8 Recall 0.7 0.6", 2),
        ("Predicted A B C\nActual A 838\nActual B 1173\nActual C 527", 2),
        ("Predicted A B\nActual A83\nActual B57", 2),
        ("Predicted + -\nTrue +83\nTrue -57", 2),
        ("Actual A 8 3\nActual B 5 7", 1),
        ("Model Accuracy F1\nSVM 0.93 0.91\nCNN 0.95 0.92 0.9", 3),
        ("Model Accuracy F1\nSVM - 0.91\nCNN 0.95 0.92", 2),
        ("Accuracy 0.9 0.8", 1),
        ("F1 0.9\n\nModel Accuracy F1\nSVM0.930.91", 4),
        ("Acc | F1\n0.5 | 0.6 | 0.7", 2),
        ("accuracy0.93", 1),
        ("Recall (2·1)/(3) ≈ 80.8% (2·1)/(5) ≈ 48.1%", 1),
    ],
)
def test_a_line_of_a_table_whose_cells_are_not_clear_is_named(text: str, line: int) -> None:
    with pytest.raises(InvalidInput, match=rf"^table: line {line}, '") as caught:
        read(text)

    assert "a tab or a bar between its cells" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Model\tAccuracy\tAccuracy\nSVM\t0.93\t0.91", "below two headers 'Accuracy'"),
        ("Model\tAccuracy\nSVM\t0.93\nSVM\t0.91", "line 3, 'SVM 0.91', has the name of another"),
        ("Model\tAcc\tF1\nSVM\t0.9\t0.8\n\t0.7\t0.6", "has 2 numbers under 2 headers and no"),
        ("n\tAccuracy\n100\t0.9\n200\t0.8", "line 3, '200 0.8', has no name, as another row"),
    ],
)
def test_numbers_that_would_be_mixed_are_refused(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read(text)


def test_prose_with_commas_is_no_header_of_a_number() -> None:
    reading = read("Trained on all data, results below.\nAccuracy 0.93")

    assert reading.models == ("",)
    assert reading.unread == ((1, "Trained on all data results below."),)


def test_a_matrix_below_a_table_is_no_part_of_it() -> None:
    reading = read("Model\tAcc\tF1\nSVM\t0.9\t0.8\n\n8 3\n1 17")

    assert present(reading.matrix).counts == ((8, 3), (1, 17))
    assert len(reading.numbers) == 2


def test_words_in_the_place_of_a_number_do_not_shift_the_others() -> None:
    reading = read("Model\tAcc\tF1\nCNN\tfailed\t0.7\nSVM\t0.9\t0.8\nMLP\tfailed\t0.6")

    assert numbers(reading) == [
        ("f1 @CNN", "0.7"),
        ("overall_accuracy @SVM", "0.9"),
        ("f1 @SVM", "0.8"),
        ("f1 @MLP", "0.6"),
    ]


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("Model\tMacro\tWeighted\n\tF1\tF1\nSVM\t0.91\t0.92", ["macro_f1", "weighted_f1"]),
        ("Model\tAcc\tMCC\n\t(%)\t(%)\nSVM\t93.1\t91.0", ["overall_accuracy", "mcc"]),
    ],
)
def test_headers_may_be_two_lines(text: str, metrics: list[str]) -> None:
    assert [number.key for number in read(text).numbers] == metrics


R_REPORT = """\
Confusion Matrix and Statistics

          Reference
Prediction  a  b
         a  8  3
         b  1 17

               Accuracy : 0.8621
                 95% CI : (0.6834, 0.9611)
    P-Value [Acc > NIR] : 0.02935
                  Kappa : 0.6964
            Sensitivity : 0.8889
             Prevalence : 0.3103
   Detection Prevalence : 0.3793
       'Positive' Class : a
"""


def test_a_report_of_r_has_the_numbers_below_its_matrix() -> None:
    reading = read(R_REPORT)

    assert present(reading.matrix).counts == ((8, 3), (1, 17))
    assert numbers(reading) == [
        ("overall_accuracy", "0.8621"),
        ("cohen_kappa", "0.6964"),
        ("recall", "0.8889"),
        ("prevalence", "0.3103"),
    ]


def test_a_metric_of_the_matrix_with_a_value_for_each_class_is_left_out_and_told() -> None:
    text = "\tClass: a\tClass: b\nSensitivity\t0.9\t0.8\nBalanced accuracy\t0.85\t0.85"

    reading = read(text)

    assert numbers(reading) == [("recall[Class: a]", "0.9"), ("recall[Class: b]", "0.8")]
    assert any("“Balanced accuracy” is of all classes" in remark for remark in reading.remarks)


@pytest.mark.parametrize(
    "text",
    [
        "       model  accuracy     f1\n0    SVM     0.93  0.91\n1    CNN     0.95  0.92",
        "┌──┬───┐\n│ x ┆ accuracy ┆ f1 │\n╞══╪═══╡\n│ SVM ┆ 0.93 ┆ 0.91 │\n│ CNN ┆ 0.95 ┆ 0.92 │",
    ],
)
def test_data_frames_as_they_are_printed_are_tables(text: str) -> None:
    assert [text for _, text in numbers(read(text))] == ["0.93", "0.91", "0.95", "0.92"]


def test_a_matrix_may_be_a_cross_table_of_pandas() -> None:
    reading = read("Predicted  a   b\nActual\na   44   6\nb   5  48\n\naccuracy 0.893")

    assert present(reading.matrix).counts == ((44, 6), (5, 48))
    assert present(reading.matrix).orientation is ROWS


class TestUnits:
    def test_the_head_may_say_percent(self) -> None:
        reading = read("Model\tAcc. (%)\tMCC\nSVM\t93.1\t0.81\nCNN\t0.9\t0.85")

        assert [text for _, text in numbers(reading)] == ["93.1%", "0.81", "0.9%", "0.85"]

    def test_the_heading_may_say_percent(self) -> None:
        reading = read("Results in %\nModel\tAcc\tMCC\nSVM\t93.1\t81.0")

        assert "Numbers were read as percentages, as the lines above say." in reading.remarks

        assert [text for _, text in numbers(reading)] == ["93.1%", "81.0%"]

    def test_shares_above_one_are_percentages_and_others_follow_them(self) -> None:
        reading = read("Model\tAcc\tKappa\nSVM\t93.1\t81.0\nCNN\t95.0\t85.0")

        assert [text for _, text in numbers(reading)] == ["93.1%", "81.0%", "95.0%", "85.0%"]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            (
                "precision 1.2",
                "“precision 1.2” in line 1 can be 1.2 %, or a fraction with a misprint",
            ),
            ("Error rate 5.2", "“Error rate 5.2” in line 1 can be 5.2 %"),
            ("Acc 0.93\nPrecision 5.2", "“Precision 5.2” in line 2 can be 5.2 %"),
            (
                "Model\tMCC\nSVM\t63.25\nCNN\t0.85",
                "“MCC 63.25” in line 2 is above 1, and 0.85 in line 3 is not: these can be perc",
            ),
        ],
    )
    def test_what_may_be_either_is_a_question_that_names_both(self, text: str, says: str) -> None:
        question = present(read(text).question)

        assert question.field == "unit"
        assert says in str(question)
        assert read(text, is_percent=True).question is None
        assert read(text, is_percent=False).question is None

    @pytest.mark.parametrize(
        "text",
        [
            "Class\tRecall\nA\t85.3\nB\t1.2",
            "accuracy 93.1\nrecall 1.2",
            "accuracy 93.1%\nrecall 1.2",
            "accuracy (%) 1.2",
        ],
    )
    def test_beside_a_percentage_small_ones_are_clear(self, text: str) -> None:
        assert read(text).question is None
        assert numbers(read(text))[-1][1] == "1.2%"

    def test_how_units_were_read_is_told(self) -> None:
        reading = read("Model\tAcc\tMCC\nSVM\t93.1\t0.81")

        assert reading.remarks[-1] == (
            "Numbers of “Acc” without a percent sign were read as percentages, "
            "those of “MCC” as fractions."
        )

    def test_the_reader_has_the_last_word(self) -> None:
        text = "Model\tAcc\nSVM\t93.1"

        assert numbers(read(text, is_percent=False))[0][1] == "93.1"
        assert numbers(read("Model\tAcc\nSVM\t0.9", is_percent=True))[0][1] == "0.9%"

    def test_quotients_and_undefined_values_have_no_unit(self) -> None:
        reading = read("Precision (%)  Recall (%)\nundefined  72/82")

        assert [text for _, text in numbers(reading)] == ["undefined", "72/82"]


class TestCorrections:
    TEXT = "Name\tPrecision\tRecall\nred\t0.9\t0.8\ngreen\t0.7\t0.6"

    def test_names_beside_metrics_are_models_unless_something_says_classes(self) -> None:
        assert read(self.TEXT).models == ("red", "green")
        assert read(self.TEXT, are_models=False).classes == ClassFacts(("red", "green"))
        assert read(self.TEXT, classes="red 10, green 20").models == ("",)
        assert read(f"{self.TEXT}\nAverage\t0.8\t0.7").models == ("",)

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("Class\tRecall\nred\t0.9\ngreen\t0.8", "classes"),
            ("\tRecall\tn\nred\t0.9\t10\ngreen\t0.8\t20", "classes"),
            ("\tRecall\nred (10)\t0.9\ngreen (20)\t0.8", "classes"),
            ("\tRecall\nyes\t0.9\nno\t0.8", "classes"),
            ("Model\tRecall\tn\nred\t0.9\t10\ngreen\t0.8\t20", "models"),
            ("\tAccuracy\tn\nred\t0.9\t10\ngreen\t0.8\t20", "models"),
            ("Fold\tRecall\n1\t0.9\n2\t0.8\nMean\t0.85", "models"),
            ("Threshold\tRecall\tF1\n0.1\t0.9\t0.8\n0.5\t0.8\t0.7", "models"),
            ("Layers Recall F1\n2 0.9 0.8\n4 0.8 0.7", "models"),
            ("\tRecall\tF1\nclass-weighted\t0.9\t0.8\nlabel smoothing\t0.8\t0.7", "models"),
        ],
    )
    def test_what_names_were_read_as_is_told(self, text: str, names: str) -> None:
        reading = read(text)

        assert reading.remarks[0].endswith(f"next to metrics were read as {names}.")
        assert (reading.classes is None) == (names == "models")
        assert not any(number.key == "macro_recall" for number in reading.numbers)

    def test_a_head_can_be_given_another_meaning(self) -> None:
        reading = read(self.TEXT, heads={"Precision": "npv", "green": "-"}, are_models=False)

        assert numbers(reading) == [("npv[red]", "0.9"), ("recall[red]", "0.8")]
        assert [h.head for h in reading.heads if h.is_corrected] == ["Precision", "green"]

    def test_heads_that_are_not_in_the_text_change_nothing(self) -> None:
        assert numbers(read(self.TEXT, heads={"F1": "mcc"})) == numbers(read(self.TEXT))

    def test_sizes_without_names_belong_to_the_classes_in_their_order(self) -> None:
        reading = read(self.TEXT, classes="10, 20", are_models=False)

        assert reading.classes == ClassFacts(("red", "green"), (10, 20))

    def test_stated_classes_follow_the_order_of_the_matrix(self) -> None:
        reading = read("a b\na 8 2\nb 1 9\nAccuracy 0.85", classes="b 10, a 11")

        assert reading.classes == ClassFacts(("a", "b"), (11, 10))

    def test_stated_names_replace_those_of_a_matrix_in_its_order(self) -> None:
        reading = read("8 2\n1 9\nAccuracy 0.85", classes="ill 10, well 10", positive="ill")

        assert present(reading.matrix).labels == ("ill", "well")
        assert reading.positive == "ill"

    @pytest.mark.parametrize(
        ("told", "field"),
        [
            ({"classes": "a, b"}, "classes"),
            ({"positive": "blue"}, "positive"),
            ({"heads": {"red": "[a"}}, "reading"),
        ],
    )
    def test_a_correction_that_fits_nothing_is_refused(
        self, told: dict[str, object], field: str
    ) -> None:
        text = "8 2 1\n1 9 1\n0 0 1\nAcc 0.85" if told == {"classes": "a, b"} else self.TEXT

        with pytest.raises(InvalidInput) as caught:
            read(text, **told)

        assert caught.value.field == field
        assert caught.value.hint

    def test_a_name_beside_known_classes_is_a_question_that_a_correction_answers(self) -> None:
        text = "Classes: a 1, b 2\n\tRecall\na\t1\nb\t1\nOverall\t0.9"

        question = present(read(text).question)

        assert question.field == "classes"
        assert "a class 'Overall'. Known classes: a, b." in str(question)
        assert read(text, heads={"Overall": "-"}).question is None
        assert len(read(text, heads={"Overall": "-"}).numbers) == 2

    def test_the_positive_class_may_be_marked_in_its_head(self) -> None:
        reading = read("Metric\tClass 1 (positive)\tClass 0 (negative)\nRecall\t0.9\t0.8")

        assert reading.positive == "Class 1 (positive)"


class TestRemarks:
    def test_deviations_are_a_caution(self) -> None:
        assert "means over several tests" in read("Accuracy 0.9 ± 0.1").remarks[0]

    def test_numbers_of_unknown_names_are_told(self) -> None:
        reading = read("Macro precison 0.9\nAUC 0.95\nMCC 0.8")

        assert numbers(reading) == [("mcc", "0.8")]
        assert reading.remarks == (
            "Numbers of “Macro precison” and “AUC” were left out: nothing says what they are.",
        )

    def test_class_metrics_of_no_class_are_left_out(self) -> None:
        reading = read("Classes: a 1, b 2, c 3\nSpecificity 0.9\nAccuracy 0.8")

        assert numbers(reading) == [("overall_accuracy", "0.8")]
        assert reading.remarks == (
            "“Specificity” belongs to one class, and which of the classes is not said.",
        )

    def test_a_matrix_of_several_models_is_told(self) -> None:
        reading = read("8 2\n1 9\n\nModel\tAcc\nSVM\t0.85\nCNN\t0.95")

        assert "The matrix was compared with the numbers of SVM and CNN." in reading.remarks

    def test_a_second_matrix_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="2 matrices, from lines 1 and 5 on"):
            read("8 2\n1 9\n\nPredicted a b\na 8 2\nb 1 9\nAccuracy 0.85")

    def test_what_is_no_table_is_listed(self) -> None:
        reading = read("Table 3: Our results.\nAccuracy 0.9\nas discussed above")

        assert reading.unread == ((1, "Table 3: Our results."), (3, "as discussed above"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x" * 20_001, "20001 characters"),
        ("Model\tAcc\n" + "\n".join(f"m{i}\t0.5" for i in range(17)), "17 models"),
        ("Accuracy 0.5\n" * 241, "241 numbers"),
    ],
)
def test_more_than_a_table_is_refused_with_the_limit(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        read_table_text(text)

    assert caught.value.field == "table"
    assert "at most" in str(caught.value.hint)
