# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A repository's tree at one commit, by git: fetched shallow, kept by commit, unpacked like an archive."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.access import Access
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.archive import unpack
from ansible_collections.kubeflow.platform.plugins.plugin_utils.distribution.source import Repository
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize import process
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError


class Checkout(NamedTuple):
    """The tree of ``commit``; ``note`` is a warning, or ""."""

    path: Path
    commit: str
    is_new: bool
    note: str


def checkout(cache: Cache, source: Repository, access: Access) -> Checkout:
    """The tree at the source's ref. With ``commit`` given and there already, the network is not asked.

    When the repository cannot be reached, the commit that the ref had last time is used, with a note. Raises RenderError.
    """
    if source.commit:
        target = _tree(cache, source.commit)
        if target.is_dir():
            cache.touch(target)
            return Checkout(target, source.commit, False, "")
    store = cache.path("git", hashlib.sha256(source.url.encode()).hexdigest()[:24])
    note = cache.path("git", f"{store.name}.json")
    refs = cache.read_json(note) or {}
    with cache.lock("git"):
        git = _Git(store, source, access)
        try:
            commit = git.fetch()
        except _Unreachable as error:
            commit = "" if source.commit else str(refs.get(source.ref, ""))
            if not commit or not _tree(cache, commit).is_dir():
                raise RenderError(str(error)) from error
            return Checkout(_tree(cache, commit), commit, False, f"{error} The copy of commit {commit[:12]} from an earlier run is used.")
        if source.commit and commit != source.commit:
            raise RenderError(
                f"Failed to fetch {source.url}: {source.ref} is commit {commit}, but commit {source.commit} was asked for. "
                "Somebody moved the ref, or it is another one: find out which before you change `commit`."
            )
        target = _tree(cache, commit)
        is_new = not target.is_dir()
        if is_new:
            _unpack(cache, git, commit, target)
        cache.write_json(note, {**refs, source.ref: commit})
    cache.touch(target)
    return Checkout(target, commit, is_new, "")


def _tree(cache: Cache, commit: str) -> Path:
    return cache.path("sources", f"git-{commit}")


def _unpack(cache: Cache, git: _Git, commit: str, target: Path) -> None:
    with cache.staging("sources") as folder:
        git.archive(commit, folder / "tree.tar")
        unpack(folder / "tree.tar", folder / "tree")
        os.replace(folder / "tree", target)


class _Unreachable(RenderError):
    """The repository did not answer, or not as hoped."""


class _Git:
    """git commands on one bare repository of the cache."""

    def __init__(self, store: Path, source: Repository, access: Access) -> None:
        program = shutil.which("git")
        if program is None:
            raise RenderError("Failed to fetch the distribution: git is not installed on the controller. Install it, or give an archive.")
        self._program = program
        self._store = store
        self._source = source
        self._access = access

    def fetch(self) -> str:
        """Fetch the ref, one commit deep; gives the commit."""
        if not (self._store / "HEAD").is_file():
            self._run("init", "--quiet", "--bare", str(self._store))
        options = ("--quiet", "--no-tags", "--force", "--depth=1")
        self._run("-C", str(self._store), "fetch", *options, "--", self._source.url, self._source.ref)
        return self._run("-C", str(self._store), "rev-parse", "--verify", "FETCH_HEAD^{commit}").strip()

    def archive(self, commit: str, target: Path) -> None:
        """Write the commit's tree as a tar archive."""
        self._run("-C", str(self._store), "archive", "--format=tar", f"--output={target}", commit)

    def _run(self, *arguments: str) -> str:
        environment = self._access.for_git(self._source.url)
        done = process.run([self._program, *arguments], timeout=self._access.timeout, environment=environment)
        if done.code is None:
            raise _Unreachable(f"Failed to fetch {self._source.url}: no answer in {self._access.timeout:.0f} s. Check `proxy`.")
        if done.code != 0:
            raise _Unreachable(f"Failed to fetch {self._source.ref} from {self._source.url}: {_reason(done.err)}")
        return done.out.decode("utf-8", "replace")


def _reason(text: str) -> str:
    """git's last words, and what to do about them."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = next(
        (line for line in reversed(lines) if line.startswith(("fatal:", "error:", "ERROR:"))), lines[-1] if lines else "no reason given"
    )
    said = said.removeprefix("fatal: ").rstrip(".")
    lowered = text.lower()
    if "couldn't find remote ref" in lowered or "not our ref" in lowered:
        return f"{said}. Check `ref`."
    if any(
        hint in lowered for hint in ("authentication failed", "could not read username", "permission denied", "error: 403", "error: 401")
    ):
        return f"{said}. Set `username` and `password` (a token), or give ssh a key."
    if "certificate" in lowered:
        return f"{said}. Set `ca_cert` to the certificate authority of the server or of your proxy."
    return f"{said}. Check the address and `proxy`, or give an archive or a folder."
