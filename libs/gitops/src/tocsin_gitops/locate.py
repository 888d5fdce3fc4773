"""Find the one place in a repository where a change to a deployed object belongs."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tocsin_contracts import ChangeOp, FieldChange, Place, SourceKind, Tree
from tocsin_gitops import images, landing, overlays, placing, sharing
from tocsin_gitops.agreement import agrees
from tocsin_gitops.editing import apply
from tocsin_gitops.helm import locating
from tocsin_gitops.located import Located, NotLocated, Reason
from tocsin_gitops.manifests import folder, is_kustomization
from tocsin_gitops.overlay_ways import Wanted
from tocsin_gitops.owners import Owner, Part
from tocsin_gitops.placements import Checkout, Placement
from tocsin_gitops.yaml_nodes import EditRefused
from tocsin_gitops.yaml_paths import path_text

__all__ = ["Located", "NotLocated", "Reason", "locate"]


class _Stop(Exception):  # noqa: N818 - ends the search early, never leaves this module
    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


def locate(
    files: Mapping[str, bytes], change: FieldChange, place: Place | None = None
) -> Located | NotLocated:
    """Return where a change belongs, proved by making the edit once, or the reason for none.

    With a place only what is deployed from there can be it; all else counts where it shares a line.
    For a chart the files have to hold its templates and helpers too.
    """
    if place is not None and place.kind is SourceKind.HELM:
        return locating.locate(files, change, place)
    search = _Search(Checkout(files), change, place)
    try:
        return search.run()
    except _Stop as stop:
        return NotLocated(stop.reason, str(stop), tuple(search.trace))
    except EditRefused as refused:
        return NotLocated(Reason.NOT_FOUND, str(refused), tuple(search.trace))


class _Search:
    """One search, and the sentences it leaves behind."""

    def __init__(self, checkout: Checkout, change: FieldChange, place: Place | None) -> None:
        self._checkout = checkout
        self._change = change
        self._place = place
        self.trace: list[str] = []

    def run(self) -> Located:
        target = self._change.object
        found = self._found(target.kind, target.name)
        self._note_what_there_is(found)
        placement = self._chosen(found)
        owner = self._owner(placement)
        if others := "; ".join(sharing.others(self._checkout, placement, owner, self._change)):
            return self._overlaid(placement, owner, others)
        return self._proved(owner)

    def _found(self, kind: str, name: str) -> Sequence[Placement]:
        if self._place is None:
            return self._checkout.placements(kind, name)
        return placing.placed(self._checkout, self._place, kind, name)

    def _note_what_there_is(self, found: Sequence[Placement]) -> None:
        files, layers = len(self._checkout.files), len(self._checkout.kustomizations)
        self.trace.append(f"looked at {files} YAML files with {layers} kustomizations")
        names = "; ".join(str(placement) for placement in found) or "nothing"
        ref = self._change.object
        self.trace.append(f"found for {ref.kind} {ref.name}: {names}")
        remote = ", ".join(self._checkout.remote)
        if remote:
            self.trace.append(f"outside of the repository, so not looked at: {remote}")

    def _chosen(self, found: Sequence[Placement]) -> Placement:
        target = self._change.object
        here = [p for p in found if target.namespace in ("", p.namespace)]
        if not here and len(found) == 1 and not found[0].namespace:
            self.trace.append("no file names a namespace, and there is no other object to mean")
            here = list(found)
        if len(here) > 1 or (not here and any(not p.namespace for p in found)):
            names = "; ".join(str(placement) for placement in here or found)
            raise _Stop(Reason.AMBIGUOUS, f"{target} may come from any of: {names}")
        self._refuse_unreadable(here)
        if not here:
            raise _Stop(Reason.NOT_FOUND, f"no manifest of this repository deploys {target}")
        return here[0]

    def _refuse_unreadable(self, here: Sequence[Placement]) -> None:
        for file, why in self._checkout.unreadable.items():
            if self._concerns(file, here):
                raise _Stop(Reason.UNPARSEABLE, f"{file!r} may matter but cannot be read: {why}")

    def _concerns(self, file: str, here: Sequence[Placement]) -> bool:
        text = self._checkout.files[file].decode(errors="replace")
        if not is_kustomization(file):
            return not here and self._change.object.name in text
        return not here or any(_way(file, placement.document.file) in text for placement in here)

    def _owner(self, placement: Placement) -> Owner:
        try:
            found = landing.owners(self._checkout, placement, self._change)
        except EditRefused as refused:
            raise _Stop(Reason.UNPARSEABLE, str(refused)) from refused
        for before, owner in zip((None, *found), found, strict=False):
            wins = f", which wins over {before.file!r}" if before else ""
            self.trace.append(f"{owner}{wins}")
        if not found:
            where = f"{path_text(landing.looked_for(self._change))} of {self._change.object}"
            raise _Stop(Reason.NOT_FOUND, f"no file sets {where}")
        if divided := landing.divided(found, self._change):
            raise _Stop(Reason.UNEDITABLE, divided)
        return found[-1]

    def _overlaid(self, placement: Placement, owner: Owner, others: str) -> Located:
        wanted = Wanted(self._checkout, placement, owner, self._change)
        try:
            return overlays.landing(wanted, self.trace)
        except EditRefused as refused:
            shared = f"{owner}, and that also reaches: {others}; {refused}"
            raise _Stop(Reason.SHARED, shared) from refused

    def _proved(self, owner: Owner) -> Located:
        if owner.blocked or owner.document is None:
            raise _Stop(Reason.UNEDITABLE, owner.blocked)
        change = self._change
        located = Located(
            file=owner.file,
            document=owner.document.ref,
            path=change.path if change.op is ChangeOp.INSERT else owner.path,
            old=owner.value,
            new=self._translated(owner),
            agrees=agrees(owner.effective, change),
            trace=tuple(self.trace),
            op=change.op,
            undo_of=change.undo_of,
        )
        try:
            if not located.done and (located.agrees or change.op is ChangeOp.SET):
                apply(self._checkout.files, (located.edit,))
        except EditRefused as refused:
            raise _Stop(Reason.UNEDITABLE, str(refused)) from refused
        return located

    def _translated(self, owner: Owner) -> Tree:
        """Say the new value in the words of its owner, which may hold a part of an image."""
        if owner.part is Part.WHOLE and owner.value == owner.effective:
            return self._change.after
        wanted, shown = images.parse(str(self._change.new)), images.parse(str(owner.effective))
        sayable = {
            Part.WHOLE: replace(wanted, name=shown.name),
            Part.TAG: replace(shown, tag=wanted.tag),
            Part.DIGEST: replace(shown, digest=wanted.digest),
        }
        if sayable[owner.part] != wanted or not wanted.sound:
            raise _Stop(Reason.UNEDITABLE, f"{owner}, which cannot say {str(wanted)!r}")
        if owner.part is Part.WHOLE:
            return str(replace(wanted, name=images.parse(str(owner.value)).name))
        return wanted.digest if owner.part is Part.DIGEST else wanted.tag


def _way(file: str, document: str) -> str:
    """How a kustomization in one folder would name another folder."""
    return posixpath.relpath(folder(document), folder(file))
