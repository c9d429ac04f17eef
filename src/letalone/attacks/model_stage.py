"""Made-up people to train models on: a study that asks more questions than it has people.

As studies of genes do, and as advertisers' tables do. Nobody in it exists.

  Tested:   tests/attacks/test_membership.py, test_inversion.py
"""

import numpy as np

from letalone.attacks.stage import as_table
from letalone.engines import arrow

GENES, SHARES = np.array(["AA", "AG", "GG"]), (0.5, 0.3, 0.2)
TARGET, OUTCOME, SENSITIVE = "income", "dose", "gene"


def study(people: int = 100, *, answers: int = 150, seed: int = 2014) -> arrow.Table:
    """Yes-or-no answers, a gene, the dose of a drug that it calls for, and an income."""
    generator = np.random.default_rng(seed)
    said = generator.random((people, answers)) < generator.uniform(0.2, 0.8, answers)
    sides = np.where(said, 1.0, -1.0)
    gene = generator.choice(len(GENES), people, p=SHARES)
    dose, earned = (
        sides @ generator.normal(size=answers) / np.sqrt(answers) + generator.normal(size=people)
        for _ in range(2)
    )
    columns = {f"answer_{number + 1}": said[:, number] for number in range(answers)}
    income = np.where(earned > np.median(earned), "high", "low")
    return as_table(
        {**columns, SENSITIVE: GENES[gene], OUTCOME: 30 + 5 * dose - 4 * gene, TARGET: income}
    )
