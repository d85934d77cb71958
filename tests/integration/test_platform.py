# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job on the real releases: one journey on one cluster for each, each test a step of it, in the order of the file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kubeflow.platform.plugins.module_utils.apply.credentials import Credentials, decoded
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.model import Request
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.planner import plan
from ansible_collections.kubeflow.platform.plugins.plugin_utils.plan.result import as_result
from ansible_collections.kubeflow.platform.plugins.plugin_utils.records.library import collection_root, load

from tests.conftest import Distributions
from tests.integration.site import Ran, Site
from tests.testbed.bed.build import binaries
from tests.testbed.fixtures import Bed

# Less one than upstream's example in those before 26.03: the ConfigMap default-install-config has no namespace.
OBJECTS = {"26.03.1": 727, "26.03": 675, "1.11.0": 652, "1.10.2": 610, "1.8.1": 633}
OURS = "kubeflow.platform"
# What every run may write: the Lease, the ledger (a Secret), and once the namespace that both live in.
HOME = "kubeflow-platform"
LATE = {"webhooks": "late:10", "ca": "late:5"}

pytestmark = pytest.mark.xdist_group("platform")


@pytest.fixture(scope="module", params=["26.03.1", *(pytest.param(name, marks=pytest.mark.soak) for name in list(OBJECTS)[1:])])
def release(request: pytest.FixtureRequest) -> str:
    """The release of the journey; `make soak` makes it with the older ones too."""
    return str(request.param)


@pytest.fixture(scope="module")
def kustomize(release: str) -> str:
    """The newest kustomize that renders the release rightly."""
    window = load(collection_root()).releases[release].kustomize
    name = next(f"kustomize-{version}" for version in ("5.8.1", "5.7.1") if window.contains(version))
    return str(binaries([name])[name])


