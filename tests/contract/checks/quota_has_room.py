from tocsin_validation.facts import told


def samples(make):
    def quota(**changes):
        return make.seen(quotas=told((make.quota(**changes),)))

    return {
        "passing": (quota(used="3840Mi"), make.seen(quotas=told(()))),
        "failing": (quota(used="3841Mi"), quota(hard="1Gi")),
        "unknown": (
            make.seen(quotas=make.unknown()),
            make.change(make.manifest.replace(b"  selector:", b"  other:"), around=make.around(
                live=make.unknown())),
        ),
    }  # fmt: skip
