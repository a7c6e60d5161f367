//! Rust: the number below one hundred thousand that takes longest to come down to one.

fn steps(mut number: u64) -> u32 {
    let mut steps = 0;
    while number != 1 {
        number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
        steps += 1;
    }
    steps
}

fn main() {
    let longest = (1..100_000).max_by_key(|number| steps(*number)).expect("the range is not empty");
    println!("{longest} takes {} steps", steps(longest));
}
