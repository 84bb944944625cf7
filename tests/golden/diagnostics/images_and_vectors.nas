// Shapes that cannot be joined or are too small, with the side that is too small.
network a : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(8)
    x -> out : global_avg_pool > linear(10)
}

network b : image(64, 1, 128) -> classes(10) {
    in x
    x -> out : max_pool(2, 2) > global_avg_pool > linear(10)
}

network c : image(64, 128, 1) -> classes(10) {
    in x
    x -> out : conv(8, 5) > conv(8, 5, padding = 0) > global_avg_pool > linear(10)
}
