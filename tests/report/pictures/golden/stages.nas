// Stages of different depth have panels of their own, and so have the stages that contain them.
motif layer(width, k = 3) {
    in x
    x -> out : choose { conv(width, k) > bn > relu, conv(width, 1) > bn }
}

motif stage(width, n) {
    in x
    node h[i in 0..n] = if i == 0 then x else h[i - 1] : layer(width, 5)
    out h[n - 1]
}

network n : image(3, 8, 8) -> classes(3) {
    in x
    x -> out : conv(4) > stage(4, 5) > conv(8, 3, 2) > stage(8, 9) > stage(8, 5) > global_avg_pool > linear(3)
}
