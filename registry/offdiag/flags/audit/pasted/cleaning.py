"""From pasted text to plain lines: characters, mark-up and rulers."""

from __future__ import annotations

import re
import unicodedata

from offdiag.errors import InvalidInput

MOST_CHARACTERS = 20_000
"""Longer texts are no table of a paper; each part of the work below is linear in the length."""

_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_SENTENCE_END = re.compile(r"(?<=[\d%])\.[ \t]+(?=[A-Z])")
_RULER = re.compile(r"[-+=|:─━┄│┼╪═ \t&]*")
_BULLET = re.compile(r"^\s*[•·‣◦▪]\s*")
_GLUED_AXIS = re.compile(r"(?<=[^\s(\[|\\])(?=(?:Predicted|Pred|Actual)\b)")
_LATEX_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_LATEX_QUOTIENT = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_LATEX_TEXT = re.compile(r"\\(?:text|math)[a-z]{0,4}\s*\{([^{}]*)\}")
_LATEX_SUBSCRIPT = re.compile(r"_\s*\{([^{}\n]{0,40})\}")
_LATEX_ROW_END = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?")
_LATEX_FORMULA_ENDS = re.compile(r"\\[()\[\]]")
_LATEX_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[^{}]*\})?")
_LATEX_COMMAND = re.compile(r"\\[A-Za-z]+\*?|\\[,;:! ]|[{}$]")
_LATEX_SIGNS = (
    ("\\%", "%"),
    ("\\approx", "≈"),
    ("\\pm", "±"),
    ("\\cdots", "…"),
    ("\\cdot", "·"),
    ("&=", "="),
    ("\\times", "×"),
    ("\\&", "and"),
    ("{,}", ","),
)
_SIGNS = (
    ("\N{MINUS SIGN}", "-"),
    ("\N{FRACTION SLASH}", "/"),
    ("│", "|"),
    ("¦", "|"),
    ("≃", "≈"),
    ("≅", "≈"),
    ("+/-", "±"),
)


def plain_lines(text: str) -> list[str]:
    """The lines of a pasted text without mark-up, in order; lines without content are empty.

    Typographic variants become the plain characters they stand for, control characters and
    invisible ones disappear. Raises `InvalidInput` for a text that is too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(
            f"the text has {len(text)} characters.",
            field="table",
            hint=f"Paste one table, of at most {MOST_CHARACTERS} characters.",
        )
    plain = _LINE_ENDS.sub("\n", text)
    if "\\" in plain or "_{" in plain:
        plain = _without_latex(plain)
    # A compatible form may be eighteen times as long; what is cut off is no table.
    plain = unicodedata.normalize("NFKC", plain)[: 2 * MOST_CHARACTERS]
    for sign, written in _SIGNS:
        plain = plain.replace(sign, written)
    plain = _SENTENCE_END.sub("\n", _CONTROLS.sub(" ", plain))
    return [_plain_line(line) for line in plain.split("\n")]


def _plain_line(line: str) -> str:
    if _RULER.fullmatch(line):
        return ""
    return _GLUED_AXIS.sub(" ", _BULLET.sub("", line)).replace("**", "").replace("`", "").rstrip()


def _without_latex(text: str) -> str:
    text = _LATEX_ROW_END.sub("\n", _LATEX_ENVIRONMENT.sub(" ", text))
    for command, sign in _LATEX_SIGNS:
        text = text.replace(command, sign)
    text = _LATEX_TEXT.sub(r"\1", text)
    text = _LATEX_SUBSCRIPT.sub(lambda found: f"_{found[1].replace(',', '_')}", text)
    text = _LATEX_QUOTIENT.sub(r"(\1)/(\2)", _LATEX_ROOT.sub(r"√(\1)", text))
    # Two formulas beside each other are two cells, which only a wide gap tells.
    return _LATEX_COMMAND.sub("", _LATEX_FORMULA_ENDS.sub("  ", text))
