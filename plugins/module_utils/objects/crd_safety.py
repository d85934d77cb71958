# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a new version of a CRD would break for the objects that exist. A schema mistake deletes no data but locks it in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.schema import listed, schemas

_MOST = 5  # breaches of one version's schema that are told one by one


def breaches(live_crd: Mapping[str, Any], new_crd: Mapping[str, Any], live_versions_with_objects: Collection[str]) -> list[str]:
    """Return what must not happen to a live CRD, one sentence each; [] when the change is safe.

    Scope, names and group must stay, and every version in ``status.storedVersions``: the server refuses these changes or,
    worse, can no longer read what is stored. ``live_versions_with_objects`` are the apiVersions (short, "v1") in which
    objects were written; when there are none, nothing can be broken by dropping a served version or narrowing a schema.
    """
    live, new = live_crd.get("spec") or {}, new_crd.get("spec") or {}
    found = [
        f"{field} would change from {_show(_at(live, path))} to {_show(_at(new, path))}"
        for field, path in _FIXED.items()
        if _at(live, path) != _at(new, path)
    ]
    old_versions, new_versions = _versions(live), _versions(new)
    stored = (live_crd.get("status") or {}).get("storedVersions") or []
    for version in stored:
        if version not in new_versions:
            found.append(
                f"version {version} would be dropped although objects may be stored in it (status.storedVersions); "
                f"write every object once in a newer version and remove {version} from status.storedVersions first"
            )
    if not live_versions_with_objects:
        return found
    for version in sorted(live_versions_with_objects):
        if version not in stored and _served(old_versions, version) and not _served(new_versions, version):
            found.append(f"version {version} would no longer be served although objects were written in it")
    for version, old in old_versions.items():
        if version in new_versions and old.get("served", True):
            found += _limited(version, list(_narrowed(_schema(old), _schema(new_versions[version]), "")))
    return found


_FIXED = {
    "spec.group": ("group",),
    "spec.scope": ("scope",),
    "spec.names.kind": ("names", "kind"),
    "spec.names.plural": ("names", "plural"),
}


def _narrowed(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield what an object that the old schema accepts may lack or hold under the new one. Fields that are gone are pruned, not refused."""
    properties = schemas(new, "properties")
    for name in sorted({name for name in listed(new, "required") if isinstance(name, str) and name not in listed(old, "required")}):
        if "default" not in properties.get(name, {}):
            yield f"field {_join(path, name)} would become required without a default"
    accepted = listed(new, "enum")
    if accepted:
        for value in listed(old, "enum"):
            if value not in accepted:
                yield f"field {path or '(object)'} would no longer accept {value!r}"
    for name, before in schemas(old, "properties").items():
        if name in properties:
            yield from _narrowed(before, properties[name], _join(path, name))
    for keyword, suffix in (("items", "[]"), ("additionalProperties", ".*")):
        before, after = old.get(keyword), new.get(keyword)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _narrowed(before, after, path + suffix)


def _limited(version: str, rows: list[str]) -> list[str]:
    more = len(rows) - _MOST
    return [f"version {version}: {row}" for row in rows[:_MOST]] + ([f"version {version}: {more} more of this kind"] if more > 0 else [])


def _versions(spec: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(entry.get("name")): entry for entry in spec.get("versions") or []}


def _served(versions: Mapping[str, Mapping[str, Any]], version: str) -> bool:
    return version in versions and bool(versions[version].get("served", True))


def _schema(version: Mapping[str, Any]) -> Mapping[str, Any]:
    return (version.get("schema") or {}).get("openAPIV3Schema") or {}


def _at(spec: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = spec
    for key in path:
        value = (value or {}).get(key)
    return value


def _show(value: Any) -> str:
    return str(value) if value else "nothing"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
