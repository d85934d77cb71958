"""The checkers of the collection, each as one command on a copy of the checkout.

A checker works in a copy of its own (tracked files and new ones, without what .gitignore names), since several of them write
beside what they check, and `ansible-test` wants to lie in a real `ansible_collections/<namespace>/<name>` folder.
"""

from __future__ import annotations

import filecmp
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
COLLECTION = "ansible_collections.kubeflow.platform"
OLDEST = "3.11"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

# The answer to ansible-test's question for a pip: it wants to fetch a script from a server of its own. This one makes do with the pip
# that Python carries.
GET_PIP = """\
import os, subprocess, sys
environment = {name: value for name, value in os.environ.items() if name != "GET_PIP"}
wanted = [argument for argument in sys.argv[1:] if not argument.startswith("--no-")]
subprocess.check_call([sys.executable, "-m", "ensurepip", "--default-pip"], env=environment, stdout=subprocess.DEVNULL)
subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", *wanted], env=environment)
"""


# Kubernetes manifests hold several YAML documents a file, which is wrong only for Ansible's own YAML.
MANIFESTS = ("tests/distribution/", "tests/testbed/kwok/")


# What mypy reads. Test functions are read too where a package holds them beside programs.
TYPED = (f"{COLLECTION}.plugins", "tests.tools", "tests.testbed", "tests.quality", "tests.bench")


@dataclass(frozen=True)
class Verdict:
    """What a checker said: empty `complaint` means that all is well, unless `left_out` says why it could not run."""

    complaint: str
    left_out: str = ""


def cache() -> Path:
    """The shared cache, which `tests/tools/run` names."""
    return Path(os.environ["KUBEFLOW_PLATFORM_CACHE"])


