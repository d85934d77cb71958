# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names: what a Profile may be called, who is an e-mail address, and how KFAM computes the name of a binding."""

from __future__ import annotations

import re
from collections.abc import Collection

LONGEST = 63
# Namespaces of Kubernetes, of the distribution in all its releases, and of what it installs beside itself. None may become a tenant's.
RESERVED = frozenset(
    {
        *("default", "kubeflow", "kubeflow-system", "kubeflow-workspaces", "kubeflow-platform", "kserve", "auth", "oauth2-proxy"),
        *("cert-manager", "istio-system", "knative-serving", "knative-eventing", "local-path-storage", "openshift"),
    }
)
RESERVED_PREFIXES = ("kube-", "openshift-")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NOT_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]+")
# What the dashboard accepts as a contributor, without its quoted local parts and address literals.
_EMAIL = re.compile(r"[^<>()\[\]\\.,;:\s@\"\x00-\x1f\x7f]+(\.[^<>()\[\]\\.,;:\s@\"\x00-\x1f\x7f]+)*@([a-zA-Z0-9-]+\.)+[a-zA-Z]{2,}")


def profile_name_problem(name: str, more_reserved: Collection[str] = ()) -> str:
    """Return why ``name`` cannot be a Profile's, with what to do; "" where it can."""
    if not name:
        return "a name is required"
    if "." in name:
        return f"a dot is not allowed, since the name becomes a namespace's: the controller would fail silently. {_suggest(name)}"
    if len(name) > LONGEST:
        return f"the name has {len(name)} characters, a namespace's has at most {LONGEST}"
    if not _LABEL.fullmatch(name):
        return f"only lower-case letters, digits and inner hyphens are allowed. {_suggest(name)}"
    if name in RESERVED or name in more_reserved or name.startswith(RESERVED_PREFIXES) or name == "kube":
        return "this is a namespace of the platform or of the cluster, which no tenant may own. Choose another name"
    return ""


def _suggest(name: str) -> str:
    better = _NOT_ALPHANUMERIC.sub("-", name).strip("-").lower()[:LONGEST].rstrip("-")
    return f"Use {better}" if better else "Choose another name"


def is_email(text: str) -> bool:
    """Tell whether the dashboard and KFAM take ``text`` for an e-mail address. ASCII and others are as they allow it."""
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def binding_name(kind: str, name: str, role: str) -> str:
    """Return the name under which KFAM creates, finds and deletes a contributor's objects.

    Source: ``getBindingName`` of components/access-management/kfam/bindings.go (kubeflow/dashboard). ``role`` is the short word.
    """
    safe = _NOT_ALPHANUMERIC.sub("-", name)
    return _NOT_ALPHANUMERIC.sub("-", f"{kind}-{safe}-clusterrole-{role}".lower())
