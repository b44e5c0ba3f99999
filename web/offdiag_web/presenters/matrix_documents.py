"""A confusion matrix to paste elsewhere: Markdown and LaTeX tables that name both axes."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag_web.presenters.matrix import Cell, MatrixView

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\n": " ",
    "\r": " ",
}
_MARKDOWN = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]<>()#+!|~$&="} | {"\n": " ", "\r": " "}
)


def markdown_table(view: MatrixView) -> str:
    """A table as GitHub renders it; class names are shown as they are, never as markup."""
    heads = [markdown_text(head.name) for head in view.heads]
    lines = [
        [f"{view.down} ↓ {view.across} →", *heads, view.total_head],
        ["---", *["---:"] * (len(heads) + 1)],
        *(
            [
                f"**{markdown_text(line.head.name)}**",
                *(_shown(cell) for cell in line.cells),
                line.total,
            ]
            for line in view.lines
        ),
        [view.total_line_head, *view.totals, view.total],
    ]
    return markdown_lines(lines, view.caption)


def markdown_lines(lines: list[list[str]], caption: str) -> str:
    """A table of cells that are Markdown already, and what it shows."""
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{caption}\n"


def latex_table(view: MatrixView, *, source: str) -> str:
    """A `tabular` that needs the package booktabs alone; `source` says where it is from."""
    columns = len(view.heads)
    return "\n".join(_latex_lines(view, columns, source)) + "\n"


def _latex_lines(view: MatrixView, columns: int, source: str) -> Iterator[str]:
    heads = " & ".join(_escaped(head.name) for head in view.heads)
    yield f"% {_comment(source)}"
    yield rf"\begin{{tabular}}{{l{'r' * columns}r}}"
    yield r"\toprule"
    yield rf" & \multicolumn{{{columns}}}{{c}}{{{view.across} class}} & \\"
    yield rf"\cmidrule(lr){{2-{columns + 1}}}"
    yield rf"{view.down} class & {heads} & {_latex_total(view.total_head)} \\"
    yield r"\midrule"
    for line in view.lines:
        cells = " & ".join(_escaped(_shown(cell)) for cell in line.cells)
        yield rf"{_escaped(line.head.name)} & {cells} & {line.total} \\"
    yield r"\midrule"
    yield rf"{_latex_total(view.total_line_head)} & {' & '.join(view.totals)} & {view.total} \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _shown(cell: Cell) -> str:
    return f"{cell.count} ({cell.share})" if cell.share else cell.count


def markdown_text(text: str) -> str:
    """Text as it is, never as markup."""
    return text.translate(_MARKDOWN)


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_total(text: str) -> str:
    return text.replace(" n", " $n$")


def _comment(text: str) -> str:
    """Text that stays on its line, so that nothing of it is ever typeset."""
    return " ".join(text.split())
