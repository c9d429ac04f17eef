"""Texts that may stand for a number, a day, a time or a truth value; and a slow reader of them."""

from datetime import date, datetime, timedelta
from fractions import Fraction

from letalone.plans.types import Type

NUMBERS = [
    *["0", "-0", "+0", "00", "1", "12", "-3", "+7", "007", "-007", "12.0", "12.00", "-3.5", "5."],
    *[".5", "-.5", "+.5", "0.5", "1.5", "2.5", "-2.5", "0.49999999999999999999999", ".", "", "-"],
    *["+", "e", "e5", ".e5", "1e", "1e+", "1e3", "1E3", "1e+3", "1e+03", "1e-3", "25e-1", "15e-1"],
    *["1.25e1", "1.24e1", "-1.25e1", "1.5e0", "5e-1", "-5e-1", "4e-1", "0.05e1", "5.e0", ".5e1"],
    *["1e18", "1e19", "9.2e18", "9.3e18", "123456789012345678e1", "1e05", "1e005", "1e0005"],
    *["1e308", "1.7976931348623157e308", "1.7976931348623159e308", "1e309", "-1e309", "1e400"],
    *["1e999", "1e1000", "1e-307", "2.2250738585072014e-308", "1e-310", "5e-324", "4e-324"],
    *["3e-324", "2e-324", "1e-324", "1e-400", "-1e-400", "1e-999", "1e-1000", "0e400", "0e999"],
    *["0e-999", "0.000e5", "1e-20", "99999999999999999999e-19", "99999999999999999999e-1"],
    *["9223372036854775807", "9223372036854775808", "-9223372036854775808"],
    *["-9223372036854775809", "9223372036854775807.4", "9223372036854775807.5"],
    *["-9223372036854775808.4", "-9223372036854775808.5", "9007199254740993", "0.1", "0.30"],
    *["9007199254740993.00000000000000000000000000000001", "1" * 38, "1" * 39, "9" * 308],
    *["9" * 309, "9" * 400, "9" * 401, "0" * 399 + "7", "0" * 400 + "7", "." + "3" * 399],
    *["0." + "0" * 397 + "1", "1" + "0" * 390 + "e-390", "1" + "0" * 390 + "e-380"],
    *["1" + "0" * 30 + "e-25", "12345678901234567890123456789e-20", "0." + "0" * 30 + "15e32"],
    *[" 12", "12 ", "  12  ", " " * 398 + "12", " " * 399 + "12", "\t12", "12\t", "12\n"],
    *["\n12", "\r12", "12\r", "\u00a012", "12\u00a0"],
    *["\u200b12", "1 2", "- 3", "1 e3", "1e 3", "--3", "+-3", "-+3", "1-", "1.2.3", "1..2"],
    *["1e2.5"],
    *["1e3e4", "1,5", "1,234", "1.234,5", "1_000", "1_0.5", "0x10", "0X1F", "0b101", "0o17", "1f"],
    *["1d", "1D", "1.0f", "1L", "10%", "$10", "€10", "1/2", "nan", "NaN", "-nan", "inf", "-inf"],
    *["Infinity", "-Infinity", "infinity", "1e", "null", "NULL", "NA", "None", "unknown", "x"],
    *["\u0661", "\uff11", "\u00b2", "\u2212" + "3", "1\x00", "\x001", "12;", "'12'", '"12"'],
    *["(12)"],
    *["12.", "+12.", "true", "1.e", "1.e1", "0.", "-0.0", "-.0", ".0", "1E+308", "1e+309", "1e00"],
]  # fmt: skip
DAYS = [
    *["2024-02-29", "2023-02-29", "2024-1-5", "2024-01-05", "2024-1-05", "2024-12-31"],
    *["2024-13-01"],
    *["2024-00-10", "2024-10-00", "2024-04-31", "2024-10-32", "0001-01-01", "0000-01-01"],
    *["0000-12-31"],
    *["9999-12-31", "10000-01-01", "99999-01-01", "999-01-01", "24-01-05", "-2024-01-01"],
    *["+2024-01-01", "2024/02/29", "2024.02.29", "20240229", "2024-060", "2024-W09-4", "2024-02"],
    *["2024", "29-02-2024", "29/02/2024", "02/29/2024", "29.02.2024", "Feb 29 2024", "29 Feb 2024"],
    *["2024-Feb-29", "2024-02-29 BC", "epoch", "infinity", "-infinity", "now", "today", "tomorrow"],
    *["yesterday", "never", "", "x", " 2024-02-29", "2024-02-29 ", " 2024-02-29 "],
    *["2024-02-29\n", " " * 400],
    *["\t2024-02-29", "2024-02-29\t", "2024- 02-29", "2024-02-29x", "2024-002-29", "2024-02-029"],
    *["1900-02-29", "2000-02-29", "1582-10-10", "1700-02-29", "0004-02-29", "0100-02-29"],
    *["2024-2-30"],
    *["\u0662024-02-29", "2024\u201302\u201329", "2024-02-29\u00a0", "2024--02-29", "02024-02-29"],
]  # fmt: skip
CLOCKS = [
    *["12:00", "12:00:00", "00:00", "23:59", "24:00", "25:00", "24:00:00", "23:59:59", "23:59:60"],
    *["12:60", "12:00:61", "1:02", "1:2", "01:02:3", "12", "12:00:00.5", "12:00:00.123456"],
    *["12:00:00.1234567", "12:00:00.123456789", "12:00:00.", "12:00:00,5", "12:00.5", "12:00:00Z"],
    *["12:00Z", "12:00:00z", "12:00:00 Z", "12:00:00+00", "12:00:00+00:00", "12:00:00-00:00"],
    *["12:00:00+02", "12:00:00+02:00", "12:00+02:00", "12:00:00-05:30", "12:00:00+0200"],
    *["12:00:00+2", "12:00:00+2:00", "12:00:00 +02:00", "12:00:00+13:59", "12:00:00+14"],
    *["12:00:00+14:00", "12:00:00-14:00", "12:00:00+14:01", "12:00:00+15:00", "12:00:00+15:59"],
    *["12:00:00+18:00", "12:00:00+19:00", "12:00:00+24:00", "12:00:00+02:60", "12:00:00+02:00:00"],
    *["12:00:00 UTC", "12:00:00 Europe/Berlin", "12:00:00 CET", "12:00:00 GMT+2", "12:00 AM"],
    *["12:00 PM", "1:00 PM", "12:00:00 BC", "T12:00", " 12:00", "12:00 ", "120000", "12h00"],
    *["noon"],
    *["12:00:00.000001", "23:59:59.999999", "23:59:59.999999+14", "00:00:00-14", "12:00\n"],
]  # fmt: skip
TIMES = [
    *[f"2024-02-29 {clock}" for clock in CLOCKS],
    *[f"2024-02-29T{clock}" for clock in CLOCKS if clock[:2] in ("12", "1:")][:24],
    *["2024-02-29t12:00", "2024-02-29  12:00", "2024-02-29_12:00", "2024-02-2912:00"],
    *["0001-01-01 00:00:00+01", "0001-01-01 00:00:00-01", "0001-01-01 00:00:00+14:00"],
    *["9999-12-31 23:59:59.999999-01", "9999-12-31 23:59:59.999999+01", "9999-12-31 23:59-14"],
    *["2023-02-29 12:00", "2024-1-5 1:02", "1969-12-31 23:59:59.5", "1582-10-10 12:00:00.25"],
    *["2024-02-29 12:00:00+00:30", "1900-01-01 00:00", "1890-06-01 12:00:00", "12:00", "T12:00:00"],
    *["1709200800", "2024-02-29T12:00:00.000Z", "2024-02-29T12:00:00.000+0000", "20240229T120000Z"],
]  # fmt: skip
WORDS = [
    *["true", "false", "True", "FALSE", "tRuE", "t", "f", "T", "F", "yes", "no", "Yes", "NO", "y"],
    *["n", "Y", "N", "1", "0", "on", "off", "ON", "2", "-1", "01", "1.0", "0.0", "+1", " true "],
    *["\ttrue", "true\n", "", " ", "tr", "tru", "fals", "ye", "truee", "maybe", "wahr", "ja"],
    *["\u017frue", "true\u00a0", "YE\u017f", "null", "x", "1 ", " 0"],
]  # fmt: skip
SPELLINGS = {
    Type.INTEGER: NUMBERS,
    Type.NUMBER: NUMBERS,
    Type.DATE: [*DAYS, *TIMES],
    Type.TIMESTAMP: [*DAYS, *TIMES],
    Type.BOOLEAN: WORDS,
}


