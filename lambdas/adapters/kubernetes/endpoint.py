"""Where the API server is, and who we are to it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An API server. `ca`: its certificate authority in PEM; empty, the system's are trusted."""

    server: str
    ca: str = ""


class TokenSource(Protocol):
    """Bearer tokens. Both may be called by several threads, and raise `PortError`."""

    def token(self) -> str:
        """The token in use, minted if there is none yet."""
        ...

    def renew(self) -> str:
        """Mint a new one, which `token` gives from then on: the API server refused the last."""
        ...
