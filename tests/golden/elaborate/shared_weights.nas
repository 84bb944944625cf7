// Weights belong to the use of the motif that contains `share`, or to the round of a loop; parts can be shared again.
motif pair {
    in x
    share own = conv(4) > bn
    x -> out : own > own
}

motif through(body) {
    in x
    x -> out : body > relu
}

cell choosing {
    in x
    share picked = choose { conv(4), relu }
    x -> out : picked > picked
}

network n : image(4, 8, 8) -> image(4, 4, 4) {
    in x
    share inner = conv(4)
    share outer = inner > choose { bn, relu }
    share again = inner
    node p = x : pair > pair
    node q = p : through(outer) > again
    for i in 0..2 {
        share each = depthwise
        q -> out : each > max_pool(2, 2) > each
    }
    q -> out : choosing > choosing > optional outer > avg_pool(2, 2) > outer
}
