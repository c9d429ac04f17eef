"""The data that models are measured on, encoded by declared bounds and values."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.learn import TableEncoder

Array = NDArray[Any]
BUNDLED_SEED = 7
NUMBERS: dict[str, object] = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 20000),
    "capital_loss": (0, 3000),
    "hours_per_week": (1, 80),
}
WORDS = {
    "workclass": """? Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc
        State-gov Without-pay""",
    "education": """10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors
        Doctorate HS-grad Masters Preschool Prof-school Some-college""",
    "marital_status": """Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent
        Never-married Separated Widowed""",
    "occupation": """? Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing
        Handlers-cleaners Machine-op-inspct Other-service Priv-house-serv Prof-specialty
        Protective-serv Sales Tech-support Transport-moving""",
    "relationship": "Husband Not-in-family Other-relative Own-child Unmarried Wife",
    "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
    "sex": "Female Male",
    "native_country": """? Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador
        El-Salvador England France Germany Greece Guatemala Haiti Holand-Netherlands Honduras
        Hong Hungary India Iran Ireland Italy Jamaica Japan Laos Mexico Nicaragua
        Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal Puerto-Rico Scotland South
        Taiwan Thailand Trinadad&Tobago United-States Vietnam Yugoslavia""",
}
# The survey's weight, fnlwgt, is left out.
ADULT = {**NUMBERS, **{name: words.split() for name, words in WORDS.items()}}


@dataclass(frozen=True, slots=True)
class Data:
    """Rows to learn from and rows to be tested on, with labels 0 and 1."""

    name: str
    train: Array
    train_labels: Array
    test: Array
    test_labels: Array
    norm: float
    groups: tuple[tuple[int, ...], ...]
    plain: "Data | None" = None  # the same rows without knots, for trees

    def save(self, path: Path) -> None:
        """For other environments: rows and labels without a type of ours."""
        rows = {"train": self.train, "test": self.test}
        labels = {"train_labels": self.train_labels, "test_labels": self.test_labels}
        np.savez(path, norm=self.norm, **rows, **labels)


def adult(path: Path, knots: int | None) -> Data:
    """Adult / Census Income from a Parquet file with a column `split`: train and test."""
    import pyarrow.parquet as pq

    plain = None if knots is None else adult(path, None)
    table = pq.read_table(path).to_pandas()
    encoder = TableEncoder(ADULT, knots)
    rows = encoder.transform(table)
    labels = (table["income"].astype(str) == ">50K").to_numpy(dtype=np.int64)
    train = (table["split"].astype(str) == "train").to_numpy()
    parts = rows[train], labels[train], rows[~train], labels[~train]
    return Data("Adult", *parts, encoder.norm, encoder.groups, plain)


def bundled() -> Data:
    """What comes with scikit-learn: 569 tumours, with bounds rounded from published ranges."""
    from sklearn.datasets import load_breast_cancer

    rows, labels = load_breast_cancer(return_X_y=True)
    upper = np.array([30, 40, 190, 2500, 0.2, 0.4, 0.5, 0.2, 0.3, 0.1] * 3)
    upper[10:20] = [3, 5, 22, 550, 0.04, 0.2, 0.4, 0.06, 0.08, 0.03]
    upper[20:] = [40, 50, 260, 4300, 0.3, 1.1, 1.3, 0.3, 0.7, 0.3]
    encoder = TableEncoder({f"feature {i}": (0, float(upper[i])) for i in range(30)})
    order = np.random.default_rng(BUNDLED_SEED).permutation(len(labels))
    train, test = order[:400], order[400:]
    places = encoder.transform(rows)
    parts = places[train], labels[train], places[test], labels[test]
    return Data("breast cancer", *parts, encoder.norm, encoder.groups)
