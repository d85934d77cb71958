# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the test bed."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

from . import faults, files, lifecycle, namespace, ports
from .build import PROGRAMS, binaries
from .programs import CONTROL_PLANE, processes
from .record import Bed, default_folder, find, load
from .report import BedError, result, say


def main() -> int:
    """Runs one command; 1 and a message when it fails."""
    arguments = _parser().parse_args()
    try:
        code: int = arguments.run(arguments)
        return code
    except BedError as error:
        say(f"error: {error}")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="testbed", description="A Kubernetes 1.36 control plane on loopback, without nodes or images.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--dir", type=Path, default=default_folder(), help="folder of the bed (default: $TESTBED_DIR or %(default)s)")

    up = commands.add_parser("up", parents=[common], help="start a bed or what of it does not run; prints the kubeconfig's path last")
    up.add_argument("--kubernetes-nodes", type=int, default=3, metavar="N", help="fake nodes (default 3)")
    up.add_argument("--isolated", action="store_true", help="in a network namespace of its own; enter it by `testbed exec`")
    up.add_argument("--no-standins", action="store_true", help="without the stand-ins for what needs images")
    up.add_argument("--proxy", action="store_true", help="with the fault proxy; DIR/kubeconfig.proxy leads through it")
    up.add_argument("--fault", action="append", default=[], metavar="NAME=MODE[:SECONDS]", help="set before the stand-ins start")
    up.set_defaults(run=_up)

    down = commands.add_parser("down", parents=[common], help="stop a bed and delete it")
    down.add_argument("--keep", action="store_true", help="only stop; `up` brings it back with all its objects")
    down.set_defaults(run=_down)

    reset = commands.add_parser("reset", parents=[common], help="empty the cluster; same addresses and kubeconfigs, faults cleared")
    reset.add_argument("--fault", action="append", default=[], metavar="NAME=MODE[:SECONDS]")
    reset.set_defaults(run=_reset)

    status = commands.add_parser("status", parents=[common], help="what runs; exit code 1 unless the bed is ready")
    status.add_argument("--json", action="store_true")
    status.set_defaults(run=_status)

    _add_process_commands(commands, common)
    _add_other_commands(commands, common)
    return parser


def _add_process_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser) -> None:
    kill = commands.add_parser("kill", parents=[common], help="kill -9 of one process")
    kill.add_argument("name")
    kill.set_defaults(run=_kill)
    restart = commands.add_parser("restart", parents=[common], help="stop one process if it runs, start it on the same ports, wait")
    restart.add_argument("name")
    restart.set_defaults(run=_restart)
    snapshot = commands.add_parser("snapshot", parents=[common], help="keep the cluster's state under a name")
    snapshot.add_argument("name")
    snapshot.set_defaults(run=_snapshot)
    restore = commands.add_parser("restore", parents=[common], help="bring a kept state back")
    restore.add_argument("name")
    restore.set_defaults(run=_restore)


def _add_other_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser], common: argparse.ArgumentParser) -> None:
    execute = commands.add_parser("exec", parents=[common], help="run a command inside the bed's network, with KUBECONFIG set")
    execute.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    execute.set_defaults(run=_exec)
    fault = commands.add_parser("fault", parents=[common], help="set a fault of a stand-in or of the proxy while it runs")
    fault.add_argument("--clear", action="store_true", help="clear the named fault, or all")
    fault.add_argument("name", nargs="?")
    fault.add_argument("mode", nargs="*", metavar="MODE [SECONDS] [KEY=VALUE]")
    fault.set_defaults(run=_fault)
    proxy = commands.add_parser("proxy", parents=[common], help="set the fault proxy's rules while it runs (see README.md)")
    proxy.add_argument("--clear", action="store_true")
    proxy.add_argument("rules", nargs="?", metavar="JSON")
    proxy.set_defaults(run=_proxy)
    listing = commands.add_parser("list", help="folders of all beds; down --dir takes one of them down")
    listing.set_defaults(run=_list)
    programs = commands.add_parser("binaries", help="build the programs and print their paths")
    programs.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PROGRAMS)}; with one name only its path is printed")
    programs.set_defaults(run=_binaries)


