import pytest

from tocsin_cluster.bundle import Index, read_texts
from tocsin_cluster.reading.chained import apart

BOTH = """NAME     READY   STATUS    RESTARTS
api-1    0/1     Error     4

cannot open /data/lock: read-only file system
Events:
  Warning  BackOff  back-off restarting failed container
"""


@pytest.mark.parametrize(
    "command",
    [
        "kubectl get pods; kubectl logs api-1 --previous",
        "kubectl logs api-1 --previous; kubectl get pods",
        "kubectl get pods && kubectl logs api-1 --previous",
        "kubectl get pods / logs api-1 --previous",
    ],
)
def test_a_log_behind_a_table_is_told_apart(command):
    (asked, whole), (logs, said) = apart(command, BOTH)
    assert (asked, whole) == ("kubectl get pods", BOTH)
    assert logs == "kubectl logs api-1 --previous"
    assert said.strip() == "cannot open /data/lock: read-only file system"


def test_tables_beside_a_description_are_for_themselves():
    described = "Name:      web\nSelector:  app=shop\n\n"
    table = "NAME   READY   STATUS\nweb-1  1/1     Running"
    command = "kubectl describe svc web; kubectl get pods"
    found = dict(apart(command, f"{described}{table}\n"))
    assert found["kubectl get pods"].strip() == table
    assert found["kubectl describe svc web"].strip() == described.strip()


def test_tables_of_several_kinds_are_told_by_their_columns():
    command = "kubectl get pods -n shop; kubectl get pvc -n shop"
    tables = "NAME  READY  STATUS\na  1/1  Running\n\nNAME  STATUS  VOLUME\nb  Bound  v"
    ((asked, text),) = apart(command, tables)
    assert (asked, text) == ("kubectl get -n shop", tables)


@pytest.mark.parametrize(
    "command",
    ["kubectl logs a", "kubectl get pods", "kubectl logs a; kubectl logs b", "date; uptime"],
)
def test_one_sort_of_text_stays_as_it_is(command):
    assert apart(command, BOTH) == ((command, BOTH),)


def test_a_table_without_speech_is_no_log():
    table = BOTH.partition("\n\n")[0]
    assert apart("kubectl get pods; kubectl logs a", table) == (("kubectl get pods", table),)


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("kubectl describe pod $POD | tail", "kubectl describe pod api-1 -n shop"),
        ("kubectl describe pod api-2", "kubectl describe pod api-2"),
        ("kubectl describe node $NODE", "kubectl describe node $NODE"),
    ],
)
def test_a_variable_stands_for_what_the_file_is_said_to_be_of(tmp_path, prompt, asked):
    file = tmp_path / "a.txt"
    file.write_text(f"$ POD=$(kubectl get pods -o name)\n$ {prompt}\nEvents:\n")
    index = Index({"a.txt": "kubectl describe pod api-1 -n shop"})
    assert [one.command.text for one in read_texts(file, tmp_path, index)][-1] == asked
