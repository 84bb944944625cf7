// A fixed network: residual motifs of primitives alone have panels, also where only the motif inside them differs.
motif block(width, stride = 1) {
    in x
    node y = x : conv(width, 3, stride) > bn > relu > conv(width) > bn
    node shortcut = x : if stride == 1 then identity else conv(width, 1, stride) > bn
    out relu(sum(y, shortcut))
}

motif stage(width, stride) {
    in x
    x -> out : block(width, stride) > block(width)
}

network n : image(4, 8, 8) -> classes(3) {
    in x
    x -> out : stage(4, 1) > stage(8, 2) > stage(16, 2) > stage(32, 2) > global_avg_pool > linear(3)
}
