"""What correlated noise is worth at the same (ε, δ): plain gradient descent on made-up rows,
from a model of a few public ones.

    python bench/learn_bands.py

For 1 and 4 bands: the planned error of running sums against independent noise, and by how
much the loss of the trained model is above the best one's, as a mean over runs.
"""

from argparse import ArgumentParser
from math import sqrt
from statistics import fmean, stdev

import torch
from torch import nn

from letalone.learn.torch import Flat, PrivateTrainer

ROWS, WIDTH, BATCH = 12_000, 50, 60
PUBLIC = 1_000
PLANS = ((3, 2), (1, 2))  # epsilon, epochs


def rows():
    torch.manual_seed(1)
    inputs = torch.randn(ROWS + PUBLIC, WIDTH) / sqrt(WIDTH)
    chance = torch.sigmoid(2 * inputs @ torch.randn(WIDTH))
    labels = torch.bernoulli(chance).long()
    return (inputs[:ROWS], labels[:ROWS]), (inputs[ROWS:], labels[ROWS:])


def trainer_of(epsilon, epochs, bands, rate):
    model = nn.Linear(WIDTH, 2)
    return PrivateTrainer(
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


def loss_after(trainer, dataset, start):
    """The loss on all rows after a run; no budget is charged here."""
    trainer.model.load_state_dict(start.state_dict())
    return loss(trainer.fit(dataset).model, dataset)


def loss(model, dataset):
    with torch.no_grad():
        return nn.CrossEntropyLoss()(model(dataset[0]), dataset[1]).item()


def best_of(dataset):
    model = nn.Linear(WIDTH, 2)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=200)

    def closure():
        optimizer.zero_grad()
        found = nn.CrossEntropyLoss()(model(dataset[0]), dataset[1])
        found.backward()
        return found

    optimizer.step(closure)
    return model


def main():
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=2.0)
    given = parser.parse_args()
    torch.set_num_threads(1)  # such small products are slower with more
    dataset, public = rows()
    start, best = best_of(public), loss(best_of(dataset), dataset)
    print(f"best loss {best:.4f}, of the public rows' model {loss(start, dataset):.4f}")
    for epsilon, epochs in PLANS:
        for bands in (1, 4):
            trainer = trainer_of(epsilon, epochs, bands, given.rate)
            over = [loss_after(trainer, dataset, start) - best for _ in range(given.runs)]
            ratio = trainer.plan.error_against_independent()
            print(
                f"ε = {epsilon}, {epochs} epochs, {bands} bands: error of sums {ratio:.2f},"
                f" loss above the best {fmean(over):.4f} ± {stdev(over) / sqrt(len(over)):.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
