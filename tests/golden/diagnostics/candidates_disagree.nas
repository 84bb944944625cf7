// Every candidate is shown with its shape, including those that agree.
set mixed = { conv(8, 3), conv(8, 3, 2), max_pool(3, 2) }

network n : image(3, 8, 8) -> classes(10) {
    in x
    node h = x : choose mixed
    h -> out : global_avg_pool > linear(10)
}
