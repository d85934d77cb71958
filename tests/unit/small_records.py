# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of a small collection on disk, for tests of the records and of the planner."""

from __future__ import annotations

from pathlib import Path

import yaml

RELEASE = """
source: {repository: "https://example.org/d.git", ref: "26.03"}
fingerprint: {present: [common]}
kustomize: {min: "5.5.0", max: "5.8"}
kubernetes: {min: "1.34", max: "1.35"}
selections: {default: [katib]}
"""
KATIB = """
title: Katib
layer: applications
parts:
  - name: katib
    requires: [istio/crds]
    paths: [{since: "26.03", path: applications/katib}]
"""
ISTIO = """
title: Istio
layer: infrastructure
parts:
  - name: crds
    paths: [{since: "1.8", path: common/istio-1-17/crds}, {since: "1.10", path: common/istio/crds}]
"""


def write_records(
    root: Path,
    releases: dict[str, str] | None = None,
    options: dict[str, dict[str, object]] | None = None,
    **components: str,
) -> Path:
    """Write releases (by name), the options of roles (option by name; the role is what stands before its first underscore), and
    components. Gives the root of the collection."""
    for name, text in ({"26.03": RELEASE} if releases is None else releases).items():
        _write(root / "releases" / f"{name}.yml", text)
    for name, text in components.items():
        _write(root / "roles" / name / "meta" / "component.yml", text)
    specs: dict[str, dict[str, object]] = {}
    for name, option in (options or {}).items():
        specs.setdefault(name.split("_")[0], {})[name] = {"type": "str", "description": "x", **option}
    for role, spec in specs.items():
        text = yaml.safe_dump({"argument_specs": {"main": {"short_description": "x", "options": spec}}})
        _write(root / "roles" / role / "meta" / "argument_specs.yml", text)
    return root


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
