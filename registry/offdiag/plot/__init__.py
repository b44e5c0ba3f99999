"""Pictures of evaluations, for notebooks and papers. Needs the extra `offdiag[plot]`.

Every function draws into the axes it is given, or makes a figure of its own, and returns the
axes. Nothing else is touched: no settings are changed and nothing is shown. A figure of its
own is one of pyplot, so that notebooks show it; close it like any other.
"""

from __future__ import annotations

from offdiag.plot.confusion_matrix import class_recall, confusion_matrix
from offdiag.plot.curves import cost_curve, precision_recall, reliability, roc

__all__ = [
    "class_recall",
    "confusion_matrix",
    "cost_curve",
    "precision_recall",
    "reliability",
    "roc",
]
