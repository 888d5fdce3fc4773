from tocsin_validation.facts import Rendered, told

OTHER = "---\nkind: Service\nmetadata: {name: api, namespace: payments}\nspec: {port: 1}\n"

CONTAINER = "        - name: api\n"
LISTS = (
    CONTAINER
    + """\
          env:
            - {name: A, value: "1"}
            - {name: B, value: "2"}
"""
)
TURNED = (
    CONTAINER
    + """\
          env:
            - {name: B, value: "2"}
            - {name: A, value: "1"}
"""
)


def samples(make):
    text = make.manifest.decode()
    raised = text.replace("128Mi", "256Mi")

    def rendered(before, after):
        return make.seen(rendered=told(Rendered({"apps": before}, {"apps": after})))

    def listed(one, other):
        return rendered(text.replace(CONTAINER, one), raised.replace(CONTAINER, other))

    return {
        "passing": (
            listed(LISTS, TURNED),
            make.change(),
            rendered(text, raised),
            rendered(text + OTHER, raised + OTHER),
            rendered(text.replace("  namespace: payments\n", ""),
                     raised.replace("  namespace: payments\n", "")),
        ),
        "failing": (
            listed(LISTS, TURNED.replace('"1"', '"3"')),
            listed(LISTS.replace('"2"', "$(A)"), TURNED.replace('"2"', "$(A)")),
            listed("        - {name: x}\n" + CONTAINER, CONTAINER.replace("api", "x")),
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