@pytest.fixture(scope="module")
def site(release: str, kustomize: str, distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A fresh cluster whose webhooks and CA are late, and the real release with its remote bases."""
    variables = {
        "kubeflow_release": release,
        "kubeflow_kustomize_path": kustomize,
        "kubeflow_distribution_source": str(distributions.tree(release)),
        "kubeflow_remote_bases": str(distributions.remote_bases()),
        # The test bed is 1.36, newer than what most releases were made for; their manifests are all accepted.
        "kubeflow_allow_untested_kubernetes": True,
    }
    with Bed.up(tmp_path_factory.mktemp("bed"), fault=LATE) as bed:
        yield Site(bed, tmp_path_factory.mktemp("site"), variables)


@pytest.fixture(scope="module")
def predicted(site: Site) -> Ran:
    """Check mode before the first install."""
    return site.run("--check")


@pytest.fixture(scope="module")
def installed(site: Site, predicted: Ran) -> Ran:
    """The install, after the prediction."""
    assert predicted.code == 0
    return site.run()


def writes(site: Site, since: int) -> list[Any]:
    """Our persisted writes outside our own namespace since a point of the audit log."""
    return [row for row in site.bed.audit(since).by(agent=OURS).writes() if row.namespace != HOME and row.name != HOME]


def test_check_on_the_empty_cluster_predicts_every_creation_and_writes_nothing_at_all(site: Site, predicted: Ran, release: str) -> None:
    assert predicted.code == 0, predicted.output
    assert predicted.result["counts"] == {"create": OBJECTS[release]}
    assert site.bed.audit().by(agent=OURS).writes() == []


def test_one_run_installs_everything_although_webhooks_and_ca_are_late(installed: Ran, release: str) -> None:
    assert (installed.code, installed.failed) == (0, 0), installed.output
    assert installed.result["counts"] == {"create": OBJECTS[release]}
    assert installed.result["failed_objects"] == []


def test_install_did_what_the_check_had_predicted(predicted: Ran, installed: Ran) -> None:
    assert installed.actions() == predicted.actions()


def test_no_passing_trouble_is_shown_as_a_failure(installed: Ran) -> None:
    assert "no matches for kind" not in installed.output
    assert "fatal:" not in installed.output


def test_every_rendered_object_and_what_the_profile_makes_exist(site: Site, installed: Ran, release: str, kustomize: str) -> None:
    live = rendered(site, kustomize)
    missing = []
    for kind, names in live.items():
        found = json.loads(site.bed.kubectl("get", kind, "-A", "-o", "json").stdout)["items"]
        present = {(row["metadata"].get("namespace", ""), row["metadata"]["name"]) for row in found}
        missing += [f"{kind} {name}" for name in names if name not in present and ("", name[1]) not in present]
    assert missing == []
    assert sum(map(len, live.values())) == OBJECTS[release]
    made = site.bed.get("serviceaccount,rolebinding", "-n", "kubeflow-user-example-com")["items"]
    assert {"default-editor", "default-viewer", "namespaceAdmin"} <= {row["metadata"]["name"] for row in made}


def rendered(site: Site, kustomize: str) -> dict[str, set[tuple[str, str]]]:
    """Namespace and name of every object of upstream's own example, by kind and group; rendered apart from the collection."""
    import yaml

    # The copy without remote references, where the release needs one.
    copies = [path.parent for path in (site.folder / "work").rglob("example/kustomization.yaml")]
    example = copies[0] if copies else f"{site.variables['kubeflow_distribution_source']}/example"
    done = subprocess.run([kustomize, "build", str(example)], check=True, capture_output=True)
    found: dict[str, set[tuple[str, str]]] = {}
    for row in yaml.load_all(done.stdout, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        group = row["apiVersion"].rpartition("/")[0]
        kind = f"{row['kind']}.{group}" if group else row["kind"]
        if not row["metadata"]["name"].startswith("default-install-config-"):
            found.setdefault(kind, set()).add((row["metadata"].get("namespace", ""), row["metadata"]["name"]))
    return found


def test_no_password_that_everybody_knows_is_live(site: Site, installed: Ran, release: str) -> None:
    made = as_result(plan(load(collection_root()), Request(release)), None)
    known = Credentials.from_params({"mode": "generate", "secrets": made["credentials"]})
    found = {}
    for row in site.bed.get("secret", "--all-namespaces")["items"]:
        credential = known.find(row["metadata"]["namespace"], row["metadata"]["name"])
        for value in credential.values if credential else ():
            text = decoded(row, value.key)
            found[f"{credential} {value.key}"] = text is not None and not value.is_shipped(text)
    assert found == {f"{credential} {value.key}": True for credential in known.secrets for value in credential.values}
    assert {row["state"] for row in installed.result["credentials"]} <= {"made", "shared"}


def test_second_run_changes_nothing_and_writes_only_lease_and_ledger(site: Site, installed: Ran, release: str) -> None:
    before = site.bed.audit().end
    again = site.run()
    assert (again.code, again.changed) == (0, 0), again.output
    assert again.result["counts"] == {"unchanged": OBJECTS[release]}
    assert writes(site, before) == []


def test_third_run_does_not_even_write_the_ledger(site: Site, installed: Ran) -> None:
    before = site.bed.audit().end
    again = site.run()
    assert (again.code, again.changed) == (0, 0), again.output
    assert {row.resource for row in site.bed.audit(before).by(agent=OURS).writes()} == {"leases"}


def test_check_with_diff_shows_drift_exactly_and_a_run_mends_only_that(site: Site, installed: Ran) -> None:
    bed = site.bed
    bed.kubectl("-n", "kubeflow", "set", "image", "deployment/katib-ui", "*=registry.example.com/hostile:1")
    bed.kubectl("-n", "kubeflow", "delete", "configmap", "trial-templates")
    bed.kubectl("-n", "kubeflow", "annotate", "deployment/katib-ui", "example.com/note=theirs")
    before = bed.audit().end
    drift = site.run("--check", "--diff")
    assert drift.actions() == {"Deployment kubeflow/katib-ui": "configure", "ConfigMap kubeflow/trial-templates": "create"}
    assert "registry.example.com/hostile:1" in drift.output
    assert bed.audit(before).by(agent=OURS).writes() == []
    mended = site.run()
    assert mended.actions() == drift.actions()
    found = bed.get("deployment", "katib-ui", "-n", "kubeflow")
    assert found["metadata"]["annotations"]["example.com/note"] == "theirs"
    assert "hostile" not in json.dumps(found["spec"])
    assert site.run().changed == 0
