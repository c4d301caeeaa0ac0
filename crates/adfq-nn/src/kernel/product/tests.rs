//! The kernel with each kind of vectors against the sum written down, term by term.

use super::*;
use adfq::random::stream;
use rand::RngExt;

fn numbers(name: &str, n: usize) -> Vec<f32> {
    let mut rng = stream(0, name);
    (0..n).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// The contract: fused multiply-adds in the order of the walk.
fn reference(product: Product, out: &mut [f32], out_rows: Rows) {
    let walk = product.walk;
    for i in 0..product.rows {
        for j in 0..product.columns {
            let to = out_rows.at(i) + j;
            let mut sum = match product.begin {
                Begin::Zero => 0.0,
                Begin::Bias(bias) => bias[j],
                Begin::Output => out[to],
            };
            for p in 0..walk.len() {
                let at = p / walk.inner * walk.outer_stride + p % walk.inner * walk.inner_stride;
                let left = product.left[product.left_rows.at(i) + at];
                sum = left.mul_add(product.right[p * product.right_stride + j], sum);
            }
            out[to] = match product.end {
                End::Store => sum,
                End::Relu => sum.max(0.0),
            };
        }
    }
}

/// Whether the kernel gives the reference's numbers, to the bit where multiply-adds are fused.
fn check(product: Product, out_rows: Rows, out_len: usize) {
    let before = numbers("out", out_len);
    let mut expected = before.clone();
    reference(product, &mut expected, out_rows);
    let run = |run: &dyn Fn(Run)| {
        let mut out = before.clone();
        product.check(&out, out_rows);
        run(Run { product, out: &mut out, out_rows });
        out
    };
    // SAFETY: arrays need no instructions of their own.
    let arrays = run(&|work| unsafe { work.run::<[f32; 4]>() });
    for (ours, reference) in arrays.iter().zip(&expected) {
        assert!((ours - reference).abs() < 1e-4, "{ours} but {reference}: {product:?}");
    }
    if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
        assert_eq!(arrays, expected);
    }
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            assert_eq!(run(&|work| crate::kernel::lanes::with_avx2(work)), expected, "AVX2");
        }
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            assert_eq!(run(&|work| crate::kernel::lanes::with_avx512(work)), expected, "AVX-512");
        }
    }
}

#[test]
fn every_remainder_of_rows_and_columns() {
    let (left, right, bias) = (numbers("left", 4000), numbers("right", 40_000), numbers("bias", 128));
    for rows in [1, 2, 3, 7, 8, 15, 20] {
        for columns in [1, 3, 4, 7, 15, 16, 17, 33, 64, 70, 128] {
            for (begin, end) in
                [(Begin::Zero, End::Store), (Begin::Bias(&bias), End::Relu), (Begin::Output, End::Store)]
            {
                let walk = Walk { outer: 3, outer_stride: 40, inner: 5, inner_stride: 2 };
                let product = Product {
                    rows,
                    columns,
                    left: &left,
                    left_rows: Rows::Every(7),
                    walk,
                    right: &right,
                    right_stride: columns + 1,
                    begin,
                    end,
                };
                check(product, Rows::Every(columns + 3), rows * (columns + 3));
            }
        }
    }
}

#[test]
fn lines_longer_than_a_block() {
    let walk = Walk::line(2 * LINE_BLOCK + 77, 1);
    let (left, right, bias) = (numbers("left", 9 * 1200), numbers("right", 21 * 1200), numbers("bias", 21));
    for (begin, end) in
        [(Begin::Bias(&bias[..]), End::Relu), (Begin::Output, End::Store), (Begin::Zero, End::Store)]
    {
        let (left_rows, right_stride) = (Rows::Every(1150), 21);
        let product = Product {
            rows: 9,
            columns: 21,
            left: &left,
            left_rows,
            walk,
            right: &right,
            right_stride,
            begin,
            end,
        };
        check(product, Rows::Every(21), 9 * 21);
    }
}

#[test]
fn rows_where_a_table_says() {
    let (left, right) = (numbers("left", 100), numbers("right", 400));
    let (from, to): (Vec<_>, Vec<_>) = (0..12).map(|i| (i * 31 % 64, 40 * (11 - i))).unzip();
    let product = Product {
        rows: 12,
        columns: 37,
        left: &left,
        left_rows: Rows::Table(&from),
        walk: Walk::line(8, 1),
        right: &right,
        right_stride: 37,
        begin: Begin::Output,
        end: End::Store,
    };
    check(product, Rows::Table(&to), 12 * 40);
}

#[test]
#[should_panic(expected = "left")]
fn a_left_factor_that_is_too_short_is_refused() {
    let product = Product {
        rows: 2,
        columns: 1,
        left: &[0.0; 5],
        left_rows: Rows::Every(3),
        walk: Walk::line(3, 1),
        right: &[0.0; 3],
        right_stride: 1,
        begin: Begin::Zero,
        end: End::Store,
    };
    product.into(&mut [0.0; 2], Rows::Every(1));
}
