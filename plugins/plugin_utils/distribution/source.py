# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a distribution comes from, as a user says it: a text or a mapping."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.archive import SUFFIXES, is_archive
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError

UPSTREAM = "https://github.com/kubeflow/community-distribution.git"
_URL = re.compile(r"^(?:https?|ssh|git|file)://", re.IGNORECASE)
_SCP = re.compile(r"^[\w.-]+@[\w.-]+:")
_REF = re.compile(r"[\w./+-]*[\w+]\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_HOW = "Give a folder, an archive (file or URL), a git repository, or a mapping with one of the keys folder, archive, repository."


@dataclass(frozen=True, slots=True)
class Folder:
    """A tree that is there already; it is used where it is and never written to."""

    path: str


@dataclass(frozen=True, slots=True)
class Archive:
    """A tar or zip archive, a file or a URL; ``sha256`` is checked if given."""

    place: str
    sha256: str | None

    @property
    def is_url(self) -> bool:
        """Whether the archive has to be downloaded."""
        return bool(_URL.match(self.place))


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository at a ref (branch, tag or commit); ``commit`` is checked if given."""

    url: str
    ref: str
    commit: str | None


Source = Folder | Archive | Repository


def read(given: Any, release: Mapping[str, Any], absolute: Callable[[str], str]) -> Source:
    """Read the option ``source``; nothing given is upstream's repository at the release's ref.

    ``absolute`` makes a path of the controller absolute. Raises RenderError.
    """
    record: Mapping[str, Any] = release.get("source") or {}
    if given in (None, "", {}):
        given = {"repository": record.get("repository") or UPSTREAM, "commit": record.get("commit")}
    if isinstance(given, str):
        given = _of_text(given, absolute)
    if not isinstance(given, Mapping):
        raise RenderError(f"Failed to read the distribution's source: {given!r} is neither a text nor a mapping. {_HOW}")
    known = {"folder": {"folder"}, "archive": {"archive", "sha256"}, "repository": {"repository", "ref", "commit"}}
    kinds = [kind for kind in known if given.get(kind)]
    if len(kinds) != 1:
        raise RenderError(f"Failed to read the distribution's source: it has {' and '.join(kinds) or 'none of the keys'}. {_HOW}")
    unknown = sorted(set(given) - known[kinds[0]])
    if unknown:
        allowed = ", ".join(sorted(known[kinds[0]]))
        raise RenderError(f"Failed to read the distribution's source: unknown key {', '.join(unknown)}. With {kinds[0]} use {allowed}.")
    if kinds[0] == "folder":
        return Folder(absolute(str(given["folder"])))
    if kinds[0] == "archive":
        return _archive(given, absolute)
    return _repository(given, record)


def _of_text(text: str, absolute: Callable[[str], str]) -> dict[str, str]:
    if _URL.match(text):
        return {"archive" if is_archive(urlsplit(text).path) else "repository": text}
    if _SCP.match(text) or text.endswith(".git"):
        return {"repository": text}
    path = absolute(text)
    if os.path.isfile(path):
        return {"archive": path}
    if os.path.isdir(path):
        return {"folder": path}
    raise RenderError(f"Failed to find the distribution: there is neither a folder nor an archive at {path}. {_HOW}")


def _archive(given: Mapping[str, Any], absolute: Callable[[str], str]) -> Archive:
    place, digest = str(given["archive"]), str(given.get("sha256") or "").removeprefix("sha256:").lower() or None
    is_url = bool(_URL.match(place))
    if is_url:
        _refuse_credentials(place)
    if not is_archive(urlsplit(place).path if is_url else place):
        raise RenderError(f"Failed to read the distribution's source: {place} is no archive that can be unpacked ({', '.join(SUFFIXES)}).")
    if digest and not _SHA256.match(digest):
        raise RenderError(f"Failed to read the distribution's source: sha256 {digest} is not 64 hexadecimal digits.")
    return Archive(place if is_url else absolute(place), digest)


def _repository(given: Mapping[str, Any], record: Mapping[str, Any]) -> Repository:
    url = str(given["repository"])
    # The record's commit belongs to the record's ref: with a ref of the user's own it says nothing.
    ref = str(given.get("ref") or record.get("ref") or "")
    commit = str(given.get("commit") or "").lower() or None
    _refuse_credentials(url)
    if url.startswith("-") or url.lower().startswith("ext::"):
        raise RenderError(f"Failed to read the distribution's source: {url} is no address of a git repository.")
    if not ref and not commit:
        raise RenderError(f"Failed to read the distribution's source: the repository {url} needs `ref` (a branch, a tag or a commit).")
    if ref and not _REF.match(ref) or ref.startswith("-") or ".." in ref:
        raise RenderError(f"Failed to read the distribution's source: {ref!r} is no name of a branch, a tag or a commit.")
    if commit and not _COMMIT.match(commit):
        raise RenderError(f"Failed to read the distribution's source: commit {commit} is not 40 hexadecimal digits.")
    return Repository(url, ref or str(commit), commit)


def _refuse_credentials(url: str) -> None:
    parts = urlsplit(url)
    if parts.password or (parts.username and parts.scheme.lower() in {"http", "https"}):
        raise RenderError(
            f"Failed to read the distribution's source: the URL on {parts.hostname} holds credentials, which would end up in logs. "
            "Take them out and set `username` and `password` instead."
        )
