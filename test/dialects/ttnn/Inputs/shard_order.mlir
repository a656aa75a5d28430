module attributes {ttnn.a = #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (7,3)>]>, <32x64>, <diagonal>>} {
}
