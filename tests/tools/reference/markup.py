# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's semantic markup (`O(...)`, `V(...)`, `L(...)`) as Markdown and as reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MARK = re.compile(r"\b(RV|[BCEILMOPRUV])\(((?:[^)\\]|\\.)*)\)")
_CODE = {"C", "E", "M", "O", "P", "RV", "V"}


class Piece(NamedTuple):
    """A stretch of a sentence: C(kind) is text, code, bold or link; a link has an address."""

    kind: str
    text: str
    address: str = ""


def pieces(text: str) -> Iterator[Piece]:
    """The stretches of a sentence, white space folded."""
    text = " ".join(text.split())
    place = 0
    for found in _MARK.finditer(text):
        if found.start() > place:
            yield Piece("text", text[place : found.start()])
        place = found.end()
        yield _piece(found.group(1), re.sub(r"\\(.)", r"\1", found.group(2)))
    if place < len(text):
        yield Piece("text", text[place:])


def _piece(mark: str, content: str) -> Piece:
    if mark in ("L", "R", "U"):
        label, _comma, address = content.partition(",") if mark != "U" else (content, "", content)
        return Piece("link" if mark != "R" else "text", label.strip(), address.strip())
    if mark in ("O", "RV"):
        content = re.sub(r"^[\w.]+#\w+:(\w+:)?", "", content)
        content = re.sub(r"=", ": ", content, count=1)
    if mark == "P":
        content = content.partition("#")[0]
    return Piece("code" if mark in _CODE else "bold", content)


def markdown(text: str) -> str:
    """A sentence as Markdown that may also stand in a table."""
    made = []
    for piece in pieces(text):
        plain = piece.text.replace("|", "&#124;")
        if piece.kind == "code":
            made.append(f"`{plain}`")
        elif piece.kind == "bold":
            made.append(f"**{plain}**")
        elif piece.kind == "link":
            made.append(f"[{plain}]({piece.address})")
        else:
            made.append(plain.replace("<", "&lt;"))
    return "".join(made)


def rst(text: str) -> str:
    """A sentence as reStructuredText."""
    made = ""
    for piece in pieces(text):
        if piece.kind == "text":
            plain = re.sub(r"([*`|\\]|_\b)", r"\\\1", piece.text)
            # Inline markup ends only before white space or punctuation.
            made += ("\\ " if made.endswith(("`", "*", "_")) and re.match(r"\w", plain) else "") + plain
            continue
        made += "\\ " if re.search(r"[\w`*]$", made) else ""
        if piece.kind == "link":
            made += f"`{piece.text} <{piece.address}>`__"
        else:
            mark = "``" if piece.kind == "code" else "**"
            made += f"{mark}{piece.text}{mark}"
    return made
