"""kubectl itself renders here: it asks nobody, in a folder that is thrown away."""

import asyncio
import sys

import pytest

from tocsin_contracts import FailureCode
from tocsin_validation.surroundings import rendering
from tocsin_validation.surroundings.asked import NotTold

BASE = "apps/base/deployment.yaml"
FILES = {
    BASE: b"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec: {replicas: 1}\n",
    "apps/base/kustomization.yaml": b"resources: [deployment.yaml]\n",
    "apps/prod/kustomization.yaml": b"namespace: prod\nresources: [../base]\n",
    "apps/other/kustomization.yaml": b"resources: [else.yaml]\n",
    "apps/other/else.yaml": b"kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n",
    "plain/job.yaml": b"kind: Job\n",
}
AFTER = {BASE: FILES[BASE].replace(b"replicas: 1", b"replicas: 2")}
KUBECTL = rendering.found()

needs_kubectl = pytest.mark.skipif(not KUBECTL, reason="there is no kubectl")


async def refused(files=FILES, after=AFTER, kubectl=KUBECTL) -> NotTold:
    with pytest.raises(NotTold) as error:
        await rendering.render(kubectl, files, after)
    return error.value


@needs_kubectl
async def test_what_deploys_the_file_is_built_before_and_after():
    rendered = await rendering.render(KUBECTL, FILES, AFTER)
    assert rendered.before.keys() == rendered.after.keys() == {"apps/prod"}
    assert "namespace: prod" in rendered.before["apps/prod"]
    assert "replicas: 1" in rendered.before["apps/prod"]
    assert "replicas: 2" in rendered.after["apps/prod"]
    assert rendered.fault == ""


@needs_kubectl
async def test_a_change_of_the_kustomization_itself_is_built_as_well():
    file = "apps/base/kustomization.yaml"
    rendered = await rendering.render(KUBECTL, FILES, {file: FILES[file] + b"namePrefix: x-\n"})
    assert "name: x-api" in rendered.after["apps/prod"]


@needs_kubectl
async def test_what_cannot_be_built_afterwards_is_a_fault_of_the_change():
    rendered = await rendering.render(KUBECTL, FILES, {BASE: b"kind: [\n"})
    assert "apps/prod cannot be built" in rendered.fault
    assert "tocsin-render" not in rendered.fault


@needs_kubectl
async def test_what_could_not_be_built_before_says_nothing_about_the_change():
    broken = {**FILES, "apps/prod/kustomization.yaml": b"resources: [../base, gone.yaml]\n"}
    assert (await refused(broken)).code is FailureCode.RENDER_FAILED


async def test_a_file_that_no_kustomization_uses_needs_no_kubectl():
    rendered = await rendering.render("", FILES, {"plain/job.yaml": b"kind: CronJob\n"})
    assert (rendered.before, rendered.after) == ({}, {})


async def test_without_kubectl_it_is_not_known():
    error = await refused(kubectl="")
    assert error.code is FailureCode.MISSING_TOOL


@pytest.mark.parametrize(
    "taken",
    [
        b"resources: [../base, 'https://example.com/x.yaml']\n",
        b"resources: [../base, 'git@example.com:org/repo']\n",
        b"resources:\n- ../base\n- github.com/org/repo//deploy?ref=v1\n",
        b"resources: [../base]\nconfigMapGenerator:\n- name: x\n  files: ['http://10.0.0.1/y']\n",
        b"resources: [../base]\npatches:\n- path: https://example.com/patch.yaml\n",
        b"resources: [../base]\nopenapi: {path: 'https://example.com/schema.json'}\n",
        b'resources: [../base]\nopenapi: {path: "http:\\x2f\\x2f127.0.0.1/schema.json"}\n',
        b'resources: [../base]\nconfigMapGenerator:\n- files: ["x=http:\\u002f/10.0.0.1/y"]\n',
        b"resources: [../base]\nconfigMapGenerator:\n- files: [x=github.com/org/repo]\n",
        b"resources: [../base]\ngenerators: [generator.yaml]\n",
        b"resources: [../base]\ntransformers: [transformer.yaml]\n",
        b"resources: [../base]\nvalidators: [validator.yaml]\n",
        b"resources: [../base, ../../../etc]\n",
        b"resources: [../base]\ncomponents: [/etc]\n",
    ],
)
async def test_what_takes_anything_from_elsewhere_is_never_built(taken):
    remote = {**FILES, "apps/prod/kustomization.yaml": taken}
    error = await refused(remote, kubectl="/never/started")
    assert error.code is FailureCode.UNSUPPORTED
    assert "never fetched" in str(error)


