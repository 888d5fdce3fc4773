"""A field of a chart is changed in the one value that decides it, or not at all."""

from pathlib import Path

import pytest

from tocsin_contracts import ChangeOp, FieldChange, ObjectRef, Place, SourceKind
from tocsin_gitops import locate
from tocsin_gitops.editing import apply
from tocsin_gitops.located import NotLocated, Reason

CHARTS = Path(__file__).parent / "charts"
PODS = ("spec", "template", "spec")
SPACE = "shop"


def chart(name):
    return {
        f"charts/{path.relative_to(CHARTS)}": path.read_bytes()
        for path in sorted((CHARTS / name).rglob("*"))
        if path.is_file()
    }


def place(name, *value_files, **more):
    told = {"by": "Application argocd/pay", "release": "pay", **more}
    where = {"host": "local", "repo": "shop/gitops", "revision": "main"}
    return Place(
        **where, path=f"charts/{name}", kind=SourceKind.HELM, value_files=value_files, **told
    )


def change(kind, name, path, *values, op=ChangeOp.SET):
    ref = ObjectRef(kind=kind, namespace=SPACE, name=name)
    old, new = (*values, None)[:2]
    before = {"old_tree" if isinstance(old, dict | list) else "old": old}
    after = {"new_tree" if isinstance(new, dict | list) else "new": new}
    return FieldChange(object=ref, path=path, op=op, **before, **after)


def container(name, *path):
    return (*PODS, "containers", f"[name={name}]", *path)


def found(files, wanted, where):
    answer = locate.locate(files, wanted, where)
    assert not isinstance(answer, NotLocated), answer.sentence
    return answer


def refused(files, wanted, where):
    answer = locate.locate(files, wanted, where)
    assert isinstance(answer, NotLocated), answer
    return answer


def line_of(files, answer):
    """The lines that an edit brings, without their indent."""
    after = apply(files, (answer.edit,))[answer.file].decode().splitlines()
    before = files[answer.file].decode().splitlines()
    return [line.strip() for line in after if line not in before]


DECIDED = {
    "a-number": ("web", "pay-web", ("spec", "replicas"), 2, 5, "replicaCount: 5 # how many"),
    "an-image-by-its-tag": (
        *("web", "pay-web", container("web", "image")),
        *("ghcr.io/shop/web:1.16.0", "ghcr.io/shop/web:1.17.1", 'tag: "1.17.1"'),
    ),
    "an-image-through-a-helper": (
        *("images", "pay-images", container("api", "image")),
        *("docker.io/shop/api:1.4.2-debian-12-r3", "docker.io/shop/api:1.4.3", "tag: 1.4.3"),
    ),
    "a-part-of-a-whole-mapping": (
        *("images", "pay-images", container("api", "resources", "limits", "memory")),
        *("192Mi", "384Mi", "memory: 384Mi"),
    ),
    "a-variable-of-a-mapping": (
        *("worker", "pay-worker", container("worker", "env", "[name=QUEUE]", "value")),
        *("orders", "orders-v2", 'QUEUE: "orders-v2"'),
    ),
    "a-number-that-is-quoted": (
        *("worker", "pay-worker", container("worker", "env", "[name=BATCH_SIZE]", "value")),
        *("50", "20", "BATCH_SIZE: 20"),
    ),
    "a-part-of-an-argument": (
        *("worker", "pay-worker", container("worker", "args", 0)),
        *("--concurrency=4", "--concurrency=2", "concurrency: 2"),
    ),
    "a-number-printed-into-a-text": (
        *("worker", "pay-worker", container("worker", "args", 1)),
        *("-Xmx256m", "-Xmx512m", "heapMegabytes: 512"),
    ),
    "an-item-of-a-list-of-services": (
        *("several", "pay-mail", ("spec", "replicas"), 1, 3, "replicas: 3"),
    ),
    "a-value-behind-a-dot": (
        *("several", "pay-cart", container("cart", "resources", "limits", "memory")),
        *("128Mi", "256Mi", "memory: 256Mi"),
    ),
    "beside-a-template-that-says-nothing-of-it": (
        *("guarded", "pay-guarded", ("spec", "replicas"), 2, 3, "replicas: 3"),
    ),
}


@pytest.mark.parametrize("case", DECIDED.values(), ids=DECIDED)
def test_a_value_that_decides_a_field_is_set_in_the_values_of_the_chart(case):
    name, object_, path, old, new, line = case
    files, wanted = chart(name), change("Deployment", object_, path, old, new)
    answer = found(files, wanted, place(name))
    assert answer.file == f"charts/{name}/values.yaml"
    assert answer.agrees
    assert line_of(files, answer) == [line]
    assert answer.edit.renders == wanted


