// Functions, repetitions, arrays and names of candidates, used wrongly.
let f(n) = if n == 0 then 0 else f(n - 1) + 1
let g(n) = g(n + 1)
let bad(n) = 1 / n
let k = 5
motif m(fn) { in x assert fn(3) == 3  x -> out : relu }
network a : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    assert f(20) == 20
    let y = bad(0)
    let z = g(0)
    out x
}
network b : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    let local(n) = n
    node y = x : m(f) > m(local)
    node s = x + y
    node t = y : { relu } * 2
    node u = y : relu * 1.5
    node v = y : relu * (0 - 1)
    let p = k(3)
    let q = f(1, 2)
    let r = [1] + 2
    let w = sum([])
    node zz = sum([])
    out y
}
network b2 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node z = x : relu * 10^9
    out z
}
network c : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : choose { a = relu, a = tanh }
}
network d : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : choose { a = relu } | { a = tanh }
}
network e : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : choose { zero = relu }
}
network e2 : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    x -> out : choose { n = conv(k = k) for k in [3, 5] }
}
network fib : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    let fib(n) = if n < 2 then 1 else fib(n - 1) + fib(n - 2)
    assert fib(10) == 89
    assert fib(60) == 89
    out x
}
