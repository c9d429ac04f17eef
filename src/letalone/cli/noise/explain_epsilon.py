"""`letalone explain epsilon`: what the number promises, in words and in a picture.

The picture is the trade-off curve: whoever looks at the answers and says "this person is
in the data" is sometimes wrong both ways, and below the curve nobody can be.

  Proven:   docs/explanation/proofs (the curve); (1 + delta(0)) / 2 is the best chance of a
            right guess at even odds, because delta(0) is the total variation distance
  Tested:   against e^epsilon / (1 + e^epsilon) and the corner of the pure curve
"""

from math import ceil, exp, log

from letalone.answers.promise import FALSE_ALARMS, at_most, best_guess, most_caught
from letalone.cli import screen
from letalone.privacy import ApproxDP, Privacy, PureDP

ROWS, COLUMNS = 9, 42
LARGEST_FACTOR = 20.0  # beyond e^20 a power of ten says more
USUAL = (0.1, 0.5, 1.0, 2.0, 5.0)

LABELS = {0: "100 %", ROWS // 2: "50 %", ROWS - 1: "0 %"}
LEGEND = "░ nobody gets here   · blind guessing"


def explain_epsilon(epsilon: float, *, delta: float, as_json: bool) -> None:
    """Print what (epsilon, delta) promises."""
    privacy = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    guess, caught = best_guess(privacy), most_caught(privacy)
    if as_json:
        promised = {"epsilon": epsilon, "delta": delta, "best_guess": guess}
        curve = [(step / 20, privacy.tradeoff(step / 20)) for step in range(21)]
        test = {"false_alarm": FALSE_ALARMS, "caught": caught, "curve": curve}
        screen.print_json("explain epsilon", promised | test)
        return
    terminal = screen.console()
    for paragraph in _words(epsilon, delta, guess, caught):
        terminal.print(paragraph)
    screen.put("", *picture(privacy))
    others = [f"{usual:g}: {screen.percent_text(best_guess(PureDP(usual)))}" for usual in USUAL]
    shown = "  ".join(other.replace(" ", screen.TOGETHER) for other in others)
    screen.put("")
    screen.say(f"Won at most, by ε:  {shown}")


def factor(epsilon: float) -> str:
    """e^epsilon, rounded up."""
    if epsilon <= LARGEST_FACTOR:
        return screen.rounded_up(exp(epsilon) * (1 + 2.0**-50), 2)
    return f"10^{ceil(epsilon / log(10))}"


def picture(privacy: Privacy) -> list[str]:
    """The trade-off curve in characters: shaded where no test can be."""
    reach = [privacy.tradeoff((column + 0.5) / COLUMNS) for column in range(COLUMNS)]
    lines = [f"  missed   {LEGEND}"]
    for row in range(ROWS):
        cells = "".join(_cell(row, column, reach[column]) for column in range(COLUMNS))
        lines.append(f"{LABELS.get(row, ''):>7} │{cells}")
    lines.append(f"{'':>8}└" + "─" * COLUMNS)
    lines.append(f"{'':>9}0 %{'false alarms':^{COLUMNS - 8}}100 %")
    return lines


def _cell(row: int, column: int, reach: float) -> str:
    if int((column + 0.5) / COLUMNS * ROWS) == row:
        return "·"
    return "░" if 1 - (row + 0.5) / ROWS < reach else " "


def _words(epsilon: float, delta: float, guess: float, caught: float) -> list[str]:
    """One line each, that the screen may break where it is narrow."""
    beside = f" On top of that, probabilities may differ by δ = {screen.number_text(delta)}."
    return [
        f"[bold]ε = {screen.in_short(epsilon)}[/bold] promises: take one person out of the data, or"
        " change all it says of them, and no answer becomes more than"
        f" {factor(epsilon)} times as likely as it was.{beside * (delta > 0)}\n",
        "Was this person in the data? From the answers, and whatever else they know,",
        f"- those who bet at even odds win [bold]{at_most(guess)}[/bold] (blindly: 50 %);",
        f"- a test with 5 % false alarms finds {at_most(caught, 'of people')} (blindly: 5 %).",
    ]
