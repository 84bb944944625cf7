// Out of two uses of a motif, the common part goes to where both are used.
motif m {
    in x
    x -> out : relu > conv(3)
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node p = x : tanh
    node q = sum(m(p), m(p))
    q -> out
}
