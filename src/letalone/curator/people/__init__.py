"""Who may come in: accounts, passwords, tokens, signing in here and at a provider."""
