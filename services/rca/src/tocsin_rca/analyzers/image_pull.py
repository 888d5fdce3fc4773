"""Images that cannot be pulled for another reason than a tag that is not there."""

from collections.abc import Iterator

from tocsin_cluster.manifest import POD_TEMPLATE
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_gitops.images import parse
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.likeness import meant
from tocsin_rca.evidence.pulls import FailedPull, Trouble, failed_pulls
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.evidence.undoing import changes, undo

_CAUSES = {
    Trouble.PLATFORM: (CauseClass.IMAGE_ARCHITECTURE_MISMATCH, 0.95),
    Trouble.NAME: (CauseClass.IMAGE_NAME_WRONG, 0.94),
    Trouble.DNS: (CauseClass.IMAGE_REGISTRY_DNS_FAILURE, 0.94),
    Trouble.LIMIT: (CauseClass.IMAGE_PULL_ERROR, 0.94),
    Trouble.HIDDEN: (CauseClass.IMAGE_PULL_ERROR, 0.9),
    Trouble.DENIED: (CauseClass.IMAGE_PULL_SECRET_MISSING, 0.9),
    Trouble.SECRET: (CauseClass.IMAGE_PULL_SECRET_MISSING, 0.94),
    Trouble.BROKEN: (CauseClass.IMAGE_PULL_ERROR, 0.92),
    Trouble.UNSAID: (CauseClass.IMAGE_PULL_ERROR, 0.62),
}
_USUAL = (
    *("nginx", "redis", "postgres", "mysql", "mariadb", "mongo", "busybox", "alpine", "ubuntu"),
    *(
        "debian",
        "python",
        "node",
        "golang",
        "httpd",
        "memcached",
        "rabbitmq",
        "wordpress",
        "tomcat",
    ),
    *("traefik", "haproxy", "elasticsearch", "kibana", "logstash", "influxdb", "consul", "vault"),
)
"""Images that everybody may pull by this name."""

_HUB = ("docker.io/", "index.docker.io/", "registry-1.docker.io/")
_QUOTE = 300


class ImagePull:
    """The registry denies, fails, is not found, or does not have what was asked for."""

    name = "image_pull"
    needs = (
        "What is said of failed pulls, the changes of the image, and the pull Secrets that exist."
    )
    proof = (
        "The pull fails for a wrong name, denied access, a missing Secret, a rate limit, the "
        "platform or the connection."
    )
    against = (
        "Only the tag is absent and no commit misspelled the name; it is weak if no reason is "
        "given or it is another workload's pod."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each workload; an image or Secret is never made up."""
        found: dict[ObjectRef, Finding] = {}
        for pull in failed_pulls(case):
            if pull.trouble in _CAUSES or _is_renamed(case, pull):
                found.setdefault(subject(case, pull.about), _finding(case, pull))
        return tuple(found.values())


def _finding(case: Case, pull: FailedPull) -> Finding:
    who = subject(case, pull.about)
    cause, confidence, why = _cause(case, pull)
    change = next(changes(case, lambda f: f.path[-1] == "image" and f.after == pull.image), None)
    edit = undo(case, change) if change and cause.value.startswith("image_") else None
    if cause is CauseClass.IMAGE_PULL_SECRET_MISSING:
        change, edit = None, _right_secret(case)
    return Finding(
        cause=cause,
        object=who,
        confidence=sure(case, pull.about, confidence),
        summary=f"The image {pull.image or 'of a container'} of {who} cannot be pulled{why}:"
        f" {pull.said[:_QUOTE]}",
        evidence=proof(case, *pull.ids, *_shown(case, change, edit)),
        change=edit,
        because=_because(change, edit),
    )


def _shown(case: Case, change: Change | None, edit: FieldChange | None) -> tuple[str, ...]:
    """What shows the value that would be right: a commit, or the Secret of that name."""
    if edit is None:
        return ()
    if change:
        return (change.seen.id,)
    return tuple(one.id for one in case.manifests("Secret") if one.data.ref.name == edit.new)


def _because(change: Change | None, edit: FieldChange | None) -> str:
    if edit is None:
        return "Nothing that was seen says what would be right."
    if change is None:
        return f"The Secret {edit.new} exists, and nothing else has nearly that name."
    return f"{change.told} changed it; this undoes that."


def _is_renamed(case: Case, pull: FailedPull) -> bool:
    """Whether a commit gave what is not found nearly the name that it had before."""
    before = _renamed(case, pull.image) if pull.trouble is Trouble.ABSENT else ()
    return bool(before) and meant(parse(pull.image).name, before) is not None


def _renamed(case: Case, image: str) -> tuple[str, ...]:
    """Return the repository that a commit replaced by the one of an image."""
    found = changes(case, lambda f: f.path[-1] == "image" and f.after == image)
    return tuple(parse(str(one.field.before)).name for one in found if one.field.before)[:1]


def _cause(case: Case, pull: FailedPull) -> tuple[CauseClass, float, str]:
    if pull.trouble is Trouble.ABSENT:
        return CauseClass.IMAGE_NAME_WRONG, 0.97, f"; before it was {_renamed(case, pull.image)[0]}"
    cause, confidence = _CAUSES[pull.trouble]
    refused = pull.trouble in (Trouble.HIDDEN, Trouble.DENIED, Trouble.UNSAID)
    if refused and (right := _meant(case, pull.image)):
        return CauseClass.IMAGE_NAME_WRONG, 0.9, f"; {right} may be meant"
    if pull.trouble is Trouble.HIDDEN and _is_private(pull.image):
        return CauseClass.IMAGE_PULL_SECRET_MISSING, 0.86, ""
    if refused and set(_pull_secrets(case)).difference(_secrets(case)) and _secrets(case):
        return CauseClass.IMAGE_PULL_SECRET_MISSING, 0.9, "; its pull secret does not exist"
    return cause, confidence, ""


def _is_private(image: str) -> bool:
    """Whether the registry is named, and is not the one that is meant where none is."""
    first, slash, _ = image.partition("/")
    return bool(slash) and "." in first and not image.startswith(_HUB)


def _meant(case: Case, image: str) -> str | None:
    """Return the repository that the one of an image is a slip of."""
    name = parse(image).name
    plain = name.removeprefix("docker.io/").removeprefix("library/")
    if "/" not in plain and plain not in _USUAL:
        return meant(plain, _USUAL)
    before = [str(c.field.before) for c in changes(case, lambda f: f.path[-1] == "image")]
    return meant(name, (parse(one).name for one in (*before, *_others(case))))


def _others(case: Case) -> Iterator[str]:
    for pod in case.objects("Pod"):
        if pod.data.dig("status", "phase") == "Running":
            yield from (str(one.raw.get("image") or "") for one in pod.data.containers())


def _pull_secrets(case: Case) -> list[str]:
    workload = design(case)
    spec = workload.data.template.get("spec") if workload else None
    named = spec.get("imagePullSecrets") if isinstance(spec, dict) else None
    return [str(one.get("name")) for one in named or () if isinstance(one, dict)]


def _secrets(case: Case) -> set[str]:
    return {one.data.ref.name for one in case.manifests("Secret")}


def _right_secret(case: Case) -> FieldChange | None:
    declared, known = _pull_secrets(case), _secrets(case)
    gone = [name for name in declared if name not in known]
    right = meant(gone[0], known) if len(gone) == 1 else None
    if right is None or case.workload is None:
        return None
    base = (*POD_TEMPLATE.get(case.workload.kind, ()), "spec", "imagePullSecrets")
    path = (*base, declared.index(gone[0]), "name")
    return FieldChange(object=case.workload, path=path, old=gone[0], new=right)
