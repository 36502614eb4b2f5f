"""The `Cluster` port on a Kubernetes API server, by the official client's configuration and connection pool.

Law: nothing heavy is imported here. The `kubernetes` and `urllib3` packages are loaded when `connect` is called, by
session.py, transport.py and wire.py; all the rest is importable for the price of the standard library.
"""

from lambdas.adapters.kubernetes.cluster import KubernetesCluster
from lambdas.adapters.kubernetes.connecting import connect, connect_configured, preload
from lambdas.adapters.kubernetes.endpoint import Endpoint, TokenSource

__all__ = ["Endpoint", "KubernetesCluster", "TokenSource", "connect", "connect_configured", "preload"]
