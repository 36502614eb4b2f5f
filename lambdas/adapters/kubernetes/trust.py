"""Which API server is believed to be the one asked.

Law: chain, dates and host name are always verified, except where a person's own kubeconfig says otherwise.
"""

import ssl


def trust(ca: str = "", ca_file: str = "") -> ssl.SSLContext:
    """A context that trusts one certificate authority (PEM text or file), or the system's where none is given.

    One for all connections. VERIFY_X509_STRICT, which newer Pythons switch on, is off: EKS clusters have authorities
    without key identifiers, which RFC 5280 allows a root and strict OpenSSL does not (kubernetes-client/python 2394).
    Raises OSError for a file that cannot be read, and ssl.SSLError, which is one, for what is no PEM.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if ca or ca_file:
        context.load_verify_locations(cafile=ca_file or None, cadata=ca or None)
    else:
        context.load_default_certs()
    return context
