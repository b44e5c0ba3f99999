"""Confusion matrices printed in the literature, actual classes along the rows.

Where a printed number is wrong or cells ran together, the matrix here is the one that the
other printed numbers agree with.
"""

from __future__ import annotations

from typing import Final

Matrix = list[list[int]]

WINE: Final[Matrix] = [[8, 3, 8], [1, 17, 3], [5, 2, 7]]
"""Zeng 2025, Table 9: classes 1, 2 and 3 of the Wine data, alcohol only, 54 test cases."""

# "Machine Learning & Signals Learning", chapter 12; first row positive, as printed.
COVID_TEST: Final[Matrix] = [[141, 67], [0, 31]]
LOGISTIC_REGRESSION: Final[Matrix] = [[55, 5], [5, 35]]
ALWAYS_NEGATIVE: Final[Matrix] = [[0, 10], [0, 990]]
THREE_CLASSES: Final[Matrix] = [[72, 6, 2], [8, 6, 1], [2, 1, 2]]
"""Example 12.5, classes A, B, C; its margins, diagonal and digits allow no other cells."""

# "Confusion Matrix: MCC, Kappa, and Cost-Sensitive Evaluation"; first row positive.
FIGURE: Final[Matrix] = [[85, 15], [10, 890]]
SCREENING: Final[Matrix] = [[80, 20], [200, 9700]]
EXERCISE: Final[Matrix] = [[40, 5, 5], [10, 30, 10], [0, 5, 45]]

KRSTINIC: Final[Matrix] = [[8, 0, 0, 0], [4, 9, 1, 1], [3, 0, 7, 0], [1, 0, 2, 9]]
"""Krstinic et al. 2020, Table 1: labels 1 to 4 of a single-label example."""
