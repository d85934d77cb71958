# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options that the modules of tenants share."""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]


def _dict(**options: Spec) -> Spec:
    return {"type": "dict", "options": options}


def _strings() -> Spec:
    return {"type": "list", "elements": "str"}


def contributor_spec() -> Spec:
    """Return the suboptions of a contributor. Roles and kinds are judged together with everything else, not one by one here."""
    return {"name": {"type": "str"}, "kind": {"type": "str"}, "role": {"type": "str"}}


def tenant_spec() -> Spec:
    """Return the options that describe one tenant. None means "not managed", so nothing here has a default."""
    amounts: Spec = {"type": "dict"}
    return {
        "name": {"type": "str"},
        "owner": _dict(name={"type": "str"}, kind={"type": "str"}, namespace={"type": "str"}),
        "contributors": {"type": "list", "elements": "dict", "options": contributor_spec()},
        "quota": {"type": "dict"},
        "labels": {"type": "dict"},
        "annotations": {"type": "dict"},
        "pod_security": {"type": "str"},
        "image_pull_secrets": {**_strings(), "no_log": False},
        "pod_defaults": _dict(
            pip_index=_dict(url={"type": "str"}, extra_urls=_strings(), trusted_hosts=_strings()),
            ca=_dict(certificate={"type": "str"}),
            proxy=_dict(http={"type": "str"}, https={"type": "str"}, no_proxy={"type": "str"}),
            own={"type": "list", "elements": "dict", "options": {"name": {"type": "str"}, "spec": {"type": "dict"}}},
        ),
        "network_policy": _dict(isolated={"type": "bool"}, allow_from=_strings(), spec={"type": "dict"}),
        "limits": _dict(default=amounts, default_request=amounts, max=amounts, min=amounts),
        "adopt": {"type": "bool"},
        "state": {"type": "str"},
        "deletion": {"type": "str"},
    }


def run_spec() -> Spec:
    """Return the options of a run."""
    return {
        "authoritative": {"type": "bool", "default": False},
        "user_format": {"type": "str", "choices": ["email", "any"], "default": "email"},
        "reserved_namespaces": {"type": "list", "elements": "str", "default": []},
        "wait": {"type": "bool", "default": True},
        "wait_timeout": {"type": "int", "default": 300},
        "workers": {"type": "int", "default": 8},
    }
