# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the real kustomize says of broken Secrets, patches and generators reaches nobody with a value in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.cache import Cache
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.errors import RenderError
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.parts import from_options
from ansible_collections.kubeflow.platform.plugins.plugin_utils.kustomize.render import Request, render

pytestmark = pytest.mark.bed  # for kustomize, which is built with the programs of the test bed

# One that is long enough to be recognised anywhere, and one that is not.
LONG, SHORT = "canary-of-a-secret", "pin4711"
SECRET = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  any: {LONG}\n  pin: {SHORT}\n"
BASE = "resources: [secret.yaml]\n"
BROKEN = f"kind: Secret\nstringData:\n  any: {LONG}\n bad: {SHORT}\n"
INLINE = BROKEN.replace("\n", "\n    ")
TREES: dict[str, dict[str, str]] = {
    "broken inline patch": {"kustomization.yaml": f"{BASE}patches:\n- target: {{kind: Secret}}\n  patch: |-\n    {INLINE}\n"},
    "inline patch and path": {
        "kustomization.yaml": f"{BASE}patches:\n- path: p.yaml\n  patch: 'stringData: {{any: {LONG}, pin: {SHORT}}}'\n",
        "p.yaml": "a: b\n",
    },
    "old broken inline patch": {"kustomization.yaml": f"{BASE}patchesStrategicMerge:\n- |-\n    {INLINE}\n"},
    "broken patch file": {"kustomization.yaml": f"{BASE}patches:\n- path: p.yaml\n", "p.yaml": BROKEN},
    "literal without a name": {"kustomization.yaml": f"secretGenerator:\n- name: x\n  literals: [{SHORT}, {LONG}]\n"},
    "literal twice": {"kustomization.yaml": f"secretGenerator:\n- name: x\n  literals: [a={SHORT}, a={LONG}]\n"},
    "env file that is not text": {
        "kustomization.yaml": "secretGenerator:\n- name: x\n  envs: [e.env]\n",
        "e.env": f"a=\xff{SHORT}{LONG}\n",
    },
    "broken Secret": {"kustomization.yaml": BASE, "secret.yaml": BROKEN},
    "Secret without a name": {"kustomization.yaml": BASE, "secret.yaml": SECRET.replace("  name: x\n", "  labels: {}\n")},
    "Secret without a kind": {"kustomization.yaml": BASE, "secret.yaml": SECRET.replace("kind: Secret\n", "")},
    "only a text": {"kustomization.yaml": BASE, "secret.yaml": f"{LONG} {SHORT}\n"},
    "field twice": {"kustomization.yaml": BASE, "secret.yaml": f"{SECRET}  any: {SHORT}\n"},
    "generator of the wrong type": {"kustomization.yaml": f"secretGenerator:\n- {LONG}{SHORT}\n"},
    "literals of the wrong type": {"kustomization.yaml": f"secretGenerator:\n- name: x\n  literals: {{a: {LONG}{SHORT}}}\n"},
    "replacement inside a value": {
        "kustomization.yaml": f"{BASE}replacements:\n- source: {{kind: Secret, fieldPath: stringData.pin}}\n  targets:\n"
        "  - select: {kind: Secret}\n    fieldPaths: [stringData.any.deep]\n"
    },
    "JSON patch of what is not there": {
        "kustomization.yaml": f"{BASE}patches:\n- target: {{kind: Secret}}\n  patch: |-\n    - op: replace\n"
        f"      path: /stringData/nothing/x\n      value: {SHORT}\n    - {{op: add, path: /stringData/no/x, value: {LONG}}}\n"
    },
}


@pytest.mark.parametrize("files", TREES.values(), ids=TREES.keys())
def test_value_is_not_told_when_a_build_fails(tmp_path: Path, work_dir: Path, kustomize: str, files: dict[str, str]) -> None:
    for name, text in {"secret.yaml": SECRET, **files}.items():
        (tmp_path / "tree" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "tree" / name).write_bytes(text.encode("latin-1"))
    parts = from_options([{"name": "one", "path": "."}], str(tmp_path / "tree"))
    with pytest.raises(RenderError) as caught:
        render(Request(parts=parts, root=str(tmp_path / "tree"), kustomize_path=kustomize), Cache(work_dir))
    assert LONG not in str(caught.value) and SHORT not in str(caught.value)
    assert "Failed to" in str(caught.value)
