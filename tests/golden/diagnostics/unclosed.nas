// An unclosed bracket is shown where it should be closed, not where the definition ends.
network a : image(3, 8, 8) -> classes(10) {
    in x
    node h = x : conv(8
    node y = h : relu
    node z = y : relu
    z -> out : global_avg_pool > linear(10)
}

network b : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(8 > relu > global_avg_pool > linear(10)
}

network c : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(8
    x -> out : global_avg_pool
}

network d : image(3, 8, 8) -> classes(10) {
    in x
    node h = x : choose { conv(8), relu
    node y = h : relu
    y -> out : global_avg_pool > linear(10)
}

network e : image(3, 8, 8) -> classes(10) {
    in x
    let widths = [8, 16
    // a comment
    require params < 1e6
}
