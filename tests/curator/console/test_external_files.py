"""What owners see and do where a file stays where it is."""

import pytest

from curator.console.conftest import Console
from curator.makers import LINES, NAME, Clock, ask, grant, put, registration

AT = f"/data-sets/{NAME}"


def external(curator):
    curator.data_sets.register(registration(), file=put(curator), external=True, by="olga")
    grant(curator)
    return Console(curator, Clock())


@pytest.mark.long  # curator/test_external_files.py without pages
def test_an_owner_says_that_the_data_have_changed(peopled):
    console = external(peopled)
    olga = console.by("olga", elevated=True)
    ask(peopled, epsilon=0.5)
    put(peopled, lines=LINES[:31])
    page = olga.see(AT).text
    assert f'href="{AT}/version"' in page
    assert f'href="{AT}/renewal"' not in page
    assert f'href="{AT}/version"' not in console.by("stan").see(AT).text
    assert "opened again" in olga.see(f"{AT}/version").text
    assert olga.send(f"{AT}/version", why="").status_code == 422
    assert olga.send(f"{AT}/version", why="a newer extract").status_code == 303
    assert "Version 2 of the data" in olga.see(AT).text
    assert not ask(peopled, epsilon=0.5).repeated
    put(peopled, lines=["patient,ward", "p1,A"])
    refused = olga.send(f"{AT}/version", why="another")
    assert (refused.status_code, "cost" in refused.text) == (422, True)


@pytest.mark.long  # curator/test_external_files.py without pages
def test_a_file_that_is_gone_is_shown_to_owners_alone(peopled):
    console, words = external(peopled), "The file visits.csv is not in the import folder."
    pages = {name: console.by(name) for name in ("olga", "stan", "ann")}
    assert words not in pages["olga"].see("/").text
    (peopled.settings.imports_folder / "visits.csv").unlink()
    for at in ("/", AT):
        assert words in pages["olga"].see(at).text
        assert words not in pages["stan"].see(at).text
        assert words not in pages["ann"].see(at).text
