// Several inputs and outputs, an operation on two nodes, a value read twice, and a network without choices.
motif split {
    in a, b
    node s = scale(a, b)
    node t = sum(a, a, s)
    out t, s
}

network n : image(2, 4, 4), vector(2) -> image(2, 4, 4), image(2, 4, 4) {
    in a, b
    node p, q = split(a, b)
    node z : product
    p, q -> z
    out z, a
}
