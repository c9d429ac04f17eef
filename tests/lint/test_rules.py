"""Every rule sees its slip, and is silent about the remedy and about what only looks like it."""

import pytest

from letalone.errors import ParameterError
from letalone.lint import RULES, lint, lint_text

HEAD = "import numpy as np\nimport random\nimport letalone as la\nimport diffprivlib as dp\n"
OPACUS = "from opacus import PrivacyEngine\nfrom torch.utils import data\n"
SKLEARN = (
    "from sklearn.compose import make_column_transformer\n"
    "from sklearn.impute import SimpleImputer\n"
    "from sklearn.linear_model import LinearRegression\n"
    "from sklearn.pipeline import Pipeline, make_pipeline\n"
    "from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler\n"
)

SLIPS: dict[str, list[str]] = {
    "LA001": [
        "x = total + np.random.laplace(0, 1)",
        "x = np.random.normal(0, 1, size=3) + total",
        "x = total - 2 * np.random.standard_normal()",
        "rng = np.random.default_rng(3)\nx = total + rng.laplace(0, 1)",
        "from numpy.random import RandomState\nx = total + RandomState(0).normal()",
        "noise = np.random.laplace(0, 1)\nx = total + noise",
        "total += random.gauss(0, 1)",
        "from scipy.stats import laplace as law\nx = total + law.rvs(0, 1)",
        "from scipy import stats\nlaw = stats.norm(0, 1)\nx = total + law.rvs()",
        "import torch\nx = gradient + sigma * torch.randn(3)",
        "def f(v):\n    return sum(v) + np.random.laplace(scale=1 / 2)",
        "x = np.random.laplace(total, 1 / e)",
        "x = np.random.laplace(scale=1 / e, loc=total)",
        "x = random.gauss(total, 1)",
        "x = np.random.multivariate_normal(totals, np.eye(3))",
        "from scipy import stats\nx = stats.norm.rvs(total, 1)",
        "x = np.add(total, np.random.laplace(0, 1))",
        "x = sum([total, np.random.laplace(0, 1)])",
        "import math\nx = math.fsum((total, np.random.laplace(0, 1)))",
        "def f(v, rng):\n    return v + rng.laplace(0, 1)",
        "def f(v, source: np.random.Generator):\n    return v + source.normal(0, 1)",
        "class A:\n    def __init__(self):\n        self.rng = np.random.default_rng()\n\n"
        "    def f(self, v):\n        return v + self.rng.laplace(0, 1)",
        "x = total + random.SystemRandom().gauss(0, 1)",
        "x = total + np.random.multivariate_normal([0, 0], np.eye(2))",
        "x = total + (np.random.exponential(1) - np.random.exponential(1))",
        "import jax\nx = total + jax.random.laplace(key)",
    ],
    "LA002": [
        "s = np.sqrt(2 * np.log(1.25 / delta)) / 1",
        "e = 3.0\ns = 2 * np.sqrt(2 * np.log(1.25 / delta)) / e",
        "import math\ndef f(e, d):\n    return math.sqrt(2 * math.log(1.25 / d)) / e",
        "from math import log, sqrt\ns = sqrt(2 * log(1.25 / 1e-5))",
        "s = (2 * np.log(1.25 / d)) ** 0.5 / eps",
        "s = (2 * np.log(1.25 / d)) ** (1 / 2) / 3",
        "s = np.power(2 * np.log(1.25 / d), 0.5)",
    ],
    "LA003": [
        "for c in cs:\n    la.Laplace(epsilon=1, sensitivity=1).release(c)",
        "while more:\n    table.count().release(epsilon=0.1)",
        "x = [table.count().release(epsilon=e) for c in cs]",
        "for c in cs:\n    dp.tools.mean(c, epsilon=0.5)",
        "for c in cs:\n    table.release(epsilon=2 * 1.0)",
        "for c in cs:\n    table.release(epsilon=e * len(cs))",
    ],
    "LA004": [
        "for c in cs:\n    a = dp.BudgetAccountant(1)",
        "while True:\n    b = la.Budget(epsilon=1)",
    ],
    "LA005": [
        "x = la.Laplace(epsilon=1, sensitivity=1).release(total / len(rows))",
        "n = len(rows)\nx = la.Laplace(epsilon=1, sensitivity=1 / n).release(total / n)",
        "m = total / frame.shape[0]\nx = la.Gaussian(sigma=1, sensitivity=1).release(m)",
        "x = dp.mechanisms.Laplace(epsilon=1, sensitivity=1).randomise(total / max(1, len(rows)))",
        "x = law.release((a * b).sum() / mask.sum())",
    ],
    "LA006": [
        SKLEARN + "make_pipeline(StandardScaler(), la.learn.LogisticRegression(epsilon=1))",
        SKLEARN + "s = StandardScaler()\nm = la.learn.GaussianNB(epsilon=1)\nmake_pipeline(s, m)",
        SKLEARN + "Pipeline([('a', OneHotEncoder()), ('b', la.learn.LinearSVC(epsilon=1))])",
        SKLEARN
        + "make_pipeline(make_column_transformer((StandardScaler(), a), (OneHotEncoder(), b)),"
        " la.learn.LogisticRegression(epsilon=1, data_norm=5))",
        SKLEARN + "x = StandardScaler().fit_transform(x)\n"
        "la.learn.LogisticRegression(epsilon=1).fit(x, y)",
        SKLEARN + "s = StandardScaler()\nz = s.fit_transform(x)\nm = dp.models.GaussianNB(1)\n"
        "m.fit(z, y)",
    ],
    "LA101": [
        "from diffprivlib.models import LinearRegression\nLinearRegression(bounds_X=(0, 1))",
        "from diffprivlib.models import LinearRegression\nb = (0.0, 1.0)\n"
        "LinearRegression(1, b, b)",
        "dp.models.LinearRegression(epsilon=1)",
    ],
    "LA102": [
        "from sklearn.model_selection import GridSearchCV\n"
        "GridSearchCV(dp.models.LogisticRegression(epsilon=1), {})",
        "from sklearn.model_selection import cross_val_score\n"
        "m = dp.models.GaussianNB(epsilon=1)\ncross_val_score(estimator=m)",
    ],
    "LA103": [
        "m = dp.models.KMeans(3)\nm.fit(x)\nprint(m.labels_)",
        "from diffprivlib.models import KMeans\nprint(KMeans(3).fit(x).inertia_)",
    ],
    "LA104": [OPACUS + "s = data.WeightedRandomSampler(w, 10)"],
    "LA105": [OPACUS + "PrivacyEngine()", OPACUS + "PrivacyEngine(secure_mode=False)"],
    "LA106": [OPACUS + "PrivacyEngine(secure_mode=True, accountant='gdp')"],
    "LA107": [
        OPACUS + "for i, batch in enumerate(loader):\n    loss(batch).backward()\n"
        "    if (i + 1) % 4 == 0:\n        optimizer.step()\n        optimizer.zero_grad()",
        OPACUS + "trainer = Trainer(accumulate_grad_batches=4)",
        OPACUS + "TrainingArguments(gradient_accumulation_steps=8)",
    ],
}
REMEDIES: dict[str, list[str]] = {
    "LA001": [
        "x = la.Laplace(epsilon=1, sensitivity=1).release(total)",
        "sample = np.random.normal(0, 1, 100)",
        "x = 3 + np.random.normal(0, 1)",
        "x = total + np.random.permutation(3)",
        "class rng:\n    pass\nx = total + rng.laplace(0, 1)",
        "x = total * np.random.normal()",
        "x = np.random.laplace(-1, 1)",
        "mu = 0\nx = np.random.normal(mu, 1)",
        "sample = np.random.normal(mean, 1, 100)",
        "x = np.random.multivariate_normal([0, 0], np.eye(2))",
        "x = np.random.multivariate_normal(np.zeros(3), np.eye(3))",
        "import jax\nnoise = jax.random.normal(key)",
        "x = np.random.exponential(total)",
        "x = sum([1, np.random.laplace(0, 1)])",
        "x = max([total, np.random.laplace(0, 1)])",
    ],
    "LA002": [
        "e = 0.5\ns = np.sqrt(2 * np.log(1.25 / delta)) / e",
        "s = np.sqrt(2 * np.log(1 / delta))",
        "e = 0.5\ns = (2 * np.log(1.25 / delta)) ** 0.5 / e",
        "s = (2 * np.log(1.25 / delta)) ** 2",
        "la.Gaussian(epsilon=3, delta=1e-6, sensitivity=1)",
    ],
    "LA003": [
        "la.Laplace(epsilon=1, sensitivity=1)",
        "for c in cs:\n    la.Laplace(epsilon=1 / len(cs), sensitivity=1)",
        "each = 1 / 10\nfor c in cs:\n    table.release(epsilon=each)",
        "for c in cs:\n    table.release(epsilon=0.1 * total)",
        "for c in cs:\n    def f():\n        return table.release(epsilon=1)",
        "for c in table.release(epsilon=1):\n    print(c)",
        "for c in cs:\n    plot(epsilon=1)",
        "for c in cs:\n    pass\nelse:\n    table.release(epsilon=1)",
        "x = [row for row in table.release(epsilon=1)]",
    ],
    "LA004": ["b = la.Budget(epsilon=1)\nfor c in cs:\n    print(b)"],
    "LA005": [
        "x = law.release(total) / law.release(len(rows))",
        "x = law.release(total / 100)",
        "n = 5\nx = law.release(total / n)",
        "x = total / len(rows)",
        "x = law.release(total)",
    ],
    "LA006": [
        SKLEARN
        + "la.learn.make_pipeline(la.learn.TableEncoder(c), la.learn.GaussianNB(epsilon=1))",
        SKLEARN + "make_pipeline(StandardScaler(), LinearRegression())",
        SKLEARN
        + "make_pipeline(la.learn.StandardScaler(epsilon=1), la.learn.GaussianNB(epsilon=1))",
        SKLEARN + "make_pipeline(OneHotEncoder(categories=[[1]]), la.learn.GaussianNB(epsilon=1))",
        SKLEARN + "make_pipeline(Normalizer(), la.learn.GaussianNB(epsilon=1))",
        SKLEARN
        + "make_pipeline(SimpleImputer(strategy='constant'), la.learn.GaussianNB(epsilon=1))",
        "la.learn.GaussianNB(epsilon=1).fit(x, y)",
        SKLEARN + "make_pipeline()",
    ],
    "LA101": [
        "from diffprivlib.models import LinearRegression\nLinearRegression(bounds_X=(-1, 1))",
        "from letalone.learn import LinearRegression\nLinearRegression(bounds_X=(0, 1))",
    ],
    "LA102": [
        "from sklearn.model_selection import GridSearchCV\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "GridSearchCV(LogisticRegression(), {})"
    ],
    "LA103": [
        "m = dp.models.KMeans(3)\nprint(m.cluster_centers_)",
        "from sklearn.cluster import KMeans\nprint(KMeans(3).fit(x).labels_)",
    ],
    "LA104": ["from torch.utils import data\ndata.WeightedRandomSampler(w, 10)"],
    "LA105": [OPACUS + "PrivacyEngine(secure_mode=True)"],
    "LA106": [OPACUS + "PrivacyEngine(secure_mode=True, accountant='prv')"],
    "LA107": [
        OPACUS + "for i, batch in enumerate(loader):\n    loss(batch).backward()\n"
        "    optimizer.step()\n    if i % 100 == 0:\n        print(i)",
        "for i, batch in enumerate(loader):\n    loss(batch).backward()\n"
        "    if (i + 1) % 4 == 0:\n        optimizer.step()",
        OPACUS + "from opacus.utils.batch_memory_manager import BatchMemoryManager\n"
        "for i, batch in enumerate(loader):\n    loss(batch).backward()\n"
        "    if (i + 1) % 4 == 0:\n        optimizer.step()",
        OPACUS + "Trainer(accumulate_grad_batches=1)",
        OPACUS + "for i, batch in enumerate(loader):\n    loss(batch).backward()\n"
        "    optimizer.signal_skip_step(i % 4)\n    if i % 4 == 0:\n        optimizer.step()",
    ],
}


