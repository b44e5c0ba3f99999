"""House rules about source text: each finds its bad examples, none is broken."""

from __future__ import annotations

import ast
import re

import pytest

from support.source_rules import PACKAGES, ROOT, RULES, Rule, breaches, parsed, python_files

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|WIP|TBD)\b")
UNESCAPED = re.compile(
    r"\|\s*safe\b|autoescape\s+false|\{%-?\s*raw|\bstyle\s*=|\bon[a-z]+\s*=\s*[\"']"
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_what_it_forbids_and_nothing_else(rule: Rule) -> None:
    for example in rule.bad:
        assert re.search(rule.hint, example)
        assert list(rule.find(ast.parse(example))), example
    for example in rule.good:
        assert not list(rule.find(ast.parse(example))), example


def test_no_source_breaks_a_rule() -> None:
    found = breaches()

    reasons = {rule.name: rule.reason for rule in RULES}
    broken = {each.partition(":")[0] for each in found}
    assert not found, "\n".join([*found, *(reasons[name] for name in sorted(broken))])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_exception_to_a_rule_is_still_needed(rule: Rule) -> None:
    for allowed in rule.allowed:
        tree = parsed(ROOT / allowed)

        assert list(rule.find(tree)), f"{allowed} no longer needs an exception"


def test_nothing_is_left_unfinished() -> None:
    folders = (*PACKAGES, "tests", "benchmarks", "examples", "docs")

    marked = [
        path.relative_to(ROOT).as_posix()
        for path in python_files(folders)
        if path.name != "source_rules_test.py"
        and UNFINISHED.search(path.read_text(encoding="utf-8"))
    ]

    assert not marked


def test_templates_escape_everything_and_carry_no_inline_code() -> None:
    templates = sorted((ROOT / "web/offdiag_web").rglob("*.html"))

    breaches = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in templates
        if (found := UNESCAPED.search(path.read_text(encoding="utf-8")))
    ]

    assert templates
    assert not breaches


@pytest.mark.parametrize(
    "text", ["{{ name|safe }}", "{{ name | safe }}", "<p style='x'>", '<a onclick="f()">']
)
def test_the_template_rule_finds_what_it_forbids(text: str) -> None:
    assert UNESCAPED.search(text)


def test_what_was_wrong_with_a_form_has_the_focus_of_the_page_that_says_so() -> None:
    """Screen readers do not read an alert that is there when the page is."""
    alerts = [
        (path.name, tag)
        for path in sorted((ROOT / "web/offdiag_web").rglob("*.html"))
        for tag in re.findall(r'<[^<>]* role="alert"[^<>]*>', path.read_text(encoding="utf-8"))
    ]

    without = {name for name, tag in alerts if "autofocus" not in tag and "hidden" not in tag}
    # The password is to be typed again.
    assert without == {"sign_in.html"}
