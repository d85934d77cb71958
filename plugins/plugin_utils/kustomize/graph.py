# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a kustomization reaches: files, and references that kustomize would fetch. Starts no process."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError, listing
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.fileindex import FileIndex
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.references import KUSTOMIZATION_NAMES, Reference
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.remote import is_remote

# A folder to look at, and those that it was reached through, without links.
_Step = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, order=True)
class RemoteReference:
    """A reference to something outside the machine, as written at ``line`` of ``file``."""

    file: str
    line: int
    text: str


@dataclass(slots=True)
class Reach:
    """What one or more kustomizations reach. ``missing`` are local references that lead nowhere, as sentences."""

    files: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    remote: set[RemoteReference] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)
    helm: list[str] = field(default_factory=list)


def kustomization_in(folder: str) -> str | None:
    """The kustomization file of ``folder``, or None."""
    for name in KUSTOMIZATION_NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def walk(index: FileIndex, folders: Iterable[str]) -> Reach:
    """Follow the references of the kustomizations in ``folders``. Raises RenderError for a file that is not YAML."""
    reach = Reach()
    waiting: list[_Step] = [(os.path.normpath(folder), ()) for folder in folders]
    seen: set[str] = set()
    while waiting:
        folder, above = waiting.pop()
        # By what it really is: below a link to a folder above, names go on for ever.
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        file = kustomization_in(folder)
        if file is None:
            reach.missing.append(_lacking(folder))
            continue
        reach.files.add(file)
        for reference in index.references(file):
            _follow(index, reach, waiting, (*above, real), file, reference)
    return reach


def _lacking(folder: str) -> str:
    """Why a folder has no kustomization."""
    for name in KUSTOMIZATION_NAMES:
        if os.path.lexists(os.path.join(folder, name)):
            return f"{os.path.join(folder, name)} {_no_file(os.path.join(folder, name))}"
    return f"{folder} has no {', '.join(KUSTOMIZATION_NAMES[:2])} or {KUSTOMIZATION_NAMES[2]}"


def _no_file(path: str) -> str:
    """Why there is no file at a path."""
    try:
        os.stat(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "is a link that leads in a circle"
    if os.path.islink(path):
        return "is a link that leads nowhere"
    return "is no file" if os.path.lexists(path) else "does not exist"


def _follow(index: FileIndex, reach: Reach, waiting: list[_Step], above: tuple[str, ...], file: str, reference: Reference) -> None:
    if reference.kind == "helm":
        reach.helm.append(f"{file}:{reference.line}: {reference.text}")
        return
    if is_remote(reference.text):
        reach.remote.add(RemoteReference(file, reference.line, reference.text))
        return
    folder = os.path.dirname(file)
    target = os.path.normpath(os.path.join(folder, reference.text))
    if reference.kind != "file" and os.path.isdir(target):
        if os.path.realpath(target) in above:
            reach.missing.append(f"{file}:{reference.line}: {reference.text} leads in a circle, back to {os.path.realpath(target)}")
        else:
            waiting.append((target, above))
        return
    if index.digest(target) is None:
        reach.absent.add(target)
        reach.missing.append(f"{file}:{reference.line}: {reference.text} {_no_file(target)}")
        return
    reach.files.add(target)
    if reference.kind == "plugin":
        # Plugin configuration names its files relative to the kustomization that lists it.
        for inner in index.references(target, plugin=True):
            _follow(index, reach, waiting, above, file, Reference("file", inner.text, reference.line))


def refuse(reach: Reach, allowed: Sequence[str]) -> None:
    """Raise RenderError, naming every place at once, when a kustomization inflates charts or reaches a remote reference
    that does not begin with one of ``allowed``."""
    if reach.helm:
        raise RenderError(
            "Failed to render: kustomizations inflate Helm charts, which this collection does not run:"
            f"{listing(sorted(reach.helm))}\nRender the charts beforehand and list the result under `resources`."
        )
    refused = sorted(found for found in reach.remote if not is_allowed(found.text, allowed))
    if refused:
        raise RenderError(
            f"Failed to render: {len(refused)} remote reference(s) would be fetched from the network:"
            f"{listing(f'{found.file}:{found.line}: {found.text}' for found in refused)}\n"
            "Set `remote_bases` to a folder or archive that holds them, or list them in `allow_remote`."
        )


def is_allowed(text: str, allowed: Sequence[str]) -> bool:
    """Whether a remote reference equals an allowed one, or lies below an allowed prefix that ends in "/"."""
    return any(text == entry or (entry.endswith("/") and text.startswith(entry)) for entry in allowed)
