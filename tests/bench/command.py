# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark: upstream's loop, the engine and site.yml, each on a fresh test bed, judged by one predicate."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import yaml

from tests.bench import audit
from tests.bench.cluster import Cluster, Object
from tests.bench.meter import measure, processor_seconds
from tests.bench.ready import Judge
from tests.bench.table import table
from tests.bench.ways import ROOT, WAYS, Setting

_RELEASE = "26.03.1"
PHASES = ("install", "again", "changed")
_PATIENCE = 600.0
_QUIET = 1.5
# One object of its own, in every tree; kustomize adds the annotation to nothing else.
_CHANGED = Path("common/user-namespace/base/kustomization.yaml")
_CHANGE = '\ncommonAnnotations:\n  bench.example.com/changed: "yes"\n'


def say(text: str) -> None:
    """Tells a person how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Runs what was asked for; the table goes to stdout, everything else to stderr and to a JSON file."""
    arguments = _arguments()
    output: Path = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    bed = Bed(arguments.bed.resolve())
    results: dict[str, Any] = {"release": arguments.release, "faults": arguments.fault, "machine": _machine(), "ways": {}}
    # A benchmark that is stopped must stop what it measures, and take its test bed down.
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(143))
    source = _on_disk(arguments, output)
    try:
        for name in arguments.ways:
            _await_quiet(arguments.patience)
            results["ways"][name] = _way(name, bed, arguments, source, output / name)
            (output / "bench.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    finally:
        if not arguments.keep:
            bed.call("down")
    print(table(results))
    say(f"figures: {output / 'bench.json'}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    named = os.environ.get("KUBEFLOW_DISTRIBUTIONS")
    tree = Path(named) / f"community-distribution-{_RELEASE}.tar.xz" if named else None
    bases = Path(named) / "remote-bases.tar.xz" if named else None
    parser.add_argument("--distribution", type=Path, default=tree, help="folder or archive (default: that of KUBEFLOW_DISTRIBUTIONS)")
    parser.add_argument("--remote-bases", type=Path, default=bases, help="what it would fetch from the network, likewise")
    parser.add_argument("--release", default=_RELEASE)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--phases", nargs="+", choices=PHASES, default=list(PHASES))
    parser.add_argument("--fault", action="append", metavar="NAME=MODE:SECONDS", help="default: webhooks=late:10")
    parser.add_argument("--bed", type=Path, default=ROOT / "tests" / "output" / "bench" / "bed", help="folder of the test bed")
    parser.add_argument("--output", type=Path, default=ROOT / "tests" / "output" / "bench")
    parser.add_argument("--patience", type=float, default=0.0, help=f"seconds to wait for a load under {_QUIET}")
    parser.add_argument("--keep", action="store_true", help="leave the test bed up")
    arguments = parser.parse_args()
    if arguments.distribution is None:
        parser.error("set KUBEFLOW_DISTRIBUTIONS, or name a --distribution (tests/distribution is a small one)")
    arguments.fault = arguments.fault or ["webhooks=late:10"]
    return arguments


def _on_disk(arguments: argparse.Namespace, output: Path) -> Path:
    """The distribution as a folder without remote references. Every way starts from that, so that no network is measured."""
    options = {"source": str(arguments.distribution.resolve()), "work_dir": str(output / "distribution")}
    if arguments.remote_bases:
        options["remote_bases"] = str(arguments.remote_bases.resolve())
    results = output / "distribution-result"
    program = Path(sys.executable).parent / "ansible"
    module = ["-m", "kubeflow.platform.distribution", "-a", json.dumps(options), "--tree", str(results)]
    done = subprocess.run([str(program), "localhost", "-c", "local", *module], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"no distribution: {done.stdout}{done.stderr}")
    return Path(json.loads((results / "localhost").read_text(encoding="utf-8"))["path"])


class Bed:
    """The test bed, by its command line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = ROOT / "tests" / "testbed" / "testbed"

    def call(self, *arguments: str) -> str:
        """Runs one command of it and returns what it printed."""
        command = [str(self.program), *arguments]
        if arguments[0] != "binaries":
            command += ["--dir", str(self.folder)]
        done = subprocess.run(command, env={**os.environ, "PYTHON": sys.executable}, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    def fresh(self, faults: list[str]) -> None:
        """An empty cluster."""
        wanted = [argument for fault in faults for argument in ("--fault", fault)]
        self.call("reset" if (self.folder / "bed.json").exists() else "up", *wanted)

    def binary(self, name: str) -> Path:
        """Path of one of its programs."""
        return Path(self.call("binaries", name).splitlines()[-1])

    def server(self) -> int:
        """Process of the API server."""
        return int(json.loads(self.call("status", "--json"))["processes"]["kube-apiserver"]["pid"])


def _way(name: str, bed: Bed, arguments: argparse.Namespace, source: Path, folder: Path) -> dict[str, Any]:
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / "tree"
    shutil.copytree(source, tree)
    (folder / "work").mkdir()
    bed.fresh(arguments.fault)
    kubeconfig = bed.folder / "kubeconfig"
    setting = Setting(tree, arguments.release, bed.binary("kustomize-5.8.1"), bed.binary("kubectl"), kubeconfig, folder / "work")
    results = {}
    for phase in arguments.phases:
        if phase == "changed":
            with (tree / _CHANGED).open("a", encoding="utf-8") as file:
                file.write(_CHANGE)
        say(f"{name}: {phase}")
        results[phase] = _phase(WAYS[name](setting), setting, bed, folder / f"{phase}.log")
        say(f"{name}: {phase}: {results[phase]['ready']:.1f} s")
    return results


def _phase(command: list[str], setting: Setting, bed: Bed, log: Path) -> dict[str, Any]:
    # The judge knows what to look for before the clock starts.
    judge = Judge(Cluster(setting.kubeconfig), _render(setting))
    trail, server = bed.folder / "audit.log", bed.server()
    start, before = audit.size(trail), processor_seconds(server)
    cost = measure(command, setting.environment(), log, ROOT)
    if cost.code != 0:
        raise SystemExit(f"{' '.join(command[:2])} ended with {cost.code}; see {log}")
    waited, verdict = judge.wait(_PATIENCE)
    counted = audit.requests(trail, start)
    return {
        **asdict(
            replace(cost, wall=round(cost.wall, 2), cpu=round(cost.cpu, 2), largest=round(cost.largest), together=round(cost.together))
        ),
        "ready": round(cost.wall + waited, 2),
        "server_cpu": round(processor_seconds(server) - before, 2),
        "requests": dict(sorted(counted.items())),
        "unproven_webhooks": verdict.unproven,
        "load_before": round(os.getloadavg()[0], 2),
    }


def _render(setting: Setting) -> list[Object]:
    done = subprocess.run([str(setting.kustomize), "build", str(setting.tree / "example")], check=True, capture_output=True)
    return [thing for thing in yaml.load_all(done.stdout, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if thing]


def _await_quiet(patience: float) -> None:
    deadline = time.monotonic() + patience
    while os.getloadavg()[0] > _QUIET and time.monotonic() < deadline:
        time.sleep(10)
    if os.getloadavg()[0] > _QUIET:
        say(f"the machine is busy (load {os.getloadavg()[0]:.1f}): the figures will be worse than on a quiet one")


def _machine() -> dict[str, Any]:
    model = next(
        (line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), ""
    )
    return {"cores": os.cpu_count(), "processor": model, "python": sys.version.split()[0], "load": round(os.getloadavg()[0], 2)}


if __name__ == "__main__":
    sys.exit(main())
