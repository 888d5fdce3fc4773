from dataclasses import replace

from tocsin_testing import build


def samples(make):
    same = build.edit(new="128Mi")
    return {
        "passing": (make.change(),),
        "failing": (
            make.change(after={make.edit.file: b"else"}),
            make.change(make.manifest.replace(b"128Mi", b"192Mi")),
            replace(make.change(), edits=(same,)),
        ),
    }
