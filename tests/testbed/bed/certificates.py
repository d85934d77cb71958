# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and certificates of one bed."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority whose key we hold."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a certificate is for: a client (name and groups) or a server (host names and addresses)."""

    name: str
    groups: Sequence[str] = ()
    hosts: Sequence[str] = ()


def create_authority(folder: Path, file_name: str, common_name: str) -> Authority:
    """A new authority, written to `file_name`.crt and .key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    usage = _key_usage(signs_certificates=True)
    builder = _builder(name, name, key).add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    # Python 3.13 and newer refuse an authority without keyUsage.
    certificate = builder.add_extension(usage, critical=True).sign(key, hashes.SHA256())
    _write(folder, file_name, certificate, key)
    return Authority(certificate, key)


def issue(authority: Authority, folder: Path, file_name: str, subject: Subject) -> None:
    """A certificate for `subject`, written to `file_name`.crt and .key."""
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in subject.groups]
    name = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, subject.name)])
    purpose = ExtendedKeyUsageOID.SERVER_AUTH if subject.hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(name, authority.certificate.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()), critical=False)
    )
    if subject.hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(host) for host in subject.hosts]), critical=False)
    _write(folder, file_name, builder.sign(authority.key, hashes.SHA256()), key)


def create_signing_key(folder: Path, file_name: str) -> None:
    """A bare key pair (for service account tokens), written to `file_name`.key and .pub."""
    key = ec.generate_private_key(ec.SECP256R1())
    _write_key(folder / f"{file_name}.key", key)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / f"{file_name}.pub").write_bytes(public)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + 365 * _DAY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(folder: Path, file_name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    (folder / f"{file_name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    _write_key(folder / f"{file_name}.key", key)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
