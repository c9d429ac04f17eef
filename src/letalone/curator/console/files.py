"""Sends the console's own files: read once, named by their content, so browsers may keep them.

htmx.min.js is htmx 4.0.0 as published (licence: htmx.LICENSE); the rest is ours.

  Tested:   tests/curator/console/test_files.py: the digest of htmx, what is sent
"""

from functools import cache
from gzip import compress
from hashlib import sha256
from pathlib import Path

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from letalone.drawing.looks import SHEET

STATIC = Path(__file__).parent / "static"
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FOR_GOOD = "public, max-age=31536000, immutable"
FIRST = "console.css"
APART = "survey.css"  # of the page on which one answers: no page of the console


@cache
def files_sent() -> dict[str, Path]:
    """Those of the console, and the looks of charts, which are drawn elsewhere, too."""
    files = [file for file in STATIC.iterdir() if file.suffix in KINDS]
    return {file.name: file for file in (*files, SHEET)}


@cache
def _read(name: str) -> tuple[bytes, bytes, str]:
    """A file of ours, packed, its digest; 404 for any other name, which is not looked for."""
    if name not in files_sent():
        raise HTTPException(404)
    content = files_sent()[name].read_bytes()
    return content, compress(content, mtime=0), sha256(content).hexdigest()[:16]


def address_of_file(name: str) -> str:
    """Where a file lies: another content has another address."""
    return f"/static/{_read(name)[2]}/{name}"


def sheets() -> list[str]:
    """The addresses of the console's style sheets, the first one first."""
    styles = (name for name in files_sent() if name.endswith(".css") and name != APART)
    names = sorted(styles, key=lambda name: (name != FIRST, name))
    return [address_of_file(name) for name in names]


def send(request: Request, digest: str, name: str) -> Response:
    """A file, packed where the browser can unpack it; it holds no secret that packing betrays."""
    content, packed, expected = _read(name)
    if digest != expected:
        raise HTTPException(404)
    headers = {"Cache-Control": FOR_GOOD, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers = packed, {"Content-Encoding": "gzip", **headers}
    return Response(content, headers=headers, media_type=KINDS[Path(name).suffix])
