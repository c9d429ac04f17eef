"""Accountants side by side: what each says of the same job, over the number of steps.

    python bench/accountants.py [--json | --draw]

The job is the sampled Gaussian of bench/accounting.py: each record is used with probability
0.01, sigma 0.8, delta 1e-5, a record added or removed. CPU seconds, each job cold after imports;
rivals run in environments of their own and are stopped after LIMIT seconds. The truth comes from
an inversion integral without a certificate (one step: from the closed form).

Writes docs/explanation/accountants.json and .svg, and the tables in accounting.md beside them;
--draw writes the figure and the tables again from the JSON that is there.
"""

import argparse
import json
import math
import platform
import re
import signal
import subprocess
import time
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from peers import run_in
from scipy.optimize import brentq

import letalone as la
from letalone.privacy import GaussianDP, LaplacePrivacy
from letalone.privacy.theorems import advanced, basic

SIGMA, RATE, DELTA = 0.8, 0.01, 1e-5
STEPS = [1, 10, 100, 1000, 10**4, 10**5]
STEP = GaussianDP(1 / SIGMA).sampled(RATE)
LIMIT = 120  # CPU seconds
SHARES = [Fraction(n, 100) for n in (1, 10, 25, 50, 75, 90, 99)]  # of delta, for the single steps
FOLDER = Path(__file__).parents[1] / "docs" / "explanation"
NUMBERS, FIGURE, PAGE = (FOLDER / f"account{end}" for end in ("ants.json", "ants.svg", "ing.md"))

MARKS = "% tables: python bench/accountants.py writes what follows", "% end of the tables"

UP, DOWN, NEAR = ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN
ROWS = {  # the name in the tables, and the way in which its numbers are rounded there
    "truth": ("*truth, by an integral*", NEAR),
    "lower": ("**letalone, lower bound**", DOWN),
    "upper": ("**letalone, upper bound**", UP),
    "pld": ("PLD, pessimistic", UP),
    "pld_lower": ("PLD, optimistic", DOWN),
    "prv": ("PRV, upper", UP),
    "prv_estimate": ("PRV, estimate", NEAR),
    "prv_lower": ("PRV, lower", DOWN),
    "rdp": ("RDP", UP),
    "basic": ("adding up ε and δ", UP),
    "advanced": ("advanced composition", UP),
    "limit": ("central limit (GDP)", NEAR),
}
TIMED = {
    "upper": "**letalone, both bounds**",
    "pld": "PLD, pessimistic",
    "prv": "PRV, all three numbers",
    "rdp": "RDP",
}

PRELUDE = f"""
import json, resource, time, warnings
from importlib.metadata import version
warnings.filterwarnings("ignore")
resource.setrlimit(resource.RLIMIT_CPU, ({LIMIT}, {LIMIT} + 5))
def timed(job):
    start = time.process_time()
    value = job()
    return [value, time.process_time() - start]
"""
GOOGLE = "dp-accounting"
GOOGLE_SCRIPT = f"""{PRELUDE}
import dp_accounting as dp
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import RdpAccountant
def loss(above):
    law = pld.from_gaussian_mechanism({SIGMA}, sampling_prob={RATE}, pessimistic_estimate=above)
    return law.self_compose(STEPS).get_epsilon_for_delta({DELTA})
def renyi():
    step = dp.PoissonSampledDpEvent({RATE}, dp.GaussianDpEvent({SIGMA}))
    return RdpAccountant().compose(step, STEPS).get_epsilon({DELTA})
print(json.dumps(dict(pld=timed(lambda: loss(True)), pld_lower=timed(lambda: loss(False)),
                      rdp=timed(renyi), version=version("dp-accounting"))))
"""
MICROSOFT = "prv-accountant==0.2.0"
MICROSOFT_SCRIPT = f"""{PRELUDE}
from prv_accountant import LaplaceMechanism, PoissonSubsampledGaussianMechanism, PRVAccountant
def three(law, steps, delta):
    errors = dict(eps_error=0.01, delta_error=delta / 1000)
    return PRVAccountant(law, max_self_compositions=steps, **errors).compute_epsilon(delta, [steps])
(low, middle, high), seconds = timed(lambda: JOB)
print(json.dumps(dict(prv_lower=[low, seconds], prv_estimate=[middle, seconds],
                      prv=[high, seconds], version=version("prv-accountant"))))
"""
SAMPLED = f"three(PoissonSubsampledGaussianMechanism({RATE}, {SIGMA}), STEPS, {DELTA})"
LAPLACE_TRUTH = 18.950292  # as in bench/accounting.py
LAPLACE = "three(LaplaceMechanism(mu=0.1), 1000, 1e-6)"

