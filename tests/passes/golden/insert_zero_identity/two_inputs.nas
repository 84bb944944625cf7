// Candidates of two inputs: before them there is a node for each input, and one switch for both.
// with: zero = before
motif add {
    in a, b
    out sum(a, b)
}

motif multiply {
    in a, b
    out product(a, b)
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    let pick = choose { add, multiply }
    node t = x : tanh
    node y = pick(x, t)
    y -> out
}
