"""Rows that do not fit into memory: spilled within the curator's folder, gone after a kill."""

import subprocess
import sys
from contextlib import closing

import pytest

from curator.makers import ask, open_curator
from letalone.curator.storage.sweeping import sweep_spills
from letalone.engines.duckdb.lockdown import LockedDuck

KILLED = """
import os, sys
from pathlib import Path
from letalone.curator.storage.sweeping import spilling
from letalone.engines.duckdb.lockdown import LockedDuck, Room, working_in

with spilling(Path(sys.argv[1])) as own, working_in(Room(own)):
    duck = LockedDuck()
    (duck._folder / "rows.tmp").write_text("private")
    os.kill(os.getpid(), 9)
"""


def test_the_engine_spills_within_the_folder_and_nothing_is_left(ready):
    ask(ready)
    (own,) = [one for one in ready.settings.spill_folder.iterdir() if one.is_dir()]
    assert list(own.glob("letalone-*"))  # the open table's
    assert (own.stat().st_mode & 0o777) == 0o700
    ready.close()
    assert list(ready.settings.spill_folder.iterdir()) == []
    with closing(LockedDuck()) as duck:
        assert ready.settings.folder not in duck._folder.parents


@pytest.mark.long  # test_data_sets.py: test_what_a_dead_process_left_is_swept
def test_what_a_killed_process_left_is_swept_and_what_others_use_is_not(ready, tmp_path):
    spill = ready.settings.spill_folder
    subprocess.run([sys.executable, "-c", KILLED, str(spill)], check=False, timeout=60)
    assert list(spill.rglob("rows.tmp"))
    with open_curator(tmp_path) as other:
        assert not list(spill.rglob("rows.tmp"))
        ask(ready)  # its own folder is still there
        assert len([one for one in spill.iterdir() if one.is_dir()]) == 2
        assert sweep_spills(spill) == []
        assert other.sweep() == []


def test_each_curator_of_a_process_spills_into_its_own_folder(ready, tmp_path):
    """Closing one takes nothing away from another, whichever was opened last."""
    other = open_curator(tmp_path / "elsewhere")
    ask(ready)  # its table is opened after the other curator was
    (own,) = [one for one in ready.settings.spill_folder.iterdir() if one.is_dir()]
    assert list(own.glob("letalone-*"))
    (others,) = [one for one in other.settings.spill_folder.iterdir() if one.is_dir()]
    assert not list(others.glob("letalone-*"))
    other.close()
    assert own.is_dir()
    assert ask(ready, epsilon=0.2)
