"""Names and numbers shared by the code that runs and the stack that deploys it.

Law: each is written here once. An alarm on a metric that nobody emits is how a path fails in silence.
"""

from typing import Final

# --- the product's marks in a cluster ------------------------------------------------------------------------

MARK_DOMAIN: Final = "spot-evac.dev"
"""Prefix of every label, annotation and taint that is ours."""

LABEL_DRAINING: Final = f"{MARK_DOMAIN}/draining"
"""Node label, value "true": this node carries our mark (what a sweep or `evac undo --all` lists)."""

ANNOTATION_MARK: Final = f"{MARK_DOMAIN}/mark"
"""Node annotation, JSON: what we did, why, until when, and what was there before."""

TAINT_INTERRUPTED: Final = f"{MARK_DOMAIN}/interrupted"
"""Key of our NoSchedule taint; its value is the reason."""

ANNOTATION_LET_FINISH: Final = f"{MARK_DOMAIN}/let-finish"
"""Pod annotation, "true": the pod stays until its last safe moment; it may finish by itself."""

LABEL_RELEASED: Final = f"{MARK_DOMAIN}/released"
"""Pod label: "true" while the pod is released from its ReplicaSet, "returned" after an undo until its former deletion
cost is back. What a sweep lists."""

ANNOTATION_RELEASED_FROM: Final = f"{MARK_DOMAIN}/released-from"
"""Pod annotation, JSON: the ReplicaSet that it was released from, when, and what our annotations overwrote."""

ANNOTATION_WOKEN_AT: Final = f"{MARK_DOMAIN}/woken-at"
"""Pod annotation, RFC 3339: a touch that makes a ReplicaSet which backs off look at its pods again."""

ANNOTATION_RELEASE: Final = f"{MARK_DOMAIN}/release"
"""Annotation on a Deployment (within, enough, all, off) or on a pod (off): overrides the deployment's setting."""

LABEL_TEMPLATE_HASH: Final = "pod-template-hash"
RELEASED_PREFIX: Final = "released-"
"""Of a released pod's template hash: its ReplicaSet selects it no longer, its Services and budgets do."""

LABEL_EXCLUDE_FROM_LOAD_BALANCERS: Final = "node.kubernetes.io/exclude-from-external-load-balancers"

KUBERNETES_GROUP: Final = "spot-evac:handlers"
"""Group of the function's identity in the cluster: the access entry names it, the ClusterRoleBinding binds it."""

CLUSTER_ROLE: Final = "spot-evac-handler"

RELEASE_GUARD: Final = "spot-evac-handler-pods"
"""Name of the ValidatingAdmissionPolicy, and of its binding, that allows the group the patches of a release only."""

# --- events --------------------------------------------------------------------------------------------------

SOURCE_EC2: Final = "aws.ec2"
SOURCE_AUTO_SCALING: Final = "aws.autoscaling"
SOURCE_HEALTH: Final = "aws.health"

DETAIL_SPOT_INTERRUPTION: Final = "EC2 Spot Instance Interruption Warning"
DETAIL_REBALANCE: Final = "EC2 Instance Rebalance Recommendation"
DETAIL_STATE_CHANGE: Final = "EC2 Instance State-change Notification"
DETAIL_LIFECYCLE_TERMINATE: Final = "EC2 Instance-terminate Lifecycle Action"
DETAIL_LIFECYCLE_LAUNCH: Final = "EC2 Instance-launch Lifecycle Action"
DETAIL_HEALTH: Final = "AWS Health Event"
DETAIL_CAPACITY_RESERVATION: Final = "EC2 Capacity Reservation Instance Interruption Warning"
DETAIL_SPOT_FULFILLMENT: Final = "EC2 Spot Instance Request Fulfillment"

# --- the function --------------------------------------------------------------------------------------------

HANDLER_INTERRUPTION: Final = "lambdas.handlers.interruption.handle"
HANDLER_SWEEPER: Final = "lambdas.handlers.sweeper.handle"
SERVICE: Final = "evac"

