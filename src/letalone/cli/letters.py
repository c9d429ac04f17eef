"""What is shown where a terminal cannot show a sign: a Latin letter or a likeness of it.

Signs that stand in tables and pictures have likenesses of one character, so that columns
stay straight.
"""

LIKENESSES = {
    "ε": "e", "δ": "d", "β": "b", "σ": "s", "≤": "<=", "≥": ">=", "±": "+-", "√": "sqrt ",
    "∞": "inf", "‖": "|", "…": "...", "·": ".", "░": ":", "█": "#", "│": "|", "─": "-", "└": "+",
    "×": "x", "−": "-", "’": "'", "Δ": "D", "₁": "1", "∈": "in",
}  # fmt: skip


def in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """What `codecs.register_error` asks for: the likenesses, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(LIKENESSES.get(sign, "?") for sign in signs), error.end
