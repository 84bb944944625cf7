// Every kind of choice: any, at most one, optional, an optional choice, one within a candidate, and identities.
cell block {
    in x
    node h
    x -> h : choose { relu, tanh, identity }
    x -> h : choose 1 { relu > tanh, choose { tanh, sigmoid } > relu }
    x -> h : optional identity
    x -> h : optional choose 1 { relu, identity }
    node y = h : optional tanh
    out concat(y, h)
}

network n : image(2, 4, 4) -> image(8, 4, 4) {
    in x
    x -> out : block > block
}
