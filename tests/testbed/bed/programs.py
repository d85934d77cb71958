# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of a bed and their flags, in start order."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from .build import binaries
from .processes import Process
from .record import Bed

ROOT = Path(__file__).resolve().parent.parent
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
# Pods get addresses that nothing routes: nobody may ever dial one.
_POD_CIDR = "198.18.0.0/16"
_QPS = ("--kube-api-qps=200", "--kube-api-burst=400")


def processes(bed: Bed) -> dict[str, Process]:
    """All programs of the bed by name."""
    programs = binaries(list(CONTROL_PLANE))
    commands = {
        "etcd": _etcd(bed),
        "kube-apiserver": _apiserver(bed),
        "kube-controller-manager": _controller_manager(bed),
        "kube-scheduler": [f"--kubeconfig={bed.folder}/kubeconfig.kube-scheduler", "--leader-elect=false", "--secure-port=0", *_QPS],
        "kwok": _kwok(bed),
    }
    made = {name: Process(name, [str(programs[name]), *flags], bed.folder) for name, flags in commands.items()}
    python_path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {"PYTHONPATH": python_path, "PYTHONUNBUFFERED": "1"}
    if bed.standins and (ROOT / "standins" / "__main__.py").exists():
        made["standins"] = Process("standins", [sys.executable, "-m", "standins", *_standins(bed)], bed.folder, environment)
    if bed.proxy:
        made["faultproxy"] = Process("faultproxy", [sys.executable, "-m", "faultproxy", *_faultproxy(bed)], bed.folder, environment)
    return made


def write_kubelet_defaults(bed: Bed) -> None:
    """Logs and exec for pods that DIR/kubelet.yaml does not mention."""
    logs = bed.folder / "podlogs"
    for name in ("current", "previous"):
        if not (logs / name).exists():
            (logs / name).write_text(f"2026-01-01T00:00:00.000000000Z stdout F {name} log of a pod of the test bed\n", encoding="utf-8")
    log = {"logsFile": str(logs / "current"), "previousLogsFile": str(logs / "previous"), "follow": False}
    documents = [
        _document("ClusterLogs", {"logs": [log]}),
        _document("ClusterExec", {"execs": [{"local": {"workDir": str(bed.folder)}}]}),
    ]
    (bed.folder / "run" / "kubelet-defaults.yaml").write_text("---\n".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")


def _document(kind: str, spec: dict[str, object]) -> dict[str, object]:
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": kind, "metadata": {"name": "testbed-default"}, "spec": spec}


def _etcd(bed: Bed) -> list[str]:
    client, peer = f"http://127.0.0.1:{bed.etcd_port}", f"http://127.0.0.1:{bed.etcd_peer_port}"
    return [
        "--name=testbed",
        f"--data-dir={bed.folder}/etcd",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=testbed={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _apiserver(bed: Bed) -> list[str]:
    pki = bed.pki
    return [
        f"--etcd-servers=http://127.0.0.1:{bed.etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={bed.api_port}",
        # Endpoints refuse loopback addresses, so the Service `kubernetes` has to go without.
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={bed.service_cidr}",
        "--allow-privileged=true",
        "--authorization-mode=Node,RBAC",
        "--profiling=false",
        f"--client-ca-file={pki}/ca.crt",
        f"--token-auth-file={bed.folder}/tokens.csv",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki}/service-account.pub",
        f"--service-account-signing-key-file={pki}/service-account.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        f"--kubelet-client-certificate={pki}/kubelet-client.crt",
        f"--kubelet-client-key={pki}/kubelet-client.key",
        "--kubelet-preferred-address-types=InternalIP",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
        f"--proxy-client-key-file={pki}/front-proxy-client.key",
        f"--audit-policy-file={bed.folder}/audit-policy.json",
        f"--audit-log-path={bed.folder}/audit.log",
        "--audit-log-maxsize=2000",
    ]


def _controller_manager(bed: Bed) -> list[str]:
    return [
        f"--kubeconfig={bed.folder}/kubeconfig.kube-controller-manager",
        "--leader-elect=false",
        "--secure-port=0",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={bed.pki}/service-account.key",
        f"--root-ca-file={bed.pki}/ca.crt",
        f"--cluster-signing-cert-file={bed.pki}/ca.crt",
        f"--cluster-signing-key-file={bed.pki}/ca.key",
        "--allocate-node-cidrs=false",
        # After a long outage of the API nodes would turn NotReady, and KWOK does not mend their pods.
        "--node-monitor-grace-period=24h",
        *_QPS,
    ]


def _kwok(bed: Bed) -> list[str]:
    configurations = [ROOT / "kwok" / "stages.yaml", bed.folder / "kubelet.yaml", bed.folder / "run" / "kubelet-defaults.yaml"]
    return [
        f"--kubeconfig={bed.folder}/kubeconfig.kwok",
        # The first rule that matches wins: the user's file comes before the defaults.
        *(f"--config={path}" for path in configurations),
        "--manage-all-nodes=false",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        f"--cidr={_POD_CIDR}",
        "--node-ip=127.0.0.1",
        f"--node-port={bed.kubelet_port}",
        f"--server-address=127.0.0.1:{bed.kubelet_port}",
        f"--tls-cert-file={bed.pki}/kubelet.crt",
        f"--tls-private-key-file={bed.pki}/kubelet.key",
        # With leases a restarted KWOK (another holder) would leave pods alone until they expire.
        "--node-lease-duration-seconds=0",
    ]


def _standins(bed: Bed) -> list[str]:
    return ["--kubeconfig", f"{bed.folder}/kubeconfig.standins", "--dir", str(bed.folder), "--service-cidr", bed.service_cidr]


def _faultproxy(bed: Bed) -> list[str]:
    certificate = ["--cert", f"{bed.pki}/apiserver.crt", "--key", f"{bed.pki}/apiserver.key", "--ca", f"{bed.pki}/ca.crt"]
    return ["--listen", str(bed.proxy_port), "--upstream", f"127.0.0.1:{bed.api_port}", *certificate, "--dir", str(bed.folder)]
