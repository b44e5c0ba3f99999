"""What the site adds to pages: reference that follows from code, and lists of pages below."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from sphinx.application import Sphinx

import offdiag
from offdiag import errors

_DOCS = Path(__file__).parent
_CONFIG = Path(__file__).parents[1] / "config"
_TREES = {"metrics/README": "*", "decisions/README": "[0-9]*"}
"""Pages that list those beside them, and which these are."""
_WIDTH = 90
_FILES = (
    "default.toml",
    "team-postgres.example.toml",
    "flags.example.toml",
    "cost-matrix.example.toml",
    "gunicorn.conf.py.example",
    "systemd/offdiag-web.service",
    "systemd/offdiag-worker.service",
    "systemd/offdiag-backup.service",
    "systemd/offdiag-backup.timer",
)
"""Files in the folder of settings, in the order of their page."""


def complete_page(_app: Sphinx, page: str, source: list[str]) -> None:
    """Change the text of a page before it is read, as Sphinx hands it over."""
    # Settings lie outside this folder; the site shows them on a page of its own.
    source[0] = re.sub(r"\]\(\.\./config/[^)]*\)", "](config-files.md)", source[0])
    if page in _TREES:
        source[0] += _tree([_TREES[page]])
    if page == "guides":
        source[0] += _tree(_unlisted())
    if page == "config-files":
        source[0] += "\n" + "\n\n".join(_file(name) for name in _FILES) + "\n"
    if page == "python":
        source[0] += "\n" + "\n\n".join(_names()) + "\n"
    if page == "errors":
        source[0] += "\n" + "\n".join(_errors()) + "\n"


def _tree(pages: Iterable[str]) -> str:
    """A list of pages below that only the sidebar shows; names may be patterns."""
    return "\n```{toctree}\n:hidden:\n:glob:\n\n" + "\n".join(pages) + "\n```\n"


def _unlisted() -> list[str]:
    """Pages of this folder that no list names yet: they are guides until somebody sorts them."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in _DOCS.glob("*.md")}
    trees = re.findall(
        r"^```{toctree}\n(.*?)^```", "\n".join(texts.values()), re.DOTALL | re.MULTILINE
    )
    listed = {line for tree in trees for line in tree.splitlines()}
    return sorted(texts.keys() - listed - {"index"})


def _file(name: str) -> str:
    text = (_CONFIG / name).read_text(encoding="utf-8")
    return f"## {name}\n\n```text\n{text}```"


def _names() -> Iterator[str]:
    """Each public name with its signature and what it says of itself."""
    for name in sorted(offdiag.__all__, key=str.lower):
        value = getattr(offdiag, name)
        if isinstance(value, type) and issubclass(value, errors.OffdiagError):
            continue
        if inspect.isclass(value):
            yield f"## `{name}`\n\n{_doc(value)}"
            yield from (_member(value, attribute) for attribute in _members(value))
        elif callable(value):
            yield f"## `{name}`\n\n```text\n{_signature(name, value)}\n```\n\n{_doc(value)}"


def _members(owner: type) -> Iterator[str]:
    for name, value in vars(owner).items():
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            yield name


def _member(owner: type, name: str) -> str:
    value = inspect.getattr_static(owner, name)
    title = f"### `{owner.__name__}.{name}`"
    if isinstance(value, property):
        return f"{title}\n\n{_doc(value)}"
    return f"{title}\n\n```text\n{_signature(name, value)}\n```\n\n{_doc(value)}"


def _signature(name: str, value: Callable[..., object]) -> str:
    """Name and parameters, one to a line where there are many."""
    signature = inspect.signature(value)
    signature = signature.replace(return_annotation=_Plain(signature.return_annotation))
    shown = [
        parameter.replace(annotation=_Plain(parameter.annotation))
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    line = f"{name}{signature.replace(parameters=shown)}"
    if len(line) <= _WIDTH:
        return line
    inside = str(signature.replace(parameters=shown, return_annotation=signature.empty))
    answer = line.removeprefix(f"{name}{inside}")
    mark = "    *,\n" if any(each.kind is each.KEYWORD_ONLY for each in shown) else ""
    first = [f"    {each},\n" for each in shown if each.kind is not each.KEYWORD_ONLY]
    named = [f"    {each},\n" for each in shown if each.kind is each.KEYWORD_ONLY]
    return f"{name}(\n{''.join(first)}{mark}{''.join(named)}){answer}"


class _Plain(str):
    """An annotation as it stands in the source, without quotes around it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _doc(value: object) -> str:
    """A docstring as Markdown: its lists and code are written so already, sessions are fenced."""
    text = inspect.getdoc(value) or ""
    return re.sub(r"^>>> .*(?:\n.+)*", r"```pycon\n\g<0>\n```", text, flags=re.MULTILINE)


def _errors() -> Iterator[str]:
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.OffdiagError):
            bases = ", ".join(f"`{base.__name__}`" for base in value.__bases__)
            yield f"## `{name}`\n\nCode `{value.code}`; a kind of {bases}.\n\n{_doc(value)}\n"
