//! What is close to what, and that odd texts do no harm.

use understory_meaning::{BYTES, Query, closest, dot, embed};

fn close(a: &str, b: &str) -> f32 {
    Query::new(a).points(&embed(b).unwrap())
}

#[test]
fn like_is_close_to_like() {
    let asked = "how do people log in";
    let right = close(asked, "Users authenticate with a password");
    let wrong = close(asked, "The printer is out of paper");
    assert!(right > wrong + 0.1, "{right} {wrong}");
    assert!((close("the same words", "same words!") - 1.0).abs() < 0.02);
}

#[test]
fn words_that_are_everywhere_do_not_count() {
    assert_eq!(embed("what is the cache for?"), embed("cache"));
    assert!(
        embed("what is it").is_some(),
        "unless there is nothing else"
    );
}

#[test]
fn nothing_is_close_to_nothing() {
    for text in ["", " \n\t", "\u{200b}\u{0}", &"x".repeat(101)] {
        assert_eq!(embed(text), None, "{text:?}");
        let mut query = Query::new(text);
        assert!(query.closest(&[[1; BYTES]], 10, |_| true).is_empty());
        assert_eq!(query.meets("anything at all"), 0.0);
    }
}

#[test]
fn a_text_meets_a_question_word_by_word() {
    let mut query = Query::new("refund for a parcel");
    let long = "Opening hours. Parking is behind the house. A package that comes back is repaid \
                within a week. The canteen closes at two.";
    let other = "Opening hours. Parking is behind the house. The canteen closes at two.";
    assert!(query.meets(long) > query.meets(other) + 0.1);
    assert!((query.meets("A parcel, a refund") - 1.0).abs() < 1e-3);
    assert!(query.meets("日本語 😀 \u{202e}") < 0.5);
}

#[test]
fn the_closest_come_first_and_ties_in_order() {
    let vectors: Vec<[i8; BYTES]> = ["blue sky", "green grass", "blue sky", "tax law", "blue sea"]
        .iter()
        .map(|text| embed(text).unwrap().0)
        .collect();
    let found = closest(&embed("blue sky").unwrap(), &vectors, 3, |_| true);
    let places: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
    assert_eq!(places, [0, 2, 4]);
    assert!(closest(&embed("blue").unwrap(), &vectors, 0, |_| true).is_empty());
    assert_eq!(
        closest(&embed("blue").unwrap(), &vectors, 100, |_| true).len(),
        5
    );
    let some = closest(&embed("blue").unwrap(), &vectors, 9, |at| at > 2);
    assert_eq!(some.len(), 2);
}

#[test]
fn the_product_is_exact() {
    let a: [i8; BYTES] = std::array::from_fn(|at| (at as i32 * 37 % 255 - 127) as i8);
    let b: [i8; BYTES] = std::array::from_fn(|at| (at as i32 * 91 % 255 - 127) as i8);
    let plain: i32 = a
        .iter()
        .zip(&b)
        .map(|(a, b)| i32::from(*a) * i32::from(*b))
        .sum();
    assert_eq!(dot(&a, &b), plain);
    assert_eq!(dot(&[-127; BYTES], &[127; BYTES]), -127 * 127 * 256);
}

#[test]
fn vectors_stay_what_they_are() {
    // Stored bytes: a change here needs a raised CORE_VERSION.
    let vector = embed("Sessions slide by one hour of activity").unwrap();
    let sum: i64 = (1..)
        .zip(vector.0)
        .map(|(at, n): (i64, i8)| at * i64::from(n))
        .sum();
    assert_eq!(sum, 112_536);
}
