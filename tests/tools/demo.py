"""`make demo`: a test bed, a distribution, `site.yml`, and what to look at then.

    make demo                                     the small distribution of tests/distribution, about a minute
    make demo DISTRIBUTION=<folder or archive>    a real one; REMOTE_BASES names what its kustomizations would fetch

The test bed stays up, so that one can look around; `make testbed-down` ends it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
TESTBED = CHECKOUT / "tests" / "testbed" / "testbed"


CLOSING = """
The cluster is yours:
  export KUBECONFIG={kubeconfig}
  {kubectl} get pods --all-namespaces

What to try next:
  the same command once more                 changed=0
  {kubectl} -n kubeflow delete deployment,service --all
  tests/tools/run ansible-playbook kubeflow.platform.plan -i inventory/demo -e kubeflow_kustomize_path={kustomize}
                                             what is missing, and what a run would do; the next run does it
  tests/tools/run tests/testbed/testbed --help
                                             make webhooks late, down or wrongly certified
  make testbed-down                          the end
"""


def say(text: str = "") -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


def testbed(*arguments: str) -> list[str]:
    """The lines that a command of the test bed prints; its progress goes to the screen as it comes."""
    done = subprocess.run([str(TESTBED), *arguments], stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        sys.exit(f"The demo ends here: testbed {' '.join(arguments)} failed (exit code {done.returncode}).")
    return lines


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("distribution", nargs="?", type=Path, help="folder or archive of a real distribution")
    parser.add_argument("--remote-bases", type=Path, default=os.environ.get("REMOTE_BASES") or None, help="folder or archive")
    parser.add_argument("--release", help="the release of that distribution")
    return parser.parse_args()


def variables(options: argparse.Namespace, kustomize: str) -> list[str]:
    """The variables that differ from the demo's inventory."""
    chosen = {"kubeflow_kustomize_path": kustomize}
    if options.distribution:
        distribution = options.distribution.expanduser().resolve()
        if not distribution.exists():
            sys.exit(f"There is no {distribution}.")
        chosen["kubeflow_distribution_source"] = str(distribution)
        beside = distribution.parent / "remote-bases.tar.xz"
        bases = options.remote_bases or (beside if beside.exists() else None)
        if bases:
            chosen["kubeflow_remote_bases"] = str(Path(bases).expanduser().resolve())
    if options.release:
        chosen["kubeflow_release"] = options.release
    return [word for name, value in chosen.items() for word in ("--extra-vars", f"{name}={value}")]


def main() -> None:
    """Run the demo."""
    options = arguments()
    began = time.monotonic()
    say("[1/3] Test bed: a real Kubernetes control plane on loopback, without nodes or images.")
    say("      The first time its programs are built from pinned Go modules (about 10 minutes on 2 cores), later it starts in seconds.")
    kustomize, kubectl = (line.split()[-1] for line in testbed("binaries", "kustomize-5.8.1", "kubectl"))
    extra = variables(options, kustomize)
    kubeconfig = testbed("up")[-1]
    say(f"[2/3] Installing {options.distribution or 'the small distribution of tests/distribution'}.")
    # As a variable of the command line: the commands that are suggested at the end repeat it. For these, kubectl is on PATH too.
    playbook = ["ansible-playbook", "kubeflow.platform.site", "-i", "inventory/demo", "--extra-vars", f"kubeflow_kubeconfig={kubeconfig}"]
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(kubectl).parent)])
    code = subprocess.run([*playbook, *extra], cwd=CHECKOUT, env={**os.environ, "PATH": path}, check=False).returncode
    if code:
        say(f"The installation failed; the test bed is still up: export KUBECONFIG={kubeconfig}")
        sys.exit(code)
    say(f"[3/3] Done in {time.monotonic() - began:.0f} s.")
    say(CLOSING.format(kubeconfig=kubeconfig, kubectl=kubectl, kustomize=kustomize))


if __name__ == "__main__":
    main()
