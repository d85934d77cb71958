# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entries C(credentials) of a component's record."""

from __future__ import annotations

import re

from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.entries import (
    CONDITION,
    Options,
    doubled,
    read_condition,
    read_text,
)
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.model import GENERATORS, Credential, SecretValue
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.reading import Node

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_READER = re.compile(r"(Deployment|StatefulSet|DaemonSet) [a-z0-9][-a-z0-9.]*")


def read_credential(node: Node, options: Options) -> Credential:
    """A Secret whose values are public; mistakes go to the node's problems."""
    node.only({"namespace", "name", "keys", "purpose", "values", "readers", *CONDITION})
    keys = node.texts("keys", required=True)
    nodes = node.nodes("values")
    values = tuple(_value(child, keys) for child in nodes)
    for key in sorted(doubled(value.key for value in values)):
        node.report(f"has {key} twice", "values")
    readers = node.texts("readers")
    for index, reader in enumerate(readers):
        if not _READER.fullmatch(reader):
            node.report("must be the kind and the name of a workload, such as Deployment dex", f"readers[{index}]")
    return Credential(
        namespace=read_text(node, "namespace", options),
        name=node.text("name"),
        keys=keys,
        purpose=node.text("purpose"),
        condition=read_condition(node, options),
        values=values,
        readers=readers,
    )


def _value(node: Node, keys: tuple[str, ...]) -> SecretValue:
    node.only({"key", "make", "shipped", "same", "workload", "starts"})
    found = SecretValue(
        key=node.text("key"),
        make=node.text("make"),
        shipped=node.texts("shipped", required=True),
        same=node.text("same", default=""),
        workload=node.text("workload", default=""),
        starts=node.text("starts", default=""),
    )
    if found.key and found.key not in keys:
        node.report("is not among the keys of the Secret", "key")
    if found.make and found.make not in GENERATORS:
        node.report(f"must be one of {', '.join(GENERATORS)}", "make")
    for index, text in enumerate(found.shipped):
        if not _FINGERPRINT.fullmatch(text):
            node.report("must be the first 16 digits of the SHA-256 of the value", f"shipped[{index}]")
    if bool(found.workload) != bool(found.starts):
        node.report("workload and starts belong together")
    return found
