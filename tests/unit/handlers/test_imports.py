"""What a cold start pays for before the messages are held."""

import json
import subprocess
import sys

HEAVY = {
    "boto3",
    "botocore.session",
    "kubernetes",
    "urllib3",
    "yaml",
    "typer",
    "rich",
    "pydantic",
    "requests",
    "asyncio",
}
"""Each costs tens or hundreds of milliseconds; a notice pays for them when it needs them. (Of botocore powertools takes
the bare package, 2 ms, to add itself to the user agent.)"""

OURS = {"evac", "infra"}


def loaded_by(statement: str) -> set[str]:
    """Top-level modules of a fresh interpreter after the statement."""
    code = (
        f"import sys, json\n{statement}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    )
    return set(json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout))


def test_the_handler_loads_nothing_heavy_and_powertools_only_of_the_vendors() -> None:
    loaded = loaded_by("import lambdas.handlers.interruption")
    assert loaded & (HEAVY | OURS) == set()
    assert "aws_lambda_powertools" in loaded


def test_taking_the_messages_needs_boto3_and_not_yet_the_cluster_s_client() -> None:
    environment = {
        "EVAC_CLUSTER_NAME": "blue",
        "EVAC_LEDGER_TABLE": "t",
        "EVAC_QUEUE_URL": "https://q",
        "EVAC_MALFORMED_QUEUE_URL": "https://r",
    }
    loaded = loaded_by(
        "import os; os.environ['AWS_DEFAULT_REGION'] = 'eu-west-1'\n"
        "from lambdas.handlers.composition import compose\n"
        f"compose({environment!r}).lease({{}})"
    )
    assert "boto3" in loaded
    assert loaded & {"kubernetes", "yaml", "pydantic"} == set()


def test_nothing_is_made_at_import() -> None:
    """No client, no token, no connection, no variable read: a missing environment is no error yet."""
    code = "import os; os.environ.clear(); import lambdas.handlers.interruption"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).stderr == b""
