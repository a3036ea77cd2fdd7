//! `cargo bench -p understory-bench [-- --quick] [-- --only <row>]`: prints the table of ratios.

#![allow(clippy::print_stdout, reason = "the table is this program's result")]

use std::path::Path;

use understory_bench::Outcome;
use understory_bench::bench::Bench;
use understory_bench::rows::ROWS;
use understory_bench::table::{Line, render, tell};

struct Asked {
    quick: bool,
    only: Vec<String>,
}

fn asked() -> Outcome<Asked> {
    let mut asked = Asked {
        quick: false,
        only: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => asked.quick = true,
            "--only" => asked
                .only
                .push(arguments.next().ok_or("--only wants a row")?),
            // Cargo's own.
            "--bench" => {}
            other => return Err(format!("{other}? Use --quick and --only <row>.").into()),
        }
    }
    for name in &asked.only {
        if !ROWS.iter().any(|row| row.name == name) {
            let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
            return Err(format!("no row {name}; there are {}", names.join(", ")).into());
        }
    }
    Ok(asked)
}

fn main() -> Outcome {
    let asked = asked()?;
    let bench = Bench::new(
        Path::new(env!("CARGO_BIN_EXE_understory-floor")),
        asked.quick,
    )?;
    let mut lines: Vec<Line> = Vec::new();
    for row in ROWS {
        if !asked.only.is_empty() && !asked.only.iter().any(|name| name == row.name) {
            continue;
        }
        tell(format!("{} …", row.name));
        let begun = std::time::Instant::now();
        match (row.measure)(&bench) {
            Ok(measured) => {
                tell(render(&measured));
                lines.extend(measured);
            }
            Err(error) => tell(format!("{} could not be measured: {error}", row.name)),
        }
        tell(format!(
            "{} took {:.0} s",
            row.name,
            begun.elapsed().as_secs_f64()
        ));
    }
    println!("{}", render(&lines));
    Ok(())
}
