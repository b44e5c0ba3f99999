"""Conditions, sources and phrases that several entries of the catalogue share.

Formulas use TP, FN, FP and TN for one class against the rest, t = TP + FN for its actual and
p = TP + FP for its predicted cases, and N for all cases. Over classes, c_ij are the cells
(actual i, predicted j), S the sum of the diagonal, K the number of declared classes and K'
that of classes with actual cases.
"""

from __future__ import annotations

from offdiag.domain.values import Reason

NO_CASES = {Reason.NO_CASES: "there are no cases (N = 0)"}
NO_POSITIVES = {Reason.NO_ACTUAL_POSITIVES: "the class has no actual cases (t = 0)"}
NO_NEGATIVES = {Reason.NO_ACTUAL_NEGATIVES: "all cases are of the class (t = N)"}
NO_PREDICTED_POSITIVES = {Reason.NO_PREDICTED_POSITIVES: "the class is never predicted (p = 0)"}
NO_PREDICTED_NEGATIVES = {
    Reason.NO_PREDICTED_NEGATIVES: "nothing but the class is predicted (p = N)"
}
ONE_SIDED_ACTUAL = NO_POSITIVES | NO_NEGATIVES
ONE_SIDED_PREDICTED = NO_PREDICTED_POSITIVES | NO_PREDICTED_NEGATIVES
CLASS_ABSENT = {
    Reason.CLASS_ABSENT: "the class neither occurs nor is predicted (TP + FN + FP = 0)"
}
CLASS_VALUE_UNDEFINED = {
    Reason.CLASS_VALUE_UNDEFINED: "the class value is undefined for a declared class"
}
ONE_CLASS_EVERYWHERE = NO_CASES | {
    Reason.CHANCE_AGREEMENT_CERTAIN: "one and the same class is the only actual and the only "
    "predicted one, so that chance alone agrees on every case"
}

# What a value may not depend on. A test changes exactly this, and holds every entry to it.
TRUE_POSITIVES = "true positives"
FALSE_NEGATIVES = "false negatives"
FALSE_POSITIVES = "false positives"
TRUE_NEGATIVES = "true negatives"
PATTERN_OF_ERRORS = "which class is taken for which, as long as both margins stay the same"
NAMED_CLASS = "which wrong class is named"
ERRING_CLASS = "to which actual class the wrong answers belong"

ZENG = "Zeng 2025, Mathematics 13(16) 2609, Table A1"
LUQUE = "Luque et al. 2019, Symmetry 11(1) 47, Table 3"
LECTURE = "Machine Learning & Signals Learning, chapter 12"
POWERS = "Powers 2011, Journal of Machine Learning Technologies 2(1), 37-63"
