"""Loss distributions: what many releases reveal together, certified from both sides."""
