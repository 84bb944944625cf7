// Siblings in motifs of one kind become a motif of that kind, so that its class is found again.
motif block {
    in x
    x -> out : conv(3) > bn > relu > conv(3) > bn
}

network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node h[3] = x : block
    h -> out
}
