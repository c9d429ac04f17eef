"""What stands above a picture."""

import letalone as la
from letalone.answers.shown import MAX_TITLE_LENGTH, title_of
from session.makers import EVERYTHING, WARDS, opened


def test_a_title_names_what_was_asked_and_by_what() -> None:
    with opened() as session:
        query = session.group_by("ward", keys=WARDS)
        count = query.agg(n=la.count()).plan.to_json()
        assert title_of(count, ["ward"]) == "count by ward"
        two = query.agg(
            least=la.min("age", lower=0, upper=9), s=la.sum(la.col("age") / 2, lower=0, upper=9)
        )
        assert (
            title_of(two.plan.to_json(), ["ward", "sex"])
            == "smallest of age and sum by ward and sex"
        )


def test_every_aggregate_has_a_word_and_a_long_title_is_cut() -> None:
    with opened() as session:
        for name, asked in EVERYTHING.items():
            title = title_of(session.agg(**{name: asked}).plan.to_json(), [])
            assert title == title.lower(), title
        assert len(title_of(session.agg(**EVERYTHING).plan.to_json(), [])) == MAX_TITLE_LENGTH
