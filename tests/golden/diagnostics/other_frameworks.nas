// Names from other frameworks and papers get the name that is used here; `none` and `same` get an explanation.
network a : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(8) > batch_norm > up(2) > attention(4) > silu > fc(10)
}

network b : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : Conv2d(8) > BatchNorm2d > SELayer(4) > AvgPool2d(2) > Linear(10)
}

network c : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : choose { conv(3), none, zero } > global_avg_pool > linear(10)
}

network d : image(3, 8, 8) -> classes(10) {
    in x
    x -> out : conv(8, padding = same) > up(2, "bilinear") > global_avg_pool > linear(10)
}
