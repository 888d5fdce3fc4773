import time

import pytest

from tocsin_cluster.printed import Printed
from tocsin_cluster.reading import read
from tocsin_cluster.reading.wrapped import unwrapped
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import ObjectRef

POD = ObjectRef(kind="Pod", namespace="shop", name="web-1-a")


def described(text, command="kubectl describe pod web-1-a -n shop"):
    return read([Printed.of(command, text)], "shop")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "Events:\n  Warning  FailedCreate  Error: pods is forbidden:\n  exceeded quota",
            "  Warning  FailedCreate  Error: pods is forbidden: exceeded quota",
        ),
        (
            "Error from server (Forbidden): pods is forbidden: User\n"
            '"system:serviceaccount:a:b" cannot watch resource "pods"',
            'Error from server (Forbidden): pods is forbidden: User "system:serviceaccount:a:b"'
            ' cannot watch resource "pods"',
        ),
        (
            "E0629 12:22:41.004  reflector.go:147] failed to list:\n    nodes is forbidden",
            "E0629 12:22:41.004  reflector.go:147] failed to list: nodes is forbidden",
        ),
    ],
)
def test_a_wrapped_sentence_is_one_line_again(text, line):
    assert line in unwrapped(text).splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "  Normal   Pulled   1s   kubelet  done\n  Warning  BackOff  1s   kubelet  again",
        "error: no such thing\n$ kubectl get pods",
        "Error from server (NotFound): no\nNAME   READY\nweb-1   1/1",
        "E0629 12:22:41.004 a\nE0629 12:22:42.004 b",
        "error: boom\n    at main (/app/a.js:1:2)",
        "Warning  BackOff  again\n\nNode:   n1",
    ],
)
def test_lines_of_their_own_stay_apart(text):
    assert unwrapped(text) == text


def test_a_description_without_its_head_is_of_what_was_asked_for():
    seen = described("Last State:     Terminated\n  Reason:       Error\n  Exit Code:    3")
    (pod,) = seen.objects
    assert (pod.ref, pod.whole) == (POD, False)
    assert pod.dig("status", "containerStatuses", 0, "lastState", "terminated", "exitCode") == 3


def test_nobody_knows_of_what_a_part_is_if_no_name_was_asked_for():
    assert described("Status:  Pending\n", "kubectl describe pods -n shop").objects == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("default-scheduler  0/3 nodes fit", "0/3 nodes fit"),
        ("0/3 nodes are full", "0/3 nodes are full"),
        ("12s (x3 over 1m)  default-scheduler  0/3 nodes fit", "0/3 nodes fit"),
        ("...  violates a policy", "violates a policy"),
    ],
)
def test_a_row_of_events_may_lack_columns(row, message):
    (event,) = described(f"Events:\n  Warning  FailedScheduling  {row}\n").events
    assert (event.about, event.reason, event.message) == (POD, "FailedScheduling", message)


def test_rows_of_events_need_no_heading():
    (event,) = described("  Warning  FailedScheduling  default-scheduler  0/3 nodes fit\n").events
    assert event.about == POD


@pytest.mark.parametrize(
    "prompt", ["$ kubectl", "kubectl", "me@host:~$ kubectl", "# kubectl", "> kubectl"]
)
async def test_prompts_of_many_shells_are_known(tmp_path, prompt):
    (tmp_path / "paste.txt").write_text(
        f"{prompt} get pods -n shop\nNAME  READY\na  1/1\n{prompt} describe pod a; date\nOn: n1\n"
    )
    texts = await SnapshotCluster(tmp_path).printed()
    asked = [(one.command.verb, one.command.names) for one in texts if one.command.of_kubectl]
    assert asked == [("get", ()), ("describe", ("a",))]


@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000 + "Warning",
        "Warning  Failed  x\n" + "y\n" * 200_000,
        ("error: " + "a " * 50 + "\n") * 5_000,
        "Error from server\n" + "  a:" * 100_000,
    ],
    ids=range(4),
)
def test_hostile_text_is_unwrapped_in_little_time(text):
    began = time.process_time()
    unwrapped(text)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("command", "row", "found"),
    [
        (
            "kubectl get svc -A | grep users",
            "core   users   ClusterIP   10.96.77.3   <none>   8080/TCP   90d",
            [ObjectRef(kind="Service", namespace="core", name="users")],
        ),
        (
            "kubectl get pods -n shop --no-headers",
            "web-1-a   0/1   Pending   0   5m",
            [POD],
        ),
        ("kubectl get svc -n shop | wc -l", "7", []),
        ("kubectl get pods -n shop", "web-1-a   0/1   Pending   0   5m", []),
    ],
)
def test_rows_that_a_pipe_left_without_their_columns_are_rows(command, row, found):
    assert [one.ref for one in read([Printed.of(command, row)], "shop").listed] == found


def test_a_described_secret_shows_its_keys_and_no_value():
    secret = "Name:         db\nNamespace:    shop\n\nType:  Opaque\n\nData\n====\n"
    secret += "db-password:  24 bytes\nhost:  9 bytes\n"
    (shown,) = described(secret, "kubectl describe secret db -n shop").objects
    assert shown.dig("data") == {"db-password": "", "host": ""}
