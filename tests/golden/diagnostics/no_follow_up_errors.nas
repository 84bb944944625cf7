// One error, one message: no follow-up errors.
network n : image(3, 8, 8) -> classes(10) {
    in x
    let width = missing + 1
    node a = x : conv(width, 3)
    node b = a : relu
    b -> out : global_avg_pool > linear(10)
}