def files() -> list[Path]:
    """The files of the checkout, relative: tracked ones and new ones that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=CHECKOUT, stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    return sorted(Path(name) for name in set(listed.split("\0")) if name and (CHECKOUT / name).is_file())


def copy_of_checkout(name: str, without: tuple[str, ...] = ()) -> Path:
    """A copy of the checkout in a collection tree that only `name` uses, brought up to date; what else was there is removed."""
    work = cache() / "checks" / Path(os.environ["PYTHONPATH"]).name / name / "ansible_collections"
    copy = work / "kubeflow" / "platform"
    wanted = [path for path in files() if not str(path).startswith(without)]
    for relative in wanted:
        source, target = CHECKOUT / relative, copy / relative
        if not target.exists() or not filecmp.cmp(source, target, shallow=False) or source.stat().st_mode != target.stat().st_mode:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    keep = {copy / relative for relative in wanted}
    for path in sorted(copy.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in keep:
            path.unlink()
    core = work / "kubernetes" / "core"
    if not core.exists():
        source = Path(os.environ["PYTHONPATH"]) / "ansible_collections" / "kubernetes" / "core"
        shutil.copytree(source, core)
    return copy


def command(*arguments: str, cwd: Path, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run a command on a copy; its exit code and all that it printed."""
    tree = cwd.parent.parent.parent
    variables = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(tree),
        "PYTHONPATH": str(tree),
        "NO_COLOR": "1",
        "ANSIBLE_NOCOLOR": "1",
        "COLUMNS": "160",
        **(environment or {}),
    }
    done = subprocess.run(
        arguments, cwd=cwd, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace")


def simple(name: str, *arguments: str) -> Callable[[], Verdict]:
    """A checker that says all with its exit code."""

    def check() -> Verdict:
        code, output = command(*arguments, cwd=copy_of_checkout(name))
        return Verdict("" if code == 0 else output)

    return check


def mypy() -> Verdict:
    """Strict types, for the collection and for the programs among the tests."""
    copy = copy_of_checkout("mypy")
    cache_folder = str(cache() / "mypy")
    packages = [word for name in TYPED for word in ("-p", name)]
    code, output = command(
        *("mypy", "--cache-dir", cache_folder, *packages),
        cwd=copy,
        # Not in PYTHONPATH: mypy takes what it finds there for somebody else's.
        environment={"MYPYPATH": f"{copy.parent.parent.parent}:{copy}", "PYTHONPATH": ""},
    )
    return Verdict("" if code == 0 else output)


def sanity() -> Verdict:
    """Every sanity test of ansible-test, with no exception listed, and none left out because its program is missing."""
    copy = copy_of_checkout("sanity", without=MANIFESTS)
    ignores = sorted(str(path.relative_to(copy)) for path in (copy / "tests" / "sanity").glob("ignore*"))
    if ignores:
        return Verdict(f"There must be no ignore file: {ignores}")
    home = cache() / "ansible-test"
    place_pip(home / ".ansible" / "test" / "cache")
    code, output = command(
        *("ansible-test", "sanity", "--python", PYTHON, "--color", "no", "--truncate", "0"),
        cwd=copy,
        # Its environments are kept apart from the user's own; pip's settings stay the user's.
        environment={"HOME": str(home), "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())},
    )
    left_out = [line for line in output.splitlines() if "WARNING" in line and ("Skipping" in line or "not found" in line)]
    return Verdict("" if code == 0 and not left_out else output)


def place_pip(folder: Path) -> None:
    """Put our script where this version of ansible-test looks for the one that it would fetch."""
    found = importlib.util.find_spec("ansible_test")
    (package,) = found.submodule_search_locations if found and found.submodule_search_locations else [""]
    source = (Path(package) / "_internal" / "python_requirements.py").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for version in re.findall(r"pip='([\d.]+)'", source):
        (folder / f"get_pip_{version.replace('.', '_')}.py").write_text(GET_PIP, encoding="utf-8")


def galaxy() -> Verdict:
    """Build the artifact and import it as Galaxy would; any warning counts, since the importer itself never fails on one."""
    copy = copy_of_checkout("galaxy")
    out = copy.parent.parent.parent / "artifact"
    shutil.rmtree(out, ignore_errors=True)
    code, output = command("ansible-galaxy", "collection", "build", "--output-path", str(out), cwd=copy)
    if code:
        return Verdict(output)
    (artifact,) = out.glob("*.tar.gz")
    code, output = command(
        *(str(CHECKOUT / "tests" / "tools" / "run"), "--importer", "python", "-m", "galaxy_importer.main", str(artifact)),
        cwd=copy,
        environment={"GALAXY_IMPORTER_CONFIG": ""},
    )
    warned = [line for line in output.splitlines() if line.startswith(("WARNING", "ERROR"))]
    return Verdict("" if code == 0 and not warned else output)


def oldest_python() -> Verdict:
    """The unit tests once more on Python 3.11, which gets an older ansible-core too; without the real distributions."""
    tools = CHECKOUT / "tests" / "tools"
    if PYTHON == OLDEST:
        return Verdict("")
    if subprocess.run([str(tools / "find-python"), OLDEST], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        return Verdict("", left_out=f"Python {OLDEST} is not on this machine")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHON", "KUBEFLOW_DISTRIBUTIONS")}
    done = subprocess.run(
        [str(tools / "run"), f"--python={OLDEST}", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit"],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Verdict("" if done.returncode == 0 else done.stdout + done.stderr)


# Slowest first: they run in the background, a few at a time, from the start of the test session.
CHECKERS: dict[str, Callable[[], Verdict]] = {
    "ansible-test-sanity": sanity,
    "galaxy-importer": galaxy,
    "unit-tests-on-the-oldest-python": oldest_python,
    "ansible-lint": simple("ansible-lint", "ansible-lint", "--offline", "--profile", "production", "--strict"),
    "antsibull-docs": simple("antsibull-docs", "antsibull-docs", "lint-collection-docs", "--plugin-docs", "."),
    "mypy": mypy,
    "yamllint": simple("yamllint", "yamllint", "--strict", "."),
    "antsibull-changelog": simple("antsibull-changelog", "antsibull-changelog", "lint"),
    "ruff": simple("ruff", "ruff", "check", "--no-cache", "--output-format", "concise", "."),
}


def names() -> list[str]:
    """The checkers in the order in which their verdicts are asked for: quickest first."""
    return list(reversed(CHECKERS))
