"""What `bench/tables.py` found, as text."""

from typing import Any

ASKED, ASKED_ROWS = 1.3, 10**7  # times the plain query, at user level, once rows are counted
ASKED_ONCE = {"first": 4.0, "kept": 1.5}  # of a session; with the rows counted by an earlier one
ASKED_OF_RIVALS = {"user": 20, "row": 4}  # times faster per row


def show(result: dict[str, Any]) -> None:
    print(f"{result['machine']}; {result['rows']:,} rows, {result['threads']} threads, CPU time")
    large = result["rows"] >= ASKED_ROWS
    show_ratios("exact part", result["exact"], large=large)
    show_ratios("whole release", result["whole"], large=large)
    window = result.get("window_seconds")
    beside = "" if window is None else f" one window over the data: {window:.2f} s;"
    print(
        f"rows of users counted and weighed, once: {result['counts_seconds']:.2f} s;{beside}"
        f" peak {result['peak_megabytes']:.0f} MB"
    )
    print(f"sums of at most three groups a user: {result['groups_seconds']:.2f} s")
    show_accuracy(result["accuracy"])
    if result["rivals"]:
        show_rivals(result)


def show_ratios(title: str, found: dict[str, Any], *, large: bool) -> None:
    print(f"\n{title:28}{'ours s':>9}{'plain s':>9}{'ratio':>8}{'asked':>8}{'first s':>9}")
    for name, row in found.items():
        asked = f"≤ {ASKED}" if large and name.startswith("user") else ""
        first = f"{row['first_seconds']:9.3f}" if "first_seconds" in row else ""
        seconds = f"{row['seconds']:9.3f}{row['plain_seconds']:9.3f}"
        print(f"{name:28}{seconds}{row['ratio']:8.2f}{asked:>8}{first}")
        once = [(which, row[which]) for which in ("first", "kept", "second") if which in row]
        shown = [
            f"{which} {took / row['plain_seconds']:.1f}{_asked(which)}" for which, took in once
        ]
        if shown:
            print(f"    times plain: {', '.join(shown)}")


def _asked(which: str) -> str:
    return f" (asked ≤ {ASKED_ONCE[which]})" if which in ASKED_ONCE else ""


def show_accuracy(found: dict[str, Any]) -> None:
    print(
        f"\n{'errors (RMSE), row level':34}{'count':>9}{'mean':>11}{'mean × rows':>14}{'runs':>6}"
    )
    for rows, one in found["sizes"].items():
        scaled = f"{one['mean'] * rows:14,.0f}"
        print(f"letalone, {rows:<24,}{one['count']:9.2f}{one['mean']:11.5f}{scaled}{one['runs']:6}")
    for name, one in found["rivals"].items():
        title = f"{name}, 100,000"
        if "failed" in one:
            print(f"{title:34}{one['failed']}")
        else:
            print(f"{title:34}{one['count']:9.2f}{one['mean']:11.5f}{'':14}{one['runs']:6}")
    off = found["median"]
    print(
        f"median of age, mean error in years: {off['all rows']:.3f} over all rows,"
        f" {off['by department']:.3f} by department"
        f" ({off['by department, exact']:.0%} of them exact)"
    )


def show_rivals(result: dict[str, Any]) -> None:
    """Times ours, per row: over the same file, later releases and the first; and at full size."""
    whole = result["whole"]
    heads = "".join(f"{head:>9}" for head in ("CPU s", "× later", "× first", "per row"))
    print(f"\n{'rival':32}{'rows':>12}{heads}{'asked':>7}")
    for one in result["rivals"]:
        title = f"{one['rival']}, {one['level']}"
        if "failed" in one:
            print(f"{title:32}{one['rows']:12,} {one['failed']}")
            continue
        mine = whole[f"{one['level']} level, by department"]["seconds"] / result["rows"]
        times = [one["seconds"] / one["later"], one["seconds"] / one["first"]]
        times.append(one["seconds"] / one["rows"] / mine)
        shown = "".join(f"{number:9.1f}" for number in times)
        asked = f"≥ {ASKED_OF_RIVALS[one['level']]}"
        print(f"{title:32}{one['rows']:12,}{one['seconds']:9.2f}{shown}{asked:>7}")
