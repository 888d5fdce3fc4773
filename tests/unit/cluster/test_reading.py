import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_cluster.printed import Printed, parse
from tocsin_cluster.reading import listing, read
from tocsin_cluster.reading.tables import rows

WORDS = st.text("abcz019-./:%<>()", min_size=1, max_size=12)
HEADERS = ["NAME", "READY", "LAST SEEN", "PORT(S)", "NOMINATED NODE"]
CELLS = st.lists(
    st.lists(WORDS, min_size=len(HEADERS), max_size=len(HEADERS)), min_size=1, max_size=4
)
COMMANDS = st.sampled_from(
    [
        "kubectl get pods",
        "kubectl describe pod",
        "kubectl get events",
        "kubectl top nodes",
        "kubectl",
    ]
)
LINES = st.sampled_from(
    [
        "Name: a",
        "Containers:",
        "  app:",
        "    State: Waiting",
        "      Reason: X",
        "Events:",
        "  Type Reason",
        "  ---- ------",
        "NAME   READY   STATUS",
        "a      1/1     Running",
        "LAST SEEN   REASON   OBJECT",
        "Port: x",
        "TargetPort: y",
        "Replicas: many",
        "Conditions:",
        "Resource Used Hard",
        "Rules:",
        "  ---  ---",
        "    /  web",
        "Taints: :",
        "Labels: =",
        "\t",
        "",
        "{",
        "kind: [",
    ]
)


def printed(columns, table):
    widths = [max(map(len, column)) for column in zip(columns, *table, strict=True)]
    lines = [
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (columns, *table)
    ]
    return "\n".join(lines)


@settings(max_examples=60)
@given(CELLS)
def test_every_cell_of_a_table_is_read_back(table):
    found = [list(row.values()) for row in rows(printed(HEADERS, table))]
    assert found == table


@settings(max_examples=60)
@given(CELLS, st.integers(0, len(HEADERS) - 1))
def test_an_empty_cell_moves_no_other(table, hole):
    table[0][hole] = ""
    (first, *_) = rows(printed(HEADERS, table))
    assert list(first.values()) == table[0] or hole == 0


@settings(max_examples=150)
@given(COMMANDS, st.lists(LINES | st.text(max_size=20), max_size=14))
def test_odd_text_is_never_an_error(command, lines):
    text = "\n".join(lines)
    found = read([Printed.of(command, text)], "shop")
    assert found.texts or found.objects or found.events


@settings(max_examples=80)
@given(st.text(max_size=40))
def test_no_command_line_is_an_error(line):
    assert parse(line).text == line.strip().removeprefix("$").strip()


@pytest.mark.parametrize(
    ("line", "kind", "names", "namespace"),
    [
        ("kubectl get pods -A -o wide", "Pod", (), ""),
        ("$ kubectl -n shop describe pod/web-1", "Pod", ("web-1",), "shop"),
        ("kubectl logs deploy/web -nshop --tail=20", "Deployment", ("web",), "shop"),
        ("oc get ep web --namespace=shop", "Endpoints", ("web",), "shop"),
        ("k get deployments.apps web -oyaml | head", "Deployment", ("web",), ""),
        ("kubectl get po,svc -n shop", "", (), "shop"),
        ("kubectl events -n shop", "Event", (), "shop"),
    ],
)
def test_a_command_line_says_what_was_asked(line, kind, names, namespace):
    command = parse(line)
    assert (command.kind, command.names, command.namespace) == (kind, names, namespace)


@pytest.mark.parametrize("text", ["[" * 3000, '{"a":' * 3000, "- " * 3000, "a: &a [*a]"])
def test_a_text_that_is_nested_without_end_is_text(text):
    assert read([Printed.of("kubectl get pods -o yaml", text)], "shop").objects == ()


def test_a_list_of_bare_events_is_events():
    text = '[{"reason": "BackOff", "message": "m", "involvedObject": {"kind": "Pod", "name": "a"}}]'
    (event,) = read([Printed.of("kubectl get events -n shop", text)], "x").events
    assert (str(event.about), event.reason) == ("Pod shop/a", "BackOff")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("kubectl get secret db -o jsonpath='{.data}' -n shop", "aHVzaA=="),
        ("kubectl get secret db -n shop -o yaml", "data:\n\tpassword: aHVzaA=="),
        ("kubectl get all -o yaml", "items:\n- kind: Secret\n\tdata: {p: aHVzaA==}"),
    ],
)
def test_a_text_that_may_show_a_secret_is_not_kept(command, text):
    assert "aHVzaA" not in repr(read([Printed.of(command, text)], "shop"))


def names(command, text):
    found = read([Printed.of(command, text)], "shop")
    return [str(one.ref) for one in (*found.listed, *found.objects)]


def test_yaml_that_was_cut_short_is_read_as_far_as_it_goes():
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  metadata: {name: a}\n"
        "- kind: Pod\n  metadata: {name: b}\n  spec: {containers: [{name: c, ima"
    )
    assert names("kubectl get pods -o yaml -n shop", text)[0] == "Pod shop/a"


def test_labels_that_were_asked_for_by_name_are_labels():
    text = "NAME   READY   STATUS    APP   TIER\na      1/1     Running   web   <none>\n"
    (pod,) = read([Printed.of("kubectl get pods -n shop -L app,x.io/tier", text)], "shop").listed
    assert pod.labels == {"app": "web"}


