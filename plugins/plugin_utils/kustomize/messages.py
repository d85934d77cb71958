# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kustomize's own words, made short: its errors nest ten deep, its warnings come by the hundred."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.redaction import Redactor

_LONGEST = 1000
_ERROR = re.compile(r"^[Ee]rror: ", re.MULTILINE)
_DEPRECATED = re.compile(r"Warning: '(\w+)' is deprecated")
_UNREPLACED = re.compile(r"vars that were never replaced: (\S+)$")
# What Go's logger, and kubectl's, put in front of a line.
_STAMP = re.compile(r"^(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)? |[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\] )", re.MULTILINE)
_YAML = re.compile(r"MalformedYAMLError: (?:yaml: )?(?P<why>.*?) in File: (?P<file>[^\s':\"\\]+)")
_INVALID = re.compile(r"invalid Kustomization: (?P<why>.*)", re.DOTALL)
_ERR = re.compile(r"accumulation err='(?P<why>.*)': must build at directory: '(?P<path>[^']*)'")
# Where kustomize quotes what it was given: the place tells enough, and what is quoted may be secret.
_QUOTED = (
    (re.compile(r" with config: `.*?(?:\n`(?=: )|\Z)", re.DOTALL), ""),
    (re.compile(r"must specify one of patch and path in\s.*", re.DOTALL), "a patch needs either `patch` or `path`"),
    (re.compile(r"patch and path can't be set at the same time\s.*", re.DOTALL), "a patch needs either `patch` or `path`, not both"),
    (re.compile(r"\[patch: \"(?:[^\"\\]|\\.)*\"?\]?", re.DOTALL), "an inline patch"),
    (re.compile(r"invalid literal source .*?, expected key=value", re.DOTALL), "a literal is not of the form key=value"),
    (re.compile(r"literal sources \[.*\]: ", re.DOTALL), ""),
    (re.compile(r"line \[[\d ]*\] (has invalid utf8 bytes) :.*", re.DOTALL), r"a line \1"),
    (re.compile(r"(?:: )?node contents:\s.*", re.DOTALL), ""),
    (re.compile(r"evalsymlink failure on '[^\n]*\n.*", re.DOTALL), "it is neither a file nor valid YAML"),
    (re.compile(r"\"(?:[^\"\\]|\\.)*\"( is not a valid (?:key|environment variable) name)", re.DOTALL), r"a key\1"),
    (re.compile(r"(empty item at \S+ in object) .*", re.DOTALL), r"\1"),
    (re.compile(r"(cannot unmarshal !!\w+) `.*?`", re.DOTALL), r"\1"),
)
# A component's error is a Go string in the error of who includes it.
_COMPONENT = re.compile(r"(?:accumulating components: )?accumulateDirectory: (?P<text>\"(?:[^\"\\]|\\.)*\")")
_FROM = re.compile(r"^(?:accumulating resources: )*(?:accumulation err='|recursed accumulation of path '(?P<path>[^']*)': )?")


def warnings(texts: Iterable[str]) -> list[str]:
    """The warnings in the stderr of several builds, each once; deprecated fields of kustomizations in one sentence."""
    deprecated: Counter[str] = Counter()
    others: dict[str, None] = {}
    redactor = Redactor()
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
                others[redactor.text(line.removeprefix("# ").removeprefix("Warning: "))] = None
    found = [f"kustomize: {line}" for line in others]
    if deprecated:
        found.append(f"kustomize: the manifests use deprecated fields, which still work: {', '.join(sorted(deprecated))}")
    return found


def failure(text: str, files: Sequence[str]) -> str:
    """The cause in kustomize's error text; ``files`` are what the build reaches, to name a file in full."""
    # kustomize says "Error: ", kubectl "error: "; it may go on over several lines.
    text = _STAMP.sub("", text.strip())
    while component := _COMPONENT.search(text):
        text = text[: component.start()] + _unquoted(component["text"]) + text[component.end() :]
    for quoted, told in _QUOTED:
        text = quoted.sub(told, text)
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


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:  # Go escapes what JSON does not know
        return text[1:-1].replace('\\"', '"')


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
