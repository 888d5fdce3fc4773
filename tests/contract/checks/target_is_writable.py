from tocsin_gitops.policy import WritePolicy
from tocsin_testing import build


def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (
            make.change(policy=WritePolicy()),
            make.change(target=build.target(trace=())),
            make.change(modes={make.edit.file: "120000"}),
            make.change(before={}),
            make.change(make.manifest.replace(b"payments-api", b"web")),
        ),
    }
