from tocsin_contracts import EditOp
from tocsin_testing import build

TEXT = build.edit(
    file="remediations/a.md", op=EditOp.CREATE, document=None, path=(), old=None, new="# a\n"
)


def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (make.change(make.manifest.replace(b"128Mi", b"192Mi")),),
        "unknown": (make.change(edits=(TEXT,), before={}, modes={}),),
    }
