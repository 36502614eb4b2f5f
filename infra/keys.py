"""Every context key there is, with what it accepts and what it is for: the README's table is printed from here.

`python -m infra` prints that table.
"""

from typing import Any, Final

from infra.context import Key, certificate, one_of, optional, several, text, truth, whole, whole_of
from lambdas.contract import MOST_GRACE_COUNTED_SECONDS, MOST_MARGIN_SECONDS

# The values PutRetentionPolicy takes: CloudWatch Logs API reference, retentionInDays.
RETENTION_DAYS: Final = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
)  # fmt: skip

CLUSTER_NAME: Final = Key(
    name="clusterName",
    read=text(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}"),  # EKS API reference, CreateCluster, name
    expects="the EKS cluster's name: 1 to 100 letters, digits, - and _, a letter or digit first",
    example="shop-prod",
    help="The EKS cluster whose nodes are drained. One stack for each cluster.",
    default="",
    required=True,
)
ACCESS_ENTRY: Final = Key(
    name="accessEntry",
    read=truth,
    expects="true or false",
    example="false",
    help="Make EKS access entries for the functions' roles. false for a cluster in CONFIG_MAP mode: "
    "then the outputs AwsAuthEntry and AwsAuthEntrySweeper are the lines to add to aws-auth.",
    default=True,
)
CLUSTER_ENDPOINT: Final[Key[str | None]] = Key(
    name="clusterEndpoint",
    read=optional(text(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?")),
    expects="the address that aws eks describe-cluster --query cluster.endpoint prints, with https:// and no path",
    example="https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com",
    help="With clusterCa: saves one eks:DescribeCluster an invocation, and the right to it.",
    default=None,
)
CLUSTER_CA: Final[Key[str | None]] = Key(
    name="clusterCa",
    read=optional(certificate),
    expects="the text that aws eks describe-cluster --query cluster.certificateAuthority.data prints (base64)",
    example="LS0tLS1CRUdJTi...",
    help="With clusterEndpoint: the cluster's certificate authority, as EKS prints it.",
    default=None,
)
ALARM_TOPIC_ARN: Final[Key[str | None]] = Key(
    name="alarmTopicArn",
    read=optional(text(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}")),
    expects="the ARN of a standard SNS topic (not FIFO: CloudWatch alarms cannot publish to one)",
    example="arn:aws:sns:eu-west-1:123456789012:on-call",
    help="Where alarms go. Its policy must let cloudwatch.amazonaws.com publish, and it must not be "
    "encrypted with alias/aws/sns. Without it a topic is made.",
    default=None,
)
ALARM_EMAIL: Final[Key[str | None]] = Key(
    name="alarmEmail",
    read=optional(text(r"[^@\s,]+@[^@\s,]+\.[^@\s,]+")),
    expects="one e-mail address",
    example="on-call@example.com",
    help="Subscribed to the topic that is made; the subscription is to be confirmed by mail.",
    default=None,
)
SUBNET_IDS: Final[Key[tuple[str, ...]]] = Key(
    name="subnetIds",
    read=several(r"subnet-[0-9a-f]{8,17}", at_most=16),  # Lambda quota: 16 subnets
    expects="1 to 16 different subnet ids, separated by commas",
    example="subnet-0a1b2c3d4e5f60718,subnet-0f9e8d7c6b5a40312",
    help="With securityGroupIds: private subnets for the functions, for clusters with a private endpoint only.",
    default=(),
)
SECURITY_GROUP_IDS: Final[Key[tuple[str, ...]]] = Key(
    name="securityGroupIds",
    read=several(r"sg-[0-9a-f]{8,17}", at_most=5),  # Lambda quota: 5 security groups
    expects="1 to 5 different security group ids, separated by commas",
    example="sg-0a1b2c3d4e5f60718",
    help="With subnetIds: security groups of the functions; the cluster's must allow them in on 443.",
    default=(),
)
# 1769 MB are one whole vCPU (Lambda developer guide, memory). What a cold start imports and makes takes 1.5 s of one,
# 2.5 s without bytecode (measured; 86 MB): at 512 MB that is 5 to 9 s of the 120. A drain costs 0.2 cents more for it.
MEMORY_SIZE: Final = Key(
    name="memorySize",
    read=whole(256, 10240),
    expects="a whole number of MB from 256 (below it a drain of 250 pods does not fit) to 10240",
    example="1769",
    help="The interruption function's memory in MB; the processor comes with it, 1769 MB being one whole vCPU.",
    default=1769,
)
# A batch is busy for two minutes, and the pollers take what is there: in a storm batches hold one or two notices. So
# this is about how many nodes can be taken at once; without a bound one cluster could use up the account's.
MAX_CONCURRENCY: Final = Key(
    name="maxConcurrency",
    read=whole(2, 1000),  # Lambda API reference, ScalingConfig
    expects="a whole number from 2 to 1000",
    example="100",
    help="At most this many batches of notices are drained at once; more of them wait, and a notice cannot wait.",
    default=100,
)
MARGIN_SECONDS: Final[Key[int | None]] = Key(
    name="marginSeconds",
    read=optional(whole(0, MOST_MARGIN_SECONDS)),
    expects=f"a whole number of seconds from 0 to {MOST_MARGIN_SECONDS}",
    example="5",
    help="Kept free before reclaim: every pod's shutdown is planned to be over by then. Without it 5.",
    default=None,
)
GRACE_COUNTED_SECONDS: Final[Key[int | None]] = Key(
    name="graceCountedSeconds",
    read=optional(whole(0, MOST_GRACE_COUNTED_SECONDS)),
    expects=f"a whole number of seconds from 0 to {MOST_GRACE_COUNTED_SECONDS} (more would put the last safe moment at "
    "the notice itself)",
    example="60",
    help="At most this much of a controlled pod's grace counts towards its last safe moment. Without it 60.",
    default=None,
)
BUDGETS: Final[Key[str | None]] = Key(
    name="budgets",
    read=optional(one_of("pace", "deadline", "never")),
    expects="pace, deadline or never",
    example="deadline",
    help="How far disruption budgets are exceeded. pace: one that would keep pods to their last safe moment, by the "
    "least and early; deadline: strictly kept until that moment, then the pod is deleted; never: the pod is left to "
    "die with the host, and reported. Without it pace.",
    default=None,
)
RELEASE: Final[Key[str | None]] = Key(
    name="release",
    read=optional(one_of("within", "enough", "all", "off")),
    expects="within, enough, all or off",
    example="within",
    help="How many pods of a Deployment are released from it at a time, to be replaced before they are evicted. "
    "within: its maxSurge; enough: more where the deadline asks for it or there is no room; all: all at once; "
    "off: none. An annotation on the Deployment overrides it. Without it enough.",
    default=None,
)
RELEASE_UNCHECKED: Final[Key[bool | None]] = Key(
    name="releaseUnchecked",
    read=optional(truth),
    expects="true or false",
    example="true",
    help="Release also where a kind of object that may forbid it cannot be read. Without it false.",
    default=None,
)
# Lambda keeps 100 executions of an account unreserved (Lambda developer guide, reserved concurrency), or all 10 of an
# account that has no more: there a reservation fails the deployment.
RESERVE_SWEEPER: Final = Key(
    name="reserveSweeper",
    read=truth,
    expects="true or false",
    example="false",
    help="Reserve one execution for the sweeper, so that two sweeps never overlap. false for an account whose "
    "concurrency limit is still 10: Lambda refuses to reserve there.",
    default=True,
)
DRY_RUN: Final = Key(
    name="dryRun",
    read=truth,
    expects="true or false",
    example="true",
    help="Say what would be done and change nothing in the cluster.",
    default=False,
)
LOG_RETENTION_DAYS: Final = Key(
    name="logRetentionDays",
    read=whole_of(RETENTION_DAYS),
    expects=f"a number of days that CloudWatch takes ({', '.join(map(str, RETENTION_DAYS))})",
    example="30",
    help="How long the functions' logs are kept.",
    default=30,
)
ACCOUNT: Final[Key[str | None]] = Key(
    name="account",
    read=optional(text(r"[0-9]{12}")),
    expects="a 12-digit account number (as text: quote it in cdk.json)",
    example="123456789012",
    help="With region: pins the stack to an account. Without it the stack goes where the credentials point.",
    default=None,
)
REGION: Final[Key[str | None]] = Key(
    name="region",
    read=optional(text(r"[a-z]{2}(-[a-z]+)+-[0-9]")),
    expects="a region's name",
    example="eu-west-1",
    help="With account: pins the stack to a region, which must be the cluster's.",
    default=None,
)

KEYS: Final[tuple[Key[Any], ...]] = (
    CLUSTER_NAME, ACCESS_ENTRY, CLUSTER_ENDPOINT, CLUSTER_CA, ALARM_TOPIC_ARN, ALARM_EMAIL, SUBNET_IDS,
    SECURITY_GROUP_IDS, MEMORY_SIZE, MAX_CONCURRENCY, MARGIN_SECONDS, GRACE_COUNTED_SECONDS,
    BUDGETS, RELEASE, RELEASE_UNCHECKED, RESERVE_SWEEPER, DRY_RUN, LOG_RETENTION_DAYS, ACCOUNT, REGION,
)  # fmt: skip

RETIRED: Final = {
    "deleteAtLastSafeMoment": f"-c {BUDGETS.name}=never instead of false, and nothing instead of true",
    "paceBudgets": f"-c {BUDGETS.name}=deadline instead of false, and nothing instead of true",
}
"""Keys that are no more, each with what to type."""
