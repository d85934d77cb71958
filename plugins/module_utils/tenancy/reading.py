# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads tenants from plain data. Whatever is wrong is collected, never raised: an operator mends a list once, not line by line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy import presets
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.model import (
    CONTRIBUTOR_KINDS,
    POD_SECURITY_LABEL,
    POD_SECURITY_LEVELS,
    ROLES,
    SUBJECT_KINDS,
    Contributor,
    Subject,
    Tenant,
)
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.names import is_email
from ansible_collections.kubeflow.platform.plugins.module_utils.tenancy.quantities import amount, can_be_counted

_DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LIMITS = ("default", "default_request", "max", "min")
# What the controllers themselves decide about: the name of the namespace, and who owns it.
_OWNED_LABELS = {"kubernetes.io/metadata.name": "the API server sets it"}
_OWNED_ANNOTATIONS = {"owner": "set owner instead: the controllers read this annotation"}


class Reader:
    """Reads one tenant; ``problems`` holds what is wrong, each with the Profile's name."""

    def __init__(self, raw: Mapping[str, Any], user_format: str = "email") -> None:
        self._raw = {key: value for key, value in raw.items() if value is not None}
        self._format = user_format
        self.name = str(self._raw.get("name") or "")
        self.problems: list[str] = []

    def problem(self, text: str) -> None:
        """Note a problem of this tenant."""
        self.problems.append(f"Profile {self.name or '(without a name)'}: {text}.")

    def tenant(self) -> Tenant:
        """Return the tenant as far as it could be read."""
        state = str(self._raw.get("state") or "present")
        if state not in ("present", "absent"):
            self.problem(f"the state {state} is unknown; use present or absent")
        deletion = self._raw.get("deletion")
        if deletion not in (None, "confirmed"):
            self.problem(f"deletion is {deletion}; the only value is confirmed")
        if state == "absent":
            return Tenant(self.name, state=state, deletion_confirmed=deletion == "confirmed")
        return Tenant(
            self.name,
            owner=self._owner(),
            contributors=self._contributors(),
            quota=self._quota(),
            labels=self._strings("labels", _LABEL_VALUE, _OWNED_LABELS),
            annotations=self._strings("annotations", None, _OWNED_ANNOTATIONS),
            pod_security=self._pod_security(),
            image_pull_secrets=self._pull_secrets(),
            pod_defaults=self._pod_defaults(),
            network_policy=self._network_policy(),
            limits=self._limits(),
            adopt=bool(self._raw.get("adopt")),
        )

    # -- people

    def _owner(self) -> Subject | None:
        raw = self._mapping("owner")
        if not raw or not raw.get("name"):
            self.problem("an owner with a name is required")
            return None
        return self._subject(raw, SUBJECT_KINDS, "owner")

    def _contributors(self) -> tuple[Contributor, ...] | None:
        rows = self._raw.get("contributors")
        if rows is None:
            return None
        found: list[Contributor] = []
        for row in rows:
            contributor = self._contributor(row)
            if contributor is None:
                continue
            if contributor in found:
                self.problem(f"the contributor {contributor} is named twice")
            else:
                found.append(contributor)
        return tuple(found)

    def _contributor(self, raw: Any) -> Contributor | None:
        if not isinstance(raw, Mapping) or not raw.get("name"):
            self.problem("a contributor without a name; give name and role")
            return None
        subject = self._subject(raw, CONTRIBUTOR_KINDS, "contributor")
        role = str(raw.get("role") or "edit")
        if role not in ROLES:
            self.problem(f"the role {role} of the contributor {subject.name} is unknown; use {', '.join(ROLES)}")
            return None
        return Contributor(subject, role)

    def _subject(self, raw: Mapping[str, Any], kinds: Sequence[str], what: str) -> Subject:
        kind, name = str(raw.get("kind") or "User"), str(raw["name"])
        namespace = str(raw.get("namespace") or "")
        if kind not in kinds:
            self.problem(f"the kind {kind} of the {what} {name} is unknown; use {', '.join(kinds)}")
        elif kind == "ServiceAccount" and not namespace:
            self.problem(f"the ServiceAccount {name} that is to be {what} needs its namespace")
        elif kind != "ServiceAccount" and namespace:
            self.problem(f"the {kind} {name} that is to be {what} cannot have a namespace")
        elif kind == "User" and self._format == "email" and not is_email(name):
            self.problem(
                f"the {what} {name} is no e-mail address as the dashboard takes one; correct it, "
                "or set user_format to any where the identity provider sends other names"
            )
        elif not name.strip() or name != name.strip():
            self.problem(f"the name of the {what} begins or ends with a space: '{name}'")
        return Subject(kind, name, namespace)

    # -- maps and lists

    def _mapping(self, key: str) -> Mapping[str, Any] | None:
        raw = self._raw.get(key)
        if raw is None or isinstance(raw, Mapping):
            return raw
        self.problem(f"{key} must be a mapping")
        return None

    def _quota(self) -> dict[str, str] | None:
        found = self._amounts("quota", self._mapping("quota"))
        for name in found or ():
            if not can_be_counted(name):
                self.problem(f"quota.{name} is nothing that Kubernetes counts; write cpu, requests.memory, pods, requests.nvidia.com/gpu …")
        return found

    def _amounts(self, where: str, raw: Mapping[str, Any] | None) -> dict[str, str] | None:
        if raw is None:
            return None
        for name, value in raw.items():
            worth = amount(value)
            if worth is None or worth < 0:
                self.problem(f"{where}.{name} is {value}, which is no quantity; write numbers like 4, 500m or 16Gi")
        return {str(name): str(value) for name, value in raw.items()}

    def _strings(self, key: str, pattern: re.Pattern[str] | None, owned: Mapping[str, str]) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for name, value in (self._mapping(key) or {}).items():
            text = str(value).lower() if isinstance(value, bool) else None if value is None else str(value)
            if name in owned:
                self.problem(f"{key} must not hold {name}: {owned[name]}")
            elif not _LABEL_KEY.fullmatch(str(name)):
                self.problem(f"{key} holds {name}, which is no valid key")
            elif pattern is not None and text is not None and not pattern.fullmatch(text):
                self.problem(f"the value of the label {name} is {text}; at most 63 letters, digits, -, _ and . are allowed")
            found[str(name)] = text
        return found

    def _pod_security(self) -> str | None:
        level = self._raw.get("pod_security")
        if level is None:
            return None
        if level not in POD_SECURITY_LEVELS:
            self.problem(f"the Pod Security level {level} is unknown; use {', '.join(POD_SECURITY_LEVELS)}")
        labelled = (self._mapping("labels") or {}).get(POD_SECURITY_LABEL, level)
        if labelled != level:
            self.problem(f"pod_security is {level}, but labels say {labelled}; keep one of them")
        return str(level)

    def _pull_secrets(self) -> tuple[str, ...] | None:
        names = self._raw.get("image_pull_secrets")
        if names is None:
            return None
        for name in names:
            self._dns_name(str(name), "image_pull_secrets")
        return tuple(dict.fromkeys(map(str, names)))

    def _dns_name(self, name: str, where: str) -> None:
        if not _DNS_NAME.fullmatch(name):
            self.problem(f"{where} holds {name}, which is no name of an object")

    # -- what the namespace is to have

    def _limits(self) -> Mapping[str, Any] | None:
        raw = self._mapping("limits")
        if raw is None:
            return None
        found = {}
        for key in _LIMITS:
            part = raw.get(key)
            if part:
                found[key] = self._amounts(f"limits.{key}", part) or {}
        return found

    def _network_policy(self) -> Mapping[str, Any] | None:
        raw = self._mapping("network_policy")
        if raw is None:
            return None
        kept = {key: value for key, value in raw.items() if value is not None}
        if "allow_from" in kept and "spec" in kept:
            self.problem("network_policy has both allow_from and spec; keep one of them")
        for name in kept.get("allow_from") or ():
            self._dns_name(str(name), "network_policy.allow_from")
        return kept

    def _pod_defaults(self) -> Mapping[str, Any] | None:
        raw = self._mapping("pod_defaults")
        if raw is None:
            return None
        kept = {key: value for key, value in raw.items() if value is not None}
        for text in presets.problems(kept):
            self.problem(text)
        for row in kept.get("own") or ():
            self._dns_name(str(row.get("name") or ""), "pod_defaults.own")
        return kept


def with_defaults(raw: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tenant's data over the defaults of all; labels and annotations are joined, every other value replaces."""
    given = {key: value for key, value in raw.items() if value is not None}
    common = {key: value for key, value in defaults.items() if value is not None}
    merged = {**common, **given}
    for key in ("labels", "annotations"):
        if isinstance(common.get(key), Mapping) and isinstance(given.get(key), Mapping):
            merged[key] = {**common[key], **given[key]}
    return merged
