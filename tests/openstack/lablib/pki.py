"""A private certificate authority: what the TLS endpoints show, and what
RabbitMQ asks of its clients. No program outside this lab trusts it, which is what
the tests of `ca_file` need."""

import subprocess
from pathlib import Path

DAYS = "30"


def make_certificates(directory: Path) -> dict[str, str]:
    """Makes the authority, a server's and a client's certificate; returns
    their paths."""
    _authority(directory)
    _certificate(directory, "server", "serverAuth", "subjectAltName=IP:127.0.0.1,DNS:localhost")
    _certificate(directory, "client", "clientAuth", "subjectAltName=DNS:reaper.lab")
    both = directory / "server.pem"
    both.write_text((directory / "server.crt").read_text() + (directory / "server.key").read_text())
    both.chmod(0o600)
    return {
        "ca_file": str(directory / "ca.crt"),
        "server_cert_file": str(directory / "server.crt"),
        "server_key_file": str(directory / "server.key"),
        "server_pem_file": str(both),
        "client_cert_file": str(directory / "client.crt"),
        "client_key_file": str(directory / "client.key"),
    }


def _authority(directory: Path) -> None:
    _openssl(
        directory,
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", "ca.key", "-out", "ca.crt", "-days", DAYS, "-subj", "/CN=Reaper lab CA",
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
    )  # fmt: skip


def _certificate(directory: Path, name: str, usage: str, subject: str) -> None:
    _openssl(
        directory,
        "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN=lab {name}",
    )  # fmt: skip
    extensions = directory / f"{name}.ext"
    extensions.write_text(f"basicConstraints=CA:FALSE\nextendedKeyUsage={usage}\n{subject}\n")
    _openssl(
        directory,
        "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
        "-out", f"{name}.crt", "-days", DAYS, "-extfile", extensions.name,
    )  # fmt: skip


def _openssl(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["/usr/bin/openssl", *arguments], cwd=directory, check=True, capture_output=True, timeout=600
    )
