// One flag, one message, however many Python operations there are.
op a(g) from "torch.nn:ChannelShuffle"

op b(g) from "torch.nn:ChannelShuffle"

network n : image(3, 8, 8) -> classes(10) {
    in x
    node h = x : a(3)
    node i = x : b(3)
    node j = x : a(1)
    sum(h, i, j) -> out : global_avg_pool > linear(10)
}

network m : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : b(3) > global_avg_pool > linear(10)
}
