"""How the documentation is built: Sphinx with MyST and furo, and nothing from elsewhere.

Notebooks are pages with the outputs that are stored in them: docs/execute_notebook.py runs them,
a build runs nothing.
"""

import re
from html import escape
from importlib import metadata
from typing import cast

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

LOGGER = getLogger(__name__)

project = "letalone"
author = "the letalone authors"
copyright = "2026, the letalone authors"  # noqa: A001  (Sphinx asks for this name)
version = release = metadata.version("letalone")

extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["amsmath", "dollarmath"]
html_math_renderer = "mathml"  # browsers draw it themselves; MathJax would come from another host
myst_heading_anchors = 3
nb_execution_mode = "off"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
default_role = "code"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["notebooks.css"]
html_title = f"letalone {release}"
html_show_sphinx = False
html_copy_source = False

SPECIAL = re.compile(r"[*|\\]|_(?=\W|$)")


def as_plain_text(*event: object) -> None:
    """Turn a docstring into reStructuredText: indented lines become blocks as they stand.

    Docstrings are written to be read in the code. Their formulas (|x|, a*b, …) would be
    markup here, so the special characters outside of `code` are escaped.
    """
    lines = cast("list[str]", event[-1])
    shown: list[str] = []
    in_block = False
    for line in lines:
        indented = line.startswith(" ") and bool(line.strip())
        if indented and not in_block:
            shown += ["", ".. code-block:: text", ""]
        elif in_block and line.strip() and not indented:
            shown.append("")
        in_block = indented or (in_block and not line.strip())
        shown.append(f"   {line}" if in_block else _escaped(line))
    lines[:] = shown


def _escaped(line: str) -> str:
    parts = line.split("`")
    return "`".join(
        SPECIAL.sub(r"\\\g<0>", part) if place % 2 == 0 else part
        for place, part in enumerate(parts)
    )


def write_inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def write_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(_mathml(node, as_block=True))
    raise nodes.SkipNode


def _mathml(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    formula = re.sub(r"\\dots\b", r"\\ldots", node.astext())  # docutils knows the second only
    formula = re.sub(r"\\frac(\d)(\d)", r"\\frac{\1}{\2}", formula)  # and here, too
    try:
        return tex2mathml(formula, as_block=as_block)
    except MathError as error:
        LOGGER.warning("this formula cannot be drawn: %s", error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", as_plain_text)
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