Found = dict[str, Any]  # a name: [epsilon, CPU seconds]


def measure() -> Found:
    (GaussianDP(0.3).sampled(0.5) * 3).epsilon_bounds(1e-3)  # imports
    columns = [at(steps) for steps in STEPS]
    versions = {"letalone": la.__version__, "numpy": np.__version__}
    for column in columns:
        versions |= column.pop("versions")
    return {
        "job": {"sigma": SIGMA, "rate": RATE, "delta": DELTA, "steps": STEPS},
        "rows": {name: [column.get(name) for column in columns] for name in ROWS},
        "failed": [column["failed"] for column in columns],
        "laplace": laplace(),
        "versions": versions,
        "machine": machine(),
    }


def at(steps: int) -> Found:
    """All accountants on this number of steps."""
    start = time.process_time()
    lower, upper = (STEP * steps).epsilon_bounds(DELTA)
    seconds = time.process_time() - start
    exact = truth(steps, upper)
    if not lower <= exact <= upper:
        raise SystemExit(f"{steps} steps: the truth {exact} is not in [{lower}, {upper}]")
    found: Found = {"lower": [lower, seconds], "upper": [upper, seconds], "truth": [exact, None]}
    found |= {"versions": {}, "failed": {}}
    found |= {name: timed(lambda f=f: f(steps)) for name, f in THEOREMS.items()}
    for rival, script in (
        (GOOGLE, GOOGLE_SCRIPT),
        (MICROSOFT, MICROSOFT_SCRIPT.replace("JOB", SAMPLED)),
    ):
        name = rival.split("=")[0]
        try:
            answer = run_in(rival, script.replace("STEPS", str(steps)))
            found["versions"][name] = answer.pop("version")
            found |= answer
        except subprocess.CalledProcessError as error:
            found["failed"][name] = why(error)
    return found


def timed(job: Callable[[], float]) -> list[float]:
    start = time.process_time()
    value = job()
    return [value, time.process_time() - start]


def why(error: subprocess.CalledProcessError) -> str:
    if error.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"stopped after {LIMIT} s of CPU time, or for want of memory"
    if error.stderr is None:  # from pip, whose words were shown as they came
        return "could not be installed"
    return (error.stderr.strip().splitlines() or ["failed"])[-1]


def by_adding(steps: int) -> float:
    """The curve of one step read at delta / steps."""
    each = Fraction(str(DELTA)) / steps
    return basic(STEP.epsilon(each), each, times=steps).epsilon(DELTA)


def by_advanced(steps: int) -> float:
    """The best of several ways to divide delta between the single steps and the slack."""
    whole = Fraction(str(DELTA))

    def divided(share: Fraction) -> float:
        each = whole * share / steps
        one = STEP.epsilon(each)
        return advanced(one, each, times=steps, slack=whole * (1 - share)).epsilon(DELTA)

    return min(map(divided, SHARES))


def by_central_limit(steps: int) -> float:
    """Bu, Dong, Long, Su (2020): as if the sum were Gaussian. Not a bound."""
    return GaussianDP(RATE * math.sqrt(steps * math.expm1(SIGMA**-2))).epsilon(DELTA)


