# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials in texts that are read line by line: a name, a separator and a value that may go on over the lines below.

YAML, INI, properties and env files are told apart by nobody here: what any of them would take for the value is masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.kubeflow.platform.plugins.module_utils.objects.credentials import MASK, is_credential, public, settled

_LINE = re.compile(
    r"(?P<lead>[ \t]*(?:(?:-|export|set|ENV|ARG)[ \t]+)*)(?P<quote>[\"']?)(?P<name>[\w./][\w./-]{0,159})(?P=quote)"
    r"(?P<gap>[ \t]*(?::=|=>|[:=])[ \t]*)(?P<value>.*)",
    re.DOTALL,
)
_BLOCK = re.compile(r"(?:[&!][^\s]*[ \t]+)*[|>][-+]?\d?[-+]?[ \t]*(?:#.*)?\s*")
_PREFIX = re.compile(r"(?:(?:&[\w-]+|!!?[\w:/.,-]*)(?:[ \t]+|\s*$))+")
_ALIAS = re.compile(r"\*[\w-]+")
_AFTER_QUOTE = re.compile(r"[\s,;)}\]]*(?:(?:#|//).*)?", re.DOTALL)
# A line that is no more of a value: the next name, an item, a section, a bracket.
_STRUCTURE = re.compile(
    r"[ \t]*(?:-[ \t]+)*[\"']?[\w./$][\w./ $-]{0,120}[\"']?[ \t]*(?::(?:\s|$)|=)" + r"|[ \t]*(?:[\[{}\]#]|-(?:[ \t]|$)|---)"
)
_KIND_SECRET = re.compile(r"""kind["']?\s*:\s*["']?Secret\b""")
_ITEM = re.compile(r"(?P<lead>[ \t]*(?:-[ \t]+)+)(?P<value>\S.*)", re.DOTALL)


def mask_lines(text: str) -> str:
    """Mask the values of credentials in ``text``, also in lines that are told apart only by a literal ``\\n``."""
    shown = "\n".join(_Lines(text.split("\n"), bool(_KIND_SECRET.search(text))).masked())
    return "\n".join(_escaped(line) if "\\n" in line else line for line in shown.split("\n"))


def _escaped(line: str) -> str:
    """Mask inside a quotation of several lines: what is before the first quote and behind the last is not part of it."""
    pieces = re.split(r"(?<!\\)\\n", line)
    head, mark, pieces[0] = pieces[0].rpartition('"')
    pieces[-1], end, tail = pieces[-1].partition('"')
    secret = bool(_KIND_SECRET.search(line))
    return head + mark + "\\n".join(_Lines(pieces, secret).masked()) + end + tail


