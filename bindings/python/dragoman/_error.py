class Error(Exception):
    """An error that the caller can correct: a bad option, file or text.

    The message says what was found and what was expected; ``hint`` (may be empty) says what to do.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])
