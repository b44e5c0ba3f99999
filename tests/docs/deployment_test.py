"""Containers, Kubernetes, pipelines and the action for GitHub name what exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.command_lines import command_of
from support.deployed import require_setting

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


class StrictLoader(yaml.SafeLoader):  # type: ignore[misc]  # The library ships no types.
    """Refuses a key that is there twice, of which YAML would silently take the last one."""


def _unique(loader: StrictLoader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=deep) for key, _ in node.value]
    assert len(keys) == len(set(keys)), f"a key of {keys} is there twice {node.start_mark}"
    return dict(loader.construct_mapping(node, deep=True))


StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique)


def documents(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    return list(yaml.load_all(text, Loader=StrictLoader))  # It is a safe one.


def document(path: Path) -> dict[str, Any]:
    (found,) = documents(path)
    return found


def objects() -> dict[str, dict[str, Any]]:
    """Everything that is applied, by kind and name."""
    base = document(KUBERNETES / "kustomization.yaml")
    found = [each for name in base["resources"] for each in documents(KUBERNETES / name)]
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in found}


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in objects().items():
        if "template" in each.get("spec", {}):
            yield name, each["spec"]["template"]


def require_command(words: list[str]) -> None:
    program, *rest = words
    if program == "sh":
        assert rest == ["-c", "until offdiag db check; do sleep 2; done"]
        program, rest = "offdiag", ["db", "check"]
    assert program in {"offdiag", "gunicorn"}
    assert program == "gunicorn" or command_of(rest).callback is not None


def test_every_file_of_the_base_is_applied() -> None:
    base = document(KUBERNETES / "kustomization.yaml")
    files = {path.name for path in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}

    assert sorted(base["resources"]) == sorted(files)
    assert set(objects()) == {
        "ConfigMap/offdiag",
        "Deployment/offdiag-web",
        "Deployment/offdiag-worker",
        "Job/offdiag-upgrade",
        "PodDisruptionBudget/offdiag-web",
        "Service/offdiag-web",
    }


@pytest.mark.parametrize(("name", "template"), list(pods()))
def test_pods_run_commands_that_exist_with_settings_that_exist(
    name: str, template: dict[str, Any]
) -> None:
    spec = template["spec"]
    (container,) = spec["containers"]

    for each in [container, *spec.get("initContainers", [])]:
        assert each["image"] == document(KUBERNETES / "kustomization.yaml")["images"][0]["name"]
        sources = [next(iter(source.values()))["name"] for source in each["envFrom"]]
        assert sources == ["offdiag", "offdiag"]
        assert not each["securityContext"]["allowPrivilegeEscalation"]
        if "command" in each:
            require_command(each["command"])
    assert spec["securityContext"]["runAsNonRoot"]
    assert ("command" in container) == (name != "Deployment/offdiag-web")


def test_settings_of_the_base_exist() -> None:
    settings = objects()["ConfigMap/offdiag"]["data"]

    for variable, value in settings.items():
        assert isinstance(value, str)
        require_setting(variable)


def test_a_service_and_its_probes_reach_the_port_of_the_image() -> None:
    found = objects()
    pod = found["Deployment/offdiag-web"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    (port,) = container["ports"]
    (exposed,) = re.findall(r"^EXPOSE (\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)

    assert port == {"name": "http", "containerPort": int(exposed)}
    assert found["Service/offdiag-web"]["spec"]["ports"][0]["targetPort"] == "http"
    for name in ("Service/offdiag-web", "PodDisruptionBudget/offdiag-web"):
        selector = found[name]["spec"]["selector"]
        assert selector.get("matchLabels", selector) == pod["metadata"]["labels"]
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] in {"/healthz", "/readyz"}
        assert asked["port"] == "http"
        # Other names than those of `server.trusted_hosts` are refused.
        assert asked["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    for deployment in ("Deployment/offdiag-web", "Deployment/offdiag-worker"):
        spec = found[deployment]["spec"]
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    # Gunicorn lets requests end for 30 seconds; a pod is killed later.
    assert pod["spec"]["terminationGracePeriodSeconds"] > 30


def test_the_image_has_what_its_command_names() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    (command,) = (line for line in lines if line.startswith("CMD "))
    assert '"/etc/offdiag/gunicorn.conf.py", "--bind", "0.0.0.0:8642"' in command
    (source, target) = next(line for line in lines if "gunicorn.conf" in line).split()[1:]
    assert target == "/etc/offdiag/gunicorn.conf.py"
    assert (ROOT / source).is_file()
    assert any("'/src[team]'" in line for line in lines)
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    needed = {"pyproject.toml", "README.md", "LICENSE", "config"}
    assert needed | {path.split("/")[0] for path in packages} <= {
        line.removeprefix("!") for line in ignored if line.startswith("!")
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_pipelines_run_what_the_makefile_and_ci_have(path: Path) -> None:
    workflow = document(path)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 120
        for step in job["steps"]:
            program, *words = step.get("run", "true").split()
            if program == "make":
                assert words[0] in targets
            if program.startswith(".ci/"):
                assert os.access(ROOT / program, os.X_OK)


def test_pre_commit_runs_tools_of_development() -> None:
    (repository,) = document(ROOT / ".pre-commit-config.yaml")["repos"]

    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        program = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert f"$(BIN)/{program}" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_citation_has_the_version_and_the_address_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = document(ROOT / "CITATION.cff")

    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert citation["repository-code"] == project["urls"]["Homepage"]


def _direct(project: dict[str, Any], extra: str | None = None) -> Iterator[Requirement]:
    extras = project["optional-dependencies"]
    for text in project["dependencies"] if extra is None else extras[extra]:
        requirement = Requirement(text)
        if requirement.name == "offdiag":
            for other in requirement.extras:
                yield from _direct(project, other)
        else:
            yield requirement


def test_the_lock_file_has_a_version_of_every_dependency_that_its_bound_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    locked = dict(line.split("==") for line in lines)
    versions = {canonicalize_name(name): version for name, version in locked.items()}

    for requirement in (*_direct(project), *_direct(project, "dev")):
        version = versions.get(canonicalize_name(requirement.name), "none")
        assert requirement.specifier.contains(version), f"{requirement}: make lock ({version})"


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """The variables of a step, and `offdiag` and `gh` on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "offdiag"
    command.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from offdiag.cli import main; main()' \"$@\"\n"
    )
    command.chmod(0o755)
    return {
        "PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "RESULT": str(tmp_path / "result.md"),
    }