ENV_CLUSTER_NAME: Final = "EVAC_CLUSTER_NAME"
ENV_CLUSTER_ENDPOINT: Final = "EVAC_CLUSTER_ENDPOINT"
"""Optional; with the certificate it saves one eks:DescribeCluster an invocation."""
ENV_CLUSTER_CA: Final = "EVAC_CLUSTER_CA"
"""Optional; the cluster's certificate authority, base64 as EKS gives it."""
ENV_LEDGER_TABLE: Final = "EVAC_LEDGER_TABLE"
ENV_QUEUE_URL: Final = "EVAC_QUEUE_URL"
ENV_MALFORMED_QUEUE_URL: Final = "EVAC_MALFORMED_QUEUE_URL"
"""The notice queue's own dead-letter queue: malformed bodies are sent there by the function."""
ENV_MARGIN_SECONDS: Final = "EVAC_MARGIN_SECONDS"
ENV_GRACE_COUNTED_SECONDS: Final = "EVAC_GRACE_COUNTED_SECONDS"
ENV_BUDGETS: Final = "EVAC_BUDGETS"
"""pace, deadline or never: how far budgets are exceeded."""
ENV_RELEASE: Final = "EVAC_RELEASE"
"""within, enough, all or off: how many pods are released from their ReplicaSets at a time."""
ENV_RELEASE_UNCHECKED: Final = "EVAC_RELEASE_UNCHECKED"
"""true: released also where a kind that may forbid it cannot be read."""
ENV_DRY_RUN: Final = "EVAC_DRY_RUN"

MOST_MARGIN_SECONDS: Final = 30
"""More would take the time of the shutdowns that it is to protect."""

MOST_GRACE_COUNTED_SECONDS: Final = 85
"""With the largest margin a controlled pod's last safe moment is then still after the notice: 120 - 30 - 85."""

FUNCTION_TIMEOUT_SECONDS: Final = 180
"""Just above the longest notice drain: 120 s, the late path's few seconds, and the writing down. Also the sweeper's:
it may have a whole drain to finish."""

MESSAGE_VISIBILITY_SECONDS: Final = 15
"""A message being worked on is invisible this long and renewed every third of it, so that a death is noticed."""

DRAIN_LOCK_SECONDS: Final = 15
"""A node's drain lock in the ledger expires this long after its last renewal."""

GIVEN_BACK_VISIBILITY_SECONDS: Final = 2
"""What is handed back is seen again after this long, not after the queue's visibility timeout."""

MAX_RECEIVE_COUNT: Final = 50
"""Short visibilities use receives: a usual 3 would dead-letter a live notice."""

# --- the ledger ----------------------------------------------------------------------------------------------

LEDGER_KEY: Final = "instance_id"
LEDGER_EXPIRES: Final = "expires_at"
"""DynamoDB time-to-live attribute, Unix seconds."""

# --- metrics (EMF; no per-node dimension) --------------------------------------------------------------------

METRICS_NAMESPACE: Final = "Evac"
DIMENSION_CLUSTER: Final = "cluster"

METRIC_NOTICES: Final = "Notices"
METRIC_NOTICE_AGE: Final = "NoticeAge"
METRIC_TIME_TO_CORDON: Final = "TimeToCordon"
METRIC_TIME_TO_FIRST_EVICTION: Final = "TimeToFirstEviction"
METRIC_TIME_TO_FIRST_ACTION: Final = "TimeToFirstAction"
"""To the first release or eviction, whichever came earlier."""
METRIC_PODS_RELEASED: Final = "PodsReleased"
"""Pods that were released from their ReplicaSets, so as to be replaced before they left."""
METRIC_SECONDS_TO_SPARE: Final = "SecondsToSpare"
METRIC_PODS_GRACEFUL: Final = "PodsGraceful"
METRIC_PODS_AGAINST_BUDGET: Final = "PodsAgainstBudget"
METRIC_PODS_LOST: Final = "PodsLost"
METRIC_MALFORMED: Final = "MalformedMessages"
METRIC_IGNORED: Final = "IgnoredMessages"
METRIC_NOT_OURS: Final = "NotOurs"
METRIC_ALREADY_GONE: Final = "AlreadyGone"
METRIC_LATE: Final = "LateNotices"
METRIC_STALE: Final = "StaleNotices"
METRIC_GIVEN_BACK: Final = "GivenBack"
METRIC_CLUSTER_UNAUTHENTICATED: Final = "ClusterUnauthenticated"
"""401: the API server does not know who we are (access entry or aws-auth)."""
METRIC_CLUSTER_FORBIDDEN: Final = "ClusterForbidden"
"""403: it knows us, RBAC or an admission policy says no."""
METRIC_LEDGER_FAILED: Final = "LedgerFailed"
METRIC_SWEEPS: Final = "Sweeps"
"""Each sweep that went through, also one that found nothing: five minutes without are an alarm."""
METRIC_SWEPT: Final = "Swept"
"""Nodes and pods that a sweep finished or undid."""
METRIC_SWEEP_FAILED: Final = "SweepFailed"
"""A sweep that could not look, or could not finish or undo what it found."""


def metric_dimensions(cluster_name: str) -> dict[str, str]:
    """The one set of dimensions of every metric of ours: what powertools emits for `Metrics(service=SERVICE)` with
    the cluster as its default dimension, and what the alarms look at."""
    return {"service": SERVICE, DIMENSION_CLUSTER: cluster_name}
