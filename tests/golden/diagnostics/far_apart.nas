// Lines between distant labels are omitted.
network n : image(3, 8, 8) -> classes(10) {
    in x
    node wide = x : conv(16, 3)
    node narrow = x : conv(8, 3)

    // first


    // second

    node y = sum(wide, narrow)
    y -> out : global_avg_pool > linear(10)
}
