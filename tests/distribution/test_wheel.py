"""What people install: a wheel with all that runs and nothing else, the same from an sdist."""

import subprocess
import sys
import tarfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
VERSION = "import letalone as la; print(la.__version__)"
HINT = "from letalone.errors.installing import how_to_install; print(how_to_install('plot'))"


def python(*arguments: str, at: Path | None = None) -> str:
    """What a program prints, with the packages of a folder before all others."""
    command = [sys.executable, *arguments]
    environment = None if at is None else {"PYTHONPATH": str(at), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def build(source: Path, folder: Path, *kinds: str) -> None:
    python("-m", "build", "--no-isolation", "--outdir", str(folder), *kinds, str(source))


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist and a wheel of this very source."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "--sdist", "--wheel")
    return folder


def wheel_in(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


def contents(wheel: Path) -> dict[str, str]:
    with ZipFile(wheel) as opened:
        return {name: sha256(opened.read(name)).hexdigest() for name in opened.namelist()}


def install(folder: Path, asked: Sequence[str]) -> Path:
    """Installs letalone alone: what it requires is installed here already."""
    options = ["--quiet", "--no-index", "--no-deps", "--target", str(folder)]
    python("-m", "pip", "install", *options, *asked)
    return folder


def test_the_wheel_holds_every_file_of_the_package_and_no_other(dist: Path) -> None:
    found = {name for name in contents(wheel_in(dist)) if ".dist-info/" not in name}
    files = [path for path in (SOURCE / "letalone").rglob("*") if path.is_file()]
    kept = {str(path.relative_to(SOURCE)) for path in files if "__pycache__" not in path.parts}
    assert found == kept
    for needed in (
        "py.typed",
        "__init__.pyi",
        "drawing/chart.css",
        "notebook/epsilon_slider.js",
        "notebook/epsilon_slider.css",
        "curator/console/static/console.js",
        "curator/console/templates/layout.html",
    ):
        assert f"letalone/{needed}" in found


def test_the_sdist_builds_the_same_wheel(dist: Path, tmp_path: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    build(source, tmp_path / "again", "--wheel")
    assert contents(wheel_in(tmp_path / "again")) == contents(wheel_in(dist))
    assert (source / "tests" / "distribution").is_dir()  # who packages it can test it


def test_it_installs_by_name_from_a_folder_and_says_how_to_add_an_extra(
    dist: Path, tmp_path: Path
) -> None:
    at = install(tmp_path, ["--find-links", str(dist), "letalone"])
    assert python("-c", VERSION, at=at) == wheel_in(dist).name.split("-")[1]
    assert python("-c", HINT, at=at) == "pip install 'letalone[plot]'"
    assert python(
        "-m", "letalone.cli", "noise", "laplace", "0", "--epsilon", "1", "--sensitivity", "1", at=at
    )


def test_the_command_that_a_wheel_offers_is_one_that_pip_takes(dist: Path, tmp_path: Path) -> None:
    wheel = wheel_in(dist)
    at = install(tmp_path / "first", [str(wheel)])
    hint = python("-c", HINT, at=at)
    assert hint == f"pip install '{wheel.name}[plot]' in the folder of that file"
    install(tmp_path / "again", [f"{wheel}[plot]"])


def test_no_file_of_the_package_is_found_by_a_path_outside_of_it(
    dist: Path, tmp_path: Path
) -> None:
    """Templates, styles and scripts are read where the package is installed."""
    at = install(tmp_path, ["--find-links", str(dist), "letalone"])
    looked = (
        "from letalone.drawing.looks import style; from letalone.notebook import EpsilonSlider;"
        "from letalone.curator.console import pages; import letalone;"
        "print(len(style()) > 0, letalone.__file__)"
    )
    assert python("-c", looked, at=at) == f"True {at / 'letalone' / '__init__.py'}"
