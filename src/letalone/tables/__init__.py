"""From a plan to a private answer: bounds, sensitivity, shares of ε, noise, intervals."""
