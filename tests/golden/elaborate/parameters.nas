// Operations, sets and numbers as parameters; defaults that use other parameters; keywords.
let half = 1 / 2

set pair(step) = { step, step > bn }

motif repeat(step, count) {
    in x
    node y[k in 0..count] = if k == 0 then x else y[k - 1] : step
    out y[count - 1]
}

motif block(width, inner = width * half, act = relu) {
    in x
    x -> out : conv(inner, 1) > act > conv(width, k = 1)
}

network n(width = 4) : image(4, 2, 2) -> image(4, 2, 2) {
    in x
    node a = x : repeat(block(width, act = tanh), 2)
    a -> out : choose pair(identity) | { swish } - { identity > bn }
}