def slowly_read(text, kind):
    """The value that a text stands for, or None: letter by letter, without a regular expression."""
    plain = text.strip(" ")
    if len(text) > 400 and kind is not Type.BOOLEAN:
        return None
    match kind:
        case Type.BOOLEAN:
            small = "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in plain)
            return {"true": True, "t": True, "yes": True, "y": True, "1": True}.get(
                small, False if small in ("false", "f", "no", "n", "0") else None
            )
        case Type.NUMBER:
            return _double(_number(plain))
        case Type.INTEGER:
            return _whole(_number(plain)) if _can_be_whole(plain) else None
        case Type.DATE | Type.TIMESTAMP:
            found = _time(plain)
            if found is None:
                return None
            day, of_day, offset = found
            if kind is Type.DATE:
                return day
            try:
                return datetime(day.year, day.month, day.day) + of_day - offset
            except OverflowError:
                return None


def _is_digits(text, least, most):
    return least <= len(text) <= most and all("0" <= letter <= "9" for letter in text)


def _number(plain):
    if not plain:
        return None
    sign = -1 if plain[0] == "-" else 1
    rest = plain[1:] if plain[0] in "+-" else plain
    digits, e, power = rest.replace("E", "e").partition("e")
    shift = power[1:] if power[:1] in ("+", "-") else power
    if e and not _is_digits(shift, 1, 3):
        return None
    whole, _, fraction = digits.partition(".")
    if not _is_digits(whole + fraction, 1, 400) or not _is_digits(whole, 0, 400):
        return None
    exponent = int(shift or 0) * (-1 if power[:1] == "-" else 1) - len(fraction)
    return sign * int(whole + fraction) * Fraction(10) ** exponent


