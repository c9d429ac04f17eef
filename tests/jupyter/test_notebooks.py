"""The notebooks run in Jupyter as people open them: in a kernel, without ipywidgets."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
FOLDER = Path(__file__).parents[2] / "docs" / "tutorial"
# A program of its own, which may leave sockets open at its end; some environment has ipywidgets.
RUN = """
import json, sys
import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
hide = nbformat.v4.new_code_cell("import sys; sys.modules['ipywidgets'] = None")
notebook.cells.insert(0, hide)
manager = AsyncKernelManager()
argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
manager._kernel_spec = KernelSpec(argv=argv, display_name="letalone", language="python")
NotebookClient(notebook, km=manager, timeout=300).execute()
outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
print(json.dumps(sorted({kind for output in outputs for kind in output.get("data", ())})))
"""


@pytest.mark.parametrize("name", ["analyst", "engineer"])
def test_every_cell_runs_and_answers_are_shown_as_tables_and_pictures(
    name: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", RUN, str(FOLDER / f"{name}.ipynb")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    kinds = json.loads(done.stdout)
    assert "text/html" in kinds
    assert name != "analyst" or "image/png" in kinds
