// Names of constants and the syntax of arith.
func.func @constants() {
  %c0 = arith.constant 0 : index
  %c0_0 = arith.constant 0 : index
  %cm1 = arith.constant -1 : i32
  %t = arith.constant true
  %f = arith.constant false
  %x = arith.constant 1.5 : f32
  %y = arith.constant 2.5 : f64
  %s = arith.constant dense<1.0> : tensor<4xf32>
  %l = arith.constant dense<[1, 2]> : vector<2xi32>
  %i8 = arith.constant 255 : i8
  %big = arith.constant 123456789012 : i64
  %inf = arith.constant 0x7F800000 : f32
  %attr = arith.constant {t.a = 1 : i32} 7 : i16
  "t.use"(%c0, %c0_0, %cm1) : (index, index, i32) -> ()
  return
}
func.func @integers(%a: i32, %b: i32, %t: tensor<4xi32>, %c: i1) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.subi %a, %b : i32
  %2 = arith.muli %t, %t : tensor<4xi32>
  %3 = arith.divsi %a, %b : i32
  %4 = arith.divui %a, %b : i32
  %5 = arith.remsi %a, %b : i32
  %6 = arith.remui %a, %b : i32
  %7 = arith.andi %a, %b : i32
  %8 = arith.ori %a, %b : i32
  %9 = arith.xori %a, %b : i32
  %10 = arith.shli %a, %b : i32
  %11 = arith.shrsi %a, %b : i32
  %12 = arith.shrui %a, %b : i32
  %13 = arith.maxsi %a, %b : i32
  %14 = arith.minui %a, %b : i32
  %15 = arith.cmpi slt, %a, %b : i32
  %17 = arith.select %c, %a, %b : i32
  %18 = arith.ceildivsi %a, %b : i32
  %19 = arith.floordivsi %a, %b : i32
  return
}
func.func @floats(%a: f32, %b: f32, %t: tensor<4xf32>) {
  %0 = arith.addf %a, %b : f32
  %1 = arith.subf %a, %b fastmath<fast> : f32
  %2 = arith.mulf %t, %t : tensor<4xf32>
  %3 = arith.divf %a, %b : f32
  %4 = arith.negf %a : f32
  %5 = arith.maximumf %a, %b : f32
  %6 = arith.minnumf %a, %b fastmath<nnan,ninf> : f32
  %7 = arith.cmpf olt, %a, %b : f32
  return
}
func.func @casts(%a: i32, %f: f32, %i: index, %h: f16) {
  %0 = arith.extsi %a : i32 to i64
  %1 = arith.extui %a : i32 to i64
  %2 = arith.trunci %a : i32 to i8
  %3 = arith.sitofp %a : i32 to f32
  %4 = arith.uitofp %a : i32 to f32
  %5 = arith.fptosi %f : f32 to i32
  %6 = arith.fptoui %f : f32 to i32
  %7 = arith.extf %h : f16 to f32
  %8 = arith.truncf %f : f32 to f16
  %9 = arith.index_cast %i : index to i32
  %10 = arith.bitcast %f : f32 to i32
  return
}
