// On a CPU with a large batch, wide calls are slower than several: nothing changes.
// with: batch = 100000
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node h[3] = x : conv(5) > bn > relu > conv(3, 1)
    h -> out
}
