"""letalone."""
