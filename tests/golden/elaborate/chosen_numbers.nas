// One number in several places has one set of switches; in a cell all uses share it, in a motif none do.

cell shared(k = choose { 1, 3 }) {
    in x
    x -> out : conv(k = k) > bn
}

motif own {
    in x
    let n = choose { 1, 2 }
    x -> out : relu * n
}

network net : image(3, 4, 4) -> image(3, 4, 4) {
    in x
    let w = choose { 4, 6 }
    node y = x : conv(w) > shared > shared > own > own
    concat(y, x) -> out : bn > conv(3, 1)
}
