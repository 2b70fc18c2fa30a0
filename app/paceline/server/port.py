"""Binding of a port."""

from __future__ import annotations

import errno
import socket

from paceline.errors import UserError


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: An address of this computer, IPv4 or IPv6.
        port: 0 takes a free one.

    Raises:
        UserError: The port is in use, or the address does not belong to this computer.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows: no other program gets the port
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        taken.listen(socket.SOMAXCONN)
    except OSError as error:
        taken.close()
        if error.errno == errno.EADDRINUSE:
            raise UserError(
                "port-in-use",
                "Port {port} is in use by another program.",
                "End that program, or choose another port.",
                port=port,
            ) from None
        raise UserError(
            "cannot-listen",
            "Nothing can listen at {host}, port {port} ({reason}).",
            "Give an address of this computer and a port that may be used.",
            host=host,
            port=port,
            reason=error.strerror or str(error),
        ) from None
    return taken
