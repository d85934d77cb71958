# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the modules of tenants as Ansible does, and plays KFAM on what they made."""

from __future__ import annotations

import json
import multiprocessing
import re
import resource
import time
import uuid
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import kubernetes.client  # noqa: F401  # pylint: disable=unused-import  # the client imports it at first use; see _FORK
import kubernetes.config  # noqa: F401  # pylint: disable=unused-import

from tests.integration.module_process import become_module
from tests.integration.tenancy.objects import platform_objects
from tests.testbed.audit import AuditLog
from tests.testbed.fixtures import Bed

Object = dict[str, Any]
# Imports are most of a small run's CPU time, so they are done once: a run is a fork of the process that tests.
_FORK = multiprocessing.get_context("fork")
MODULES = "ansible_collections.kubeflow.platform.plugins.modules"
AGENT = "kubeflow.platform"


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended: the module's JSON, how long it took, its CPU time in seconds and its most memory in kB."""

    json: Object
    seconds: float
    cpu: float = 0.0
    memory: int = 0

    @property
    def failed(self) -> bool:
        return bool(self.json.get("failed"))

    @property
    def changed(self) -> bool:
        return bool(self.json.get("changed"))

    @property
    def message(self) -> str:
        return str(self.json.get("msg") or "")

    @property
    def warnings(self) -> str:
        """All warnings as one text; newer Ansible wraps each of them."""
        return json.dumps(self.json.get("warnings") or [], ensure_ascii=False)

    def actions(self) -> list[str]:
        """ "create RoleBinding team/name" of each change."""
        rows = self.json.get("actions") or []
        return [f"{row['action']} {row['kind']} {row['namespace']}/{row['name']}".replace(" /", " ") for row in rows]


def _child(module: str, arguments: Path, output: Path) -> None:
    """Be the module's process: Ansible starts it with the name of a file of arguments, and reads what it prints."""
    become_module(module, arguments, output)
    try:
        import_module(f"{MODULES}.{module}").main()
    finally:
        used = resource.getrusage(resource.RUSAGE_SELF)
        output.with_suffix(".used").write_text(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Platform:
    """A cluster with the platform's part in tenants, and the modules that work on it."""

    bed: Bed
    folder: Path

    def install(self) -> None:
        """Put the platform's objects there and wait for its controllers."""
        kinds, rest = platform_objects()
        self.apply(*kinds)
        names = [row["metadata"]["name"] for row in kinds]
        self.bed.kubectl("wait", "--for=condition=Established", "--timeout=30s", *(f"crd/{name}" for name in names))
        self.apply(*rest)
        for name in ("profiles-deployment", "metacontroller", "kubeflow-pipelines-profile-controller"):
            self.bed.kubectl("rollout", "status", "-n", "kubeflow", f"deployment/{name}", "--timeout=60s")

    def apply(self, *objects: Object) -> None:
        """Apply objects as somebody with kubectl."""
        self.bed.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def replace(self, obj: Object) -> None:
        """Put an object in place of the one of its name."""
        self.bed.kubectl("replace", "-f", "-", stdin=json.dumps(obj))

    def run(self, module: str, *, check: bool = False, diff: bool = False, limit: float = 180, **options: Any) -> Result:
        """One run of a module, which must end within ``limit`` seconds."""
        stem = self.folder / uuid.uuid4().hex[:8]
        parameters = {
            "kubeconfig": str(self.bed.kubeconfig),
            "_ansible_check_mode": check,
            "_ansible_diff": diff,
            "_ansible_remote_tmp": str(self.folder),
            **({"wait_timeout": 60} if module in ("profile", "profiles") else {}),
            **options,
        }
        arguments, output = stem.with_suffix(".json"), stem.with_suffix(".output")
        arguments.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": parameters}), encoding="utf-8")
        begun = time.monotonic()
        process = _FORK.Process(target=_child, args=(module, arguments, output))
        process.start()
        process.join(limit)
        seconds = time.monotonic() - begun
        if process.is_alive():
            process.kill()
            raise AssertionError("the module did not end")
        lines = [line for line in output.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
        assert lines, f"the module printed no JSON (exit code {process.exitcode}):\n{output.read_text(encoding='utf-8')}"
        found = json.loads(lines[-1])
        found.pop("invocation", None)
        cpu, memory = json.loads(stem.with_suffix(".used").read_text(encoding="utf-8"))
        return Result(found, seconds, cpu, memory)

    def succeeds(self, module: str, **options: Any) -> Result:
        """One run that must succeed."""
        result = self.run(module, **options)
        assert not result.failed, f"{result.message}\n{json.dumps(result.json, indent=1)[:4000]}"
        return result

    def fails(self, module: str, **options: Any) -> Result:
        """One run that must fail."""
        result = self.run(module, **options)
        assert result.failed, f"the run succeeded: {result.json}"
        return result

    def get(self, kind: str, namespace: str, name: str) -> Object:
        """An object, {} where there is none."""
        place = ["-n", namespace] if namespace else []
        done = self.bed.kubectl("get", kind, *place, name, "-o", "json", "--ignore-not-found")
        return dict(json.loads(done.stdout)) if done.stdout.strip() else {}

    def patch(self, kind: str, namespace: str, name: str, body: Object) -> None:
        """Merge a patch as somebody with kubectl."""
        place = ["-n", namespace] if namespace else []
        self.bed.kubectl("patch", kind, *place, name, "--type=merge", "-p", json.dumps(body))

    def namespace(self, name: str, **metadata: Any) -> None:
        """A namespace that somebody made."""
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}})

    def audit(self, since: int) -> AuditLog:
        """What our modules asked of the API server since a point of the log."""
        return self.bed.audit(since).by(agent=AGENT)

    @property
    def now(self) -> int:
        """A point of the audit log."""
        time.sleep(0.2)
        return self.bed.audit().end


