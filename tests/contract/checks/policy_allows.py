from tocsin_gitops.policy import WritePolicy
from tocsin_testing import build


def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (
            make.change(policy=WritePolicy()),
            make.change(edits=(build.edit(new="1280Mi"),)),
            make.change(modes={make.edit.file: "120000"}),
        ),
    }
