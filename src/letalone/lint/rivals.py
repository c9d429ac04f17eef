"""Known faults of other libraries, seen in the way they are called."""

import ast
from collections.abc import Iterator

from letalone.lint.finding import Found
from letalone.lint.names import Script, keyword

REGRESSION = "diffprivlib.models.LinearRegression"
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "cross_val_score", "cross_validate")
KMEANS = "diffprivlib.models.KMeans"
EXACT = ("labels_", "inertia_")
ENGINE = "opacus.PrivacyEngine"
WEIGHTED = "torch.utils.data.WeightedRandomSampler"


def unit_bounds(script: Script) -> Iterator[Found]:
    """A regression on data in [0, 1]: its matrix gets no noise on the diagonal."""
    for node, name in script.calls():
        if not _is(name, REGRESSION):
            continue
        bounds = keyword(node, "bounds_X") or (node.args[1] if len(node.args) > 1 else None)
        if bounds is None:
            yield node, "Without bounds_X the bounds are read off the data, which leaks as well."
        elif _is_unit(script, bounds):
            yield node, f"Here: bounds_X={ast.unparse(bounds)}."


def copied_accountant(script: Script) -> Iterator[Found]:
    """A search over an estimator of diffprivlib: every clone has an accountant of its own."""
    for node, name in script.calls():
        is_search = name.startswith("sklearn.model_selection.") and name.endswith(SEARCHES)
        estimator = keyword(node, "estimator") or (node.args[0] if node.args else None)
        if is_search and estimator is not None and _has_rival(script, estimator):
            yield node, f"Here: {name.split('.')[-1]}."


def exact_clusters(script: Script) -> Iterator[Found]:
    """`labels_` and `inertia_` of a private k-means, which are exact."""
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Attribute) and node.attr in EXACT:
            name = script.full_name(node.value).replace("().fit()", "()")
            if _is(name.removesuffix("()"), KMEANS):
                yield node, f"Here: {node.attr}."


def weighted_sampler(script: Script) -> Iterator[Found]:
    """A weighted sampler in a script that trains with Opacus."""
    if not any(name.startswith("opacus.") for name in script.imported.values()):
        return
    for node, name in script.calls():
        if name in (WEIGHTED, "torch.utils.data.sampler.WeightedRandomSampler"):
            yield node, ""


def insecure_mode(script: Script) -> Iterator[Found]:
    """A privacy engine without secure_mode=True: noise is torch's float Gaussian."""
    for node, name in script.calls():
        if not _is(name, ENGINE):
            continue
        mode = keyword(node, "secure_mode")
        if not (isinstance(mode, ast.Constant) and mode.value is True):
            yield node, ""


def central_limit(script: Script) -> Iterator[Found]:
    """A privacy engine that accounts by the central limit theorem."""
    for node, name in script.calls():
        accountant = keyword(node, "accountant")
        is_gdp = isinstance(accountant, ast.Constant) and accountant.value == "gdp"
        if _is(name, ENGINE) and is_gdp:
            yield node, ""


def _is(name: str, wanted: str) -> bool:
    """Whether this is the class, imported from its package or from a module within it."""
    package, _, last = wanted.rpartition(".")
    return name.startswith(f"{package.split('.')[0]}.") and name.split(".")[-1] == last


def _is_unit(script: Script, bounds: ast.expr) -> bool:
    if isinstance(bounds, ast.Name):
        bounds = script.assigned.get(bounds.id, bounds)
    if not isinstance(bounds, ast.Tuple | ast.List):
        return False
    return [script.number(end) for end in bounds.elts] == [0, 1]


def _has_rival(script: Script, estimator: ast.expr) -> bool:
    if isinstance(estimator, ast.Name):
        estimator = script.assigned.get(estimator.id, estimator)
    inside = (script.full_name(node) for node in ast.walk(estimator))
    return any(name.startswith("diffprivlib.models.") for name in inside)
