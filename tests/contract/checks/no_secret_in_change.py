def samples(make):
    def added(line):
        return make.change(after={make.edit.file: make.manifest + line})

    return {
        "passing": (make.change(), added(b"# a comment\n")),
        "failing": (
            added(b"# password: hunter2hunter2\n"),
            added(b"++ password: hunter2hunter2\n"),
            added(b"# ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"),
            added(b"# -----BEGIN RSA PRIVATE KEY-----\n"),
        ),
    }
