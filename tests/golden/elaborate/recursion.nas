// A recursive motif: a tree of depth 2 with 2 branches.
motif tree(depth, branches) {
    in x
    node t[branches]
    for b in 0..branches {
        x -> t[b] : choose { relu, tanh }
        t[b] -> out : if depth == 1 then identity else tree(depth - 1, branches)
    }
}

network n : vector(4) -> vector(4) {
    in x
    x -> out : tree(2, 2)
}
