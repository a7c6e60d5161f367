//! The tables, as text that reads well on a terminal and in a page.

use std::{path::Path, time::Duration};

use crate::marks;

/// One table.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with what stands above its first column, and above the others.
    pub fn new(title: &str, columns: &[&str]) -> Table {
        let head = std::iter::once(title).chain(columns.iter().copied());
        Table { rows: vec![head.map(str::to_owned).collect()] }
    }

    /// One more row.
    pub fn row(&mut self, name: &str, cells: &[String]) {
        self.rows.push(std::iter::once(name.to_owned()).chain(cells.iter().cloned()).collect());
    }

    fn text(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => text.push_str(&format!("| {cell:<width$} |")),
                    _ => text.push_str(&format!(" {cell:>width$} |")),
                }
            }
            text.push('\n');
            if number == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(*width);
                    match column {
                        0 => text.push_str(&format!("|-{dashes}-|")),
                        _ => text.push_str(&format!("-{dashes}:|")),
                    }
                }
                text.push('\n');
            }
        }
        text
    }
}

/// Everything that one run measured.
pub struct Document {
    machine: String,
    tables: Vec<Table>,
}

impl Document {
    /// Nothing measured yet, on this machine.
    pub fn new(machine: String) -> Document {
        Document { machine, tables: Vec::new() }
    }

    /// One more table.
    pub fn add(&mut self, table: Table) {
        self.tables.push(table);
    }

    /// The machine and all tables.
    pub fn text(&self) -> String {
        let mut text = format!("Measured on: {}.\n", self.machine);
        for table in &self.tables {
            text.push('\n');
            text.push_str(&table.text());
        }
        text
    }

    /// Puts it into a page, in place of what stood between the marks.
    pub fn write_into(&self, file: &Path) -> Result<(), String> {
        marks::put(file, "bench", &self.text())
    }
}

/// A duration as people read it.
pub fn millis(duration: Duration) -> String {
    let millis = duration.as_secs_f64() * 1e3;
    if millis < 100.0 { format!("{millis:.2} ms") } else { format!("{millis:.0} ms") }
}

/// A ratio.
pub fn times(ratio: f64) -> String {
    format!("{ratio:.2}")
}
