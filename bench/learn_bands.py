"""What correlated noise is worth at the same (ε, δ): plain gradient descent on made-up rows.

    python bench/learn_bands.py

For 1, 2, 4 and 8 bands: the planned error of running sums against independent noise, and by how
much the loss of the trained model is above the best one's, as a mean over runs.
"""

from argparse import ArgumentParser
from math import sqrt
from statistics import fmean, stdev

import torch
from torch import nn

from letalone.learn.torch import Flat, PrivateTrainer

ROWS, WIDTH, BATCH = 60_000, 200, 120
PLANS = ((1, 2), (3, 2), (1, 10))  # epsilon, epochs


def rows():
    torch.manual_seed(1)
    inputs = torch.randn(ROWS, WIDTH) / sqrt(WIDTH)
    chance = torch.sigmoid(2 * inputs @ torch.randn(WIDTH))
    return inputs, torch.bernoulli(chance).long()


def trained(dataset, epsilon, epochs, bands, rate):
    model = nn.Linear(WIDTH, 2)
    nn.init.zeros_(model.weight)
    trainer = PrivateTrainer(
        model,
        nn.CrossEntropyLoss(reduction="none"),
        epsilon=epsilon,
        delta=1e-5,
        rows=ROWS,
        batch_size=BATCH,
        epochs=epochs,
        clip=Flat(0.5),
        noise_bands=bands,
        optimizer=torch.optim.SGD(model.parameters(), lr=rate),
    )
    return trainer.fit(dataset)


def loss(model, dataset):
    with torch.no_grad():
        return nn.CrossEntropyLoss()(model(dataset[0]), dataset[1]).item()


def best_loss(dataset):
    model = nn.Linear(WIDTH, 2)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=200)

    def closure():
        optimizer.zero_grad()
        found = nn.CrossEntropyLoss()(model(dataset[0]), dataset[1])
        found.backward()
        return found

    optimizer.step(closure)
    return loss(model, dataset)


def main():
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=4.0)
    given = parser.parse_args()
    dataset = rows()
    best = best_loss(dataset)
    print(f"best loss {best:.4f}, of nothing {torch.tensor(2.0).log():.4f}")
    for epsilon, epochs in PLANS:
        for bands in (1, 2, 4, 8):
            runs = [trained(dataset, epsilon, epochs, bands, given.rate) for _ in range(given.runs)]
            over = [loss(run.model, dataset) - best for run in runs]
            ratio = runs[0].plan.error_against_independent()
            print(
                f"ε = {epsilon}, {epochs} epochs, {bands} bands: error of sums {ratio:.2f},"
                f" loss above the best {fmean(over):.4f} ± {stdev(over) / sqrt(len(over)):.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
