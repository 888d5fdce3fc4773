from tocsin_testing import build


def samples(make):
    def setting(new):
        return make.change(edits=(build.edit(new=new),))

    return {
        "passing": (make.change(), setting("0.25Gi"), setting("268435456"), make.scaling(0, 1)),
        "failing": (
            *(setting(new) for new in ("256m", "256", "0", "-1Gi", "256Mb", "much")),
            make.change(edits=(build.edit(path=("spec", "replicas"), old=2, new=0),)),
        ),
    }
