"""la.Client against `letalone serve` over a real socket."""

import pytest

import letalone as la
from curator.http.test_serving import PASSWORD, serving


@pytest.mark.long
def test_one_command_there_and_a_few_lines_here(tmp_path):
    with serving(tmp_path / "curator") as (_, address, first):
        once = first["one_time_passwords"]["analyst"]
        with la.Client.log_in(address, "analyst", once, new_password=PASSWORD) as client:
            visits = client.open("demo_visits")
            answer = visits.group_by("ward").agg(n=la.count()).release(epsilon=0.5)
            assert len(answer.rows()) == 6
            assert visits.remaining == la.Budget(0.5)
            key = client.public_key
        path = answer.save(tmp_path / "answer.json")
    assert la.Release.load(path, public_key=key) == answer