def _can_be_whole(plain):
    digits, e, power = plain.replace("E", "e").lstrip("+-").partition("e")
    whole, _, fraction = digits.partition(".")
    short = 1 <= len(whole) <= 18 and len(fraction) <= 15
    return not e or (short and power[:1] != "-" and len(power.lstrip("+")) <= 3)


def _double(number):
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def _whole(number):
    if number is None:
        return None
    size = int(abs(number) + Fraction(1, 2))  # half away from zero
    whole = -size if number < 0 else size
    return whole if -(2**63) <= whole < 2**63 else None


def _time(plain):
    """The day, the time since its midnight, and the offset."""
    parts = plain.split("-", 2)
    if len(parts) < 3 or not _is_digits(parts[0], 4, 4) or not _is_digits(parts[1], 1, 2):
        return None
    end = 0
    while end < len(parts[2]) and _is_digits(parts[2][end], 1, 1):
        end += 1
    day, rest = parts[2][:end], parts[2][end:]
    if not _is_digits(day, 1, 2):
        return None
    try:
        found = date(int(parts[0]), int(parts[1]), int(day))
    except ValueError:
        return None
    if not rest:
        return found, timedelta(0), timedelta(0)
    if rest[0] not in " T":
        return None
    clock, offset = _offset(rest[1:])
    since = None if offset is None else _since_midnight(clock)
    return None if since is None else (found, since, offset)


def _offset(text):
    if text.endswith("Z"):
        return text[:-1], timedelta(0)
    place = max(text.find("+"), text.find("-"))
    if place < 0:
        return text, timedelta(0)
    hours, colon, minutes = text[place + 1 :].partition(":")
    if not _is_digits(hours, 2, 2) or (colon and not _is_digits(minutes, 2, 2)):
        return text, None
    size = timedelta(hours=int(hours), minutes=int(minutes or 0))
    if int(minutes or 0) > 59 or size > timedelta(hours=14):
        return text, None
    return text[:place], size if text[place] == "+" else -size


def _since_midnight(clock):
    hours, _, rest = clock.partition(":")
    minutes, colon, more = rest.partition(":")
    seconds, point, fraction = more.partition(".")
    if not _is_digits(hours, 1, 2) or not _is_digits(minutes, 2, 2) or int(hours) > 23:
        return None
    if (colon and not _is_digits(seconds, 2, 2)) or (point and not _is_digits(fraction, 1, 6)):
        return None
    if int(minutes) > 59 or int(seconds or 0) > 59:
        return None
    micro = int((fraction or "0").ljust(6, "0"))
    return timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(seconds or 0), microseconds=micro
    )
