"""What a person gave that cannot be used.

Law: whatever is read from files, flags or standard input fails with `InputError`, never with a traceback.
"""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of something that changes a cluster: what is left, and how to go on or back."""

    def __init__(self, message: str, *, cure: str) -> None:
        super().__init__(message)
        self.message = message
        self.cure = cure


class InputError(Exception):
    """Wrong usage or an unreadable file: what and where, and what to do about it.

    `place` is a file's name, with line and column where they are known ("cluster.yaml:12:3").
    """

    def __init__(self, message: str, *, cure: str = "", place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.cure = cure
        self.place = place
