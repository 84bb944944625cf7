// Every type of value where another is expected.
network n : vector(4) -> classes(4) {
    in x
    let a = 1 + relu
    let b = if 3 then 1 else 2
    let pair = [1, 2]
    let c = pair[2]
    let d = pair[1 / 2]
    let e = 1 / 0
    let g = 1 < 2 < 3
    let h = { relu, relu }
    let i = { { relu } }
    let j = min()
    let k = channels(3)
    for l in 5 {
        x -> out
    }
    x -> out : choose {}
    x -> out : 4
    let f = 2 ^ 100
    x -> out
}
