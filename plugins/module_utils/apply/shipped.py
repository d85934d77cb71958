# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes values that everybody knows out of rendered Secrets, before anything is compared. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import MARK, Credentials, decoded, without
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.inputs import Document
from ansible_collections.kubeflow.platform.plugins.module_utils.objects.normalise import digest

# Namespace and name.
Place = tuple[str, str]


def take_out(documents: Sequence[Document], asked: Credentials) -> tuple[list[Document], dict[Place, dict[str, str]]]:
    """The documents without shipped values, and these values by namespace and name, then key. What users patched in stays."""
    if not asked.mode:
        return list(documents), {}
    rows: list[Document] = []
    taken: dict[Place, dict[str, str]] = {}
    for document in documents:
        place, shipped = _shipped(document.content, asked)
        if shipped:
            taken[place] = shipped
            content = without(document.content, list(shipped))
            document = replace(document, content=content, sha256=f"{MARK}{digest([content, sorted(shipped)])}")
        rows.append(document)
    return rows, taken


def _shipped(content: Any, asked: Credentials) -> tuple[Place, dict[str, str]]:
    nothing: tuple[Place, dict[str, str]] = (("", ""), {})
    if not isinstance(content, Mapping) or content.get("kind") != "Secret" or not isinstance(content.get("metadata"), Mapping):
        return nothing
    place = str(content["metadata"].get("namespace")), str(content["metadata"].get("name"))
    credential = asked.find(*place)
    if credential is None:
        return nothing
    texts = {value.key: decoded(content, value.key) for value in credential.values if _named(content, value.key)}
    return place, {value.key: text for value in credential.values if (text := texts.get(value.key)) is not None and value.is_shipped(text)}


def _named(content: Mapping[str, Any], key: str) -> bool:
    return any(isinstance(content.get(section), Mapping) and key in content[section] for section in ("data", "stringData"))
