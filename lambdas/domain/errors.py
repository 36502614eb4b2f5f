"""What can go wrong outside, told apart by what it means for a drain."""


class PortError(Exception):
    """A port could not do what was asked. The message says what is broken and what to do next."""


class PassingError(PortError):
    """May pass: throttled, a reset, a time-out, the service away."""


class PermissionDenied(PortError):
    """Will not pass by itself: a permission, a key or a name is wrong."""
