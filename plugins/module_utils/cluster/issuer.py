# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who signs the tokens of a cluster's ServiceAccounts, as the API server tells it (OpenID Connect Discovery 1.0, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.errors import ClusterError, Refused
from ansible_collections.kubeflow.platform.plugins.module_utils.cluster.requests import Client

PATH = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Issuer:
    """``issuer`` as it stands in the tokens' claim ``iss``; ``jwks_uri`` is where the server says that its keys are."""

    issuer: str
    jwks_uri: str
    algorithms: tuple[str, ...]


def read_issuer(client: Client) -> Issuer:
    """Ask the API server. Raises ClusterError when it does not tell, with what to do."""
    response = client.request("GET", PATH)  # no Kubernetes object, so not `get`
    if response.status == 403:
        raise ClusterError(
            "Failed to read the issuer of the cluster: not allowed. Bind the ClusterRole system:service-account-issuer-discovery to the "
            "user of the kubeconfig, or set `oauth2_proxy_m2m_issuer`."
        )
    if response.status == 404:
        raise ClusterError(f"Failed to read the issuer of the cluster: it has no {PATH}. Set `oauth2_proxy_m2m_issuer`.")
    if not response.ok:
        raise Refused("Failed to read the issuer of the cluster", response)
    try:
        found = response.json()
        return Issuer(
            issuer=str(found["issuer"]),
            jwks_uri=str(found["jwks_uri"]),
            algorithms=tuple(str(name) for name in found.get("id_token_signing_alg_values_supported") or ()),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ClusterError(
            f"Failed to read the issuer of the cluster: {PATH} is no OpenID configuration. Set `oauth2_proxy_m2m_issuer`."
        ) from error
