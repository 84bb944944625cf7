// Convolutions of single channels cannot share their input: it is repeated once for each of them.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node h[3] = x : depthwise(3) > bn(false) > conv(3, 1)
    h -> out
}
