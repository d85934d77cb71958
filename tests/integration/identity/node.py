# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node that Dex's pods run on: each pod becomes a process with the environment that its Secrets give at that moment."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.connection import from_params
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

from tests.testbed.fixtures import Bed

Object = dict[str, Any]
STAND_IN = Path(__file__).resolve().parents[2] / "testbed" / "standins" / "dex.py"
CORE = "/api/v1/namespaces/auth"


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Node:
    """Plays kubelet for the pods of Dex. All of them are one process behind one port, which the bed forwards to.

    ``spoil`` changes the environment of what is started next.
    """

    def __init__(self, bed: Bed, folder: Path) -> None:
        self.port = free_port()
        self.spoil: Callable[[dict[str, str]], dict[str, str]] = lambda environment: environment
        self._client = Client(from_params({"kubeconfig": str(bed.kubeconfig)}), "node", 1)
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Node:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._stop()
        self._client.close()

    def _work(self) -> None:
        while not self._over.wait(0.2):
            for pod in self._client.list_objects(f"{CORE}/pods", selector="app=dex"):
                new = pod["status"].get("phase") == "Pending" and pod["spec"].get("nodeName")
                if new and not pod["metadata"].get("deletionTimestamp"):
                    self._run(pod)

    def _run(self, pod: Object) -> None:
        environment = self.spoil(self._environment(pod))
        config = self._folder / f"{pod['metadata']['name']}.yaml"
        config.write_text(self._get("configmaps/dex")["data"]["config.yaml"], encoding="utf-8")
        trial = self._start(config, environment, port := free_port())
        comes_up = _healthy(trial, port)
        trial.kill()
        trial.wait()
        if comes_up:
            self._stop()
            self._process = self._start(config, environment, self.port)
            comes_up = _healthy(self._process, self.port)
        path = f"{CORE}/pods/{pod['metadata']['name']}/status"
        body = {"status": _status(pod, ready=comes_up)}
        self._client.request("PATCH", path, body=body, content_type="application/merge-patch+json")

    def _environment(self, pod: Object) -> dict[str, str]:
        found: dict[str, str] = {}
        for row in pod["spec"]["containers"][0].get("envFrom") or []:
            data = self._get(f"secrets/{row['secretRef']['name']}").get("data") or {}
            found |= {name: base64.b64decode(value).decode() for name, value in data.items()}
        return found

    def _get(self, name: str) -> Object:
        return self._client.get(f"{CORE}/{name}").body()

    def _start(self, config: Path, environment: dict[str, str], port: int) -> subprocess.Popen[str]:
        command = [sys.executable, str(STAND_IN), str(config), str(port)]
        with (self._folder / "dex.log").open("a", encoding="utf-8") as log:
            full = {"PATH": os.environ["PATH"], **environment}
            return subprocess.Popen(command, env=full, stdout=log, stderr=log, stdin=subprocess.DEVNULL, text=True)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _healthy(process: subprocess.Popen[str], port: int) -> bool:
    end = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/dex/healthz", timeout=2):
                return True
        except OSError:
            time.sleep(0.05)
    return False


def _status(pod: Object, *, ready: bool) -> Object:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    state = {"running": {"startedAt": now}} if ready else {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    conditions = [
        {"type": kind, "status": "True" if ready or kind == "PodScheduled" else "False", "lastTransitionTime": now}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    container = {
        "name": "dex",
        "image": pod["spec"]["containers"][0]["image"],
        "imageID": "",
        "ready": ready,
        "started": ready,
        "restartCount": 0 if ready else 4,
        "state": state,
    }
    return {"phase": "Running", "startTime": now, "podIP": "10.9.9.9", "conditions": conditions, "containerStatuses": [container]}
