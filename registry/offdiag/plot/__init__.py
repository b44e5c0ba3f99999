"""Plots of evaluations, for notebooks and papers. Needs the extra `offdiag[plot]`.

Every function draws into the axes it is given, or into a new figure, and returns the axes. It
changes no settings and shows nothing. A new figure is one of pyplot, so notebooks display it;
close it like any other.
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