async def test_kustomizations_that_only_use_each_other_are_not_nothing_to_render():
    ring = {**FILES, "apps/base/kustomization.yaml": b"resources: [deployment.yaml, ../prod]\n"}
    assert "none is deployed by itself" in str(await refused(ring, kubectl="/never/started"))


async def test_what_another_deployment_takes_from_elsewhere_is_its_own_matter():
    other = {**FILES, "apps/other/kustomization.yaml": b"resources: ['https://example.com/x']\n"}
    assert (await refused(other, kubectl="")).code is FailureCode.MISSING_TOOL


async def test_a_kustomization_that_cannot_be_read_may_use_anything():
    broken = {**FILES, "apps/other/kustomization.yaml": b"resources: [\n"}
    assert "cannot be read" in str(await refused(broken))


@needs_kubectl
async def test_a_path_that_leads_out_of_the_folder_is_not_written(tmp_path):
    outside = f"../../{tmp_path.name}-outside.yaml"
    files = {**FILES, outside: b"a: 1\n", f"/{tmp_path.name}.yaml": b"a: 1\n"}
    await rendering.render(KUBECTL, files, AFTER)
    assert not list(tmp_path.parent.glob(f"{tmp_path.name}-outside*"))


def program(tmp_path, text):
    file = tmp_path / "program"
    file.write_text(f"#!{sys.executable}\n{text}\n")
    file.chmod(0o755)
    return str(file)


async def test_what_prints_without_end_is_ended(tmp_path):
    endless = program(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 1024**2)")
    assert "more than 32 MiB are rendered" in str(await refused(kubectl=endless))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds another process")
async def test_what_asks_for_all_memory_gets_little_of_it(tmp_path):
    greedy = program(tmp_path, "bytearray(5 * 1024**3)")
    assert "MemoryError" in str(await refused(kubectl=greedy))


@needs_kubectl
async def test_an_escape_of_yaml_hides_no_url_and_a_port_here_is_never_asked():
    asked = []

    async def answer(reader, writer):
        asked.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    hidden = f'openapi: {{path: "http:\\x2f\\x2f127.0.0.1:{port}/x"}}\n'.encode()
    file = "apps/prod/kustomization.yaml"
    async with server:
        await refused({**FILES, file: FILES[file] + hidden})
    assert asked == []


@needs_kubectl
async def test_a_folder_of_this_machine_is_no_part_of_what_is_rendered(tmp_path):
    (tmp_path / "kustomization.yaml").write_text("resources: [x.yaml]\n")
    (tmp_path / "x.yaml").write_text("kind: ConfigMap\napiVersion: v1\nmetadata: {name: here}\n")
    way = f"{'../' * 40}{tmp_path.relative_to('/')}"
    files = {**FILES, "apps/prod/kustomization.yaml": f"resources: [../base, {way}]\n".encode()}
    assert (await refused(files)).code is FailureCode.UNSUPPORTED


async def test_a_program_that_kustomize_would_start_is_not_started():
    inside = {
        **FILES,
        "apps/prod/kustomization.yaml": b"resources: [../base]\ngenerators: [g.yaml]\n",
        "apps/prod/g.yaml": b"apiVersion: x/v1\nkind: G\nmetadata:\n  name: g\n  annotations:\n"
        b"    config.kubernetes.io/function: 'exec: {path: ./run.sh}'\n",
        "apps/prod/run.sh": b"#!/bin/sh\ntouch ran\n",
    }
    assert (await refused(inside, kubectl="/never/started")).code is FailureCode.UNSUPPORTED
