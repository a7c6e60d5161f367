//! "Did you mean": the known names nearest to one that is not known.

/// Up to three known names, nearest first, that are close enough to be what was meant.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let given = given.to_lowercase();
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (distance(&given, name), name))
        .filter(|(score, name)| *score <= 1 + name.len().max(given.len()) / 3)
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// The number of letters to insert, delete, replace or swap.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut current = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(previous[j] + 1).min(current[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            current[j] = best;
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found_and_far_ones_are_not() {
        let known = ["python", "java", "javascript", "rust", "go", "c"];
        assert_eq!(nearest("pyhton", known), ["python"]);
        assert_eq!(nearest("Jva", known), ["java"]);
        assert_eq!(nearest("rusty", known), ["rust"]);
        assert!(nearest("brainfuck", known).is_empty());
    }
}