def codes(text: str) -> set[str]:
    return {finding.code for finding in lint_text(HEAD + text)}


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(code, text) for code, texts in table.items() for text in texts]


def test_every_rule_has_a_slip_and_a_remedy_here() -> None:
    assert [rule.code for rule in RULES] == sorted(SLIPS) == sorted(REMEDIES)


@pytest.mark.parametrize(("code", "text"), cases(SLIPS))
def test_the_slip_is_seen_by_this_rule_alone(code: str, text: str) -> None:
    assert codes(text) == {code}


@pytest.mark.parametrize(("code", "text"), cases(REMEDIES))
def test_the_remedy_is_not_flagged(code: str, text: str) -> None:
    assert code not in codes(text)


def test_float_noise_after_a_division_is_two_slips() -> None:
    assert codes("x = total / len(rows) + np.random.laplace(0, 1 / e)") == {"LA001", "LA005"}


def test_a_finding_stands_where_an_editor_would_put_it() -> None:
    (found,) = lint_text(HEAD + "x = (\n  total + np.random.laplace())", file="a.py")
    assert (found.place, found.code) == ("a.py:6:3", "LA001")
    assert str(found).startswith("a.py:6:3: LA001 Floating-point noise")
    assert found.to_json()["remedy"] == found.remedy


