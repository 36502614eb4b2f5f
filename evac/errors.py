"""What a person gave that cannot be used.

Law: whatever is read from files, flags or standard input fails with `InputError`, never with a traceback.
"""


class Interrupted(Exception):
    """Ctrl-C, and where that leaves things: what is left, and how to go on or back.

    No KeyboardInterrupt itself: what runs the commands takes those for its own, and says nothing.
    """

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
