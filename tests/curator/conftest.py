"""A curator for each test, copied from one that is made once: people, then a table and a grant."""

from shutil import copytree

import pytest

from curator.makers import Clock, grant, open_curator, registered, with_people


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Folders with people in every role; and also with a table, and a grant for ann."""
    people, ready = tmp_path_factory.mktemp("people"), tmp_path_factory.mktemp("ready")
    with open_curator(people, clock=Clock(days=-30)) as curator:
        with_people(curator)
    copytree(people, ready, dirs_exist_ok=True)
    with open_curator(ready) as curator:
        grant(registered(curator))
    return people, ready


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def peopled(made_once, tmp_path, clock):
    """People in every role, and no data."""
    copytree(made_once[0], tmp_path, dirs_exist_ok=True)
    with open_curator(tmp_path, clock=clock) as curator:
        yield curator


@pytest.fixture
def ready(made_once, tmp_path, clock):
    """A registered table, and a grant for ann: ward and cost, for planning, up to ε = 2."""
    copytree(made_once[1], tmp_path, dirs_exist_ok=True)
    with open_curator(tmp_path, clock=clock) as curator:
        yield curator
