// Gates multiply weights where there are some, and nodes `rescale` where there are none or others read them.
network n : image(3, 8, 8) -> image(3, 8, 8) {
    in x
    node y = x : choose { conv(3), relu, identity }
    y -> out : optional bn
    x -> out
}
