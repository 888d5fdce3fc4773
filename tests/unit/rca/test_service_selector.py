import pytest

from tocsin_contracts import ChangeOp
from tocsin_rca.analyzers.service_selector import ServiceSelector

READY = {"ready": True, "restartCount": 0, "state": {"running": {}}}


def served(scene, selector, name="web", status=READY):
    scene.deployment()
    scene.pod(**status)
    scene.add("Service", name, {"selector": selector})


async def find(scene, **alert):
    return ServiceSelector().analyze(await scene.case(scene.alert(**alert)))


async def test_the_service_that_the_alert_names_gets_what_its_pods_carry(scene):
    served(scene, {"app": "web", "tier": "frnt"}, "web-internal")
    (finding,) = await find(scene, name="web-internal", kind="Service")
    assert finding.change.path == ("spec", "selector", "tier")
    assert (finding.change.old, finding.change.new) == ("frnt", "front")
    assert str(finding.object) == "Service shop/web-internal"
    assert finding.confidence >= 0.9


async def test_a_selector_of_one_key_is_told_by_the_name_of_its_workload(scene):
    served(scene, {"app": "wbe"})
    (finding,) = await find(scene, name="web", kind="Service")
    assert finding.change.new == "web"


async def test_a_service_named_for_the_workload_of_the_alert_counts(scene):
    served(scene, {"app": "web", "tier": "back"}, "web-svc")
    (finding,) = await find(scene)
    assert finding.confidence >= 0.9


async def test_a_commit_that_changed_the_selector_is_undone(scene):
    served(scene, {"app": "web", "tier": "canary"})
    scene.commit(("spec", "selector", "tier"), "front", "canary", "Service")
    (finding,) = await find(scene)
    assert finding.confidence == 0.97
    assert "undoes" in finding.because


async def test_a_commit_that_changed_the_pods_instead_makes_it_less_certain(scene):
    served(scene, {"app": "web", "tier": "back"})
    scene.commit(("spec", "template", "metadata", "labels", "tier"), "back", "front")
    (finding,) = await find(scene)
    assert 0.6 <= finding.confidence < 0.9


async def test_a_slip_of_the_pen_in_another_service_is_likely(scene):
    served(scene, {"app": "web", "tier": "frontt"}, "entry")
    (finding,) = await find(scene)
    assert 0.6 <= finding.confidence < 0.9


async def test_the_service_of_a_canary_that_does_not_run_is_left_alone(scene):
    served(scene, {"app": "web", "tier": "canary"}, "web-canary")
    (finding,) = await find(scene)
    assert finding.confidence < 0.6


async def test_a_service_that_selects_a_pod_is_fine_whatever_blocks_the_traffic(scene):
    served(scene, {"app": "web"}, status=READY | {"ready": False})
    scene.add("NetworkPolicy", "deny-all", {"podSelector": {}, "policyTypes": ["Ingress"]})
    assert await find(scene) == ()
    assert await find(scene, name="web", kind="Service") == ()


async def test_a_service_without_pods_to_select_has_another_reason_to_be_empty(scene):
    scene.deployment()
    scene.add("Service", "web", {"selector": {"app": "web", "tier": "back"}})
    (finding,) = await find(scene)
    assert finding.confidence < 0.7


async def test_the_service_of_another_workload_is_told_by_what_runs_its_pods(scene):
    served(scene, {"app": "web"})
    template = {"metadata": {"labels": {"app": "cart", "tier": "back"}}, "spec": {"containers": []}}
    scene.add("Deployment", "cart", {"template": template})
    scene.add("Service", "cart", {"selector": {"app": "cart", "tier": "backend"}})
    (finding,) = await find(scene)
    assert (str(finding.object), finding.change.new) == ("Service shop/cart", "back")


async def test_a_service_that_has_addresses_leads_somewhere_whatever_was_not_seen(scene):
    served(scene, {"app": "web", "tier": "back"})
    scene.add("Endpoints", "web")
    scene.objects[-1]["subsets"] = [{"addresses": [{"ip": "10.1.0.4"}], "ports": [{"port": 80}]}]
    assert await find(scene) == ()


async def test_two_wrong_keys_are_not_one_slip(scene):
    served(scene, {"app": "api", "tier": "back"})
    assert await find(scene) == ()


@pytest.mark.parametrize("selector", [{}, None])
async def test_a_service_without_a_selector_has_its_endpoints_elsewhere(scene, selector):
    served(scene, selector)
    assert await find(scene) == ()


async def test_a_label_that_only_the_selector_knows_has_no_right_value(scene):
    served(scene, {"app": "web", "role": "primary"})
    (finding,) = await find(scene)
    assert finding.change is None


async def test_a_label_that_nothing_carries_goes_if_it_only_repeats_the_name(scene):
    served(scene, {"app": "web", "service": "web"})
    (finding,) = await find(scene)
    change = finding.change
    assert (change.op, change.path) == (ChangeOp.DELETE, ("spec", "selector", "service"))
    assert change.before == "web"


async def test_a_label_that_another_workload_carries_stays(scene):
    served(scene, {"app": "web", "service": "web"})
    labels = {"app": "other", "service": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": []}}
    scene.add("Deployment", "other", {"selector": {}, "template": template})
    found = await find(scene)
    assert all(one.change is None or one.change.op is not ChangeOp.DELETE for one in found)


async def test_a_label_that_is_set_at_run_time_is_not_copied(scene):
    served(scene, {"app": "web", "role": "primary"})
    scene.objects[1]["metadata"]["labels"]["role"] = "replica"
    (finding,) = await find(scene)
    assert finding.change is None
    assert "run time" in finding.because


async def test_pods_that_have_ended_are_no_pods_to_select(scene):
    scene.deployment()
    scene.pod(phase="Succeeded", ready=False)
    scene.add("Service", "web", {"selector": {"app": "web", "tier": "back"}})
    assert await find(scene) == ()
