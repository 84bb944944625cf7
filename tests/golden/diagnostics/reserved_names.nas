// Reserved words used as names, also where they could start a definition.
motif repeat(op, count) {
    in x
    out x
}

motif set {
    in x
    out x
}

cell fine {
    in x, node
    out x
}

let for = 3
