def samples(make):
    return {
        "passing": (make.change(),),
        "failing": (
            make.change(make.manifest.replace(b"spec:", b"spec: # it", 1)),
            make.change(after={}),
        ),
    }
