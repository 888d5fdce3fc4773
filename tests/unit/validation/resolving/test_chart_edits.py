"""What Argo CD or Flux deploys of a chart in a repository is changed in its values."""

import pytest

from tocsin_contracts import EditOp
from tocsin_gitops.manifests import VALUES
from tocsin_testing import build
from tocsin_validation.resolving import Resolved

URL = "https://github.com/shop/platform-gitops.git"
REPLICAS = ("spec", "replicas")
TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "payments.name" . }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
        - name: api
          image: "ghcr.io/shop/payments:{{ .Values.image.tag }}"
          {{- with .Values.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
"""
CHART = {
    "charts/payments/Chart.yaml": "apiVersion: v2\nname: payments\nversion: 1.0.0\n",
    "charts/payments/values.yaml": "replicas: 2\nimage: {tag: 1.4.2}\nresources: {}\n",
    "charts/payments/templates/_helpers.tpl": '{{ define "payments.name" }}payments-api{{ end }}\n',
    "charts/payments/templates/deployment.yaml": TEMPLATE,
    "envs/prod.yaml": "resources:\n  limits:\n    memory: 128Mi # tight\n",
}
LISTED = {"group": "apps", "version": "v1", "kind": "Deployment"} | {
    "namespace": "payments",
    "name": "payments-api",
}


def app(name="payments", listed=(LISTED,), **source):
    """An Application of the chart, with the values of production."""
    server = "https://kubernetes.default.svc"
    usual = {"repoURL": URL, "path": "charts/payments", "targetRevision": "main"}
    helm = {"valueFiles": ["../../envs/prod.yaml"], "releaseName": "pay"}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd", "uid": name},
        "spec": {
            "destination": {"server": server, "namespace": "payments"},
            "source": {**usual, "helm": helm, **source},
        },
        "status": {"sourceType": "Helm", "resources": list(listed)},
    }


def flux(name="payments", *files):
    """A HelmRelease of the chart, and the repository it comes from."""
    kind, group = "helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io"
    source = {"kind": "GitRepository", "name": "shop", "namespace": "flux-system"}
    chart = {"chart": "./charts/payments", "sourceRef": source, "valuesFiles": list(files)}
    release = {
        "apiVersion": f"{kind}/v2",
        "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": "payments"},
        "spec": {"chart": {"spec": chart}},
    }
    repository = {
        "apiVersion": f"{group}/v1",
        "kind": "GitRepository",
        "metadata": {"name": "shop", "namespace": "flux-system"},
        "spec": {"url": URL, "ref": {"branch": "main"}},
    }
    return release, repository


async def resolved(desk, **asked):
    answer = await desk.resolve(**asked)
    assert isinstance(answer, Resolved), answer
    return answer


async def test_the_limit_is_raised_in_the_values_of_the_release(desk):
    desk.repository(files=CHART)
    desk.shows(app())
    answer = await resolved(desk)
    (edit,) = answer.edits
    assert (edit.file, edit.document.kind) == ("envs/prod.yaml", VALUES)
    assert (edit.path, edit.old, edit.new) == (("resources", "limits", "memory"), "128Mi", "256Mi")
    assert edit.renders == answer.finding.change
    assert "'charts/payments/templates/deployment.yaml'" in " ".join(answer.target.trace)


@pytest.mark.parametrize(
    ("others", "file"), [([], "charts/payments/values.yaml"), (["b"], "envs/prod.yaml")]
)
async def test_whether_others_deploy_the_chart_decides_where_a_key_of_it_goes(desk, others, file):
    desk.repository(files=CHART)
    desk.shows(app(), *(app(name, (), helm={"releaseName": name}) for name in others))
    answer = await resolved(desk, path=REPLICAS, old=2, new=4)
    assert answer.target.file == file


async def test_values_that_another_application_has_too_are_only_proposed(desk):
    desk.repository(files=CHART)
    desk.shows(app(), app("twin", ()))
    answer = await resolved(desk)
    assert answer.edits[0].op is EditOp.CREATE
    assert "also reaches: Application argocd/twin" in answer.edits[0].new


async def test_a_second_source_of_values_elsewhere_is_only_proposed(desk):
    desk.repository(files=CHART)
    desk.shows(
        app(helm={"releaseName": "pay", "parameters": [{"name": "resources.limits.memory"}]})
    )
    answer = await resolved(desk)
    assert answer.edits[0].op is EditOp.CREATE


async def test_a_helm_release_of_flux_is_followed_the_same_way(desk):
    whole = CHART["charts/payments/values.yaml"].replace("{}", "{limits: {memory: 128Mi}}")
    desk.repository(files=CHART | {"envs/prod.yaml": whole})
    mark = {"name": "payments", "namespace": "payments"}
    labels = {f"helm.toolkit.fluxcd.io/{key}": value for key, value in mark.items()}
    desk.shows(*flux("payments", "envs/prod.yaml"), labels=labels)
    answer = await resolved(desk)
    assert answer.edits[0].file == "envs/prod.yaml"
    other = flux("other", "envs/prod.yaml")[0]
    desk.shows(*flux("payments", "envs/prod.yaml"), other, labels=labels)
    assert "HelmRelease payments/other" in (await resolved(desk)).edits[0].new


async def test_a_proposal_for_a_chart_says_why_no_value_is_edited(desk):
    files = CHART | {"charts/payments/templates/deployment.yaml": '{{ include "lib.all" . }}\n'}
    desk.repository(files=files)
    desk.shows(app())
    text = (await resolved(desk)).edits[0].new
    assert "no template that can be followed makes Deployment payments/payments-api" in text
    assert build.finding().summary in text
