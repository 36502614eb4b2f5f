"""How a function's role gets into the cluster: an EKS access entry, or a line for aws-auth.

Both only say who the role is, by a Kubernetes group; what the group may do is RBAC (`evac rbac`).
"""

from aws_cdk import aws_eks, aws_iam
from constructs import Construct

from lambdas import contract


def access_entry(scope: Construct, construct_id: str, cluster_name: str, role: aws_iam.IRole) -> aws_eks.CfnAccessEntry:
    """An entry of type STANDARD without an access policy: no managed one short of cluster admin allows both cordon
    and evict. Refused by EKS for a cluster in CONFIG_MAP mode (EKS user guide, access entries)."""
    return aws_eks.CfnAccessEntry(
        scope,
        construct_id,
        cluster_name=cluster_name,
        principal_arn=role.role_arn,
        type="STANDARD",
        kubernetes_groups=[contract.KUBERNETES_GROUP],
    )


def aws_auth_entry(role: aws_iam.IRole) -> str:
    """The element to append to `mapRoles` in the ConfigMap kube-system/aws-auth, YAML on one line.

    RBAC matches on the group: the user name carries the session and is for the audit log only.
    """
    return (
        f'- {{rolearn: "{role.role_arn}", username: "spot-evac:{{{{SessionName}}}}", '
        f'groups: ["{contract.KUBERNETES_GROUP}"]}}'
    )
