from tocsin_validation.facts import Rendered, told

OTHER = "---\nkind: Service\nmetadata: {name: api, namespace: payments}\nspec: {port: 1}\n"


def samples(make):
    text = make.manifest.decode()
    raised = text.replace("128Mi", "256Mi")

    def rendered(before, after):
        return make.seen(rendered=told(Rendered({"apps": before}, {"apps": after})))

    return {
        "passing": (
            make.change(),
            rendered(text, raised),
            rendered(text + OTHER, raised + OTHER),
            rendered(text.replace("  namespace: payments\n", ""),
                     raised.replace("  namespace: payments\n", "")),
        ),
        "failing": (
            rendered(text, raised.replace("replicas: 2", "replicas: 3")),
            rendered(text + OTHER, raised + OTHER.replace("1", "2")),
            rendered(text + OTHER, raised),
            rendered(text, text.replace("128Mi", "512Mi")),
            rendered(text, text),
        ),
        "unknown": (
            make.seen(rendered=make.unknown()),
            make.seen(rendered=told(Rendered({"apps": text}, fault="no such file"))),
            rendered(text, "a: ["),
        ),
    }  # fmt: skip
