"""Start-up is quick because little is loaded; what is loaded is counted, not timed."""

import subprocess
import sys

HEAVY = {"numpy", "scipy", "flint", "cryptography", "rich", "matplotlib", "hypothesis"}


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running the code."""
    run = f"{code}\nimport sys\nprint('LOADED', *sys.modules)"
    found = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    return set(found.stdout.split("LOADED")[1].split())


def test_import_letalone_loads_nothing_but_itself() -> None:
    modules = loaded("import letalone")
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("letalone")} == {"letalone"}


def test_help_loads_no_layer_of_letalone() -> None:
    code = "from letalone.cli.app import run\nassert run(['--help']) == 0"
    modules = loaded(code)
    assert not modules & HEAVY
    ours = {name for name in modules if name.startswith("letalone.")}
    cli = {f"letalone.cli{part}" for part in ("", ".app", ".groups", ".typed")}
    assert ours == cli | {"letalone.errors"}


def test_a_mechanism_loads_no_scipy_stats() -> None:
    modules = loaded("import letalone as la\nla.Laplace(epsilon=1, sensitivity=1).release(1.0)")
    assert "numpy" in modules
    assert "scipy.stats" not in modules
