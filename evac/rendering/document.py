"""A replay as one JSON document.

Law: the document is an interface. Fields are added, never renamed or given another meaning, while `schema` stays.

    schema          "spot-evac.dev/replay/v1"
    mode            "simulated", "dry-run" or "live"
    exit_code       0: every pod left gracefully, 1: some did not
    zero            RFC 3339; all …_s fields that end in "at_s" are seconds from here, null where it never happened
    settings        margin_s, grace_counted_s, budgets ("pace", "deadline", "never") and what follows from it:
                    deletes_at_last_safe_moment, paces_budgets; release ("within", "enough", "all", "off"),
                    releases_unchecked; startup_s, shutdown_s: null when live
    cluster         unknown_kinds: kinds that were not read and so not checked; notes: what else is to be known
    events          count, interruption, ignored, malformed, and each event: place, kind, reason (why nothing is done
                    about it), instances
    totals          pods, graceful, lost, and by departure: evicted, deleted_against_budget, deleted_several_budgets,
                    deleted, finished, left, stayed (given back unfinished); cut_short: graceful ones that
                    needed longer than their grace
    drains          one for each instance: instance_id, node (null: not found), reason, ending, is_late, noticed_at_s,
                    reclaim_at_s (null: no deadline), reclaimed_at_s (when the host was taken), started_at_s,
                    cordoned_at_s, excluded_at_s (taken out of load balancers), first_release_at_s, first_signal_at_s,
                    last_gone_at_s, ended_at_s, pods, budgets, workloads, skipped, problems
      pods          namespace, name, uid, departure, graceful, cut_short, signalled_at_s, grace_s, gone_at_s, held_by
                    ("namespace/name" of PDBs), note, own_grace_s (where the pod asks for more than it was given),
                    workload ("kind namespace/name", empty for none), released_at_s (from its ReplicaSet),
                    replaced_at_s (when its replacement let it go), not_released (why not; empty where it was, or where
                    there was no question of it), last_safe_at_s (the latest moment for its SIGTERM), shutdown_s
      budgets       of the node's pods: name, rule, held_s, exceeded_by (the most healthy pods that it lacked after the
                    first deletion against it), exceeded_at_s, arithmetic (why so many went at a time), curve
      workloads     of the node's pods: kind, name, replicas, fewest_ready, fewest_ready_at_s, counted_by (the PDB whose
                    healthy pods were counted, where the workload's own were not), curve
        curve       at_s, ready, wanted: from then on
      skipped       namespace, name, reason
      problems      kind, message
    workloads       kind, name, wanted, ready_before, fewest_ready, fewest_ready_at_s (when live, as the drains saw it)
    budgets         name, rule, healthy_needed, ready_before, fewest_ready, fewest_ready_at_s (simulated only)
    journal         at_s, what, node, subject, detail: what happened, each thing by itself, in order (the table output
                    puts together what is said of several pods); what: noticed, cordoned, …, and ready for a
                    replacement (simulated only)
"""

import json
from typing import Any, Final

from evac.rendering.drain_document import drain_as_json, seconds
from evac.replay.hearing import Heard
from evac.replay.outcome import Low, Replay
from evac.replay.story import Line
from lambdas.domain.values.drains import Departure

Json = dict[str, Any]

SCHEMA: Final = "spot-evac.dev/replay/v1"


def write_document(replay: Replay) -> str:
    """The document's text, with a newline at its end."""
    return json.dumps(document(replay), indent=2) + "\n"


def document(replay: Replay) -> Json:
    """The document."""
    settings = replay.settings
    return {
        "schema": SCHEMA,
        "mode": replay.mode.value,
        "exit_code": replay.exit_code,
        "zero": replay.zero.isoformat(),
        "settings": {
            "margin_s": settings.margin.total_seconds(),
            "grace_counted_s": settings.grace_counted.total_seconds(),
            "budgets": settings.budgets.value,
            "deletes_at_last_safe_moment": settings.deletes_at_last_safe_moment,
            "paces_budgets": settings.paces_budgets,
            "release": settings.release.value,
            "releases_unchecked": settings.releases_unchecked,
            "startup_s": seconds(replay.startup),
            "shutdown_s": seconds(replay.shutdown),
        },
        "cluster": {"unknown_kinds": list(replay.unknown_kinds), "notes": list(replay.notes)},
        "events": _events(replay),
        "totals": _totals(replay),
        "drains": [drain_as_json(replay, record) for record in replay.records],
        "workloads": [
            {"kind": low.kind, "name": low.name, "wanted": low.wanted, **_low(replay, low)} for low in replay.workloads
        ],
        "budgets": [
            {"name": low.name, "rule": low.rule, "healthy_needed": low.wanted, **_low(replay, low)}
            for low in replay.budgets
        ],
        "journal": [_line(replay, line) for line in replay.lines],
    }


def _events(replay: Replay) -> Json:
    return {
        "count": len(replay.heard),
        "interruption": len(replay.heard) - replay.malformed - replay.ignored,
        "ignored": replay.ignored,
        "malformed": replay.malformed,
        "each": [_event(heard) for heard in replay.heard],
    }


def _event(heard: Heard) -> Json:
    return {
        "place": heard.place,
        "kind": heard.message.kind,
        "reason": heard.reason,
        "instances": [notice.instance_id for notice in heard.notices],
    }


def _totals(replay: Replay) -> Json:
    fates = replay.fates
    ways = {d.name.lower(): sum(1 for f in fates if f.departure is d) for d in Departure if d is not Departure.LOST}
    cut = sum(1 for f in fates if f.pod.uid in replay.cut_short)
    return {
        "pods": len(fates),
        "graceful": sum(1 for f in fates if f.departure.is_graceful),
        "lost": len(replay.lost),
        **ways,
        "cut_short": cut,
    }


def _low(replay: Replay, low: Low) -> Json:
    return {
        "ready_before": low.at_start,
        "fewest_ready": low.fewest,
        "fewest_ready_at_s": replay.offset(low.fewest_at),
    }


def _line(replay: Replay, line: Line) -> Json:
    return {
        "at_s": replay.offset(line.at),
        "what": line.what,
        "node": line.node_name,
        "subject": line.subject,
        "detail": line.detail,
    }
