# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bed is: its folder, its place among other beds (ports, addresses) and the record of both."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .build import cache_root
from .report import BedError

_RECORD = "bed.json"


@dataclass(frozen=True, slots=True)
class Bed:
    """One test bed. Everything but the folder is fixed when it is made, so that a restart reuses the same ports."""

    folder: Path
    slot: int
    nodes: int = 3
    isolated: bool = False
    standins: bool = True
    proxy: bool = False
    namespace_pid: int = 0

    @property
    def base_port(self) -> int:
        """First of sixteen ports. Below the ephemeral range, or a client connection could sit on one of them."""
        return 20000 + self.slot * 16

    @property
    def api_port(self) -> int:
        """Port of the API server."""
        return self.base_port

    @property
    def etcd_port(self) -> int:
        """Client port of etcd."""
        return self.base_port + 1

    @property
    def etcd_peer_port(self) -> int:
        """Peer port of etcd."""
        return self.base_port + 2

    @property
    def kubelet_port(self) -> int:
        """Port on which KWOK plays the kubelet of every node."""
        return self.base_port + 3

    @property
    def proxy_port(self) -> int:
        """Port of the fault proxy."""
        return self.base_port + 4

    @property
    def service_cidr(self) -> str:
        """Range of ClusterIPs: a /16 on loopback of the bed's own."""
        return f"127.{96 + self.slot}.0.0/16"

    @property
    def first_service_address(self) -> str:
        """ClusterIP of the Service `kubernetes`."""
        return f"127.{96 + self.slot}.0.1"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def pki(self) -> Path:
        """Folder of keys and certificates."""
        return self.folder / "pki"

    def save(self) -> None:
        """Writes the record."""
        content: dict[str, Any] = asdict(self)
        content["folder"] = str(self.folder)
        temporary = self.folder / f".{_RECORD}"
        temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")
        temporary.replace(self.folder / _RECORD)

    def with_namespace(self, pid: int) -> Bed:
        """The same bed, in the network namespace held by that process."""
        return replace(self, namespace_pid=pid)


def default_folder() -> Path:
    """Where a bed lives when nobody says otherwise."""
    return Path(os.environ.get("TESTBED_DIR") or cache_root() / "beds" / "default")


def find(folder: Path) -> Bed | None:
    """The bed of that folder, if one was made there."""
    try:
        content = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Bed(**{**content, "folder": Path(content["folder"])})


def load(folder: Path) -> Bed:
    """The bed of that folder, or an error that says what to do."""
    bed = find(folder)
    if bed is None:
        raise BedError(f"there is no test bed in {folder}; start one with: testbed up --dir {folder}")
    return bed