def test_findings_come_in_the_order_of_the_file() -> None:
    text = "s = np.sqrt(2 * np.log(1.25 / d)) / 2\nx = total + np.random.laplace()"
    assert [found.code for found in lint_text(HEAD + text)] == ["LA002", "LA001"]


@pytest.mark.parametrize("silence", ["# noqa", "#noqa: LA001", "# noqa: E501, LA001"])
def test_a_line_can_be_silenced(silence: str) -> None:
    assert codes(f"x = total + np.random.laplace()  {silence}") == set()


@pytest.mark.parametrize("odd", ["\u2028", "\x0c", "\x1c", "\x85"])
def test_a_comment_silences_its_own_line_whatever_a_text_holds(odd: str) -> None:
    """Python ends lines at fewer characters than str.splitlines does."""
    text = f"x = 'a{odd}b'\nz = 1  # noqa\ny = total + np.random.laplace()\n"
    assert codes(text) == {"LA001"}
    assert codes(text.replace("\n", "\r\n")) == {"LA001"}
    assert codes(f"x = 'a{odd}b'\ny = total + np.random.laplace()  # noqa\n") == set()


def test_another_code_silences_nothing() -> None:
    assert codes("x = total + np.random.laplace()  # noqa: LA002") == {"LA001"}


def test_nothing_of_the_script_runs_and_names_that_go_in_circles_end() -> None:
    assert codes("raise SystemExit(3)") == set()
    assert codes("a = b\nb = a\nx = a + b.laplace()") == set()


def test_an_encoding_is_read_as_python_does(tmp_path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\n# \xe9\n".encode("latin-1"))
    assert lint(path) == []


@pytest.mark.parametrize("content", [b"x = (", b"\xff\xfe\x00", b"x = '\x00'"])
def test_what_is_not_python_is_refused_without_quoting_it(tmp_path, content: bytes) -> None:
    path = tmp_path / "odd.py"
    path.write_bytes(content)
    with pytest.raises(ParameterError, match="is not"):
        lint(path)
