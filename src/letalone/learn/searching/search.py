"""Choosing the parameters of a model, and paying for it.

    search = PrivateSearchCV(
        LogisticRegression(data_norm=4, classes=[0, 1]), {"regularization": [1, 10]}, epsilon=1
    )

Each row is put, by a coin of its own, into a part to learn from or a part to judge by, so what is
done with the two costs the larger of both and not the sum. Every candidate is trained privately on
the first part. Only the winner leaves, with a noisy score.

Two ways, both proven; the one that leaves each model the larger epsilon is taken, and said.
*every*: all candidates are trained and composed, and the winner is chosen by the exponential
mechanism. *random*: a random number of tries (`random_tries`), each with a noisy score.

Theorem.  The search is (epsilon, delta)-DP for one row more or less.
  Proven:   docs/explanation/proofs/tuning.md
  Tested:   tests/learn/test_search.py, test_judging.py
  Assumed:  the coins are secret and fresh; each candidate's plan keeps its (epsilon, delta); what
            a model predicts for a row does not depend on other rows (`judging`)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Self, cast

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, DELTA, EPSILON, PROBABILITY, Number, refusal
from letalone.learn import scikit
from letalone.learn.account import Account
from letalone.learn.plan import FitPlan, FitRecord, Released
from letalone.learn.searching.judging import Score
from letalone.learn.searching.random_tries import RandomTries, tries_for
from letalone.learn.searching.search_plan import Candidate, SearchPlan
from letalone.learn.training import PrivateEstimator
from letalone.privacy import Budget, compose

SEARCH_METHODS = ("auto", "every", "random")
MAX_CANDIDATES = 1000
# So much more epsilon for each model makes up for candidates that are never tried.
EPSILON_WORTH = 2
# Composing exactly leaves each of m models about √m times more than epsilon / m.
SAVINGS = (Fraction(13, 10), Fraction(1), Fraction(8, 10), Fraction(6, 10))


class PrivateSearchCV(PrivateEstimator):
    """Tries parameters of a private estimator, and publishes the best model at one price.

    `estimator` is one of letalone's classifiers or regressors; its epsilon and delta are set by
    the search, and it has no budget of its own. `param_grid` lists values by parameter, or is a
    list of such grids; or `param_distributions` are drawn from `n_iter` times, by `random_state`,
    in public. `validation` is the share of rows to judge by, `tries` the mean number of tries.

    After fit: `best_estimator_`, `best_params_`, `best_index_`, `best_score_` and the standard
    error of its noise, `best_score_error_`. The winner has seen the part to learn from alone;
    to fit it once more is charged to the search's budget.
    """

    _needs_labels = True
    best_estimator_: Any
    best_params_: dict[str, object]
    best_score_: float
    best_score_error_: float
    best_index_: int

    def __init__(
        self,
        estimator: PrivateEstimator,
        param_grid: Any = None,
        *,
        param_distributions: Any = None,
        n_iter: int = 10,
        random_state: int = 0,
        epsilon: Number = 1.0,
        delta: Number = 0,
        method: str = "auto",
        tries: int | None = None,
        validation: Number = 0.2,
        budget: Budget | Account | None = None,
    ) -> None:
        self.estimator, self.param_grid = estimator, param_grid
        self.param_distributions, self.n_iter = param_distributions, n_iter
        self.random_state = random_state
        self.epsilon, self.delta, self.method = epsilon, delta, method
        self.tries, self.validation = tries, validation
        self._keep(budget)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The predictions of the best model."""
        return self._best().predict(X)

    @scikit.where_it_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """The probabilities of the best model, where it has them."""
        return self._best().predict_proba(X)

    @scikit.where_it_has("decision_function")
    def decision_function(self, X: Any) -> Any:  # noqa: N803
        """The scores of the best model, where it has them."""
        return self._best().decision_function(X)

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """The score of the best model on other rows: not private; for the owner's eyes.

        It is exact, and charged to nobody. `best_score_` is private.
        """
        return float(self._best().score(X, y))

    @property
    def classes_(self) -> Any:
        """The classes of the best model."""
        return self._best().classes_

    def _takes_knots(self) -> bool:
        return self._plain()._takes_knots()

    def _best(self) -> Any:
        if not hasattr(self, "best_estimator_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This search is not fitted yet. Call fit first.")
        return self.best_estimator_

    def _plan(self, width: int) -> SearchPlan:
        grid = self._grid()
        epsilon = EPSILON.typed("epsilon", self.epsilon)
        delta = DELTA.typed("delta", self.delta)
        share = PROBABILITY.typed("validation", self.validation)
        if not 0 < share < 1:
            raise refusal("validation", self.validation, "a share between 0 and 1, such as 0.2")
        if self.method not in SEARCH_METHODS:
            raise refusal("method", self.method, f"one of {', '.join(SEARCH_METHODS)}")
        search = _Search(self._plain(), grid, width, epsilon, delta)
        candidates, each, tries = self._way(search)
        return SearchPlan(candidates, tries, self._score(), share, epsilon, delta, each)

    def _way(self, search: "_Search") -> tuple[tuple[Candidate, ...], Fraction, RandomTries | None]:
        many = len(search.grid)
        every = None if self.method == "random" else search.every()
        if every is not None and (
            self.method == "every" or 2 * EPSILON_WORTH * every[1] > search.epsilon
        ):
            return *every, None
        mean = 3 * many if self.tries is None else int(COUNT.typed("tries", self.tries))
        tries = tries_for(mean)
        half = search.epsilon / 2
        return search.candidates(half, search.delta / tries.mean), half, tries

    def _grid(self) -> list[dict[str, object]]:
        given = [self.param_grid is not None, self.param_distributions is not None]
        if sum(given) != 1:
            raise ParameterError("Give either param_grid or param_distributions, and not both.")
        grid = scikit.list_candidates(
            self.param_grid, self.param_distributions, count=self.n_iter, seed=self.random_state
        )
        if not 1 <= len(grid) <= MAX_CANDIDATES:
            raise ParameterError(
                f"The grid has {len(grid)} candidates, but must have 1 to {MAX_CANDIDATES:,}."
            )
        ours = {"epsilon", "delta", "budget"} & {name for candidate in grid for name in candidate}
        if ours:
            raise ParameterError(
                f"The grid has {' and '.join(sorted(ours))}, but the search sets the price of each"
                " candidate itself: give epsilon and delta of the whole search."
            )
        return grid

    def _plain(self) -> PrivateEstimator:
        """The estimator, without a budget: the search is charged as one."""
        wanted = "one of letalone.learn's classifiers or regressors"
        if not isinstance(self.estimator, PrivateEstimator):  # pyright: ignore[reportUnnecessaryIsInstance]
            hint = "Put the search into a pipeline, and no pipeline into the search."
            raise refusal("estimator", type(self.estimator).__name__, wanted, hint)
        if isinstance(self.estimator, PrivateSearchCV):
            hint = "Put all parameters into the grid of one search."
            raise refusal("estimator", "another search", wanted, hint)
        if not (scikit.is_classifier(self.estimator) or scikit.is_regressor(self.estimator)):
            raise refusal("estimator", type(self.estimator).__name__, wanted)
        if self.estimator.budget is not None:
            raise ParameterError(
                "The estimator has its own budget, but the search is charged as one. Give"
                " budget= to the search and not to the estimator."
            )
        return self.estimator

    def _score(self) -> Score:
        if scikit.is_classifier(self.estimator):
            return Score(None)
        bounds = getattr(self.estimator, "target_bounds", None)
        if not isinstance(bounds, Sequence) or isinstance(bounds, str):
            raise ParameterError(
                "The estimator needs declared target_bounds, such as (0, 100), by which scores are"
                " bounded."
            )
        lower, upper = (float(bound) for bound in cast("Sequence[float]", bounds))
        return Score((lower, upper))

    def _declaring(self, known: Mapping[str, object]) -> Self:
        twin = self.__sklearn_clone__()
        if isinstance(twin.estimator, PrivateEstimator):  # pyright: ignore[reportUnnecessaryIsInstance]
            twin.estimator = twin.estimator._declaring(known)
        return twin

    def _publish(self, plan: FitPlan, released: Released, fit: FitRecord) -> None:
        published = dict(released)
        model = cast("Released", published.pop("best_model_"))
        super()._publish(plan, published, fit)
        winner = cast("SearchPlan", plan).candidates[self.best_index_]
        self.best_params_ = dict(winner.parameters)
        self.best_estimator_ = winner.fitted(model, self.n_features_in_)
        self.best_estimator_._keep(self._account)  # a fit of its own is one more
        self.best_estimator_.privacy_, self.best_estimator_.release_ = fit.privacy, fit
        for name in ("encoder_", "target_", "feature_names_in_"):
            if name in self.__dict__:
                setattr(self.best_estimator_, name, self.__dict__[name])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = cast("Any", self.estimator).__sklearn_tags__()
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags


