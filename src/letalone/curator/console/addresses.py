"""Addresses to go on to: those of this service alone."""

from urllib.parse import urlsplit


def local(address: str) -> str:
    """An address of this service to go on to; "/" for any other."""
    if not address.isprintable() or "\\" in address or not address.startswith("/"):
        return "/"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc or address.startswith("//") else address
