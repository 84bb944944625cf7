// The space of the old documents beside it: a cell used twice, an array, two edges between the same nodes, and an
// optional operation in a motif.
cell c {
    in x
    node h[2]
    for j in 0..2 {
        x, h[0..j] -> h[j] : choose { conv(3, 1), bn }
    }
    out sum(h)
}

motif m {
    in x
    node y = x : c > optional relu
    out y
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node a[2]
    x -> a[0] : m
    a[0] -> a[1] : c
    x -> a[1] : choose { tanh, max_pool(3) }
    x -> a[1] : choose { tanh, max_pool(3) }
    out a[1]
}
