from tocsin_cluster.manifest import Manifest
from tocsin_validation.facts import told


def uncounted(make):
    raw = make.quota().raw
    hard = raw.get("spec", {}).get("hard") or raw["status"]["hard"]
    return Manifest({**raw, "spec": {"hard": hard}, "status": {}})


def samples(make):
    def quota(**changes):
        return make.seen(quotas=told((make.quota(**changes),)))

    return {
        "passing": (quota(used="3840Mi"), make.seen(quotas=told(()))),
        "failing": (quota(used="3841Mi"), quota(hard="1Gi")),
        "unknown": (
            make.seen(quotas=make.unknown()),
            make.seen(quotas=told((uncounted(make),))),
            make.change(make.manifest.replace(b"  selector:", b"  other:"), around=make.around(
                live=make.unknown())),
        ),
    }  # fmt: skip