@dataclass(frozen=True, slots=True)
class _Search:
    """The candidates at any price."""

    estimator: PrivateEstimator
    grid: Sequence[Mapping[str, object]]
    width: int
    epsilon: Fraction
    delta: Fraction

    def candidates(self, epsilon: Fraction, delta: Fraction) -> tuple[Candidate, ...]:
        made = list[Candidate]()
        for parameters in self.grid:
            model = scikit.copy_of(self.estimator)
            scikit.with_parameters(model, {**parameters, "epsilon": epsilon, "delta": delta})
            made.append(Candidate(model, parameters, model._plan(self.width)))
        return tuple(made)

    def every(self) -> tuple[tuple[Candidate, ...], Fraction]:
        """All of them, at the largest price of a few at which they keep the promise together."""
        many = len(self.grid)
        for saving in SAVINGS if self.delta and many > 1 else ():
            each = self.epsilon * saving * Fraction(sqrt(many)).limit_denominator(100) / many
            if each * many > self.epsilon:
                made = self.candidates(each, self.delta / (2 * many))
                if self._keep(made):
                    return made, each
        each = self.epsilon / many
        return self.candidates(each, self.delta / many), each

    def _keep(self, made: Sequence[Candidate]) -> bool:
        together = compose(*(candidate.plan.privacy for candidate in made))
        return Fraction(together.delta(self.epsilon)) <= self.delta
