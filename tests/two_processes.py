"""One of two processes that train together; it writes down what it saw. See test_team.py."""

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import Dataset, TensorDataset

import letalone as la
from letalone.learn.torch import Flat, PrivateTrainer
from letalone.learn.torch.steps import PrivateSteps
from seeded import SeededBits

torch.manual_seed(12)
DATA = torch.randn(300, 5).double(), torch.randint(0, 2, (300,))
STEPS, COINS = 20, 40
PIECE = 8  # of 30 units: six bins, three for each process
NOISE_SHAPE = (300, 100)


class Broken(Dataset):
    """Reads well, but for one of the processes."""

    def __init__(self, *, here):
        self.here, self.reads = here, 0

    def __len__(self):
        return 300

    def __getitem__(self, index):
        self.reads += 1
        if self.here and self.reads > 60:
            raise OSError("a private word")
        return DATA[0][index], DATA[1][index]


def trainer_of(distributed, *, seed=1, steps=STEPS, weights=5, model=None, **others):
    torch.manual_seed(weights)
    model = model or nn.Linear(5, 2, bias=False).double()
    settings = {"epsilon": 2, "delta": 1e-5, "rows": 300, "batch_size": 30, **others}
    trainer = PrivateTrainer(
        model,
        nn.CrossEntropyLoss(reduction="none"),
        epochs=steps / 10,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        physical_batch_size=PIECE,
        distributed=distributed,
        **settings,
    )
    trainer._bits = SeededBits(seed)
    return trainer


def one_run(rank, folder):
    banded = trainer_of(True, noise_bands=3).fit(DATA)
    independent = trainer_of(True).fit(DATA)
    return {"model": independent.model.weight.detach(), "banded": banded.model.weight.detach()}


def one_sum(rank, folder):
    trainer = trainer_of(True)
    with trainer.steps(DATA) as steps:
        return {"sum": steps._clipped_sums().total.clone()}


def one_noise(rank, folder):
    """On nobody: the seeds of both processes differ."""
    torch.manual_seed(0)
    model = nn.Linear(*NOISE_SHAPE)
    trainer = trainer_of(True, seed=5 + rank, model=model, clip=Flat(3))
    empty = TensorDataset(torch.zeros(0, NOISE_SHAPE[0]), torch.zeros(0, dtype=torch.int64))
    with trainer.steps(empty) as steps:
        next(steps)
    noise = torch.cat([p.grad.flatten() for p in model.parameters()]).double()
    return {"noise": noise * 30 / (3 * float(trainer.plan.noise))}


def coins(rank, folder):
    drawn, add = {}, PrivateSteps._add

    def look(self, piece, sums):
        drawn.setdefault(self.taken, []).extend(piece.places[piece.real].tolist())
        add(self, piece, sums)

    PrivateSteps._add = look
    trainer = trainer_of(True, seed=7 + rank, steps=COINS)
    with trainer.steps(DATA) as steps:
        assert [*steps][-1] == COINS
    PrivateSteps._add = add
    return {"drawn": [drawn.get(step, []) for step in range(1, COINS + 1)]}


def charged(rank, folder):
    account = la.learn.Account(la.Budget(2, 1e-5), name=f"people {rank}")
    trainer = trainer_of(True, budget=account).fit(DATA)
    found = {"fits": account.fits, "receipt": trainer.release_.receipt is not None}
    again = trainer_of(True, budget=account)
    return {**found, "refused": failure(again, DATA)}


def files(rank, folder):
    path = folder / f"of {rank}.pt"
    trainer_of(True, seed=3).fit(DATA, checkpoint=path, every=10)
    written, shared = path.exists(), folder / "run.pt"

    def stop(told):
        raise KeyboardInterrupt

    trainer = trainer_of(True)
    try:
        trainer.fit(DATA, checkpoint=shared, every=10, progress=stop)
    except (KeyboardInterrupt, la.LetaloneError):
        assert (rank == 0) == shared.exists() or shared.exists()
    dist.barrier()
    again = trainer_of(True, seed=9).fit(DATA, resume=shared)
    return {"written": written, "resumed": again.model.weight.detach()}


def refused(rank, folder):
    return {
        "other weights": failure(trainer_of(True, weights=rank), DATA)[0],
        "other plans": failure(trainer_of(True, epsilon=1 + rank), DATA)[0],
    }


def failed(rank, folder):
    def break_down():
        if rank == 0 and next(steps) == 0:
            raise ValueError("a private word")

    steps, other = iter([1, 1, 0]), trainer_of(True)
    other.optimizer.step = break_down
    return {
        "failed reading": failure(trainer_of(True), Broken(here=rank == 1)),
        "failed optimizer": failure(other, DATA),
    }


def own_loop(rank, folder):
    try:
        with trainer_of(True).steps(DATA) as steps:
            for step in steps:
                if step == 3 and rank == 1:
                    break
    except RuntimeError as error:
        return {"own loop": str(error)}
    return {"own loop": "left"}


def unsaid(rank, folder):
    try:
        trainer_of(None)
    except la.ParameterError as error:
        return {"unsaid": str(error)}


def failure(trainer, dataset):
    """What the error says, and whether the model is as it was."""
    before = trainer.model.weight.detach().clone()
    try:
        trainer.fit(dataset)
    except Exception as error:
        return repr(error), torch.equal(trainer.model.weight, before)
    return "nothing failed", False


def main():
    folder, rank = Path(sys.argv[1]), int(sys.argv[2])
    dist.init_process_group(
        "gloo", init_method=f"file://{folder / 'meet'}", rank=rank, world_size=2
    )
    seen = {}
    for part in (one_run, one_sum, one_noise, coins, charged, files, refused, failed, own_loop):
        seen |= part(rank, folder)
    seen |= unsaid(rank, folder)
    torch.save(seen, folder / f"{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
