"""Fails if a built page would fetch anything from another host.

    python docs/check_html.py docs/_build/html

Links that a reader may click are fine; scripts, styles, fonts, images and frames that a
browser loads by itself must come from the same folder.
"""

import re
import sys
from pathlib import Path

LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?![^>]*rel=[\"']?(?:canonical|prev|next|search|index)\b)[^>]*?"
    r"\bhref\s*=\s*[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|@import\s+(?:url\()?[\"']?((?:https?:)?//[^\"')\s]+)"
    r"|\burl\(\s*[\"']?((?:https?:)?//[^\"')\s]+)",
    re.IGNORECASE,
)


def foreign_sources(text: str) -> list[str]:
    """The addresses on other hosts that a browser would load by itself."""
    return [next(filter(None, found)) for found in LOADED.findall(text)]


def main(folder: str) -> int:
    pages = [path for path in Path(folder).rglob("*") if path.suffix in {".html", ".css"}]
    if not pages:
        print(f"{folder} holds no page; build the documentation first")
        return 1
    bad = [
        f"{path}: {address}"
        for path in pages
        for address in foreign_sources(path.read_text(encoding="utf-8"))
    ]
    print("\n".join(bad) or f"{len(pages)} pages and styles load nothing from elsewhere")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