class KfamError(Exception):
    """KFAM's answer when it refuses."""


@dataclass(frozen=True, slots=True)
class Kfam:
    """What KFAM was seen to do with contributors (dashboard v2.0.0): names, lists by annotation, deletes by computed name."""

    platform: Platform

    def name(self, user: str, role: str) -> str:
        """The name that KFAM computes."""
        safe = re.sub("[^a-zA-Z0-9]+", "-", user)
        return re.sub("[^a-zA-Z0-9]+", "-", f"User-{safe}-ClusterRole-{role}".lower())

    def list(self, namespace: str, user: str = "", role: str = "") -> list[tuple[str, str]]:
        """(subject, role) of what it lists in a namespace; one binding with two subjects spoils the whole list."""
        words = {"kubeflow-admin": "admin", "kubeflow-edit": "edit", "kubeflow-view": "view"}
        found = []
        for binding in self.platform.bed.get("rolebindings", "-n", namespace)["items"]:
            noted = binding["metadata"].get("annotations") or {}
            if "user" not in noted or "role" not in noted or (user and noted["user"] != user) or (role and noted["role"] != role):
                continue
            if len(binding.get("subjects") or []) != 1:
                raise KfamError("401 binding subject length not equal to 1")
            found.append((binding["subjects"][0]["name"], words.get(binding["roleRef"]["name"], "")))
        return sorted(found)

    def create(self, namespace: str, user: str, role: str) -> None:
        """Make a contributor as the dashboard asks it to."""
        name, notes = self.name(user, role), {"user": user, "role": role}
        if self.platform.get("rolebinding", namespace, name):
            raise KfamError(f'403 rolebindings "{name}" already exists')
        gateway, pages = (self._settings()[key] for key in ("ISTIO_INGRESS_GATEWAY_PRINCIPAL", "KFP_UI_PRINCIPAL"))
        header = self._settings()["USERID_HEADER"]
        rule = {
            "when": [{"key": f"request.headers[{header}]", "values": [self._settings()["USERID_PREFIX"] + user]}],
            "from": [{"source": {"principals": [gateway, pages]}}],
        }
        self.platform.apply(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": {"name": name, "namespace": namespace, "annotations": notes},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"kubeflow-{role}"},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
            },
            {
                "apiVersion": "security.istio.io/v1",
                "kind": "AuthorizationPolicy",
                "metadata": {"name": name, "namespace": namespace, "annotations": notes},
                "spec": {"rules": [rule]},
            },
        )

    def delete(self, namespace: str, user: str, role: str) -> None:
        """Remove a contributor: both objects must be there under the computed name."""
        name = self.name(user, role)
        for kind in ("rolebinding", "authorizationpolicy"):
            if not self.platform.get(kind, namespace, name):
                raise KfamError(f'403 {kind} "{name}" not found')
        for kind in ("rolebinding", "authorizationpolicy"):
            self.platform.bed.kubectl("delete", kind, "-n", namespace, name)

    def _settings(self) -> dict[str, str]:
        return dict(self.platform.get("configmap", "kubeflow", "profiles-config-5f7k")["data"])