THEOREMS = {"basic": by_adding, "advanced": by_advanced, "limit": by_central_limit}


def truth(steps: int, near: float) -> float:
    """Invert M(z)^n e^(-z e) / (z (z + 1)), for a removed record, along Re z = tilt.

    Along that line the trapezoidal rule errs by e^(-20 pi); in x, where all is smooth and decays
    like a Gaussian, by less than can be seen. The line ends where the integrand has vanished.
    """
    if steps == 1:
        return near  # the closed form, to the last digit
    x = np.linspace(-12 * SIGMA, 8 + 12 * SIGMA, 12_001)
    loss = np.log1p(RATE * np.expm1((2 * x - 1) / (2 * SIGMA**2)))
    base = np.exp(-(x**2) / (2 * SIGMA**2)) / (SIGMA * math.sqrt(2 * math.pi)) * (x[1] - x[0])
    tilts = np.geomspace(0.1, 6, 60)
    heights = [steps * math.log(base @ np.exp((t + 1) * loss)) - t * near for t in tilts]
    tilt = float(tilts[int(np.argmin(heights))])
    weight, step = base * np.exp((tilt + 1) * loss), min(tilt, 1) / 10
    logs: list[np.ndarray] = []
    while not logs or steps * (logs[-1][-1].real - logs[0][0].real) > -36:
        y = (np.arange(100) + 100 * len(logs) + 0.5) * step
        logs.append(np.log(np.exp(1j * np.outer(y, loss)) @ weight))
    log_moment = np.concatenate(logs)
    z = tilt + 1j * (np.arange(log_moment.size) + 0.5) * step

    def excess(epsilon: float) -> float:
        terms = np.exp(steps * log_moment - z * epsilon) / (z * (z + 1))
        return float(terms.real.sum()) * step / math.pi - DELTA

    return float(brentq(excess, 0.99 * near, 1.01 * near, xtol=1e-12))


def laplace() -> Found:
    """1000 Laplace releases at 0.1 and delta 1e-6, where estimates and bounds part."""
    lower, upper = (LaplacePrivacy(0.1) * 1000).epsilon_bounds(1e-6)
    found: Found = {"truth": LAPLACE_TRUTH, "lower": lower, "upper": upper}
    try:
        answer = run_in(MICROSOFT, MICROSOFT_SCRIPT.replace("JOB", LAPLACE))
        found |= {name: answer[name][0] for name in ("prv_lower", "prv_estimate", "prv")}
    except subprocess.CalledProcessError as error:
        found["failed"] = why(error)
    return found


def machine() -> str:
    listing = Path("/proc/cpuinfo")
    text = listing.read_text() if listing.exists() else ""
    models = re.findall(r"^model name\s*:\s*(.+)$", text, re.M) or [platform.machine()]
    return f"{len(models)} × {models[0]}, Python {platform.python_version()}"


def tables(found: Found) -> str:
    """The epsilons and the CPU seconds, as Markdown."""
    steps, rows = found["job"]["steps"], found["rows"]
    head = "| " + " | ".join(["steps", *(f"{n:,}" for n in steps)]) + " |"
    rule = "|---" + "|---:" * len(steps) + "|"
    lines = [head, rule]
    for name, (words, rounding) in ROWS.items():
        cells = [
            "none" if cell is None else shown(cell[0], rounding) + mark(name, cell[0], least[0])
            for cell, least in zip(rows[name], rows["lower"], strict=True)
        ]
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    lines += ["", "† below letalone's certified lower bound, so certainly not a bound from above."]
    for count, failed in zip(steps, found["failed"], strict=True):
        lines += [f"{rival} at {count:,} steps: {reason}." for rival, reason in failed.items()]
    lines += ["", "CPU seconds:", "", head, rule]
    for name, words in TIMED.items():
        cells = ["none" if cell is None else f"{cell[1]:.2f}" for cell in rows[name]]
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "1000 Laplace releases of ε = 0.1 at δ = 1e-6:",
        "",
        *other_table(found["laplace"]),
    ]
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return "\n".join([*lines, "", f"{found['machine']}; {versions}."])


