# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the test bed promises to the tests that stand on it."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.testbed import audit
from tests.testbed.bed import faults, ports
from tests.testbed.bed.build import binaries
from tests.testbed.bed.commands import main
from tests.testbed.bed.programs import processes
from tests.testbed.bed.report import BedError
from tests.testbed.fixtures import Bed, shared

pytestmark = pytest.mark.bed


def eventually(condition: Callable[[], bool], seconds: float = 15) -> bool:
    """Whether the condition holds within the time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def with_pod(bed: Bed, name: str, annotations: dict[str, str] | None = None, job: bool = False) -> None:
    """Creates a Deployment or Job of that name."""
    metadata = {"labels": {"app": name}, "annotations": annotations or {}}
    container = {"name": "main", "image": "example.invalid/none"}
    policy = "Never" if job else "Always"
    spec: dict[str, object] = {"template": {"metadata": metadata, "spec": {"containers": [container], "restartPolicy": policy}}}
    if not job:
        spec["selector"] = {"matchLabels": {"app": name}}
    kind, version = ("Job", "batch/v1") if job else ("Deployment", "apps/v1")
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}
    bed.kubectl("create", "-f", "-", stdin=json.dumps(body))


def pods(bed: Bed, name: str) -> list[dict[str, Any]]:
    """The statuses of the pods of that name."""
    selector = f"app={name}"
    return [pod["status"] for pod in bed.get("pods", "-l", selector)["items"]]


def ready(bed: Bed, deployment: str) -> bool:
    """Whether a Deployment's pod is ready."""
    return bool(bed.get("deployment", deployment)["status"].get("readyReplicas"))


@pytest.fixture
def web(worker_bed: Bed) -> Iterator[int]:
    """A server on loopback, reachable by port-forward to any pod's port 8080."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"from loopback")

        def log_message(self, *_: object) -> None:
            """Stays silent."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    target = {"address": "127.0.0.1", "port": server.server_port}
    forward = {"forwards": [{"ports": [8080], "target": target}]}
    worker_bed.kubelet({"kind": "ClusterPortForward", "metadata": {"name": "web"}, "spec": forward})
    yield server.server_port
    server.shutdown()


def test_bed_when_up_is_kubernetes_1_36_with_ready_nodes_and_a_default_storage_class(worker_bed: Bed) -> None:
    version = json.loads(worker_bed.kubectl("version", "-o", "json").stdout)
    assert version["serverVersion"]["gitVersion"] == "v1.36.1"
    nodes = worker_bed.get("nodes")["items"]
    assert len(nodes) == 3
    assert all({"type": "Ready", "status": "True"}.items() <= condition_named(node, "Ready").items() for node in nodes)
    (storage,) = worker_bed.get("storageclasses")["items"]
    assert (storage["metadata"]["name"], storage["volumeBindingMode"]) == ("standard", "WaitForFirstConsumer")


def condition_named(thing: dict[str, dict[str, list[dict[str, str]]]], name: str) -> dict[str, str]:
    """One condition of an object."""
    return next(condition for condition in thing["status"]["conditions"] if condition["type"] == name)


def test_pods_get_ready_and_serve_logs_exec_and_port_forward(worker_bed: Bed, web: int) -> None:
    with_pod(worker_bed, "good")
    assert eventually(lambda: ready(worker_bed, "good"))
    assert "current log" in worker_bed.kubectl("logs", "deploy/good").stdout
    assert "previous log" in worker_bed.kubectl("logs", "--previous", "deploy/good").stdout
    assert worker_bed.kubectl("exec", "deploy/good", "--", "echo", "hello").stdout == "hello\n"
    assert worker_bed.kubectl("exec", "-i", "deploy/good", "--", "cat", stdin="secret").stdout == "secret"
    assert worker_bed.kubectl("exec", "deploy/good", "--", "sh", "-c", "exit 3", check=False).returncode == 3
    with port_forward(worker_bed, "deploy/good", 8080) as port, urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=10) as answer:
        assert answer.read() == b"from loopback"


@contextmanager
def port_forward(bed: Bed, target: str, port: int) -> Iterator[int]:
    """A running `kubectl port-forward` and its local port."""
    command = [str(binaries(["kubectl"])["kubectl"]), "port-forward", target, f":{port}"]
    with subprocess.Popen(command, env=bed.environment, stdout=subprocess.PIPE, text=True) as forward:
        try:
            assert forward.stdout is not None
            # "Forwarding from 127.0.0.1:43211 -> 8080"
            yield int(forward.stdout.readline().partition(":")[2].split()[0])
        finally:
            forward.terminate()


