"""Rules of this code base that no linter knows, each with an example it must find.

A rule takes a parsed module and yields the nodes that break it. Where it does not hold, the
allow-list names the file and thereby the place to look at in a review.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "registry/offdiag",
    "migrations/offdiag_migrations",
    "web/offdiag_web",
    "workers/offdiag_workers",
)


@dataclass(frozen=True)
class Rule:
    """What is looked for, where, and one line that breaks the rule and one that keeps it.

    A file whose text has no match of `hint` cannot break the rule, and is not parsed for it:
    parsing and looking at all of them takes seconds.
    """

    name: str
    reason: str
    find: Callable[[ast.Module], Iterator[ast.AST]]
    bad: tuple[str, ...]
    good: tuple[str, ...]
    scope: tuple[str, ...] = PACKAGES
    allowed: frozenset[str] = frozenset()
    hint: str = ""

    def covers(self, file: str) -> bool:
        """Whether it holds for a file, by its path from the root."""
        return file not in self.allowed and file.startswith(
            tuple(f"{folder}/" for folder in self.scope)
        )


def breaches() -> list[str]:
    """The rule and `path:line` of everything that breaks one. Files are parsed once for all."""
    found = []
    for path in python_files(tuple({folder for rule in RULES for folder in rule.scope})):
        file = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        rules = [rule for rule in RULES if rule.covers(file) and re.search(rule.hint, text)]
        if not rules:
            continue
        tree = ast.parse(text)
        found += [
            f"{rule.name}: {file}:{getattr(node, 'lineno', 0)}"
            for rule in rules
            for node in rule.find(tree)
        ]
    return found


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _nodes(tree: ast.Module) -> list[ast.AST]:
    """All nodes of a module, which one rule after the other looks at."""
    return list(ast.walk(tree))


def python_files(folders: tuple[str, ...]) -> list[Path]:
    """All sources below some folders, each once."""
    return sorted({path for folder in folders for path in (ROOT / folder).rglob("*.py")})


def _called_name(node: ast.AST) -> str:
    """`f` of `f(…)` and `x.f(…)`, else empty."""
    return _dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def _dotted(node: ast.expr) -> str:
    """`x.f` as it is written, `.f` of what is not a name; asked for hundreds of thousands."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _calls(*names: str) -> Callable[[ast.Module], Iterator[ast.AST]]:
    def find(tree: ast.Module) -> Iterator[ast.AST]:
        return (node for node in _nodes(tree) if _called_name(node) in names)

    return find


def _transposes(tree: ast.Module) -> Iterator[ast.AST]:
    words = {"T", "mT", "transpose", "swapaxes", "moveaxis", "rollaxis", "permute_dims"}
    for node in _nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr in words:
            yield node
        elif isinstance(node, ast.ImportFrom) and node.module == "numpy":
            yield from (alias for alias in node.names if alias.name in words)