def other_table(found: Found) -> list[str]:
    names = [name for name in ROWS if name in found]
    cells = [
        shown(found[name], ROWS[name][1]) + mark(name, found[name], found["lower"])
        for name in names
    ]
    lines = [[ROWS[name][0] for name in names], ["---:"] * len(names), cells]
    return ["| " + " | ".join(line) + " |" for line in lines]


def shown(value: float, rounding: str) -> str:
    """Seven digits, bounds rounded to their safe side."""
    exact = Decimal(value)
    return f"{exact.quantize(Decimal(1).scaleb(min(0, exact.adjusted() - 6)), rounding):,}"


def mark(name: str, value: float, least: float) -> str:
    return " †" if value < least and ROWS[name][1] != DOWN and name != "truth" else ""


STYLES = {  # colour, dashes, width
    "upper": ("#0072b2", "-", 2.6),
    "lower": ("#0072b2", "-", 2.6),
    "pld": ("#c25400", "-", 1.5),
    "pld_lower": ("#c25400", "-", 1.5),
    "prv": ("#00805d", "-", 1.5),
    "prv_lower": ("#00805d", "-", 1.5),
    "rdp": ("#a34a8c", "-", 1.5),
    "basic": ("#6b6b6b", "-", 1.5),
    "advanced": ("#6b6b6b", (0, (5, 2)), 1.5),
    "limit": ("#8a6500", (0, (1.5, 1.5)), 1.8),
}
BESIDE = {  # what stands at the end of a curve in the lower panel
    "upper": "letalone, upper",
    "lower": "letalone, lower",
    "pld": "PLD, pessimistic",
    "pld_lower": "PLD, optimistic",
    "prv": "PRV, upper",
    "prv_lower": "PRV, lower",
    "rdp": "RDP",
    "limit": "central limit",
}
ABOVE = {  # what stands along a curve in the upper panel, where, and by how many points off
    "advanced": ("advanced composition", 3, (-8, 6), "right"),
    "basic": ("adding up ε and δ", 3, (10, -10), "left"),
    "rdp": ("RDP", 2, (-4, 6), "left"),
    "limit": ("central limit (not a bound)", 1, (10, -9), "left"),
    "upper": ("letalone, PLD and PRV:\nsee below", 4, (62, -42), "right"),
}
DARK = {
    "#ffffff": "#131416",
    "#222222": "#e6e6e6",
    "#dddddd": "#3a3d42",
    "#0072b2": "#4aa8e0",
    "#c25400": "#ff8a3d",
    "#00805d": "#2fc79a",
    "#a34a8c": "#d98cc4",
    "#6b6b6b": "#a0a0a0",
    "#8a6500": "#d9a520",
}
GAP = 12  # points between names


def draw(found: Found) -> None:
    """Epsilon over steps, and below it how far each is from the truth."""
    look = {"svg.fonttype": "none", "svg.hashsalt": "letalone", "font.size": 10}
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), "#222222")
    look |= ink | {"axes.edgecolor": "#dddddd", "grid.color": "#dddddd"}
    with mpl.rc_context(look):
        figure, (top, bottom) = plt.subplots(
            2, 1, figsize=(7.4, 8.4), sharex=True, height_ratios=(4, 5), layout="constrained"
        )
        figure.get_layout_engine().set(rect=(0.01, 0.0, 0.95, 1.0))  # room for wider fonts
        _epsilons(top, found)
        _distances(bottom, found)
        figure.savefig(FIGURE, metadata={"Date": None, "Creator": None}, facecolor="#ffffff")
    plt.close(figure)
    _follow_the_reader(FIGURE)


