"""Reads the formulas of the catalogue as a person would: 2 TP / (t + p) is a computation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import sqrt

_TOKEN = re.compile(r"\d+(?:\.\d+)?|[A-Za-z_]\w*|[-+*/^()]")


def computed(expression: str, quantities: Mapping[str, float]) -> float:
    """The value of one side of a formula; names side by side are multiplied."""
    python: list[str] = []
    for token in _TOKEN.findall(expression):
        if python and _ends_operand(python[-1]) and _starts_operand(token):
            python.append("*")
        python.append("**" if token == "^" else token)
    names = {"sqrt": sqrt, **quantities}
    return float(eval(" ".join(python), {"__builtins__": {}}, names))


def sides(formula: str) -> list[str]:
    """The expressions that a formula says are equal."""
    return [side.strip() for side in formula.split(" = ")]


def _ends_operand(token: str) -> bool:
    return token == ")" or (token[0].isalnum() and token != "sqrt")


def _starts_operand(token: str) -> bool:
    return token == "(" or token[0].isalnum()
