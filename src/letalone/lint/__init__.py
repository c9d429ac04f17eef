"""Reading a script for slips that break differential privacy; nothing of it is run.

  from letalone.lint import lint
  for finding in lint("script.py"): print(finding)

Tested:   tests/lint: every rule on the slip and on its remedy
"""

from letalone.lint.finding import Finding as Finding
from letalone.lint.finding import Rule as Rule
from letalone.lint.reading import lint as lint
from letalone.lint.reading import lint_text as lint_text
from letalone.lint.rules import RULES as RULES

__all__ = ["RULES", "Finding", "Rule", "lint", "lint_text"]
