//! The tokenizer against the one that the model was made with: `tokens.tsv` holds what Hugging
//! Face's `tokenizers` 0.23 (BERT normaliser, lower case, WordPiece) makes of each text.

use understory_meaning::tokens;

#[test]
fn tokens_are_those_the_model_was_made_with() {
    for line in include_str!("tokens.tsv").lines() {
        let (text, expected) = line.split_once('\t').unwrap();
        let text: String = serde_json::from_str(text).unwrap();
        let expected: Vec<u16> = expected
            .split(' ')
            .filter(|token| !token.is_empty())
            .map(|token| token.parse().unwrap())
            .collect();
        assert_eq!(tokens(&text, 10_000), expected, "{text:?}");
    }
}

#[test]
fn a_huge_text_is_cut_short() {
    let text = "memory ".repeat(2_000_000);
    assert_eq!(tokens(&text, 50).len(), 50);
    let word = "a".repeat(10_000_000);
    assert_eq!(tokens(&word, 50), [100]);
}
