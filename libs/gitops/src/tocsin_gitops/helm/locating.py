"""Find the value of a chart that decides a field of a deployed object, and prove it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tocsin_contracts import ChangeOp, FieldChange, FieldPath, ObjectRef, Place, Tree
from tocsin_gitops import trees
from tocsin_gitops.agreement import agrees
from tocsin_gitops.editing import apply
from tocsin_gitops.helm import layers, proof
from tocsin_gitops.helm.candidates import Candidate, candidates
from tocsin_gitops.helm.chart import Chart, Release, Rendering
from tocsin_gitops.helm.made import Made
from tocsin_gitops.helm.plain import merged
from tocsin_gitops.helm.values import Kept, Landing, land
from tocsin_gitops.helm.values import Release as Deployed
from tocsin_gitops.located import Located, NotLocated, Reason
from tocsin_gitops.manifests import VALUES
from tocsin_gitops.placements import Checkout
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_gitops.yaml_paths import PathMissing, find, path_text


def locate(files: Mapping[str, bytes], change: FieldChange, place: Place) -> Located | NotLocated:
    """Return the value behind a field, proved by working the chart out before and after.

    Where that cannot be proved the answer is why, never a guess; templates are never changed.
    """
    search = _Search(files, change, place)
    try:
        return search.run()
    except EditRefused as refused:
        reason = refused.reason if isinstance(refused, Kept) else Reason.UNEDITABLE
        sentence = f"{_made_of(place)}, and {refused}"
        return NotLocated(reason, sentence, tuple(search.trace))


def _made_of(place: Place) -> str:
    values = ", then ".join(place.value_files) or "its own values.yaml"
    chart = place.chart or f"the chart in {place.path}"
    return f"Helm makes it of {chart}, with the values of {values}"


@dataclass(frozen=True, slots=True)
class _Proven:
    """The change of a value that makes the wanted change and no other."""

    path: FieldPath
    located: Located
    told: str


class _Search:
    """One search, and the sentences it leaves behind."""

    def __init__(self, files: Mapping[str, bytes], change: FieldChange, place: Place) -> None:
        self._files = files
        self._change = change.model_copy(update={"undo_of": ""})
        self._place = place
        self._chart = Chart(place.path, files)
        self._release = Release(place.release, change.object.namespace)
        self.trace: list[str] = []

    def run(self) -> Located:
        if not self._place.path or self._chart.path("Chart.yaml") not in self._files:
            raise Kept("without the templates of that, nobody can tell which value decides")
        deployed = self._deployed(self._files)
        rendering = self._rendered(deployed)
        target = self._target(rendering)
        effective = self._effective(target)
        if not self._is_ready(target, effective):
            return self._moved(deployed, target, effective)
        return self._proved(deployed, self._candidates(target, rendering), rendering)

    def _deployed(self, files: Mapping[str, bytes]) -> Deployed:
        chart, checkout = Chart(self._place.path, files), Checkout(files)
        found = layers.of_release(chart, self._place, checkout)
        return Deployed(chart, self._place, found, checkout)

    def _rendered(self, deployed: Deployed) -> Rendering:
        values = merged(one.values for one in deployed.layers)
        return deployed.chart.render(values, self._release)

    def _target(self, rendering: Rendering) -> Made:
        found = [one for one in rendering.made if proof.is_meant(one, self._change)]
        if len(found) == 1:
            template = found[0].template
            self.trace.append(f"{self._change.object} is made by {template!r} of a chart")
            return found[0]
        many = f"{len(found)} templates make" if found else "no template that can be followed makes"
        told = f"{many} {self._change.object}"
        unread = (f"{file!r}: {why}" for file, why in rendering.unread.items())
        not_followed = sorted(self._chart.dependencies)
        if not_followed:
            told += f"; its dependencies are not followed: {', '.join(not_followed)}"
        raise Kept("; ".join((told, *unread)))

    def _effective(self, target: Made) -> Tree:
        try:
            node = find(target.node, self._change.path)
        except PathMissing:
            return None
        if hidden := target.hidden(node):
            raise Kept(f"what {target.template!r} makes of {hidden} nobody can tell here")
        return trees.read(node)

    def _is_ready(self, target: Made, effective: Tree) -> bool:
        """Whether what the files make is what evidence saw; a new field must not be there."""
        if self._change.op is ChangeOp.INSERT:
            return effective is None
        where = f"{path_text(self._change.path)} of {self._change.object}"
        if effective is None:
            gone = self._change.op is ChangeOp.DELETE
            reason = Reason.NOT_FOUND if gone else Reason.UNEDITABLE
            raise Kept(f"{target.template!r} does not set {where}", reason)
        if isinstance(effective, str) and "\n" in effective:
            raise Kept(f"{where} is a text of several lines, which is not worked out to the byte")
        return agrees(effective, self._change) and not trees.same(effective, self._change.after)

    def _candidates(self, target: Made, rendering: Rendering) -> list[Candidate]:
        skipped = dict.fromkeys(rendering.skipped.get(target.template, ()))
        found = candidates(target, self._change, skipped)
        chosen = list({repr(one): one for one in found}.values())
        if not chosen:
            where = f"{path_text(self._change.path)} of {self._change.object}"
            raise Kept(f"in {target.template!r} no one value of the chart decides {where}")
        return chosen

    def _moved(self, deployed: Deployed, target: Made, effective: Tree) -> Located:
        """What the files make is not what evidence saw: that is told, and nothing proved."""
        change = self._change.model_copy(update={"op": ChangeOp.SET})
        file = target.template
        for one in candidates(target, change, ()):
            file = land(deployed, one).file
            break
        self.trace.append(f"{file!r} makes {path_text(change.path)} something else than was seen")
        document = ObjectRef(kind=VALUES, name=file)
        told = Landing(file, document, change.path, change.op, None, None, "")
        located = self._located(told, effective, self._change.after)
        return replace(located, agrees=agrees(effective, self._change), op=self._change.op)

    def _proved(self, deployed: Deployed, found: list[Candidate], rendering: Rendering) -> Located:
        proven, wrong = list[_Proven](), list[EditRefused]()
        for one in found:
            if any(one.path == known.path for known in proven):
                continue
            try:
                proven.append(self._tried(deployed, one, rendering))
            except EditRefused as refused:
                wrong.append(refused)
        if len(proven) == 1:
            told = "worked out before and after, that and no other field changes"
            self.trace += [proven[0].told, told]
            return replace(proven[0].located, trace=tuple(self.trace))
        if not proven:
            raise wrong[0]
        names = " and ".join(path_text(one.path) for one in proven)
        raise Kept(f"any of {names} would change {path_text(self._change.path)}")

    def _tried(self, deployed: Deployed, wanted: Candidate, before: Rendering) -> "_Proven":
        if str(wanted.path[0]) in {*self._chart.dependencies, "global"}:
            name = path_text(wanted.path)
            raise Kept(
                f"{name} also goes to charts that this one depends on: they are not followed"
            )
        landing = land(deployed, wanted)
        located = self._located(landing, landing.old, landing.new)
        files = {**self._files, **apply(self._files, (located.edit,))}
        after = self._rendered(self._deployed(files))
        if wrong := proof.fault(deployed.chart, (before, after), self._change, wanted.path):
            raise Kept(f"{landing.told}, but changed there {wrong}")
        return _Proven(wanted.path, located, landing.told)

    def _located(self, landing: Landing, old: Tree, new: Tree) -> Located:
        return Located(
            file=landing.file,
            document=landing.document,
            path=landing.path,
            old=old,
            new=new,
            agrees=True,
            trace=tuple(self.trace),
            op=landing.op,
            renders=self._change,
        )
