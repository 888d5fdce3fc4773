from dataclasses import replace

from tocsin_contracts import ObjectRef
from tocsin_testing import build

JOB = ObjectRef(kind="Job", namespace="payments", name="export")


def samples(make):
    fixed = build.edit(document=JOB)
    return {
        "passing": (make.change(),),
        "failing": (replace(make.change(), edits=(fixed,)),),
    }
