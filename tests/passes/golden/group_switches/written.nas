// As written: two uses of a cell share their switches, two uses of a motif do not.
// with: mode = written
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
