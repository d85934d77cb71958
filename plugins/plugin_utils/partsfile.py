# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file in which rendered parts travel from the controller to where the cluster is reached.

gzip (level 1) of one JSON document::

    {"format": 1, "release": "26.03.1" or null,
     "parts": [{"name", "component", "layer", "requires": [part names], "objects": [{"object": {...}, "sha256": "..."}]}],
     "warnings": ["..."]}

``sha256`` is that of the object's canonical JSON (sorted keys, no spaces, UTF-8). Objects stay in render order.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parse import Rendered

FORMAT = 1


def compose(release: str | None, parts: Iterable[tuple[Mapping[str, Any], Sequence[Rendered]]], warnings: Sequence[str]) -> bytes:
    """The file's bytes. The objects' texts are put in as they are: nothing is serialised twice."""
    pieces = [_opening({"format": FORMAT, "release": release}), ',"parts":[']
    for number, (heading, objects) in enumerate(parts):
        pieces.append(("," if number else "") + _opening(heading) + ',"objects":[')
        pieces.append(",".join(_entries(objects)))
        pieces.append("]}")
    pieces.append('],"warnings":' + json.dumps(list(warnings), ensure_ascii=False) + "}")
    return gzip.compress("".join(pieces).encode(), 1, mtime=0)


def _opening(mapping: Mapping[str, Any]) -> str:
    """A JSON object without its closing brace."""
    return json.dumps(mapping, separators=(",", ":"), ensure_ascii=False)[:-1]


def _entries(objects: Iterable[Rendered]) -> Iterator[str]:
    for found in objects:
        yield f'{{"object":{found.text},"sha256":"{found.sha256}"}}'


def read(data: bytes) -> dict[str, Any]:
    """The document in a parts file's bytes. Raises ValueError when it is not one of this format."""
    document = json.loads(gzip.decompress(data))
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("not a parts file of this version")
    return document
