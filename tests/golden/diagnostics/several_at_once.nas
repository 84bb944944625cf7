// Errors in different definitions are all reported, and none hides another.
motif first {
    in x
    x -> out relu
}

motif second {
    in x
    x -> out = relu
}

motif third {
    in x, y,
    out sum(x, y)
}

network n : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : covn(8) > global_avg_pool > linear(10)
}
