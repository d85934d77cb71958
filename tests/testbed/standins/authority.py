# Copyright (c) 2026, kubeflow.platform contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate authority of all stand-ins, and a second one that nobody should trust."""

from __future__ import annotations

import base64
import datetime
import threading
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, both as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Issues certificates; its own pair lives in `directory`, so a restart keeps every caBundle valid."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory, self._name = directory, name
        self._lock = threading.Lock()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        stored = directory / f"{name}.pem"
        if not stored.exists():
            _write(stored, _self_signed(f"testbed {name}"))
        content = stored.read_bytes()
        self.pem = content[content.index(b"-----BEGIN CERTIFICATE") :]
        self._certificate = x509.load_pem_x509_certificate(self.pem)
        key = serialization.load_pem_private_key(content, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{stored} holds no elliptic curve key")
        self._key = key

    @property
    def bundle(self) -> str:
        """The caBundle of this authority."""
        return base64.b64encode(self.pem).decode()

    def issue(self, names: list[str]) -> Pair:
        """A serving certificate for DNS names."""
        key = ec.generate_private_key(ec.SECP256R1())
        common = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
        extensions: list[tuple[x509.ExtensionType, bool]] = [
            (x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), False),
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (_usage(signs=False), True),
            (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False),
        ]
        certificate = _builder(common, self._certificate.subject, key, extensions).sign(self._key, hashes.SHA256())
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))

    def serving_file(self, service: str, namespace: str) -> Path:
        """A file with certificate and key for a Service, made on first use."""
        path = self._directory / f"{self._name}-{namespace}.{service}.pem"
        with self._lock:
            if not path.exists():
                pair = self.issue([f"{service}.{namespace}.svc", f"{service}.{namespace}.svc.cluster.local"])
                _write(path, pair.key + pair.certificate)
        return path


def _self_signed(name: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=True, path_length=None), True),
        # Python 3.13 refuses an authority without a key usage.
        (_usage(signs=True), True),
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
    ]
    certificate = _builder(subject, subject, key, extensions).sign(key, hashes.SHA256())
    return _pem(key) + certificate.public_bytes(serialization.Encoding.PEM)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, extensions: list[tuple[x509.ExtensionType, bool]]
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=3650))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _write(path: Path, content: bytes) -> None:
    """Writes a private file as a whole."""
    temporary = path.with_suffix(".new")
    temporary.touch(mode=0o600)
    temporary.write_bytes(content)
    temporary.replace(path)
