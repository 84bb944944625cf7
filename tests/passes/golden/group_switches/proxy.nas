// One switch for all uses of a motif, as if it were a cell; what is in the network itself stays alone.
// with: mode = proxy
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
