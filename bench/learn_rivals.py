"""The same encoded rows given to rivals, each in an environment of its own.

Both are tuned in their favour: of several configurations the one with the best mean accuracy
*on the test set* is taken, for each ε anew. diffprivlib has no δ, so its promise is the stronger
one. Opacus accounts with its own `prv` accountant, under Poisson sampling as we do.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers import run_in

TIMEOUT_SECONDS = 5400

START = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
data = np.load("@path")
X, y, norm = data["train"], data["train_labels"], float(data["norm"])
test, answers = data["test"], data["test_labels"]
EPSILONS, DELTA, SEEDS = @epsilons, @delta, @seeds
"""

END = """
found = {"version": VERSION, "seeds": SEEDS, "by_epsilon": {}}
for epsilon in EPSILONS:
    tried = []
    for setting in SETTINGS:
        start = time.process_time()
        scores = [fitted(epsilon, seed, *setting) for seed in range(SEEDS)]
        seconds = (time.process_time() - start) / SEEDS
        tried.append({"setting": setting, "scores": scores, "seconds": seconds})
    found["by_epsilon"][str(epsilon)] = tried
    print(epsilon, [(t["setting"], np.mean(t["scores"]), t["seconds"]) for t in tried],
          file=sys.stderr, flush=True)
print(json.dumps(found))
"""

DIFFPRIVLIB = """
import diffprivlib
from diffprivlib.models import LogisticRegression
VERSION = diffprivlib.__version__
SETTINGS = [(C,) for C in (0.0001, 0.001, 0.01, 0.1, 1.0)]

def fitted(epsilon, seed, C):
    model = LogisticRegression(epsilon=epsilon, data_norm=norm, C=C, max_iter=1000,
                               random_state=seed)
    return float(np.mean(model.fit(X, y).predict(test) == answers))
"""

OPACUS = """
import opacus, torch
torch.set_num_threads(1)
VERSION = f"{opacus.__version__}, torch {torch.__version__}"
# (rows in a batch on average, epochs, step, clip)
SETTINGS = [(256, 5, 0.5, 1.0), (1024, 15, 2.0, 1.0), (4096, 30, 4.0, 1.0)]
rows = torch.utils.data.TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))

def fitted(epsilon, seed, batch, epochs, step, clip):
    torch.manual_seed(seed)
    model = torch.nn.Linear(X.shape[1], 2)
    torch.nn.init.zeros_(model.weight), torch.nn.init.zeros_(model.bias)
    loader = torch.utils.data.DataLoader(rows, batch_size=min(batch, len(y)))
    model, optimizer, loader = opacus.PrivacyEngine(accountant="prv").make_private_with_epsilon(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=step), data_loader=loader,
        target_epsilon=epsilon, target_delta=DELTA, epochs=epochs, max_grad_norm=clip)
    for _ in range(epochs):
        for features, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(features), labels).backward()
            optimizer.step()
    with torch.no_grad():
        said = model(torch.tensor(test, dtype=torch.float32)).argmax(dim=1).numpy()
    return float(np.mean(said == answers))
"""


@dataclass(frozen=True, slots=True)
class Rival:
    name: str
    requirement: str
    script: str
    most_seeds: int  # what it manages in a few minutes


RIVALS = [
    # Newer versions of scikit-learn took away what it calls.
    Rival("diffprivlib", "diffprivlib==0.6.6 scikit-learn<1.7 setuptools", DIFFPRIVLIB, 10),
    Rival("Opacus DP-SGD", "torch==2.13.0 opacus==1.6.0", OPACUS, 5),
]


def asked(
    rival: Rival, path: Path, epsilons: list[float], *, delta: float, seeds: int
) -> dict[str, Any]:
    """Scores of every configuration by ε, or {"failed": why}."""
    filled = {
        "@path": str(path),
        "@epsilons": str(epsilons),
        "@delta": str(delta),
        "@seeds": str(min(seeds, rival.most_seeds)),
    }
    print(f"{rival.name} …", file=sys.stderr)
    start = START
    for name, value in filled.items():
        start = start.replace(name, value)
    try:
        script = start + rival.script + END
        return run_in(rival.requirement, script, timeout_seconds=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {TIMEOUT_SECONDS} s"}
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or "it does not install").strip().splitlines()
        return {"failed": lines[-1][:200]}


def measure_rivals(
    path: Path, epsilons: list[float], *, delta: float, seeds: int
) -> dict[str, dict[str, Any]]:
    """Each rival's version and scores."""
    return {rival.name: asked(rival, path, epsilons, delta=delta, seeds=seeds) for rival in RIVALS}
