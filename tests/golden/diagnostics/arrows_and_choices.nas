// An arrow in a chain, a choice without candidates, and a choice as the join of a node.
network a : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(16) -> relu > global_avg_pool > linear(10)
}

network b : image(3, 8, 8) -> classes(10) {
    in x
    node h = conv(16)(x) -> relu
    h -> out : global_avg_pool > linear(10)
}

network c : image(3, 8, 8) -> classes(10) {
    in x
    node c : choose 1
    x, x -> c
    c -> out : global_avg_pool > linear(10)
}

network d : image(3, 8, 8) -> classes(10) {
    in x
    node c = x : choose
    require params < 1e6
}

network e : image(3, 8, 8) -> classes(10) {
    in x
    node c : choose 1 { conv(8), relu }
    x -> c
    c -> out : global_avg_pool > linear(10)
}