def test_pods_fail_and_wait_when_an_annotation_says_so(worker_bed: Bed) -> None:
    def state(name: str, key: str) -> object:
        return next(
            (status.get("containerStatuses", [{}])[0].get("state", {}).get(key, {}).get("reason") for status in pods(worker_bed, name)),
            None,
        )

    for how in ("stuck", "pull", "crash"):
        with_pod(worker_bed, how, {"testbed.kubeflow.platform/pod": how})
    with_pod(worker_bed, "later", {"testbed.kubeflow.platform/ready-after": "4s"})
    with_pod(worker_bed, "done", job=True)
    with_pod(worker_bed, "fails", {"testbed.kubeflow.platform/pod": "fail"}, job=True)
    assert eventually(lambda: state("pull", "waiting") == "ImagePullBackOff" and state("crash", "waiting") == "CrashLoopBackOff")
    assert eventually(
        lambda: (
            bool(worker_bed.get("job", "done")["status"].get("succeeded")) and bool(worker_bed.get("job", "fails")["status"].get("failed"))
        )
    )
    assert pods(worker_bed, "stuck")[0]["phase"] == "Pending"
    assert eventually(lambda: ready(worker_bed, "later"))


def test_reset_when_things_were_made_leaves_an_empty_cluster_and_the_same_kubeconfig(worker_bed: Bed) -> None:
    worker_bed.kubectl("create", "namespace", "left-over")
    before = worker_bed.kubeconfig.read_bytes()
    start = time.monotonic()
    worker_bed.reset()
    took = time.monotonic() - start
    names = worker_bed.kubectl("get", "namespaces", "-o", "name").stdout.split()
    assert sorted(names) == [f"namespace/{name}" for name in ("default", "kube-node-lease", "kube-public", "kube-system")]
    assert worker_bed.kubeconfig.read_bytes() == before
    # The promise is 10 s on two idle cores.
    assert took < 30


def test_api_server_when_killed_and_restarted_has_its_objects_on_the_same_port(worker_bed: Bed) -> None:
    worker_bed.kubectl("create", "namespace", "survivor")
    assert worker_bed.kill("kube-apiserver")
    assert worker_bed.kubectl("get", "namespaces", check=False).returncode != 0
    assert not worker_bed.status()["ready"]
    worker_bed.restart("kube-apiserver")
    worker_bed.kubectl("get", "namespace", "survivor")


def test_audit_log_when_only_read_and_dry_run_lists_no_persisted_write(worker_bed: Bed) -> None:
    start = worker_bed.audit().end
    worker_bed.kubectl("get", "namespaces")
    worker_bed.kubectl("create", "namespace", "imagined", "--dry-run=server")
    worker_bed.kubectl("auth", "can-i", "create", "pods")
    worker_bed.kubectl("create", "namespace", "forbidden", "--kubeconfig", worker_bed.kubeconfig_of("readonly"), check=False)
    calm = worker_bed.audit(start).by(agent="kubectl")
    assert calm.counts()["create dry-run"] == 1
    assert calm.writes() == []
    worker_bed.kubectl("create", "namespace", "real")
    (write,) = worker_bed.audit(calm.end).by(agent="kubectl").writes()
    assert (write.verb, write.resource, write.name, write.user, write.status) == ("create", "namespaces", "real", "testbed:admin", 201)


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ("readonly", "forbidden"),
        ("badtoken", "Unauthorized"),
        ("wrongca", "certificate signed by unknown authority"),
    ],
)
def test_other_identities_when_they_write_are_refused(worker_bed: Bed, who: str, said: str) -> None:
    done = worker_bed.kubectl("create", "namespace", "no", "--kubeconfig", worker_bed.kubeconfig_of(who), check=False)
    assert done.returncode != 0
    assert said in done.stderr


def test_fault_proxy_when_up_leads_to_the_same_cluster(worker_bed: Bed) -> None:
    seen = worker_bed.kubectl("get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}").stdout
    through = worker_bed.kubectl(
        "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}", "--kubeconfig", worker_bed.kubeconfig_of("proxy")
    )
    assert through.stdout == seen