class _Lines:
    """Walks over lines. ``_below``: the column of a mapping whose every value is one of a Secret. ``_pair``: the column of a
    ``name:`` that is a credential's, whose ``value:`` is still to come."""

    def __init__(self, lines: list[str], secret: bool) -> None:
        self._rows = lines
        self._secret = secret
        self._at = 0
        self._below: int | None = None
        self._pair: int | None = None

    def masked(self) -> Iterator[str]:
        """Yield the lines to show."""
        while self._at < len(self._rows):
            line = self._rows[self._at]
            self._at += 1
            match = _LINE.fullmatch(line)
            if match is None:
                yield line
            else:
                yield from self._pairing(match)

    def _pairing(self, match: re.Match[str]) -> Iterator[str]:
        column, name, value = len(match["lead"]), match["name"], match["value"]
        if self._below is not None and value.strip() and column <= self._below or (self._below is not None and column < self._below):
            self._below = None
        inside = self._below is not None and column > self._below
        pair = name.lower() == "value" and ((self._pair == column and "-" not in match["lead"]) or self._name_follows(column))
        if column < (self._pair or 0) or "-" in match["lead"] and column <= (self._pair or -1) or pair:
            self._pair = None
        if name.lower() in ("name", "key", "path") and is_credential(value.strip().strip("\"',")):
            self._pair = column
        if name == "stringData" or (name == "data" and self._secret):
            self._below = column if not value.strip() else self._below
        elif inside or pair or is_credential(name):
            yield from self._value(match, column, inside or pair)
            return
        yield match[0]

    def _name_follows(self, column: int) -> bool:
        """Tell whether a credential's ``name:`` stands below in the same mapping."""
        for line in self._rows[self._at : self._at + 20]:
            match = _LINE.fullmatch(line)
            if line.strip() and _indent(line) < column:
                return False
            if match and len(match["lead"]) == column and match["name"].lower() in ("name", "key"):
                return "-" not in match["lead"] and is_credential(match["value"].strip().strip("\"',"))
        return False

    def _value(self, match: re.Match[str], column: int, certain: bool) -> Iterator[str]:
        """Yield one line whose value is a credential's, and consume what else belongs to the value."""
        value = match["value"]
        start = match[0][: match.start("value")]
        plain = _PREFIX.sub("", value, count=1).strip() if ":" in match["gap"] else value.strip()
        if not plain:
            yield match[0]
            yield from self._nested(column)
        elif _BLOCK.fullmatch(value) and self._deeper(column):
            yield match[0]
            # A document of its own says itself what is secret in it.
            if self._rows[self._at].strip() not in ("{", "["):
                yield self._swallow(column)
        elif MASK in plain and settled(plain):
            yield match[0]
            self._continuation(column, False)
        elif _is_shown(plain) or (not certain and public(match["name"], plain)):
            yield match[0]
        elif plain[0] in "\"'":
            yield start + self._quoted(plain)
        else:
            yield start + MASK
            self._continuation(column, value.rstrip().endswith("\\"))

    def _quoted(self, value: str) -> str:
        """Mask a quoted value that ends on this line or on a later one."""
        mark = value[0]
        end = _closing(value, 1)
        rest = value[end + 1 :] if end >= 0 else ""
        if end >= 0 and settled(value[: end + 1]) and _AFTER_QUOTE.fullmatch(rest):
            return value
        if end >= 0:
            return f"{mark}{MASK}{mark}{rest}" if _AFTER_QUOTE.fullmatch(rest) else MASK
        for row in range(self._at, min(len(self._rows), self._at + 2000)):
            end = _closing(self._rows[row], 0, mark)
            if end >= 0:
                self._at = row + 1
                return f"{mark}{MASK}{mark}{self._rows[row][end + 1 :]}"
        return MASK

    def _nested(self, column: int) -> Iterator[str]:
        """Yield what stands below a name without a value: a mapping as it is, scalars and items masked."""
        while self._at < len(self._rows):
            line = self._rows[self._at]
            indent = _indent(line)
            item = _ITEM.fullmatch(line)
            if not line.strip() or indent < column or (indent == column and item is None):
                return
            if item is not None and _LINE.fullmatch(line) is None:
                self._at += 1
                yield line if settled(item["value"]) else item["lead"] + MASK
                self._continuation(len(item["lead"]) - 1, False)
            elif item is None and indent > column and not _STRUCTURE.match(line):
                yield self._swallow(column)
            else:
                return

    def _deeper(self, column: int) -> bool:
        return any(_indent(line) > column for line in self._rows[self._at :][:3] if line.strip())

    def _swallow(self, column: int) -> str:
        """Consume the lines of a block, and give the one line that stands for all of them."""
        indent = ""
        while self._at < len(self._rows):
            line = self._rows[self._at]
            if line.strip() and _indent(line) <= column:
                break
            if not line.strip() and not self._deeper(column):
                break
            indent = indent or line[: _indent(line)]
            self._at += 1
        return indent + MASK

    def _continuation(self, column: int, is_open: bool) -> None:
        """Consume lines below that go on with a plain value: deeper ones, or the next one after a backslash."""
        while self._at < len(self._rows):
            line = self._rows[self._at]
            goes_on = is_open or (line.strip() and _indent(line) > column)
            if not goes_on or _STRUCTURE.match(line):
                return
            is_open = line.rstrip().endswith("\\")
            self._at += 1


def _is_shown(value: str) -> bool:
    """Whether a value is only a reference or a switch, or a mapping, which says itself what it holds."""
    return bool(_ALIAS.fullmatch(value)) or value.startswith("{") or settled(value.rstrip(" ,;"))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _closing(text: str, start: int, mark: str = "") -> int:
    """Return where a quotation ends that was opened before ``start``, -1 when not in this text."""
    quote = mark or text[0]
    pattern = r'(?:[^"\\]|\\.)*"' if quote == '"' else r"(?:[^'\\]|\\.|'')*'(?!')"
    found = re.compile(pattern, re.DOTALL).match(text, start)
    return found.end() - 1 if found else -1
