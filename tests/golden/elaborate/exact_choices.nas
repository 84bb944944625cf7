// Exactly and at most so many candidates: the number is a literal, or computed before `of`.
set candidates = { conv(), conv(k = 5), max_pool(3) }

cell pick(count) {
    in x
    x -> out : choose exactly count of candidates
    x -> out : choose count - 1 of candidates
    x -> out : choose exactly 2 (candidates | { tanh }) - { conv() }
}

network net(n = 2) : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : pick(n) > optional choose exactly 1 { relu, bn } > choose 2 of candidates
}