def _literal_axis(tree: ast.Module) -> Iterator[ast.AST]:
    for node in _nodes(tree):
        if isinstance(node, ast.keyword) and node.arg == "axis":
            numbers = [part for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            yield from (node for number in numbers if isinstance(number.value, int))


def _runs_foreign_code(tree: ast.Module) -> Iterator[ast.AST]:
    modules = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            yield node
        elif isinstance(node, ast.Call):
            called = _dotted(node.func)
            true = {
                keyword.arg
                for keyword in node.keywords
                if isinstance(keyword.value, ast.Constant) and keyword.value.value is True
            }
            if (
                called in {"eval", "exec", "os.system", "os.popen", "yaml.load"}
                or _called_name(node) in {"read_pickle", "to_pickle"}
                or true & {"shell", "allow_pickle"}
            ):
                yield node


def _writes_csv(tree: ast.Module) -> Iterator[ast.AST]:
    for node in _nodes(tree):
        if isinstance(node, ast.Call):
            called = _dotted(node.func)
            if called in {"csv.writer", "csv.DictWriter"} or called.endswith(".to_csv"):
                yield node


def _imports(*modules: str) -> Callable[[ast.Module], Iterator[ast.AST]]:
    def find(tree: ast.Module) -> Iterator[ast.AST]:
        for node in _nodes(tree):
            if isinstance(node, ast.Import):
                yield from (each for each in node.names if each.name.startswith(modules))
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(modules):
                yield node

    return find


def _imports_unguarded(tree: ast.Module) -> Iterator[ast.AST]:
    """Imports of pandas and SciPy that may fail without naming the extra."""
    guarded = {
        id(inner)
        for node in _nodes(tree)
        if (isinstance(node, ast.With) and ast.unparse(node.items[0]) == "optional")
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or (isinstance(node, ast.Try) and "ModuleNotFoundError" in ast.unparse(node))
        for part in node.body
        for inner in ast.walk(part)
    }
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        if id(node) not in guarded and {name.split(".")[0] for name in names} & {
            "pandas",
            "scipy",
        }:
            yield node


def _catches_everything(tree: ast.Module) -> Iterator[ast.AST]:
    for node in _nodes(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = [] if node.type is None else [ast.unparse(part) for part in _parts(node.type)]
            last = node.body[-1]
            goes_on = isinstance(last, ast.Raise) and last.exc is None
            if not goes_on and (not caught or {"Exception", "BaseException"} & set(caught)):
                yield node


def _waits_for_a_process_without_end(tree: ast.Module) -> Iterator[ast.AST]:
    for node in _nodes(tree):
        if isinstance(node, ast.With):
            names = {_called_name(item.context_expr) for item in node.items}
            if "Popen" in names and not _kills_in_the_end(node.body):
                yield node


def _kills_in_the_end(body: list[ast.stmt]) -> bool:
    first = body[0]
    return (
        len(body) == 1
        and isinstance(first, ast.Try)
        and any(
            _called_name(part) == "kill" for each in first.finalbody for part in ast.walk(each)
        )
    )


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


RULES = (
    Rule(
        name="one-module-transposes",
        reason="A swapped matrix cannot be seen in accuracy, F1 or MCC; only "
        "offdiag.metrics.orientation swaps axes, and its tests look at the rest.",
        find=_transposes,
        hint=r"\bm?T\b|transpose|swapaxes|moveaxis|rollaxis|permute_dims",
        bad=("counts.T", "np.transpose(counts)", "counts.swapaxes(0, 1)", "counts.mT"),
        good=("as_canonical(counts, orientation)",),
        allowed=frozenset({"registry/offdiag/metrics/orientation.py"}),
    ),
    Rule(
        name="axes-have-names",
        reason="axis=0 does not say whether actual or predicted classes are summed.",
        find=_literal_axis,
        hint="axis",
        bad=("counts.sum(axis=0)", "counts.sum(axis=-1)", "counts.sum(axis=(0, 1))"),
        good=("counts.sum(axis=ACTUAL_AXIS)", "np.bincount(codes)"),
        scope=("registry/offdiag/metrics",),
    ),
    Rule(
        name="only-the-command-line-prints",
        reason="A library that prints disturbs the program that uses it.",
        find=_calls("print"),
        hint="print",
        bad=("print('done')",),
        good=("log.info('done')",),
        scope=tuple(folder for folder in PACKAGES if folder != "registry/offdiag")
        + tuple(
            f"registry/offdiag/{name}"
            for name in ("arrays", "domain", "metrics", "sdk", "services", "settings", "store")
        ),
    ),
    Rule(
        name="no-foreign-code-runs",
        reason="What users upload or configure is data and never a program.",
        find=_runs_foreign_code,
        hint=r"pickle|marshal|shelve|dill|joblib|\beval\b|\bexec\b|system|popen|yaml|shell",
        bad=(
            "import pickle",
            "from joblib import load",
            "eval(text)",
            "subprocess.run(command, shell=True)",
            "yaml.load(text)",
            "np.load(path, allow_pickle=True)",
            "pd.read_pickle(path)",
        ),
        good=("json.loads(text)", "subprocess.run([program])", "np.load(path)"),
    ),
    Rule(
        name="markup-is-written-by-templates",
        reason="Class names, run names and tags are hostile text; templates escape them.",
        find=_calls("Markup"),
        hint="Markup",
        bad=("Markup(text)", "markupsafe.Markup(text)"),
        good=("render_template('run.html', name=text)",),
        allowed=frozenset({"web/offdiag_web/charts/svg.py"}),
    ),
    Rule(
        name="few-places-make-connections",
        reason="An address that somebody typed is checked, and connected to as it was checked; "
        "every other connection goes where an operator said.",
        find=_imports(
            "socket",
            "http.client",
            "urllib.request",
            "httpx",
            "requests",
            "smtplib",
            "ftplib",
            "aiohttp",
            "urllib3",
        ),
        hint="socket|http|urllib|requests|smtplib|ftplib",
        bad=("import socket", "import urllib.request", "from requests import get", "import httpx"),
        good=("from urllib.parse import urlsplit", "import http"),
        allowed=frozenset(
            {
                "registry/offdiag/cli/operate/serve.py",
                "registry/offdiag/sdk/integrations/tracking_stores.py",
                "registry/offdiag/sdk/remote/connection.py",
                "registry/offdiag/services/delivery/webhook.py",
                "registry/offdiag/services/delivery/connections.py",
                "registry/offdiag/services/delivery/targets.py",
                "registry/offdiag/services/health.py",
                "web/offdiag_web/app/openid.py",
                "web/offdiag_web/server.py",
                "web/offdiag_web/app/security.py",
            }
        ),
    ),
    Rule(
        name="few-places-write-csv",
        reason="Names are anybody's input, and a spreadsheet runs what begins like a formula; "
        "these places mark such text.",
        find=_writes_csv,
        hint="csv",
        bad=("csv.writer(file)", "csv.DictWriter(file, names)", "frame.to_csv(path)"),
        good=("csv.reader(file)", "csv_text(names, rows)"),
        allowed=frozenset(
            {
                "registry/offdiag/cli/read/sql_rows.py",
                "registry/offdiag/reports/files.py",
                "web/offdiag_web/app/exports.py",
            }
        ),
    ),
    Rule(
        name="no-process-is-waited-for-without-end",
        reason="The end of `with Popen(…)` waits for the process: where a check in the block "
        "failed, or the process hangs, for ever. `support.processes.running` kills it.",
        find=_waits_for_a_process_without_end,
        hint="Popen",
        bad=(
            "with subprocess.Popen(command) as process:\n    process.wait(20)",
            "with Popen(c) as p:\n    f()\n    try:\n        f()\n    finally:\n        p.kill()",
            "with Popen(c) as p:\n    try:\n        f(p)\n    finally:\n        p.terminate()",
        ),
        good=(
            "with Popen(c) as p:\n    try:\n        f(p)\n    finally:\n        p.kill()",
            "with running(command) as process:\n    process.wait(20)",
        ),
        scope=(*PACKAGES, "tests", "benchmarks", "docs", "examples"),
    ),
    Rule(
        name="handlers-of-signals-are-set-in-one-place",
        reason="A handler may run while the thread below it holds any lock; "
        "`offdiag.signals` acts on signals in a thread instead.",
        find=_calls("signal", "set_wakeup_fd"),
        hint="signal|set_wakeup_fd",
        bad=("signal.signal(signal.SIGTERM, stop)", "signal.set_wakeup_fd(writing)"),
        good=("signal.raise_signal(signal.SIGTERM)", "signal.getsignal(signal.SIGTERM)"),
        allowed=frozenset({"registry/offdiag/signals.py", "web/offdiag_web/shutdown.py"}),
    ),
    Rule(
        name="what-comes-with-an-extra-is-imported-as-optional",
        reason="Where it is missing, the error names the extra that brings it.",
        find=_imports_unguarded,
        hint="pandas|scipy",
        bad=("import pandas as pd", "def f():\n    from scipy.special import ndtr"),
        good=(
            "with optional:\n    import pandas as pd",
            "if TYPE_CHECKING:\n    import pandas as pd",
            "try:\n    import scipy\nexcept ModuleNotFoundError:\n    pass",
        ),
        scope=("registry/offdiag",),
    ),
    Rule(
        name="no-distributions-of-scipy",
        reason="scipy.stats takes a second to load, for whoever asks a process first; "
        "scipy.special has what they are made of.",
        find=_imports("scipy.stats"),
        hint=r"scipy\.stats",
        bad=("from scipy.stats import hypergeom", "import scipy.stats"),
        good=("from scipy.special import gammaln",),
    ),
    Rule(
        name="only-process-edges-catch-everything",
        reason="A swallowed error is a wrong number later.",
        find=_catches_everything,
        hint="except",
        bad=(
            "try:\n    f()\nexcept Exception:\n    pass",
            "try:\n    f()\nexcept:\n    pass",
            "try:\n    f()\nexcept (ValueError, BaseException):\n    pass",
        ),
        good=(
            "try:\n    f()\nexcept ValueError:\n    pass",
            "try:\n    f()\nexcept BaseException:\n    close()\n    raise",
        ),
        allowed=frozenset(
            {
                "registry/offdiag/cli/commands.py",
                "registry/offdiag/services/jobs/run_job.py",
                # Calls code of others, of which anything may come; it makes a value undefined.
                "registry/offdiag/metrics/custom.py",
            }
        ),
    ),
)
