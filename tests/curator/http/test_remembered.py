"""What is costly and public is made at most once in five seconds."""

from letalone.curator.storage.caches import FRESH_SECONDS, TimedCache


def test_a_value_is_made_anew_only_after_a_while() -> None:
    now = [0.0]
    made = list[float]()
    page = TimedCache(lambda: now[0])

    def make() -> float:
        made.append(now[0])
        return now[0]

    for moment in (0.0, 1.0, FRESH_SECONDS - 0.1, FRESH_SECONDS, FRESH_SECONDS + 1):
        now[0] = moment
        page.value(make)
    assert made == [0.0, FRESH_SECONDS]
