// Uses of a cell share their switches; uses of a motif do not; a cell in a cell is shared by all.
cell inner {
    in x
    x -> out : choose { relu, tanh }
}

cell outer {
    in x
    node y = x : inner
    y -> out : optional inner
}

motif free {
    in x
    x -> out : choose 1 { relu, tanh }
}

network n : vector(4) -> vector(4) {
    in x
    x -> out : outer > outer > free > free
}
