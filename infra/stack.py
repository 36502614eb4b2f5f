"""The stack: composes the constructs and tells what they are called."""

import hashlib

from aws_cdk import CfnOutput, Environment, Stack, aws_lambda
from constructs import Construct

from infra.access import access_entry, aws_auth_entry
from infra.alarms import Alarms
from infra.function import InterruptionFunction
from infra.ledger import ledger
from infra.queues import NoticeQueues
from infra.rules import NOTICES
from infra.running import Package, dependencies_layer
from infra.settings import Settings
from infra.sweeper import Sweeper
from infra.topic import alarm_topic
from infra.watches import Watched, watches


def stack_name(cluster_name: str) -> str:
    """One name for each cluster. CloudFormation takes no underscore: where one is replaced, a digest keeps the names
    of two clusters apart, else deploying for one would take over the other's stack."""
    plain = f"evac-{cluster_name.replace('_', '-')}"
    if "_" not in cluster_name:
        return plain
    return f"{plain}-{hashlib.sha256(cluster_name.encode()).hexdigest()[:6]}"


class EvacStack(Stack):
    """Everything that one cluster needs. Nothing in it outlives `cdk destroy`."""

    def __init__(
        self, scope: Construct, *, settings: Settings, code: aws_lambda.Code, dependencies: aws_lambda.Code
    ) -> None:
        super().__init__(
            scope,
            stack_name(settings.cluster_name),
            env=Environment(account=settings.account, region=settings.region),
            description=f"Drains interrupted spot nodes of the EKS cluster {settings.cluster_name}",
        )
        self.settings = settings
        package = Package(code, dependencies_layer(self, dependencies))
        self.queues = NoticeQueues(self, "Queues", kinds=NOTICES)
        self.ledger = ledger(self)
        self.interruption = InterruptionFunction(
            self,
            "Interruption",
            settings=settings,
            queues=self.queues,
            ledger=self.ledger,
            package=package,
        )
        self.sweeper = Sweeper(
            self, "Sweeper", settings=settings, queues=self.queues, ledger=self.ledger, package=package
        )
        if settings.access_entry:
            access_entry(self, "AccessEntry", settings.cluster_name, self.interruption.role)
            access_entry(self, "SweeperAccessEntry", settings.cluster_name, self.sweeper.role)
        self.topic = alarm_topic(self, settings)
        watched = Watched(settings.cluster_name, self.queues, self.interruption, self.sweeper)
        Alarms(self, "Alarms", watches=watches(watched), topic=self.topic)
        self._tell()

    def _tell(self) -> None:
        """Outputs: what has to be typed next, then the names that commands ask for."""
        cluster = self.settings.cluster_name
        self._output("ApplyRbac", "evac rbac | kubectl apply -f -", f"Type this once, with kubectl on {cluster}.")
        if not self.settings.access_entry:
            said = "Append this to mapRoles: kubectl edit -n kube-system configmap/aws-auth"
            self._output("AwsAuthEntry", aws_auth_entry(self.interruption.role), said)
            self._output("AwsAuthEntrySweeper", aws_auth_entry(self.sweeper.role), f"{said} (the sweeper)")
        function = self.interruption.function.function_name
        self._output("FunctionName", function, "The interruption function")
        self._output("RoleArn", self.interruption.role.role_arn, "What the cluster lets in")
        self._output("LogGroupName", self.interruption.logs.log_group_name, "The interruption function's logs")
        self._output("SweeperFunctionName", self.sweeper.function.function_name, "The sweeper function")
        self._output("SweeperRoleArn", self.sweeper.role.role_arn, "What the cluster lets in for sweeps")
        self._output("SweeperLogGroupName", self.sweeper.logs.log_group_name, "The sweeper's logs")
        self._output("LedgerTableName", self.ledger.table_name, "Locks and history of drains")
        self._output("QueueUrl", self.queues.notices.queue_url, "The notice queue")
        self._output("UndeliveredQueueUrl", self.queues.undelivered.queue_url, "What EventBridge could not deliver")
        self._output("RejectedQueueUrl", self.queues.rejected.queue_url, "Malformed bodies, and given-up notices")
        self._output("TopicArn", self.topic.topic_arn, "Where alarms go")

    def _output(self, name: str, value: str, description: str) -> None:
        CfnOutput(self, name, value=value, description=description)
