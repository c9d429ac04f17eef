"""Runs the notebooks of docs/tutorial in Jupyter's kernel and stores what they show.

    python docs/execute_notebook.py             # all of them, or
    python docs/execute_notebook.py engineer    # one

The answers differ each time, because the noise is new. What is stored is what the pages of the
documentation show; `tests/in_jupyter` runs the same cells, and fails if one of them does.
"""

import sys
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).parent / "tutorial"
NOTEBOOKS = {name: FOLDER / f"{name}.ipynb" for name in ("analyst", "engineer", "network")}
PATIENCE = 300  # seconds for one cell


class OwnKernel(AsyncKernelManager):
    """The kernel of this very Python: none has to be registered on the machine."""

    def __init__(self, **given: object) -> None:
        super().__init__(transport="ipc", **given)

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python")


HOW = {
    "kernel_manager_class": OwnKernel,
    "timeout": PATIENCE,
    "record_timing": False,
    "coalesce_streams": True,  # else it is chance how many pieces a print comes in
}


def executed(notebook: NotebookNode) -> NotebookNode:
    """The notebook with fresh outputs; an error in a cell ends it."""
    client = NotebookClient(notebook, **HOW)
    language = notebook.metadata.get("language_info", {"name": "python"})
    client.execute()
    notebook.metadata["language_info"] = language  # not the version of whoever ran it
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:] or NOTEBOOKS:
        content = executed(nbformat.read(NOTEBOOKS[name], as_version=4))
        nbformat.write(content, NOTEBOOKS[name])
