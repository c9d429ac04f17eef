"""Requests and answers are counted, by route and by outcome."""

from letalone.curator.http.metrics import Metrics


def test_what_was_counted_is_shown() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.request("GET", "/health", 200, 0.001)
    metrics.answer("released")
    text = metrics.text().decode()
    assert 'letalone_requests_total{method="GET",route="/health",status="200"} 3.0' in text
    assert 'letalone_request_seconds_count{route="/health"} 3.0' in text
    assert 'letalone_answers_total{outcome="released"} 1.0' in text


def test_two_apps_in_one_process_do_not_share_counters() -> None:
    Metrics().answer("released")
    assert 'outcome="released"' not in Metrics().text().decode()
