// An incomplete `require`: the clause is marked, not what follows it.
network first : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(4) > global_avg_pool > linear(10)
    require params <
}

network second : image(3, 8, 8) -> classes(10) {
    in x
    require flops
    x -> out : conv(4) > global_avg_pool > linear(10)
}

network third : image(3, 8, 8) -> classes(10) {
    in x
    require
    x -> out : conv(4) > global_avg_pool > linear(10)
}
