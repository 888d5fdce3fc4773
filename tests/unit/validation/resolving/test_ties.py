"""A tie is broken by a model only if one answers, and only among the tied."""

import pytest

from tocsin_contracts import RunId, TieAnswer
from tocsin_testing import build
from tocsin_validation.resolving import Resolved, Unresolved

OTHER = "shop/other"


class FakeTies:
    """Answers as a test says, and keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def ask(self, asked):
        self.asked.append(asked)
        return self.answer


def one(number, **more):
    return TieAnswer(chosen=number, why="It\nis newer.", model="acme/model", **more)


@pytest.fixture
def tied(desk):
    desk.repository()
    desk.repository(OTHER, {"deploy/api.yaml": desk.deployment})
    return desk


async def test_a_model_breaks_a_tie_of_repositories_and_the_trace_says_so(tied):
    ties = FakeTies(one(1))
    answer = await tied.resolve(ties=ties)
    assert isinstance(answer, Resolved)
    assert (answer.target.repo, answer.target.chosen_by) == (OTHER, "acme/model")
    (asked,) = ties.asked
    assert asked.candidates == ("shop/platform-gitops", OTHER)
    told = "\n".join(answer.target.trace)
    assert (
        f"a tie: the model acme/model chose {OTHER} among shop/platform-gitops, {OTHER}; "
        "It is newer."
    ) in told


@pytest.mark.parametrize(
    "answer",
    [None, TieAnswer(), one(2), TieAnswer(chosen=1)],
    ids=["no answer", "cannot tell", "none of them", "nobody chose"],
)
async def test_any_other_answer_leaves_it_to_a_person(tied, answer):
    found = await tied.resolve(ties=FakeTies(answer))
    assert isinstance(found, Unresolved)
    assert "may come from any of" in found.sentence
    assert any("no model chose" in line for line in found.trace)


async def test_without_anybody_to_ask_a_tie_is_left_to_a_person(tied):
    assert isinstance(await tied.resolve(), Unresolved)


async def test_what_is_sure_is_asked_of_nobody(desk):
    desk.repository()
    ties = FakeTies(one(0))
    answer = await desk.resolve(ties=ties)
    assert (answer.target.chosen_by, ties.asked) == ("", [])


def application(name, path):
    about = {"group": "apps", "kind": "Deployment", "namespace": "payments", "name": "payments-api"}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd", "uid": name},
        "spec": {
            "source": {
                "repoURL": "https://github.com/shop/platform-gitops",
                "path": path,
                "targetRevision": "main",
            },
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "payments"},
        },
        "status": {"resources": [about], "sourceType": "Directory"},
    }


@pytest.mark.parametrize("number", [0, 1])
async def test_a_model_breaks_a_tie_of_applications(desk, number):
    files = {f"{place}/api.yaml": desk.deployment for place in ("a", "b")}
    desk.repository(files=files)
    desk.shows(application("first", "a"), application("second", "b"))
    answer = await desk.resolve(ties=FakeTies(one(number)))
    assert isinstance(answer, Resolved), answer
    assert answer.target.file == f"{'ab'[number]}/api.yaml"
    assert answer.target.chosen_by == "acme/model"


async def test_the_run_and_its_alert_are_told_to_whoever_is_asked(tied):
    ties = FakeTies(one(0))
    await tied.resolve(ties=ties)
    (asked,) = ties.asked
    assert (asked.run_id, asked.source) == (RunId(build.RUN), build.alert().source)