def gate(runner: dict[str, str], folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    (folder / "my predictions.csv").write_text("y,yhat\na,a\na,a\nb,b\nb,a\n", encoding="utf-8")
    arguments = "--file 'my predictions.csv' --true y --pred yhat"
    return subprocess.run(
        ["bash", ROOT / ".github" / "gate.sh"],
        env=runner | {"ARGUMENTS": arguments} | given,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_action_writes_the_table_and_the_outcome(
    runner: dict[str, str], tmp_path: Path
) -> None:
    done = gate(runner, tmp_path, CONDITIONS="\n  recall[a]>=0.9\n low(mcc)>=0.9\n", JUNIT="g.xml")

    assert done.returncode == 0, done.stderr
    summary = (tmp_path / "summary").read_text()
    assert summary.startswith("### Gate failed: 1 of 2 conditions passed.")
    assert summary == (tmp_path / "result.md").read_text() == done.stdout
    assert (tmp_path / "output").read_text() == "code=1\npassed=false\n"
    assert (tmp_path / "g.xml").is_file()


def test_the_action_fails_where_the_gate_cannot_run(
    runner: dict[str, str], tmp_path: Path
) -> None:
    refusal = "#!/bin/sh\necho \"offdiag: --min: no metric 'recal'\" >&2\nexit 2\n"
    (tmp_path / "bin" / "offdiag").write_text(refusal)

    done = gate(runner, tmp_path, CONDITIONS="recal[a]>=0.9")

    assert (tmp_path / "output").read_text() == "code=2\npassed=false\n"
    assert "### Gate could not run" in done.stdout
    assert "recal" in done.stdout


def test_the_action_checks_a_run_whose_name_begins_with_a_dash(
    runner: dict[str, str], tmp_path: Path
) -> None:
    command = tmp_path / "bin" / "offdiag"
    command.write_text("#!/bin/sh\nprintf '<%s>' \"$@\"\n", encoding="utf-8")

    done = gate(runner, tmp_path, ARGUMENTS="-- '-one run'", CONDITIONS="mcc>=0", JUNIT="a b.xml")

    assert done.stdout == "<gate><--min><mcc>=0><--junit><a b.xml><--markdown><--><-one run>"


def test_the_action_says_that_a_quote_of_its_arguments_is_not_closed(
    runner: dict[str, str], tmp_path: Path
) -> None:
    done = gate(runner, tmp_path, ARGUMENTS="--file 'my predictions.csv", CONDITIONS="mcc>=0")

    assert (tmp_path / "output").read_text() == "code=2\npassed=false\n"
    assert "### Gate could not run\n\n    arguments: No closing quotation." in done.stdout
    assert "Traceback" not in done.stderr


GH = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps([os.environ["MARKER"], os.environ["ME"], *words]) + "\\n")
if words[:2] == ["api", "user"]:
    print(os.environ["LOGIN"] or '{"message": "Resource not accessible by integration"}')
    sys.exit(not os.environ["LOGIN"])
if "--jq" in words:
    print(os.environ["KNOWN"])
"""


@pytest.mark.parametrize(
    ("known", "several", "job", "login"),
    [
        ("", {}, "gate", ""),
        ("42\n43", {}, "gate", ""),
        ("42", {}, "gate", "ana"),
        ("", {"MATRIX": "resnet, 3.12"}, "gate (resnet, 3.12)", ""),
        ("42", {"NAME": "new model"}, "gate: new model", ""),
        ("", {"MATRIX": "a", "NAME": "b"}, "gate (a): b", "ana"),
    ],
)
def test_one_comment_of_a_gate_is_written_and_then_changed(
    runner: dict[str, str],
    tmp_path: Path,
    known: str,
    several: dict[str, str],
    job: str,
    login: str,
) -> None:
    """Each gate has its own, or one that passed would replace one that failed."""
    command = tmp_path / "bin" / "gh"
    command.write_text(GH, encoding="utf-8")
    command.chmod(0o755)
    Path(runner["RESULT"]).write_text("### Gate passed\n", encoding="utf-8")
    calls = tmp_path / "calls"

    subprocess.run(
        ["bash", ROOT / ".github" / "comment.sh"],
        env=runner
        | {"CALLS": str(calls), "KNOWN": known, "NUMBER": "7", "GITHUB_REPOSITORY": "a/b"}
        | {"GITHUB_WORKFLOW": 'the "nightly" \\(one)', "GITHUB_JOB": "gate", "LOGIN": login}
        | {"MATRIX": "", "NAME": ""}
        | several,
        check=True,
        timeout=60,
    )

    _, asked, written = map(json.loads, calls.read_text().splitlines())
    marker = f'<!-- offdiag gate: the "nightly" \\(one)/{job} -->'
    # What is asked for has neither name in it, where a quote could change its meaning.
    assert (asked[:2], "nightly" in asked[-1]) == ([marker, login], False)
    shown = f"### Gate passed\n\n{job}" if several else "### Gate passed"
    method, path = ("PATCH", "comments/42") if known else ("POST", "7/comments")
    assert written[-4:] == [
        *(method, f"repos/a/b/issues/{path}"),
        *("-f", f"body={marker}\n{shown}"),
    ]


def test_the_action_runs_scripts_that_are_there() -> None:
    action = document(ROOT / "action.yml")

    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        # What callers write reaches a script as a variable, never as a part of it.
        assert "${{" not in step["run"]
        for name in re.findall(r"\$GITHUB_ACTION_PATH/([\w./]+)", step["run"]):
            assert (ROOT / name).is_file()
    assert set(action["inputs"]) == {
        "arguments",
        "comment",
        "conditions",
        "install",
        "junit",
        "name",
        "token",
    }
