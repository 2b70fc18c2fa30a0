"""Certificates for HTTPS connections: the system's, or Mozilla's list.

A bare Linux system has none, and a packaged program's OpenSSL looks where the machine that built it
had them; httpx2 then tries the usual places of other distributions. Where nothing is found,
Mozilla's list (certifi) takes its place. What the user names in SSL_CERT_FILE or SSL_CERT_DIR, and
the stores of Windows and macOS, have the last word.
"""

from __future__ import annotations

import os
import ssl
import sys
from pathlib import Path

import httpx2


def trusted() -> ssl.SSLContext:
    """Return the context that HTTPS connections are verified with.

    Raises:
        OSError: A file that the environment names cannot be read.
    """
    context = httpx2.create_ssl_context()
    if sys.platform == "linux" and not _has_any(context):
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _has_any(context: ssl.SSLContext) -> bool:
    # An empty variable names nothing, as httpx2 has it.
    is_named = any(map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))
    if is_named or context.cert_store_stats()["x509"]:
        return True
    # Of a folder, certificates are read when they are asked for, and not counted before.
    folder = Path(ssl.get_default_verify_paths().openssl_capath)
    try:
        return any(folder.glob("*.[0-9]"))
    except OSError:
        return False