OTHERS = {
    "schedule": (
        *("cron", "CronJob", ("spec", "schedule"), "*/5 * * * *", "*/15 * * * *"),
        'schedule: "*/15 * * * *"',
    ),
    "int": (
        *("cron", "CronJob", ("spec", "jobTemplate", "spec", "backoffLimit"), 2, 4),
        "retries: 4",
    ),
    "default": (
        *("cron", "CronJob", ("spec", "jobTemplate", "spec", "activeDeadlineSeconds"), 600, 900),
        "deadlineSeconds: 900",
    ),
    "autoscaler": (
        *("scaled", "HorizontalPodAutoscaler", ("spec", "maxReplicas"), 5, 9),
        "maxReplicas: 9",
    ),
    "claim": (
        "store",
        "StatefulSet",
        ("spec", "volumeClaimTemplates", 0, "spec", "resources", "requests", "storage"),
        *("8Gi", "16Gi", "size: 16Gi"),
    ),
    "flow": (
        *("store", "StatefulSet", container("store", "readinessProbe", "timeoutSeconds"), 1, 5),
        "readiness: {periodSeconds: 10, timeoutSeconds: 5}",
    ),
}


@pytest.mark.parametrize("case", OTHERS.values(), ids=OTHERS)
def test_other_kinds_are_changed_the_same_way(case):
    name, kind, path, old, new, line = case
    files = chart(name)
    answer = found(files, change(kind, f"pay-{name}", path, old, new), place(name))
    assert line_of(files, answer) == [line]


