"""Labels choose among what gitops.yaml allows; whatever they hold, they never lead out of it."""

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin_validation.resolving import Resolved, Unresolved

REPO, OTHER = "shop/platform-gitops", "shop/other"
FILE = "apps/payments/deployment.yaml"


@pytest.fixture
def two(desk):
    """Two repositories that both declare the object, so that only a label can tell."""
    desk.repository()
    desk.repository(OTHER, {"deploy/api.yaml": desk.deployment, "docs/a.yaml": "kind: List\n"})
    return desk


async def found(desk, **labels) -> Resolved:
    answer = await desk.resolve(**labels)
    assert isinstance(answer, Resolved), answer
    return answer


async def refused(desk, **labels) -> str:
    answer = await desk.resolve(**labels)
    assert isinstance(answer, Unresolved), answer
    return answer.sentence


async def test_without_a_label_nobody_can_tell(two):
    assert "may come from any of" in await refused(two)


@pytest.mark.parametrize(
    "label", [OTHER, "https://github.com/shop/other.git", "git@github.com:shop/other.git"]
)
async def test_a_label_chooses_a_repository_by_name_or_url(two, label):
    answer = await found(two, gitops_repo=label)
    assert (answer.target.repo, answer.target.file) == (OTHER, "deploy/api.yaml")
    assert two.repositories.read == [OTHER, OTHER]


async def test_a_path_narrows_the_search_to_what_is_there(two):
    assert (await found(two, gitops_path="apps")).target.repo == REPO
    place = (await found(two, gitops_repo=OTHER, gitops_path="/deploy/api.yaml")).target.place
    assert (place.path, place.kind, place.by) == ("deploy/api.yaml", None, "labels of the alert")
    sentence = await refused(two, gitops_repo=OTHER, gitops_path="docs")
    assert "no manifest of this repository deploys" in sentence


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ({"gitops_repo": "attacker/x"}, "'attacker/x', which the alert names, is not allowed"),
        ({"gitops_repo": "https://evil.example/shop/other"}, "is not allowed to serve"),
        ({"gitops_repo": OTHER, "gitops_host": "evil.example"}, "is not allowed to serve"),
        ({"gitops_host": "gitlab.com"}, "'gitlab.com', which the alert names, is not allowed"),
        ({"gitops_repo": OTHER, "gitops_revision": "release"}, "The alert says that"),
        ({"gitops_revision": "v1.2.3"}, "pinned to the tag 'v1.2.3'"),
        ({"gitops_path": "../../etc"}, "is nothing in"),
        ({"gitops_path": "apps/../../x"}, "is nothing in"),
        ({"gitops_path": "nowhere"}, "'nowhere', the path that the alert names, is nothing in"),
        ({"gitops_path": "."}, "is in each of"),
    ],
)
async def test_a_label_that_names_what_is_not_allowed_ends_the_search(two, labels, why):
    assert why in await refused(two, **labels)


async def test_nothing_is_read_for_a_repository_that_is_not_allowed(two):
    await refused(two, gitops_repo="attacker/x")
    assert two.repositories.read == []


async def test_a_host_and_the_base_branch_may_be_said_too(two):
    labels = {"gitops_repo": REPO, "gitops_host": "GitHub.com", "gitops_revision": "main"}
    assert (await found(two, **labels)).target.repo == REPO


async def test_a_revision_chooses_those_whose_branch_it_is(two):
    two.allowed[1] = two.allowed[1].model_copy(update={"branch": "release"})
    assert (await found(two, gitops_revision="release")).target.repo == OTHER


async def test_a_local_copy_is_on_the_host_that_its_url_names(desk):
    desk.repository(OTHER, host="local", urls=("https://github.com/shop/other",))
    assert (await found(desk, gitops_host="github.com")).target.repo == OTHER


WORDS = st.text(st.sampled_from(string.ascii_lowercase + "/.:-_@$\\\0\n é"), max_size=30)
KNOWN = st.sampled_from([REPO, OTHER, "main", "github.com", "apps", "deploy", "..", "/", "HEAD"])
LABELS = st.dictionaries(
    st.sampled_from(["gitops_repo", "gitops_path", "gitops_revision", "gitops_host"]),
    st.one_of(WORDS, KNOWN, st.builds("{}/{}".format, KNOWN, WORDS)),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(labels=LABELS)
async def test_no_label_leads_out_of_what_is_allowed(two, labels):
    two.repositories.read.clear()
    answer = await two.resolve(**labels)
    assert set(two.repositories.read) <= {REPO, OTHER}
    if isinstance(answer, Resolved):
        where = {REPO: "apps/", OTHER: "deploy/"}[answer.target.repo]
        assert answer.edits[0].file.startswith((where, "remediations/"))
    else:
        assert "\n" not in answer.sentence
