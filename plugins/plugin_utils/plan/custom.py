# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an inventory lays over a component: C(<role>_patches), C(<role>_images) and C(<role>_kustomize_components)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.condition import Values, is_given
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.part import TARGET


@dataclass(frozen=True, slots=True)
class Custom:
    """Patches and images for every part of the component, each with its name under C(of), and kustomize components by part."""

    patches: tuple[Mapping[str, Any], ...] = ()
    images: tuple[Mapping[str, Any], ...] = ()
    extras: tuple[tuple[str, str], ...] = ()

    def extras_of(self, part: str) -> tuple[str, ...]:
        """Paths of the kustomize components for a part (C(component/part))."""
        return tuple(path for name, path in self.extras if name == part)


def custom(component: str, parts: Sequence[str], values: Values) -> Custom:
    """What the values of a component's options lay over its parts. Call it when `mistakes` has none."""
    return Custom(
        patches=tuple({"of": label, **_given(row)} for label, row in _rows(f"{component}_patches", values)),
        images=tuple({"of": label, **_given(row)} for label, row in _rows(f"{component}_images", values)),
        extras=tuple(_extra(parts, row) for _label, row in _rows(f"{component}_kustomize_components", values)),
    )


def mistakes(component: str, parts: Sequence[str], values: Values) -> Iterator[str]:
    """What the types of the options leave open."""
    for label, row in _rows(f"{component}_patches", values):
        if is_given(row.get("patch")) == is_given(row.get("path")):
            yield f"{label}: give either patch or path"
        for key in sorted(set(row.get("target") or {}) - TARGET):
            yield f"{label}: unknown key {key} in target (known: {', '.join(sorted(TARGET))})"
    for label, row in _rows(f"{component}_images", values):
        if not any(is_given(row.get(key)) for key in ("newName", "newTag", "digest")):
            yield f"{label}: say newName, newTag or digest"
        if is_given(row.get("newTag")) and is_given(row.get("digest")):
            yield f"{label}: give either newTag or digest"
    for label, row in _rows(f"{component}_kustomize_components", values):
        yield from _extra_mistakes(component, label, row, parts)


def _extra_mistakes(component: str, label: str, row: Any, parts: Sequence[str]) -> Iterator[str]:
    names = [part.partition("/")[2] for part in parts]
    if isinstance(row, str) and row:
        if len(parts) > 1:
            yield f"{label}: {component} has the parts {', '.join(names)}; say which one with {{path, part}}"
    elif not isinstance(row, Mapping) or not row.get("path") or set(row) - {"path", "part"}:
        yield f"{label}: must be a path, or a mapping of path and part"
    elif row.get("part") and row["part"] not in names or len(parts) > 1 and not row.get("part"):
        yield f"{label}: part must be one of {', '.join(names)}"


def _extra(parts: Sequence[str], row: Any) -> tuple[str, str]:
    if isinstance(row, str):
        return parts[0], row
    part = f"{parts[0].partition('/')[0]}/{row['part']}" if row.get("part") else parts[0]
    return part, str(row["path"])


def _rows(option: str, values: Values) -> Iterator[tuple[str, Any]]:
    for index, row in enumerate(values.get(option) or ()):
        yield f"{option}[{index}]", row


def _given(row: Mapping[str, Any]) -> dict[str, Any]:
    """Without the keys that Ansible's validator adds for what nobody gave."""
    return {key: value for key, value in row.items() if is_given(value)}
