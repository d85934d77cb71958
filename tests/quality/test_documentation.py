"""What README, CONTRIBUTING and the guides tell people to type exists and is accepted.

Every command of a `console` block must match a line of `CHECKS`, which runs it, or runs as much of it as needs no cluster.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from glob import glob
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.quality.checkers import CHECKOUT, command, copy_of_checkout

PAGES = sorted([*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md"), *CHECKOUT.glob("docs/**/*.rst")])
PAGES = [page for page in PAGES if page.name != "CHANGELOG.md"]


class Block(NamedTuple):
    """A block of code in a page."""

    page: str
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of Markdown, the code-block directives of reStructuredText."""
    text, name = page.read_text(encoding="utf-8"), str(page.relative_to(CHECKOUT))
    if page.suffix == ".md":
        return [Block(name, language, body) for language, body in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)]
    found = re.findall(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", text, re.M)
    return [Block(name, language, re.sub(r"^    ", "", body, flags=re.M)) for language, body in found]


BLOCKS = [block for page in PAGES for block in blocks(page)]
COMMANDS = sorted({line for block in BLOCKS if block.language == "console" for line in block.text.splitlines() if line.strip()})


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where a reader might sit: the collection's `inventory` and `requirements.txt`, and the copy that README makes."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "inventory").symlink_to(CHECKOUT / "inventory")
    shutil.copy(CHECKOUT / "requirements.txt", folder)
    shutil.copytree(CHECKOUT / "inventory" / "single", folder / "my-inventory")
    return folder


def run(words: list[str], cwd: Path) -> None:
    """Run a command of the development environment; it must succeed."""
    done = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(words)} failed ({done.returncode}):\n{done.stdout}{done.stderr}"


def make(words: list[str], desk: Path) -> None:
    """The target exists (what it does is what the other tests do)."""
    run(["make", "--dry-run", *words[1:]], CHECKOUT)


def playbook(words: list[str], desk: Path) -> None:
    """The playbook with its roles, the inventory and the options are accepted."""
    run([*words, "--list-tasks"], desk)


def as_it_is(words: list[str], desk: Path) -> None:
    """Needs no cluster and leaves nothing behind."""
    run(words, desk)


def copied(words: list[str], desk: Path) -> None:
    """A copy, under another name each time."""
    run([*words[:-1], str(desk / "copy")], desk)


def pip(words: list[str], desk: Path) -> None:
    """pip finds what is asked for; nothing is downloaded or installed (from a folder only what is installed already can be)."""
    options = words[2:]
    if words[1] == "download":
        place = options.index("--dest")
        del options[place : place + 2]
    (desk / "offline").mkdir(exist_ok=True)
    run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps", *options], desk)


def galaxy(words: list[str], desk: Path) -> None:
    """Build, then download or install what was built, beside nothing else: no server is asked for kubernetes.core."""
    copy = copy_of_checkout("documentation")
    code, output = command("ansible-galaxy", "collection", "build", "--force", "--output-path", str(desk), cwd=copy)
    assert code == 0, output
    if words[2] == "build":
        return
    download = ["ansible-galaxy", "collection", "download", "kubeflow-platform-0.1.0.tar.gz", "--download-path", "offline"]
    run([*(words if words[2] == "download" else download), "--no-deps"], desk)
    assert list(desk.glob("offline/kubeflow-platform-*.tar.gz"))
    if words[2] == "install":
        paths = [path for word in words for path in (glob(word, root_dir=desk) if "*" in word else [word])]
        run([*paths, "--no-deps", "--force", "--collections-path", str(desk / "collections")], desk)


def development(words: list[str], desk: Path) -> None:
    """The environment takes the options, and the program or file that it is asked to run is there."""
    run([str(CHECKOUT / words[0]), "--help"], CHECKOUT)
    program, *rest = [word for word in words[1:] if not word.startswith("--")]
    assert shutil.which(program) or os.access(CHECKOUT / program, os.X_OK), program
    for path in (word for word in rest if word.startswith("tests/")):
        assert (CHECKOUT / path).exists(), path


CHECKS: list[tuple[str, Callable[[list[str], Path], None]]] = [
    (r"make( |$)", make),
    (r"ansible-playbook kubeflow\.platform\.\w+ -i ", playbook),
    (r"ansible-doc ", as_it_is),
    (r"cp -r inventory/", copied),
    (r"pip (install|download) ", pip),
    (r"ansible-galaxy collection (build|download|install) ?", galaxy),
    (r"tests/tools/run ", development),
]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_that_a_page_shows_works(line: str, desk: Path) -> None:
    check = next((check for pattern, check in CHECKS if re.match(pattern, line)), None)
    assert check, f"Nothing here tries: {line}"
    check(shlex.split(line), desk)


SNIPPETS = [block for block in BLOCKS if block.language == "yaml"]


@pytest.mark.parametrize("block", SNIPPETS, ids=[f"{block.page}-{number}" for number, block in enumerate(SNIPPETS)])
def test_yaml_that_a_page_shows_can_be_used(block: Block, tmp_path: Path) -> None:
    for part in block.text.strip().split("\n\n") if "kubeflow_" in block.text else [block.text]:
        content = yaml.safe_load(part)
        assert isinstance(content, dict | list)
        if isinstance(content, list):
            play = [{"hosts": "localhost", "gather_facts": False, "tasks": content}]
            (tmp_path / "play.yml").write_text(yaml.safe_dump(play), encoding="utf-8")
            run(["ansible-playbook", "--syntax-check", str(tmp_path / "play.yml")], tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_leads_to_a_file_that_is_there(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_make_target_explains_itself() -> None:
    text = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", text, re.M))
    explained = set(re.findall(r"^([a-z-]+):.*## \w", text, re.M))
    assert targets == explained
    wanted = {"setup", "demo", "test", "lint", "unit", "integration", "molecule", "bench", "soak", "testbed", "testbed-down", "clean"}
    assert wanted <= targets
