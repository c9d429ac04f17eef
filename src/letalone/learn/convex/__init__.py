"""Linear models by convex losses: output, objective and gradient perturbation."""
