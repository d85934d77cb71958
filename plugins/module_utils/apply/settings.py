# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a caller may choose about one run of the engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply import credentials, rules

# A label's value, a part of names of Secrets and Leases, and of command lines.
SET_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")
MOST_WORKERS = 64
TIMES = ("run_timeout", "no_progress_timeout", "lease_timeout")


def faults(params: Mapping[str, Any]) -> list[str]:
    """What is wrong with the options, one sentence each, whatever the cluster is."""
    found = []
    name = params.get("set")
    if name and not SET_NAME.fullmatch(name):
        found.append(f"`set: {name}` is no name for a set; use up to 50 lower-case letters, digits and hyphens, such as my-application")
    if not 1 <= params["workers"] <= MOST_WORKERS:
        found.append(f"`workers: {params['workers']}` is out of range; use 1 to {MOST_WORKERS}")
    found += [f"`{option}: {params[option]}` is negative; use seconds from 0" for option in TIMES if params[option] < 0]
    window = (params.get("release") or {}).get("kubernetes") or {}
    if window and not {"min", "max"} <= set(window):
        found.append("`release.kubernetes` needs both `min` and `max`")
    return found + quirk_faults((params.get("release") or {}).get("quirks")) + rules.faults(params) + credentials.faults(params)


def quirk_faults(quirks: Any) -> list[str]:
    """What is wrong with ``release.quirks``, one sentence each."""
    found = []
    for number, quirk in enumerate(quirks or [], 1):
        drop = quirk.get("drop") or []
        missing = [f"`{key}`" for key in ("kind", "name") if not isinstance(quirk.get(key), str) or not quirk[key]]
        if missing:
            found.append(f"`release.quirks`, entry {number}: needs {' and '.join(missing)}, the object that it is about")
        if not isinstance(drop, list) or not all(isinstance(pointer, str) and pointer.startswith("/") for pointer in drop):
            found.append(f"`release.quirks`, entry {number}: `drop` must be a list of paths such as /spec/replicas")
        elif not drop and not quirk.get("omit"):
            found.append(f"`release.quirks`, entry {number}: says neither what to `drop` nor to `omit` the object")
    return found


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of ``kustomize_apply`` that the engine acts on; times are seconds."""

    set_name: str
    scope: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    prune: str = "report"
    recreate: tuple[str, ...] = ()
    adopt: str = "report"
    on_failure: str = "continue"
    wait: bool = True
    run_timeout: float = 1800.0
    no_progress_timeout: float = 600.0
    lease_timeout: float = 30.0
    workers: int = 8
    takeover: tuple[str, ...] = ()
    backup_dir: str | None = None
    check: bool = False
    diff: bool = False
    release: str | None = None
    kubernetes_window: tuple[str, str] | None = None
    allow_untested_kubernetes: bool = False
    ready: tuple[rules.Rule, ...] = ()
    checks: tuple[rules.Rule, ...] = ()
    credentials: credentials.Credentials = credentials.Credentials()

    @classmethod
    def from_params(cls, params: Mapping[str, Any], *, check: bool, diff: bool) -> Settings:
        """Read the module's parameters; absent ones keep the defaults above."""
        release = params.get("release") or {}
        window = release.get("kubernetes") or {}
        return cls(
            set_name=params.get("set") or "kubeflow",
            scope=tuple(params.get("scope") or ()),
            removed=tuple(params.get("removed") or ()),
            prune=params["prune"],
            recreate=tuple(params.get("recreate") or ()),
            adopt=params["adopt"],
            on_failure=params["on_failure"],
            wait=params["wait"],
            run_timeout=float(params["run_timeout"]),
            no_progress_timeout=float(params["no_progress_timeout"]),
            lease_timeout=float(params["lease_timeout"]),
            workers=params["workers"],
            takeover=tuple(params.get("takeover") or ()),
            backup_dir=params.get("backup_dir"),
            check=check,
            diff=diff,
            release=release.get("name"),
            kubernetes_window=(str(window["min"]), str(window["max"])) if window else None,
            allow_untested_kubernetes=bool(params.get("allow_untested_kubernetes")),
            ready=rules.read(params.get("ready")),
            checks=rules.read(params.get("checks")),
            credentials=credentials.Credentials.from_params(params.get("credentials")),
        )
