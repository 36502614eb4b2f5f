"""cdk-nag's AWS Solutions checks, over whatever an app synthesizes.

Law: a finding is mended, or acknowledged beside its construct with its own reason; the reasons go into the template.
"""

import json
from pathlib import Path
from typing import Final

from aws_cdk import App, Validations
from aws_cdk.cx_api import CloudAssembly
from cdk_nag import AwsSolutionsChecks

REPORT: Final = "validation-report.json"
FAILED: Final = "ValidationFailed"
"""How the CDK's error begins where it raises one; under its command line it only writes the report."""


def check(app: App) -> None:
    """Adds the checks to the app's synthesis."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, write_suppressions_to_cloud_formation=True))


def findings(assembly: CloudAssembly) -> list[str]:
    """Which rule each construct breaks, of every check that ran; the CDK has said it at length already."""
    report = json.loads((Path(assembly.directory) / REPORT).read_text(encoding="utf-8"))
    return [
        f"{violation['ruleName']} {construct['constructPath']}"
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]