def _up(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    folder: Path = arguments.dir.resolve()
    bed = find(folder)
    if bed is None:
        bed = _make(folder, arguments)
    if bed.isolated:
        if not namespace.alive(bed):
            lifecycle.stop(bed)
        bed = namespace.create(bed)
    _enter(bed)
    if arguments.fault:
        lifecycle.set_faults(bed, arguments.fault)
    lifecycle.start(bed)
    say(f"up in {time.monotonic() - began:.1f} s: API https://127.0.0.1:{bed.api_port}, Services {bed.service_cidr}, folder {bed.folder}")
    result(str(bed.kubeconfig))
    return 0


def _make(folder: Path, arguments: argparse.Namespace) -> Bed:
    binaries(list(CONTROL_PLANE))
    folder.mkdir(parents=True, exist_ok=True)
    bed = ports.claim(
        folder,
        nodes=arguments.kubernetes_nodes,
        isolated=arguments.isolated,
        standins=not arguments.no_standins,
        proxy=arguments.proxy,
    )
    files.write_all(bed)
    return bed


def _down(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.dir.resolve()
    bed = find(folder)
    if bed is None:
        result(f"nothing to stop: there is no bed in {folder}")
        return 0
    running = [name for name, program in processes(bed).items() if program.pid()]
    if arguments.keep:
        lifecycle.stop(bed)
    else:
        lifecycle.remove(bed)
    what = f"stopped {', '.join(running)}" if running else "nothing of it ran"
    result(f"{what}; {'kept' if arguments.keep else 'removed'} the bed in {folder}")
    return 0


def _reset(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    _enter(bed)
    began = time.monotonic()
    lifecycle.reset(bed)
    lifecycle.set_faults(bed, arguments.fault)
    lifecycle.start(bed)
    say(f"empty again after {time.monotonic() - began:.1f} s")
    return 0


def _status(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    _enter(bed)
    state = lifecycle.status(bed)
    if arguments.json:
        result(json.dumps(state, indent=1))
    else:
        for key, value in state.items():
            if isinstance(value, dict):
                result(f"{key}:")
                for name, detail in value.items():
                    result(f"  {name}: {json.dumps(detail)}")
            else:
                result(f"{key}: {value}")
    return 0 if state["ready"] else 1


def _kill(arguments: argparse.Namespace) -> int:
    pid = lifecycle.kill(load(arguments.dir.resolve()), arguments.name)
    say(f"killed {arguments.name} (pid {pid})" if pid else f"{arguments.name} was not running")
    return 0


def _restart(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    _enter(bed)
    began = time.monotonic()
    lifecycle.restart(bed, arguments.name)
    say(f"{arguments.name} serves again after {time.monotonic() - began:.1f} s")
    return 0


def _snapshot(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    _enter(bed)
    path = lifecycle.snapshot(bed, arguments.name)
    lifecycle.start(bed)
    result(str(path))
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    _enter(bed)
    lifecycle.restore(bed, arguments.name)
    lifecycle.start(bed)
    return 0


def _exec(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise BedError("exec needs a command: testbed exec [--dir DIR] -- COMMAND")
    full = [*namespace.prefix(bed), *command]
    if shutil.which(full[0]) is None:
        raise BedError(f"{full[0]} not found")
    environment = {**os.environ, "KUBECONFIG": str(bed.kubeconfig), "KUBECACHEDIR": str(bed.folder / "kubectl-cache")}
    os.execvpe(full[0], full, environment)


def _fault(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    present = faults.read(bed.folder)
    if arguments.clear:
        present = {name: fault for name, fault in present.items() if arguments.name and name != arguments.name}
    elif arguments.name and arguments.mode:
        present[arguments.name] = faults.entry(arguments.mode)
    elif arguments.name:
        raise BedError("which fault? testbed fault NAME MODE [SECONDS], or testbed fault --clear [NAME]")
    else:
        result(json.dumps(present, indent=1))
        return 0
    faults.write(bed.folder, present)
    return 0


def _proxy(arguments: argparse.Namespace) -> int:
    bed = load(arguments.dir.resolve())
    try:
        rules = json.loads("{}" if arguments.clear else arguments.rules or "")
    except ValueError as error:
        raise BedError(f"proxy expects one JSON document: {error}") from None
    faults.write(bed.folder, rules, "proxy-faults.json")
    return 0


def _list(unused: argparse.Namespace) -> int:
    for folder in ports.known():
        running = any(program.pid() for program in processes(load(folder)).values())
        result(f"{folder}  {'running' if running else 'stopped'}")
    return 0


def _binaries(arguments: argparse.Namespace) -> int:
    if unknown := [name for name in arguments.names if name not in PROGRAMS]:
        raise BedError(f"unknown: {', '.join(unknown)}; known: {', '.join(PROGRAMS)}")
    paths = binaries(arguments.names or None)
    for name, path in paths.items():
        result(str(path) if len(arguments.names) == 1 else f"{name} {path}")
    return 0


def _enter(bed: Bed) -> None:
    """Runs this very command anew inside the bed's namespace, if it has one and we are outside."""
    if prefix := namespace.prefix(bed):
        package = str(__package__).partition(".")[0]
        os.execvp(prefix[0], [*prefix, sys.executable, "-m", package, *sys.argv[1:]])
