from tocsin_contracts import EditOp
from tocsin_testing import build

PATH = (*build.edit().path[:-2], "requests", "memory")


def samples(make):
    def requesting(amount):
        edit = build.edit(op=EditOp.INSERT, path=PATH, old=None, new=amount)
        return make.change(edits=(edit,))

    return {
        "passing": (requesting("0.125Gi"),),
        "failing": (requesting("129Mi"), requesting("1Gi")),
    }