def test_snapshot_when_restored_brings_the_cluster_back(worker_bed: Bed) -> None:
    worker_bed.kubectl("create", "namespace", "kept")
    worker_bed.snapshot("one")
    worker_bed.kubectl("delete", "namespace", "kept")
    worker_bed.kubectl("create", "namespace", "later")
    worker_bed.restore("one")
    names = worker_bed.kubectl("get", "namespaces", "-o", "name").stdout.split()
    assert "namespace/kept" in names
    assert "namespace/later" not in names


def test_two_beds_when_up_at_once_and_one_isolated_share_nothing(worker_bed: Bed, tmp_path: Path) -> None:
    with Bed.up(tmp_path / "isolated", isolated=True, nodes=1) as other:
        other.kubectl("create", "namespace", "elsewhere")
        assert "elsewhere" not in worker_bed.kubectl("get", "namespaces").stdout
        assert worker_bed.status()["service_cidr"] != other.status()["service_cidr"]
        # The isolated one is out of reach from outside, and has nothing but loopback inside.
        outside = worker_bed.kubectl("get", "namespaces", "--kubeconfig", other.kubeconfig, check=False)
        assert "refused" in outside.stderr
        links = [line.split(":")[0].strip() for line in other.run("cat", "/proc/net/dev").stdout.splitlines()[2:]]
        assert links == ["lo"]
        other.reset()
        assert "elsewhere" not in other.kubectl("get", "namespaces").stdout
    assert not (tmp_path / "isolated").exists()


def test_shared_bed_when_the_first_user_leaves_stays_for_the_second(worker_bed: Bed, tmp_path: Path) -> None:
    users = tmp_path / "shared.users"
    users.write_text("1\n", encoding="utf-8")
    # Process 1 always lives: it plays the second user. The bed is a link to one that runs, so nothing has to start.
    (tmp_path / "shared").symlink_to(worker_bed.folder)
    with shared(tmp_path / "shared"):
        assert len(users.read_text(encoding="utf-8").split()) == 2
    assert users.read_text(encoding="utf-8").split() == ["1"]
    assert worker_bed.status()["ready"]


def test_beds_when_started_at_the_same_time_get_different_places(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(8)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor() as pool:
        beds = list(pool.map(ports.claim, folders))
    try:
        assert len({bed.slot for bed in beds}) == len(beds)
    finally:
        for bed in beds:
            ports.release(bed)


def down(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What `testbed down` prints."""
    monkeypatch.setattr("sys.argv", ["testbed", "down", "--dir", str(folder)])
    assert main() == 0
    return capsys.readouterr().out


def test_down_says_what_it_stopped_when_a_bed_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bed = ports.claim(tmp_path)
    for name in ("logs", "run"):
        (tmp_path / name).mkdir()
    replace(processes(bed)["etcd"], command=("sleep", "60")).start()
    assert down(tmp_path, monkeypatch, capsys) == f"stopped etcd; removed the bed in {tmp_path}\n"
    assert down(tmp_path, monkeypatch, capsys) == f"nothing to stop: there is no bed in {tmp_path}\n"


def test_down_says_so_when_nothing_of_the_bed_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ports.claim(tmp_path)
    assert down(tmp_path, monkeypatch, capsys) == f"nothing of it ran; removed the bed in {tmp_path}\n"


def test_fault_when_given_on_the_command_line_becomes_an_entry_of_the_file(tmp_path: Path) -> None:
    faults.write(tmp_path, {**faults.parse("webhooks=late:10"), "ca": faults.entry(["deny", "message=no"])})
    assert faults.read(tmp_path) == {"webhooks": {"mode": "late", "seconds": 10.0}, "ca": {"mode": "deny", "message": "no"}}
    with pytest.raises(BedError, match="expected NAME=MODE"):
        faults.parse("webhooks")


def test_audit_log_when_a_line_is_half_written_waits_for_the_rest(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    line = json.dumps({"verb": "delete", "requestURI": "/x", "responseStatus": {"code": 200}, "objectRef": {"resource": "pods"}})
    log.write_text(f"{line}\n{line[:10]}", encoding="utf-8")
    first = audit.read(log)
    assert len(first.writes()) == 1
    log.write_text(f"{line}\n{line}\n", encoding="utf-8")
    assert len(audit.read(log, first.end).writes()) == 1


def test_a_fault_is_in_effect_when_setting_it_returns(worker_bed: Bed) -> None:
    for seconds in (1, 2, 3):
        worker_bed.fault("webhooks", "late", seconds)
        written = (worker_bed.folder / "faults.json").stat().st_mtime_ns
        assert (worker_bed.folder / faults.SEEN).read_text(encoding="utf-8") == str(written)
    worker_bed.clear_faults()
