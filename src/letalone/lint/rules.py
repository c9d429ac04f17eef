"""All rules: LA0xx for every script, LA1xx for known faults of other libraries."""

from letalone.lint import budgets, noise, rivals
from letalone.lint.finding import Rule

RULES = (
    Rule(
        "LA001",
        "Floating-point noise is added to a value",
        "The low-order bits of the sum tell which value the noise was added to, so no epsilon"
        " holds (Mironov 2012).",
        "Use exact noise: la.Laplace(epsilon=…, sensitivity=…).release(value).",
        noise.all_float_noise,
    ),
    Rule(
        "LA002",
        "The classic Gaussian formula is used beyond its range",
        "σ = Δ·√(2 ln(1.25/δ))/ε is proven for ε < 1 only; above, the noise can be too small.",
        "Use la.Gaussian(epsilon=…, delta=…, sensitivity=…), which is exact for every ε.",
        noise.classic_gaussian,
    ),
    Rule(
        "LA003",
        "Privacy is spent at every turn of a loop",
        "The whole costs the sum over all turns, not the epsilon that is written here.",
        "Divide it (epsilon=total / turns), or ask all at once, in one batch or with group_by.",
        budgets.spent_in_loops,
    ),
    Rule(
        "LA004",
        "A budget is made anew at every turn of a loop",
        "A budget that begins again limits nothing: the data is the same.",
        "Make it once, before the loop.",
        budgets.begun_in_loops,
    ),
    Rule(
        "LA101",
        "diffprivlib's LinearRegression misses noise",
        "With bounds of [0, 1] the squares of its features are released without noise.",
        "Use letalone.learn.LinearRegression.",
        rivals.unit_bounds,
    ),
    Rule(
        "LA102",
        "A search copies diffprivlib's accountant",
        "Every clone debits a copy, so seven fits at ε = 1 are reported as 0, and the scores of"
        " folds are exact.",
        "Use letalone.learn.PrivateSearchCV.",
        rivals.copied_accountant,
    ),
    Rule(
        "LA103",
        "diffprivlib's KMeans gives exact results beside the private ones",
        "labels_ and inertia_ are computed from the data without noise.",
        "Publish cluster_centers_ only, or use letalone.learn.KMeans.",
        rivals.exact_clusters,
    ),
    Rule(
        "LA104",
        "A weighted sampler is used with Opacus",
        "Its accountant assumes that all rows are as likely: the epsilon it reports is wrong.",
        "Sample rows uniformly (Poisson sampling) and weigh the loss instead.",
        rivals.weighted_sampler,
    ),
    Rule(
        "LA105",
        "Opacus trains without secure noise",
        "secure_mode is off by default: noise is torch's floating-point Gaussian from a generator"
        " that can be predicted.",
        "Set secure_mode=True before anything is published.",
        rivals.insecure_mode,
    ),
    Rule(
        "LA106",
        'Opacus accounts with "gdp"',
        "The central limit theorem gives an estimate, not a bound: it reports 9.64 where 10.05 is"
        " true.",
        'Use accountant="prv", or letalone account.',
        rivals.central_limit,
    ),
)
