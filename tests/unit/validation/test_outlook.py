"""What a change would come to: the object afterwards, amounts, effects and risk."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import (
    ChangeOp,
    CheckSeverity,
    CheckVerdict,
    EditOp,
    ObjectRef,
    Risk,
)
from tocsin_gitops.policy import WritePolicy
from tocsin_testing import build
from tocsin_validation.checks.amounts import RequestsWithinLimits
from tocsin_validation.checks.autoscaler import NoAutoscalerDecides
from tocsin_validation.facts import Incident, Prices, Rules, Surroundings, told
from tocsin_validation.outlook import amounts, preview, risk, schemas
from tocsin_validation.outlook.effects import effects
from tocsin_validation.ports import Proposed

REF = ObjectRef(kind="Deployment", namespace="payments", name="payments-api")
LIMIT = ("spec", "template", "spec", "containers", "[name=api]", "resources", "limits", "memory")
REQUEST = (*LIMIT[:-2], "requests", "memory")
RAW = {
    "kind": "Deployment",
    "metadata": {"name": "payments-api", "namespace": "payments"},
    "spec": {
        "replicas": 6,
        "selector": {"matchLabels": {"app": "api"}},
        "template": {
            "spec": {
                "containers": [
                    {"name": "side", "resources": {"requests": {"cpu": "100m"}}},
                    {"name": "api", "resources": {"limits": {"memory": "512Mi", "cpu": "1"}}},
                ]
            }
        },
    },
}


def change(path=LIMIT, op=ChangeOp.SET, old="512Mi", new="1Gi"):
    return build.field_change(object=REF, path=path, op=op, old=old, new=new)


def proposed(one=None, live=RAW, edit=None, **around) -> Proposed:
    one = one or change()
    known = Surroundings(live=told(Manifest(live)) if live else Surroundings().live, **around)
    return Proposed(
        alert=build.alert(),
        hypothesis=build.hypothesis(finding=build.finding(change=one)),
        target=build.target(),
        edits=(edit or build.edit(path=one.path, old=one.old, new=one.new),),
        before={},
        after={},
        modes={},
        policy=WritePolicy(),
        issue_key="k",
        head_branch="tocsin/x",
        around=known,
    )


def at(raw, *path):
    return Manifest(raw).dig(*path)


CONTAINERS = ("spec", "template", "spec", "containers")


def test_a_changed_field_is_seen_in_a_copy_and_the_object_stays_as_it_is():
    made = preview.applied(RAW, [change()])
    assert at(made, *CONTAINERS, 1, "resources", "limits", "memory") == "1Gi"
    assert at(RAW, *CONTAINERS, 1, "resources", "limits", "memory") == "512Mi"


def test_what_is_added_brings_the_mappings_around_it():
    path = (*LIMIT[:-2], "requests", "memory")
    made = preview.applied(RAW, [change(path, ChangeOp.INSERT, None, "1Gi")])
    assert at(made, *CONTAINERS, 1, "resources", "requests", "memory") == "1Gi"


def test_an_item_is_appended_and_a_field_is_taken_away():
    appended = preview.applied(
        {"a": [1]}, [build.field_change(path=("a",), op=ChangeOp.APPEND, old=None, new=2)]
    )
    assert appended == {"a": [1, 2]}
    gone = preview.applied(
        {"a": 1, "b": [{"n": "x"}, {"n": "y"}]},
        [build.field_change(path=("b", "[n=x]"), op=ChangeOp.DELETE, old=None, new=None)],
    )
    assert gone == {"a": 1, "b": [{"n": "y"}]}


@pytest.mark.parametrize(
    "path", [("spec", "nothing"), (*LIMIT[:4], "[name=web]", "image"), ("spec", "replicas", "x")]
)
def test_a_field_that_has_no_place_in_the_object_is_no_guess(path):
    assert preview.applied(RAW, [change(path)]) is None
    assert preview.states(proposed(change(path))) is None


def test_what_the_cluster_shows_in_part_is_not_taken_for_all():
    part = replace(proposed(), around=Surroundings(live=told(Manifest(RAW, whole=False))))
    assert preview.states(part) is None


def test_without_a_cluster_a_file_counts_if_it_holds_the_whole_object():
    whole = (
        b"kind: Deployment\nmetadata: {name: payments-api}\nspec:\n  selector: {}\n  replicas: 2\n"
    )
    patch = whole.replace(b"  selector: {}\n", b"")
    scaling = change(("spec", "replicas"), old=2, new=3)
    for data, seen in ((whole, 3), (patch, None)):
        states = preview.states(replace(proposed(scaling, live=None), before={"a.yaml": data}))
        assert (states[1].dig("spec", "replicas") if states else None) == seen


def test_a_request_that_is_not_written_is_as_much_as_the_limit():
    needs = amounts.needs(Manifest(RAW))
    assert needs["requests.memory"] == 512 * 1024**2
    assert needs["requests.cpu"] == amounts.read("1100m")
    assert needs["limits.cpu"] == 1


def asks(memory, **more):
    return {"resources": {"requests": {"memory": memory}}, **more}


def pod(spec):
    return Manifest({"kind": "Pod", "spec": spec})


def test_a_pod_needs_as_much_as_its_largest_init_container():
    spec = {"containers": [{"resources": {"requests": {"memory": "1Gi"}}}],
            "initContainers": [{"resources": {"requests": {"memory": "3Gi"}}}]}  # fmt: skip
    pod = Manifest({"kind": "Pod", "spec": spec})
    assert amounts.needs(pod)["requests.memory"] == 3 * 1024**3


def test_what_all_pods_ask_for_more_is_told_with_its_share_of_the_quota():
    quota = {
        "kind": "ResourceQuota",
        "metadata": {"name": "compute"},
        "status": {"hard": {"limits.memory": "20Gi"}, "used": {"limits.memory": "5.2Gi"}},
    }
    told_ = effects(proposed(quotas=told((Manifest(quota),))))
    assert "limits.memory: +512 MiB x 6 pod(s), +3 GiB in all." in told_
    assert "Quota compute: limits.memory goes from 26 % to 41 %." in told_
    assert told_[0] == (f"The 6 pod(s) of {REF} are replaced by new ones, a few at a time.")


def test_an_init_container_that_is_always_restarted_runs_beside_the_others():
    beside = asks("1Gi", restartPolicy="Always")
    spec = {"containers": [asks("2Gi")], "initContainers": [asks("2Gi"), beside]}
    assert amounts.needs(pod(spec))["requests.memory"] == 3 * 1024**3
    spec["initContainers"] = [beside, asks("4Gi")]
    assert amounts.needs(pod(spec))["requests.memory"] == 5 * 1024**3


def test_a_little_is_told_as_a_little_and_not_as_nothing():
    assert amounts.size(amounts.read("5m"), "requests.cpu") == "+0.005 CPU"
    assert amounts.size(amounts.read("250m"), "requests.cpu") == "+0.25 CPU"


def test_where_pods_and_what_each_asks_for_change_no_product_is_made_up():
    one = change(("spec", "replicas"), old=6, new=8)
    finding = build.finding(change=one, further=(change(),))
    told_ = effects(replace(proposed(one), hypothesis=build.hypothesis(finding=finding)))
    assert "limits.memory: +512 MiB for each pod, +5 GiB in all." in told_


@pytest.mark.parametrize(
    ("raw", "pods"),
    [
        ({"kind": "Deployment", "spec": {}}, None),
        ({"kind": "DaemonSet", "spec": {}}, None),
        ({"kind": "DaemonSet", "status": {"desiredNumberScheduled": 4}}, 4),
        ({"kind": "Job", "spec": {"parallelism": 3}}, 3),
        ({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"parallelism": 2}}}}, 2),
        ({"kind": "CronJob", "spec": {"jobTemplate": {"spec": {}}}}, 1),
        ({"kind": "Pod", "spec": {}}, 1),
    ],
)
def test_how_many_pods_there_are_is_read_and_not_assumed(raw, pods):
    assert amounts.replicas(Manifest(raw)) == pods


def test_where_the_number_of_pods_is_not_told_no_sum_is():
    spec = {key: value for key, value in RAW["spec"].items() if key != "replicas"}
    assert effects(proposed(live={**RAW, "spec": spec})) == (
        f"The pods of {REF} are replaced by new ones, a few at a time.",
    )


def test_what_is_replaced_only_by_hand_is_told_so():
    spec = {**RAW["spec"], "updateStrategy": {"type": "OnDelete"}}
    assert effects(proposed(live={**RAW, "spec": spec}))[0].endswith(
        "are replaced by new ones, each once somebody deletes it."
    )


def test_a_cost_is_told_only_where_prices_are_configured():
    prices = Prices(cpu_hour=0.04, gib_hour=0.005, currency="EUR")
    assert not any("Cost" in one for one in effects(proposed()))
    told_ = effects(proposed(rules=Rules(prices=prices)))
    assert "Cost by what pods request: +10.95 EUR a month at the configured prices." in told_


def test_a_change_of_the_number_of_pods_replaces_none():
    told_ = effects(proposed(change(("spec", "replicas"), old=6, new=7)))
    assert told_[0] == "6 pod(s) become 7."
    assert not any("replaced" in one for one in told_)
    assert "requests.memory: +512 MiB in all." in told_


def test_how_many_pods_an_autoscaler_may_make_is_told():
    ref = ObjectRef(kind="HorizontalPodAutoscaler", namespace="payments", name="api")
    raw = {"kind": ref.kind, "metadata": {"name": "api", "namespace": "payments"},
           "spec": {"maxReplicas": 4,
                    "scaleTargetRef": {"kind": "Deployment", "name": "api"}}}  # fmt: skip
    one = change(("spec", "maxReplicas"), old=4, new=8).model_copy(update={"object": ref})
    assert effects(proposed(one, live=raw)) == (
        "Up to 8 pods of Deployment api may run, and not 4.",
    )


def test_where_nothing_is_known_no_effect_is_made_up():
    assert effects(proposed(live=None)) == ()


def reasons(of: Proposed, *checks):
    return risk.assess(of, checks)


def test_a_small_change_that_all_checks_agree_to_is_of_low_risk_and_needs_no_reason():
    assert reasons(proposed(), build.check()) == (Risk.LOW, ())


def test_what_could_not_be_told_raises_the_risk_and_is_named():
    blind = {"verdict": CheckVerdict.UNKNOWN, "check": "shrug"}
    for severity, wanted in (
        (None, Risk.MEDIUM),
        (CheckSeverity.MINOR, Risk.MEDIUM),
        (CheckSeverity.CRITICAL, Risk.HIGH),
    ):
        level, why = reasons(proposed(), build.check(severity=severity, **blind))
        assert (level, why) == (wanted, ("shrug could not be told",))


def test_what_failed_and_is_shown_all_the_same_raises_the_risk():
    bad = {"verdict": CheckVerdict.FAIL, "check": "no-freeze", "detail": "a freeze holds"}
    level, why = reasons(proposed(), build.check(severity=CheckSeverity.MAJOR, **bad))
    assert (level, why) == (Risk.HIGH, ("a freeze holds",))


@pytest.mark.parametrize(
    ("of", "level", "word"),
    [
        (proposed(edit=build.edit(path=("a", "image"))), Risk.HIGH, "image"),
        (proposed(edit=build.edit(op=EditOp.INSERT)), Risk.HIGH, "more than a value"),
        (
            proposed(edit=build.edit(document=ObjectRef(kind="Job", namespace="p", name="j"))),
            Risk.HIGH,
            "made anew",
        ),
        (
            proposed(edit=build.edit(document=REF.model_copy(update={"namespace": "kube-system"}))),
            Risk.HIGH,
            "whole cluster",
        ),
        (proposed(rules=Rules(production=("payments",))), Risk.MEDIUM, "production"),
        (proposed(incident=told(Incident(environment="prod"))), Risk.MEDIUM, "production"),
        (
            proposed(edit=build.edit(document=REF.model_copy(update={"kind": "StatefulSet"}))),
            Risk.MEDIUM,
            "StatefulSet",
        ),
        (
            proposed(change(("spec", "replicas"), old=6, new=12)),
            Risk.MEDIUM,
            "12 pods",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_rule_of_risk_says_why(of, level, word):
    found, why = reasons(of)
    assert found is level
    assert word in why[0]


def test_the_gravest_reason_comes_first():
    of = proposed(rules=Rules(production=("payments",)), edit=build.edit(path=("a", "image")))
    level, why = reasons(of)
    assert level is Risk.HIGH
    assert "image" in why[0]
    assert "production" in why[1]


VERDICTS = st.lists(st.sampled_from(list(CheckVerdict)), max_size=4)


@given(VERDICTS, st.sampled_from(list(CheckVerdict)))
def test_one_more_check_never_lowers_the_risk_and_only_a_pass_leaves_it_low(before, one):
    order = (Risk.LOW, Risk.MEDIUM, Risk.HIGH)
    checks = [build.check(verdict=verdict) for verdict in before]
    less, _ = reasons(proposed(), *checks)
    more, _ = reasons(proposed(), *checks, build.check(verdict=one))
    assert order.index(more) >= order.index(less)
    told_all = {*before, one} == {CheckVerdict.PASS}
    assert (more is Risk.LOW) == told_all


@pytest.mark.parametrize("schema", [{"type": 5}, {"properties": 3}, {"required": "x"}])
def test_a_definition_that_holds_no_schema_tells_nothing(schema):
    assert schemas.faults_of_custom({"a": 1}, schema) is None


async def test_nothing_is_fetched_for_a_definition():
    asked = []

    async def answer(reader, writer):
        asked.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    away = {"$ref": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/schema"}
    schema = {"properties": {"a": away, "$ref": {"type": "string"}}}
    async with server:
        found = await asyncio.to_thread(schemas.faults_of_custom, {"a": 1, "$ref": 2}, schema)
    assert asked == []
    assert len(found) == 1


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"patternProperties": {"(a+)+$": {}}}])
def test_a_definition_leads_nowhere_for_ever(schema):
    assert schemas.faults_of_custom({"a" * 40 + "!": 1}, schema) == frozenset()


@pytest.mark.parametrize(("new", "verdict"), [("256Mi", "pass"), ("1Gi", "fail")])
def test_a_request_that_an_overlay_sets_is_held_against_the_limit_of_the_object(new, verdict):
    live = preview.applied(RAW, [change(REQUEST, ChangeOp.INSERT, None, "128Mi")])
    one = change(REQUEST, ChangeOp.SET, "128Mi", new)
    edit = build.edit(
        file="apps/prod/kustomization.yaml",
        document=ObjectRef(kind="Kustomization", name=""),
        op=EditOp.INSERT,
        path=("patches",),
        old=None,
        new=None,
        new_tree=[{"target": {"kind": "Deployment", "name": "payments-api"}, "patch": "x"}],
        renders=one,
    )
    assert RequestsWithinLimits().run(proposed(one, live, edit)).verdict == verdict


def scaler(*metrics, name="payments-api", **spec):
    target = {"kind": "Deployment", "name": name}
    about = {"name": "api", "namespace": "payments"}
    spec = {"scaleTargetRef": target, "metrics": list(metrics), **spec}
    return Manifest({"kind": "HorizontalPodAutoscaler", "metadata": about, "spec": spec})


def aim(resource, share, **more):
    key = "containerResource" if more else "resource"
    target = {"type": "Utilization", "averageUtilization": share}
    return {"type": key.title(), key: {"name": resource, "target": target, **more}}


@pytest.mark.parametrize(
    ("metric", "share"),
    [
        (aim("memory", 70), "aims at 70 % of requested memory: the same use counts 50 % of"),
        (aim("memory", 70, container="api"), "the same use counts 50 % of what it did"),
        (aim("memory", 70, container="side"), ""),
        (aim("cpu", 70), ""),
        ({"type": "Pods", "pods": {"metric": {"name": "rps"}}}, ""),
    ],
)
def test_an_autoscaler_that_reckons_in_shares_is_told_of_where_requests_change(metric, share):
    of = proposed(scalers=told((scaler(metric),)))
    shifts = [one for one in effects(of) if "aims at" in one]
    assert len(shifts) == bool(share)
    assert all(share in one and "fewer pods may run" in one for one in shifts)
    answer = NoAutoscalerDecides().run(of)
    assert answer.verdict is CheckVerdict.PASS
    assert ("aims at" in answer.detail) is bool(share)


def test_an_autoscaler_without_metrics_aims_at_cpu():
    path = (*LIMIT[:-1], "cpu")
    of = proposed(change(path, old="1", new="500m"), scalers=told((scaler(),)))
    (one,) = (one for one in effects(of) if "aims at" in one)
    assert "aims at 80 % of requested cpu" in one
    assert "more pods may run" in one


def test_an_autoscaler_of_another_object_does_not_matter():
    of = proposed(scalers=told((scaler(aim("memory", 70), name="other"),)))
    assert not any("aims at" in one for one in effects(of))


def test_a_limit_beside_a_request_shifts_no_share():
    live = preview.applied(RAW, [change(REQUEST, ChangeOp.INSERT, None, "128Mi")])
    of = proposed(live=live)
    assert NoAutoscalerDecides().run(of).detail == "the number of pods stays as it is"
    assert NoAutoscalerDecides().run(proposed()).verdict is CheckVerdict.UNKNOWN


def test_a_place_that_a_model_chose_is_of_high_risk():
    of = replace(proposed(), target=build.target(chosen_by="acme/model"))
    danger, why = reasons(of)
    assert danger is Risk.HIGH
    assert why[0] == "the model acme/model chose the place among several"
