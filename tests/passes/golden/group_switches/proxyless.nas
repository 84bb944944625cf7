// Every use has switches of its own, those of a cell too.
// with: mode = proxyless
cell c {
    in x
    x -> out : choose { relu, tanh }
}

motif m {
    in x
    x -> out : choose { relu, bn }
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : c > c > m > m > choose { gelu, swish }
}
