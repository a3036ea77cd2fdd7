//! Vectors that another model made: any number of dimensions, rounded to a byte each.
//!
//! Models differ in how close unrelated texts are to each other: some never say less than 0.7. So a
//! closeness counts from what is usual among the texts compared, and 1 stays 1.

/// A vector as it is kept: its longest number is 127. All zeros where it points nowhere.
pub fn rounded(vector: &[f32]) -> Vec<i8> {
    let longest = vector.iter().fold(0.0_f32, |most, n| most.max(n.abs()));
    if longest == 0.0 {
        return vec![0; vector.len()];
    }
    let round = |n: &f32| (n / longest * 127.0).round().clamp(-127.0, 127.0) as i8;
    vector.iter().map(round).collect()
}

/// How long a rounded vector is.
pub fn length(vector: &[i8]) -> f32 {
    (product(vector, vector) as f32).sqrt()
}

/// The cosine of two vectors of the same model, by their lengths: 0 where one points nowhere.
pub fn cosine((a, a_length): (&[i8], f32), (b, b_length): (&[i8], f32)) -> f32 {
    match a_length * b_length {
        0.0 => 0.0,
        lengths => (product(a, b) as f32 / lengths).clamp(-1.0, 1.0),
    }
}

/// Sixteen at a time, as in `vector::dot`; 100,000 dimensions are far from the end of an i32.
fn product(a: &[i8], b: &[i8]) -> i32 {
    let mut lanes = [0_i32; 16];
    let (a, a_rest) = a.as_chunks::<16>();
    let (b, b_rest) = b.as_chunks::<16>();
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += i32::from(i16::from(*a) * i16::from(*b));
        }
    }
    let rest = a_rest.iter().zip(b_rest);
    let rest: i32 = rest.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    lanes.iter().sum::<i32>() + rest
}

/// What is usual among closenesses. See a baseline of unrelated texts first: a few texts alone, all of
/// them about what is asked, would not tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usual {
    sum: f64,
    count: u32,
}

impl Usual {
    pub fn see(&mut self, closeness: f32) {
        self.sum += f64::from(closeness);
        self.count += 1;
    }

    /// How much closer than usual: 0 for not closer, 1 for the same text.
    pub fn beyond(&self, closeness: f32) -> f32 {
        let usual = (self.sum / f64::from(self.count.max(1))).clamp(0.0, 0.99);
        ((f64::from(closeness) - usual) / (1.0 - usual)).max(0.0) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_direction() {
        for dims in [1_usize, 15, 16, 17, 384, 3_072] {
            let wave = |shift: f32| -> Vec<f32> {
                let wave = (0..dims).map(|n| ((n as f32 + 1.0) * 0.37 + shift).sin() * 1e-3);
                wave.collect()
            };
            let (a, b) = (wave(0.0), wave(0.4));
            let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            let exact = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let (a, b) = (rounded(&a), rounded(&b));
            let found = cosine((&a, length(&a)), (&b, length(&b)));
            assert!((found - exact).abs() < 0.01, "{dims}: {found} {exact}");
        }
    }

    #[test]
    fn nothing_points_nowhere() {
        assert_eq!(rounded(&[0.0, 0.0]), [0, 0]);
        assert!(rounded(&[]).is_empty());
        assert_eq!(cosine((&[0, 0], 0.0), (&[1, 2], 2.2)), 0.0);
        assert_eq!(cosine((&[], 0.0), (&[], 0.0)), 0.0);
    }

    #[test]
    fn a_closeness_counts_from_what_is_usual() {
        let mut usual = Usual::default();
        for _ in 0..1_000 {
            usual.see(0.7);
        }
        usual.see(0.85);
        assert!(usual.beyond(0.7) < 0.01);
        assert!((0.45..0.55).contains(&usual.beyond(0.85)));
        assert_eq!(usual.beyond(1.0), 1.0);
        assert_eq!(Usual::default().beyond(0.6), 0.6);
    }
}
