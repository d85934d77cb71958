# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives each bed a place of its own: sixteen ports and a /16 of loopback."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .record import Bed, find
from .report import BedError

# 127.96 to 127.223: far from the 127.0 that everything else uses.
_SLOTS = range(128)


def claim(folder: Path, **options: object) -> Bed:
    """A new bed for `folder` in the first free place, recorded there."""
    with _table() as table:
        for slot in _SLOTS:
            owner = table.get(str(slot))
            if owner and _holds(Path(owner), slot):
                continue
            bed = Bed(folder=folder, slot=slot, **options)  # type: ignore[arg-type]
            if not _ports_free(bed):
                continue
            table[str(slot)] = str(folder)
            bed.save()
            return bed
    raise BedError("no free place for another test bed: take some down (testbed down --dir ...)")


def release(bed: Bed) -> None:
    """Gives the bed's place back."""
    with _table() as table:
        if table.get(str(bed.slot)) == str(bed.folder):
            del table[str(bed.slot)]


def known() -> list[Path]:
    """Folders of all beds of this user that exist, running or not."""
    with _table() as table:
        return [Path(folder) for slot, folder in table.items() if _holds(Path(folder), int(slot))]


def _holds(folder: Path, slot: int) -> bool:
    """Whether the bed noted for a slot still exists: folders get deleted by hand."""
    try:
        bed = find(folder)
    except (ValueError, TypeError, KeyError):
        return False
    return bed is not None and bed.slot == slot


def _ports_free(bed: Bed) -> bool:
    for port in (bed.api_port, bed.etcd_port, bed.etcd_peer_port, bed.kubelet_port, bed.proxy_port):
        with socket.socket() as probe:
            # As servers do: connections of an earlier bed in TIME_WAIT do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True


@contextmanager
def _table() -> Iterator[dict[str, str]]:
    """The table slot -> folder of all beds of this machine's user, locked while it is open."""
    path = Path(tempfile.gettempdir()) / f"kubeflow-platform-testbeds-{os.getuid()}.json"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        table: dict[str, str] = json.loads(handle.read() or "{}")
        yield table
        handle.seek(0)
        handle.truncate()
        json.dump(table, handle)
