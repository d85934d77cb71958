# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""References of a kustomization that kustomize would fetch from the network."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

# What kustomize takes for a URL (api/internal/git/repospec.go, extractHost): a scheme, a user name, or github.com without either.
_REMOTE = re.compile(r"^(?:git::)?(?:(?:https?|ssh|git|file)://|[a-z][a-z0-9-]*@[^/]+[:/]|github\.com[:/])", re.IGNORECASE)
_GITHUB = re.compile(r"^(?:git::)?(?:(?:https?|ssh|git)://)?(?:[^@/]+@)?(?:www\.)?github\.com[:/](?P<rest>.+)$", re.IGNORECASE)


def is_remote(reference: str) -> bool:
    """Whether kustomize would fetch ``reference`` instead of reading it from the disk."""
    return bool(_REMOTE.match(reference.strip()))


_VERSION = re.compile(r"v?\d+(?:\.\d+)+[\w.+-]*|[0-9a-f]{40}")


def is_pinned(reference: str) -> bool:
    """Whether the reference names one content for good: a version or a commit as its ref, or a file of a release."""
    path, _mark, query = reference.strip().partition("?")
    values = parse_qs(query)
    ref = (values.get("ref") or values.get("version") or [""])[0]
    if ref:
        return _VERSION.fullmatch(ref) is not None
    return re.search(r"/releases/download/v?\d+(?:\.\d+)+[^/]*/", path) is not None


@dataclass(frozen=True, slots=True)
class Location:
    """Where the target of a remote reference lies in a folder of remote bases.

    ``root`` is what has to be copied (a whole repository at a ref, since its kustomizations use ``../``, or a folder for
    one file); ``path`` is the target below it. ``is_file`` marks a plain download.
    """

    root: str
    path: str
    is_file: bool


def locations(reference: str) -> list[Location]:
    """The places that may hold ``reference``, best first; empty when the form is unknown.

    The layout is that of a folder of remote bases: ``git/<owner>/<repository>/<ref>/<path>`` for repositories of GitHub and
    ``<host>/<path of the URL>`` for plain downloads.
    """
    reference = reference.strip()
    found: list[Location] = []
    git = _git_location(reference)
    if git is not None:
        found.append(git)
    parts = urlsplit(reference)
    if parts.scheme.lower() in {"http", "https"} and parts.hostname and not parts.query:
        path = posixpath.normpath(f"{parts.hostname}{parts.path}")
        if not path.startswith(".."):
            # A download is tried first: kustomize too tries HTTP before git for every such entry.
            found.insert(0, Location(posixpath.dirname(path), posixpath.basename(path), True))
    return found


def _git_location(reference: str) -> Location | None:
    match = _GITHUB.match(reference)
    if match is None:
        return None
    rest, _mark, query = match.group("rest").partition("?")
    values = parse_qs(query)
    ref = (values.get("ref") or values.get("version") or [""])[0]
    if "//" in rest:
        repository, _slashes, path = rest.partition("//")
    elif ".git/" in rest or rest.endswith(".git"):
        repository, _suffix, path = rest.partition(".git")
    else:
        owner, _slash, after = rest.partition("/")
        name, _slash, path = after.partition("/")
        repository = f"{owner}/{name}"
    repository = repository.removesuffix(".git").strip("/")
    path = posixpath.normpath(path.strip("/")) if path.strip("/") else "."
    if repository.count("/") != 1 or not ref or path.startswith("..") or ".." in f"{repository}/{ref}".split("/"):
        return None
    return Location(f"git/{repository}/{ref}", path, False)
