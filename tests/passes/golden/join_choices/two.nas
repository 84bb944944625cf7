// Two choices of single values: their sum becomes a total.
// with: device = cuda
cell c {
    in x
    node p = x : tanh
    node q = x : relu
    node h
    x -> h : choose { identity }
    p -> h : choose { identity }
    h, q -> out
}

network n : image(4, 8, 8) -> image(4, 8, 8) {
    in x
    x -> out : c
}
