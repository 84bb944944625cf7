// On a CPU nothing changes.
cell c {
    in x
    x -> out : depthwise(3) > bn(false)
    x -> out : depthwise(5) > bn(false)
}

network n : image(4, 8, 8) -> image(4, 8, 8) {
    in x
    x -> out : c
}