REFUSED = {
    "the-same-value-is-a-port-of-the-service": (
        *("ported", "Deployment", container("app", "ports", "[name=http]", "containerPort")),
        *(8080, 9090, "Service pay-ported as well"),
    ),
    "a-checksum-of-it-is-in-the-pods": (
        *("configured", "ConfigMap", ("data", "timeout"), "30s", "60s"),
        "Deployment pay-configured as well",
    ),
    "a-value-is-a-template-itself": (
        *("templated", "Deployment", container("app", "image")),
        *("ghcr.io/shop/templated:1.16.0", "ghcr.io/shop/templated:1.17.0", "nobody can tell"),
    ),
    "a-text-of-the-template": (
        *("worker", "Deployment", container("worker", "image")),
        *("ghcr.io/shop/worker:2.1", "ghcr.io/shop/worker:2.2", "no one value"),
    ),
    "name-and-tag-at-once": (
        *("web", "Deployment", container("web", "image")),
        *("ghcr.io/shop/web:1.16.0", "ghcr.io/shop/site:1.17.1", "no one value"),
    ),
    "a-template-that-cannot-be-followed-uses-it": (
        *("guarded", "Deployment", ("metadata", "annotations", "host")),
        *("shop.example", "shop.test", "templates/ingress.yaml' may use it"),
    ),
    "a-name-of-a-library": (
        *("library", "Deployment", ("spec", "replicas"), 1, 2, "not followed: common"),
    ),
    "a-chart-that-a-library-makes-all-of": (
        *("loaded", "Deployment", ("spec", "replicas"), 1, 2, "not followed: app-common"),
    ),
    "an-object-of-a-dependency": (
        *("umbrella", "StatefulSet", ("spec", "replicas"), 1, 2, "not followed: redis"),
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_proved_is_refused_with_the_reason(case):
    name, kind, path, old, new, why = case
    wanted = change(kind, f"pay-{name}", path, old, new)
    answer = refused(chart(name), wanted, place(name))
    assert answer.reason is Reason.UNEDITABLE
    assert why in answer.sentence
    assert "Helm makes it of the chart in" in answer.sentence


@pytest.mark.parametrize("value", ["redis.replicas", "global.tier"])
def test_a_value_that_goes_to_a_dependency_too_is_left_alone(value):
    key = value.rpartition(".")[2]
    old, new = ("1", "2") if key == "replicas" else ("gold", "silver")
    wanted = change("ConfigMap", "umbrella", ("data", key), old, new)
    assert (
        f"{value} also goes to charts"
        in refused(chart("umbrella"), wanted, place("umbrella")).sentence
    )


MEMORY = container("web", "resources", "limits", "memory")
PROD = "# only here\nreplicaCount: 3\nresources:\n  limits:\n    memory: 128Mi\n"


def test_the_last_file_of_values_that_sets_a_key_owns_it():
    files = chart("web") | {
        "envs/a.yaml": b"replicaCount: 9\n",
        "envs/b.yaml": PROD.encode(),
    }
    answer = found(
        files,
        change("Deployment", "pay-web", MEMORY, "128Mi", "256Mi"),
        place("web", "envs/a.yaml", "envs/b.yaml"),
    )
    assert (answer.file, line_of(files, answer)) == ("envs/b.yaml", ["memory: 256Mi"])


def test_a_key_that_only_the_chart_sets_is_set_there_if_nobody_else_uses_the_chart():
    files = chart("web") | {"envs/b.yaml": PROD.encode()}
    wanted = change(
        "Deployment", "pay-web", container("web", "imagePullPolicy"), "IfNotPresent", "Always"
    )
    assert found(files, wanted, place("web", "envs/b.yaml")).file == "charts/web/values.yaml"


SHARING = {
    "the-cluster-says-so": ({}, {"chart_shared_with": ("Application argocd/other",)}),
    "values-of-others-lie-beside": ({"charts/web/values-stage.yaml": b"replicaCount: 1\n"}, {}),
    "an-application-of-the-repository": (
        {
            "apps/other.yaml": b"apiVersion: argoproj.io/v1alpha1\nkind: Application\n"
            b"metadata: {name: other, namespace: argocd}\n"
            b"spec: {source: {path: ./charts/web}}\n"
        },
        {},
    ),
    "an-application-set-may": (
        {
            "apps/set.yaml": b"apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\n"
            b"metadata: {name: all, namespace: argocd}\n"
            b'spec: {template: {spec: {source: {path: "{{.path.path}}"}}}}\n'
        },
        {},
    ),
}


@pytest.mark.parametrize(("more", "told"), SHARING.values(), ids=SHARING)
def test_of_a_chart_that_others_use_the_release_gets_the_key_in_its_own_file(more, told):
    files = chart("web") | {"envs/b.yaml": PROD.encode()} | more
    path = container("web", "livenessProbe", "httpGet", "path")
    wanted = change("Deployment", "pay-web", path, "/healthz", "/livez")
    answer = found(files, wanted, place("web", "envs/b.yaml", **told))
    assert (answer.file, answer.op) == ("envs/b.yaml", ChangeOp.INSERT)
    assert line_of(files, answer) == ["livenessProbe:", "httpGet:", "path: /livez"]


def test_a_file_of_values_that_others_use_too_is_left_alone():
    wanted = change("Deployment", "pay-web", ("spec", "replicas"), 2, 3)
    where = place("web", shared_with=("Application argocd/other",))
    answer = refused(chart("web"), wanted, where)
    assert answer.reason is Reason.SHARED
    assert "Application argocd/other" in answer.sentence


ADDED = {
    "in-an-empty-mapping": (("resources", "limits"), {"memory": "1Gi"}, "limits"),
    "a-whole-mapping": (("resources",), {"limits": {"memory": "1Gi"}}, "limits"),
    "below-what-is-there": (("livenessProbe", "timeoutSeconds"), 5, "timeoutSeconds: 5"),
    "by-a-like-name": (("securityContext", "runAsNonRoot"), True, "runAsNonRoot: true"),
}


@pytest.mark.parametrize(("path", "new", "line"), ADDED.values(), ids=ADDED)
def test_a_new_field_goes_into_the_value_that_makes_what_is_around_it(path, new, line):
    files = chart("web")
    wanted = change("Deployment", "pay-web", container("web", *path), None, new, op=ChangeOp.INSERT)
    answer = found(files, wanted, place("web"))
    assert answer.agrees
    assert any(one.startswith(line) for one in line_of(files, answer))


def test_a_new_list_is_an_item_of_the_empty_one():
    files, taint = chart("web"), {"key": "gpu", "operator": "Exists"}
    wanted = change(
        "Deployment", "pay-web", (*PODS, "tolerations"), None, [taint], op=ChangeOp.INSERT
    )
    answer = found(files, wanted, place("web"))
    assert answer.edit.after == taint
    assert line_of(files, answer)[-2:] == ["- key: gpu", "operator: Exists"]


def test_an_item_is_added_at_the_end_of_a_list_that_a_value_ends():
    files = chart("worker")
    env = [
        {"name": n, "value": v}
        for n, v in (("BATCH_SIZE", "50"), ("LOG_LEVEL", "info"), ("QUEUE", "orders"))
    ]
    one = {"name": "TZ", "value": "UTC"}
    wanted = change(
        "Deployment", "pay-worker", container("worker", "env"), env, one, op=ChangeOp.APPEND
    )
    assert line_of(files, found(files, wanted, place("worker")))[0] == "extraEnv:"
    files["charts/worker/values.yaml"] = files["charts/worker/values.yaml"].replace(
        b"extraEnv: []", b"extraEnv:\n  - name: A\n    value: b"
    )
    wanted = wanted.model_copy(update={"old_tree": [*env, {"name": "A", "value": "b"}]})
    answer = found(files, wanted, place("worker"))
    assert line_of(files, answer) == ["- name: TZ", "value: UTC"]


def test_a_field_is_taken_away_where_just_one_file_sets_it():
    files = chart("web") | {"envs/b.yaml": PROD.encode()}
    wanted = change("Deployment", "pay-web", MEMORY, "128Mi", op=ChangeOp.DELETE)
    assert found(files, wanted, place("web", "envs/b.yaml")).file == "envs/b.yaml"
    twice = files | {"envs/a.yaml": PROD.encode()}
    answer = refused(twice, wanted, place("web", "envs/a.yaml", "envs/b.yaml"))
    assert "without that envs/a.yaml would" in answer.sentence


def test_a_file_that_moved_on_is_told_and_not_edited():
    wanted = change("Deployment", "pay-web", ("spec", "replicas"), 4, 5)
    answer = found(chart("web"), wanted, place("web"))
    assert (answer.agrees, answer.done, answer.old) == (False, False, 2)


def test_a_file_that_holds_the_cure_already_is_told():
    wanted = change("Deployment", "pay-web", ("spec", "replicas"), 0, 2)
    answer = found(chart("web"), wanted, place("web"))
    assert (answer.agrees, answer.done) == (False, True)


@pytest.mark.parametrize(("value", "done"), [("1Gi", True), ("2Gi", False)])
def test_a_new_field_that_is_there_by_now_is_told_and_not_added(value, done):
    files = chart("web")
    name = "charts/web/values.yaml"
    limits = f"resources: {{limits: {{memory: {value}}}}}"
    files[name] = files[name].replace(b"resources: {}", limits.encode())
    wanted = change("Deployment", "pay-web", MEMORY, None, "1Gi", op=ChangeOp.INSERT)
    answer = found(files, wanted, place("web"))
    assert (answer.file, answer.agrees, answer.done) == (name, False, done)


def test_a_text_of_the_template_that_moved_on_is_told_with_its_template():
    wanted = change("Deployment", "pay-worker", container("worker", "image"), "a:1", "a:2")
    answer = found(chart("worker"), wanted, place("worker"))
    assert (answer.file, answer.agrees) == ("charts/worker/templates/worker.yaml", False)


def test_a_chart_of_another_place_is_not_guessed_about():
    wanted = change("Deployment", "pay-web", ("spec", "replicas"), 2, 5)
    where = place("web").model_copy(update={"path": "", "chart": "the chart web of charts.example"})
    assert "of the chart web of charts.example" in refused(chart("web"), wanted, where).sentence


def test_values_with_an_anchor_that_others_use_are_left_alone():
    files = chart("web")
    files["charts/web/values.yaml"] = files["charts/web/values.yaml"].replace(
        b"replicaCount: 2", b"replicaCount: &two 2\nother: *two"
    )
    wanted = change("Deployment", "pay-web", ("spec", "replicas"), 2, 5)
    assert "&two" in refused(files, wanted, place("web")).sentence


def test_values_with_windows_line_ends_keep_them():
    files = chart("web")
    name = "charts/web/values.yaml"
    files[name] = files[name].replace(b"\n", b"\r\n")
    answer = found(files, change("Deployment", "pay-web", ("spec", "replicas"), 2, 5), place("web"))
    assert apply(files, (answer.edit,))[name] == files[name].replace(b"Count: 2", b"Count: 5")


@pytest.mark.parametrize(
    "file", ["values.yaml", "templates/deployment.yaml", "templates/_helpers.tpl"]
)
def test_what_looks_like_a_mark_of_ours_is_refused(file):
    files = chart("web")
    files[f"charts/web/{file}"] += "# \ue0003\ue001\n".encode()
    wanted = change("Deployment", "pay-web", ("spec", "replicas"), 2, 5)
    assert refused(files, wanted, place("web"))


def test_a_text_that_grows_without_bounds_is_not_followed():
    files = chart("web")
    name = "charts/web/templates/deployment.yaml"
    doubled = '{{ $a := "xxxxxxxxxx" }}' + '{{ $a = printf "%s%s" $a $a }}' * 60
    files[name] = doubled.encode() + files[name]
    wanted = change("Deployment", "pay-web", ("spec", "replicas"), 2, 5)
    assert "too long" in refused(files, wanted, place("web")).sentence
