"""The certificates that are trusted."""

from __future__ import annotations

import ssl
import sys
from pathlib import Path

import certifi
import httpx2
import pytest

from paceline.catalog.hub.certificates import trusted

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have stores")


@pytest.fixture(autouse=True)
def _nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def system_has(monkeypatch: pytest.MonkeyPatch, folder: Path, file: str | None = None) -> None:
    """Let the system have these certificates and no others."""

    def made() -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(file, str(folder))
        return context

    paths = ssl.get_default_verify_paths()._replace(openssl_capath=str(folder))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    monkeypatch.setattr(httpx2, "create_ssl_context", made)


def test_a_system_without_certificates_gets_those_that_come_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_has(monkeypatch, tmp_path)
    assert trusted().cert_store_stats()["x509_ca"] > 50


def test_a_system_with_certificates_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = "-----END CERTIFICATE-----\n"
    first = tmp_path / "one.pem"
    first.write_text(Path(certifi.where()).read_text("utf-8").partition(end)[0] + end, "utf-8")
    system_has(monkeypatch, tmp_path, str(first))
    assert trusted().cert_store_stats()["x509"] == 1


def test_a_folder_of_certificates_counts_though_it_is_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0a775a30.0").touch()
    system_has(monkeypatch, tmp_path)
    assert trusted().cert_store_stats()["x509"] == 0


def test_an_empty_variable_names_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system_has(monkeypatch, tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", "")
    assert trusted().cert_store_stats()["x509_ca"] > 50


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_what_the_user_names_is_all_that_is_trusted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_has(monkeypatch, tmp_path)
    monkeypatch.setenv(name, str(tmp_path))
    assert trusted().cert_store_stats()["x509"] == 0
