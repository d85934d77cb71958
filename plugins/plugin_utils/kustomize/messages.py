# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kustomize's own words, made short: its errors nest ten deep, its warnings come by the hundred."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

_LONGEST = 1000
_ERROR = re.compile(r"^[Ee]rror: ", re.MULTILINE)
_DEPRECATED = re.compile(r"Warning: '(\w+)' is deprecated")
_UNREPLACED = re.compile(r"vars that were never replaced: (\S+)$")
_STAMP = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ")
_YAML = re.compile(r"MalformedYAMLError: (?:yaml: )?(?P<why>.*?) in File: (?P<file>[^\s':]+)")
_INVALID = re.compile(r"invalid Kustomization: (?P<why>.*)", re.DOTALL)
_ERR = re.compile(r"accumulation err='(?P<why>.*)': must build at directory: '(?P<path>[^']*)'")
_FROM = re.compile(r"^(?:accumulating resources: )*(?:accumulation err='|recursed accumulation of path '(?P<path>[^']*)': )?")


def warnings(texts: Iterable[str]) -> list[str]:
    """The warnings in the stderr of several builds, each once; deprecated fields of kustomizations in one sentence."""
    deprecated: Counter[str] = Counter()
    others: dict[str, None] = {}
    for text in texts:
        for line in text.splitlines():
            line = _STAMP.sub("", line).strip()
            match = _DEPRECATED.search(line)
            if match:
                deprecated[match.group(1)] += 1
            elif line:
                # Listed in random order, which would make one warning two.
                names = _UNREPLACED.search(line)
                line = line[: names.start(1)] + ",".join(sorted(names.group(1).split(","))) if names else line
                others[line.removeprefix("# ").removeprefix("Warning: ")] = None
    found = [f"kustomize: {line}" for line in others]
    if deprecated:
        found.append(f"kustomize: the manifests use deprecated fields, which still work: {', '.join(sorted(deprecated))}")
    return found


def failure(text: str, files: Sequence[str]) -> str:
    """The cause in kustomize's error text; ``files`` are what the build reaches, to name a file in full."""
    # kustomize says "Error: ", kubectl "error: "; it may go on over several lines.
    line = " ".join(_ERROR.split(text)[-1].split()) or "it gave no reason"
    broken = _YAML.search(line)
    if broken:
        name = broken.group("file")
        places = [path for path in files if path.endswith(os.sep + os.path.normpath(name).lstrip("./"))]
        return f"{places[0] if len(places) == 1 else name} is not valid YAML: {broken.group('why')}"
    invalid = _INVALID.search(line)
    if invalid:
        return f"a kustomization is not valid: {invalid.group('why')}"
    reason = _innermost(line)
    return reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}..."


def _innermost(line: str) -> str:
    while True:
        match = _ERR.search(line)
        if match is None:
            break
        # "must build at directory" only says that kustomize also tried the file as a folder.
        line = line[: match.start()] + match.group("why") + line[match.end() :].replace(": file is not directory", "")
    while True:
        match = _FROM.match(line)
        if match is None or not match.group(0):
            return line
        line = line[match.end() :]
