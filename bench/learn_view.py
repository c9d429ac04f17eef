"""What `bench/learn.py` found, as text."""

from typing import Any

import numpy as np

WITHIN = 0.002  # of the model without privacy, from ε = 1 on
FIT_SECONDS = 2.0
TREES = 0.84  # at ε = 1 on Adult
AUTO, BOOSTED = "LogisticRegression, auto", "BoostedTreesClassifier"


def show(result: dict[str, Any]) -> None:
    print(f"{result['machine']}\n{result['data']}; δ = 1e-5; mean of {result['fits']} fits")
    epsilons = list(result["ours"][AUTO])
    print(
        f"\n{'test accuracy by ε':40}"
        + "".join(f"{epsilon:>9}" for epsilon in epsilons)
        + "  fit s"
    )
    for name, found in result["ours"].items():
        means = "".join(f"{mean(found[epsilon]):9.4f}" for epsilon in epsilons)
        seconds = max(found[epsilon]["seconds"] for epsilon in epsilons)
        print(f"{name:40}{means}{seconds:7.2f}")
        print(f"{'  ± of the mean':40}" + "".join(f"{spread(found[e]):9.4f}" for e in epsilons))
    for name, found in result["rivals"].items():
        show_rival(name, found, epsilons)
    for name, found in result["plain"].items():
        print(f"{f'{name}, not private':40}{mean(found):9.4f}{'':36}{found['seconds']:7.2f}")
    print(f"{'the larger class':40}{result['majority']:9.4f}")
    if result["large"]:
        show_goals(result, epsilons)


def show_rival(name: str, found: dict[str, Any], epsilons: list[str]) -> None:
    if "failed" in found:
        print(f"{name:40}{found['failed']}")
        return
    best = [best_of(found, epsilon) for epsilon in epsilons]
    title = f"{name} {found['version']}"
    seconds = max(one["seconds"] for one in best)
    print(f"{title:40}" + "".join(f"{mean(one):9.4f}" for one in best) + f"{seconds:7.2f}")
    settings = "".join(f"{one['setting'][0]:>9}" for one in best)
    tried = len(found["by_epsilon"][epsilons[0]])
    words = f"  best of {tried} on the test set, {found['seeds']} fits"
    print(f"{words:40}{settings}")


def show_goals(result: dict[str, Any], epsilons: list[str]) -> None:
    ours, plain = result["ours"], mean(result["plain"]["LogisticRegression"])
    print("\ngoals")
    answered = {name: one for name, one in result["rivals"].items() if "failed" not in one}
    for epsilon in epsilons:
        auto = mean(ours[AUTO][epsilon])
        if answered:
            best = max(mean(best_of(one, epsilon)) for one in answered.values())
            said(f"ε = {epsilon}: auto {auto:.4f}, best rival {best:.4f}", holds=auto >= best)
        if float(epsilon) >= 1:
            words = f"ε = {epsilon}: auto {auto:.4f} within {WITHIN} of {plain:.4f}"
            said(words, holds=auto >= plain - WITHIN)
    seconds = max(ours[AUTO][epsilon]["seconds"] for epsilon in epsilons)
    said(f"a fit of auto takes {seconds:.2f} s, asked {FIT_SECONDS}", holds=seconds < FIT_SECONDS)
    grown = mean(ours[BOOSTED]["1"])
    said(f"ε = 1: trees {grown:.4f}, asked {TREES}", holds=grown >= TREES)


def said(words: str, *, holds: bool) -> None:
    print(f"  {'yes' if holds else 'NO ':4} {words}")


def best_of(found: dict[str, Any], epsilon: str) -> dict[str, Any]:
    return max(found["by_epsilon"][epsilon], key=mean)


def mean(found: dict[str, Any]) -> float:
    return float(np.mean(found["scores"]))


def spread(found: dict[str, Any]) -> float:
    """The standard error of the mean."""
    scores = found["scores"]
    return float(np.std(scores, ddof=1) / len(scores) ** 0.5) if len(scores) > 1 else 0.0