def test_a_table_of_another_program_is_read_where_it_cannot_be_mistaken():
    table = "NAME   STATUS   ROLES    TAINTS\nn1     Ready    <none>   gpu=yes:NoSchedule\n"
    found = read([Printed.of("inventory of nodes", table)], "shop")
    (node,) = found.listed
    assert node.dig("spec", "taints") == [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    assert found.texts


def test_objects_that_another_program_prints_are_objects_and_its_text_is_kept():
    found = read([Printed.of("check", '{"kind": "Node", "metadata": {"name": "n1"}}')], "shop")
    assert [str(one.ref) for one in found.objects] == ["Node n1"]
    assert found.texts


def test_an_event_about_what_is_in_no_namespace_is_not_put_into_one():
    text = '[{"reason": "NodeNotReady", "involvedObject": {"kind": "Node", "name": "n1"}}]'
    (event,) = read([Printed.of("kubectl get events -n shop", text)], "x").events
    assert str(event.about) == "Node n1"


BOMB = "kind: List\nitems:\n- &a {kind: Pod, metadata: {name: a}}\n" + "".join(
    f"- &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
)
DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("kubectl get pods -o yaml", BOMB),
        (
            "kubectl get pods -o yaml",
            f"kind: Pod\nmetadata: {{name: a}}\nspec: {'[' * 90}{']' * 90}",
        ),
        ("kubectl get pods -o json", f'{{"kind": "Pod", "spec": {"[" * 200}{"]" * 200}}}'),
        (
            "kubectl get pods",
            f"NAME   READY   STATUS   RESTARTS\na   {DIGITS}/1   Running   {DIGITS}",
        ),
        ("kubectl get pods", "NAME " + "A " * 100_000 + "!\n" + "b " * 100_000),
        ("kubectl get pods", "\n" * 300_000),
        (
            "kubectl describe pod",
            f"Name: a\nNode: b\nContainers:\n  c:\n    Restart Count: {DIGITS}",
        ),
        ("kubectl describe hpa", f"Name: a\nMax replicas: {DIGITS}\nD pods: {DIGITS} current / 1"),
        (
            "kubectl describe svc",
            f"Name: a\nPort: x \u00b2/TCP\nTargetPort: {DIGITS}/TCP\nEndpoints: {DIGITS}",
        ),
        ("kubectl describe pod", "Name: " + "a:" * 100_000 + "\n" + " " * 100_000 + "x"),
        ("kubectl top pods", f"NAME  CPU(cores)  MEMORY(bytes)\na  {DIGITS}m  \u00b2Mi\n"),
        ("kubectl get events", f"LAST SEEN  REASON  OBJECT\n1m (x{DIGITS} over 1m)  B  pod/a\n"),
    ],
    ids=range(12),
)
def test_a_hostile_text_costs_little_and_breaks_nothing(command, text):
    began = time.process_time()
    read([Printed.of(f"{command} -n shop", text)], "shop")
    assert time.process_time() - began < 2


def test_columns_that_are_called_after_labels_of_nodes_are_labels():
    text = "NAME  ARCH   ZONE     TAINTS\nn1    arm64  eu-1a    team=ml:NoSchedule\n"
    (read_node,) = listing.objects(text, parse("nodes labels=True"), "")
    wanted = {"kubernetes.io/arch": "arm64", "topology.kubernetes.io/zone": "eu-1a"}
    assert read_node.labels == wanted


@pytest.mark.parametrize(
    ("headers", "cells", "ended", "succeeded"),
    [
        ("NAME  STATUS  COMPLETIONS  DURATION", "j  Complete  1/1  14m", ["Complete"], 1),
        ("NAME  STATUS  COMPLETIONS  DURATION", "j  Failed  0/1  14m", ["Failed"], 0),
        ("NAME  STATUS  COMPLETIONS  DURATION", "j  Running  1/3  14m", None, 1),
        ("NAME  COMPLETIONS  DURATION  AGE", "j  3/3  14m  1d", ["Complete"], 3),
        ("NAME  COMPLETIONS  DURATION  AGE", "j  0/1 of 3  14m  1d", None, 0),
    ],
)
def test_the_table_of_jobs_says_which_are_done(headers, cells, ended, succeeded):
    said = read([Printed.of("kubectl get jobs -n shop", f"{headers}\n{cells}\n")], "shop").listed
    conditions = said[0].dig("status", "conditions")
    assert (conditions and [one["type"] for one in conditions]) == ended
    assert said[0].dig("status", "succeeded") == succeeded


def test_a_described_job_that_is_complete_is_known_to_be():
    text = (
        "Name:           j\nNamespace:      shop\nParallelism:    1\nCompletions:    1\n"
        "Start Time:     Mon, 02 Mar 2026 08:00:00 +0000\n"
        "Completed At:   Mon, 02 Mar 2026 08:14:00 +0000\n"
        "Pods Statuses:  0 Active (0 Ready) / 1 Succeeded / 0 Failed\n"
    )
    (job,) = read([Printed.of("kubectl describe job j -n shop", text)], "shop").objects
    assert job.dig("status", "conditions") == [{"type": "Complete", "status": "True"}]