def _epsilons(axes: Axes, found: Found) -> None:
    for name, (words, place, offset, side) in ABOVE.items():
        points = _points(found, name)
        if not points:
            continue
        axes.plot(*zip(*points, strict=True), **_line(name))
        axes.annotate(
            words,
            points[min(place, len(points) - 1)],
            offset,
            textcoords="offset points",
            color=STYLES[name][0],
            ha=side,
            arrowprops={"arrowstyle": "-", "color": STYLES[name][0]} if offset[1] < -20 else None,
        )
    axes.set(xscale="log", yscale="log")
    axes.set_title("ε at δ = 0.00001, over the number of steps", loc="left", fontsize=11)
    _plain(axes)


def _distances(axes: Axes, found: Found) -> None:
    exact = dict(_points(found, "truth"))
    ends: list[tuple[float, float, str]] = []
    for name in BESIDE:
        points = [(n, value / exact[n] - 1) for n, value in _points(found, name)]
        if not points:
            continue
        axes.plot(*zip(*_cut(points), strict=True), **_line(name))
        ends.append((points[-1][1], points[-1][0], name))
    axes.axhline(0, color="#222222", linewidth=1)
    axes.set_yscale("symlog", linthresh=1e-6, linscale=0.5)
    axes.set(xscale="log", xlabel="steps", xlim=(0.8, 1.25e5), ylim=(-1.5, 5))
    axes.set_yticks([sign * 10.0**power for sign in (-1, 1) for power in range(-6, 1)] + [0])
    axes.yaxis.set_major_formatter(FuncFormatter(_percent))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.minorticks_off()
    axes.set_title("distance from the true ε", loc="left", fontsize=11)
    _plain(axes)
    _names(axes, sorted(ends))


def _cut(points: list[tuple[int, float]]) -> list[tuple[float, float]]:
    """A gap where a curve changes sides: on this axis the line there would mean nothing."""
    cut: list[tuple[float, float]] = []
    for point in points:
        if cut and cut[-1][1] * point[1] < 0:
            cut.append((point[0], math.nan))
        cut.append(point)
    return cut


def _names(axes: Axes, ends: list[tuple[float, float, str]]) -> None:
    """At the end of each curve, lowest first, pushed apart where they would meet."""
    axes.figure.draw_without_rendering()
    scale, last = 72 / axes.figure.dpi, -math.inf
    for height, steps, name in ends:
        natural = axes.transData.transform((steps, height))[1] * scale
        place = max(natural, last + GAP)
        axes.annotate(
            BESIDE[name],
            (steps, height),
            (8, place - natural),
            textcoords="offset points",
            color=STYLES[name][0],
            va="center",
            annotation_clip=False,
        )
        last = place


def _points(found: Found, name: str) -> list[tuple[int, float]]:
    pairs = zip(found["job"]["steps"], found["rows"][name], strict=True)
    return [(steps, cell[0]) for steps, cell in pairs if cell is not None]


def _line(name: str) -> Found:
    look = dict(zip(("color", "linestyle", "linewidth"), STYLES[name], strict=True))
    return look | {"marker": "o", "markersize": 3}


def _plain(axes: Axes) -> None:
    axes.grid(visible=True, which="major", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", length=0)


def _percent(value: float, _: object) -> str:
    return "0" if value == 0 else f"{100 * value:+g} %".replace("-", "−")


def _follow_the_reader(path: Path) -> None:
    """Dark colours for those whose screen is dark; the figure brings its own background."""
    rules = "".join(
        f'[style*="{part}: {light}"]{{{part}:{dark}!important}}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    text = path.read_text("utf-8")
    path.write_text(re.sub(r"(<svg[^>]*>)", rf"\1\n {style}", text, count=1), "utf-8")


def write_page(found: Found) -> None:
    """Put the tables between the two marks on the page."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{tables(found)}\n\n{MARKS[1]}{after}", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--draw", action="store_true")
    asked = parser.parse_args()
    numbers = json.loads(NUMBERS.read_text("utf-8")) if asked.draw else measure()
    NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
    draw(numbers)
    write_page(numbers)
    print(json.dumps(numbers) if asked.json else tables(numbers))
