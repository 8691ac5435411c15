//! Rows in memory, and digests of them that are the same on both databases.

use std::fmt;

use sha2::Digest as _;

use super::super::sql::{Row, Value, nullable, without_nul};
use super::tables::{Column, Kind};
use crate::engine::store::StoreError;

/// A value of a row.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    Int(Option<i64>),
    Text(Option<String>),
    Long(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Cell {
    /// Reads a column.
    pub(super) fn read(row: &Row, column: Column) -> Result<Self, StoreError> {
        Ok(match column.kind {
            Kind::Int => Self::Int(nullable(row, column.name)?),
            Kind::Text => Self::Text(nullable(row, column.name)?),
            Kind::Long => Self::Long(nullable(row, column.name)?),
            Kind::Bytes => Self::Bytes(nullable(row, column.name)?),
        })
    }

    /// Returns the value as a parameter.
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Int(value) => Value::Int(*value),
            Self::Text(value) => value.as_deref().into(),
            Self::Long(value) => Value::Long(value.as_deref()),
            Self::Bytes(value) => Value::Bytes(value.as_deref()),
        }
    }

    /// Adds the value to a digest, with its kind and length, so that no two different rows are the
    /// same bytes. A text counts as PostgreSQL keeps it.
    fn digest(&self, digest: &mut sha2::Sha256) {
        let mut add = |kind: u8, bytes: &[u8]| {
            digest.update([kind]);
            digest.update((bytes.len() as u64).to_be_bytes());
            digest.update(bytes);
        };
        match self {
            Self::Int(Some(value)) => add(1, &value.to_be_bytes()),
            Self::Text(Some(text)) => add(2, without_nul(text).as_bytes()),
            Self::Long(Some(text)) => add(3, text.as_bytes()),
            Self::Bytes(Some(bytes)) => add(4, bytes),
            Self::Int(None) | Self::Text(None) | Self::Long(None) | Self::Bytes(None) => {
                add(0, &[]);
            }
        }
    }
}

/// Number of rows and a digest of their content that does not depend on their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Content {
    /// Number of rows.
    pub rows: u64,
    /// The sum of the SHA-256 digests of the rows, modulo 2^64 in each of four parts.
    sum: [u64; 4],
}

impl Content {
    /// Returns the content of these rows.
    pub(super) fn of(rows: &[Vec<Cell>]) -> Self {
        let mut content = Self::default();
        for row in rows {
            let mut digest = sha2::Sha256::new();
            for cell in row {
                cell.digest(&mut digest);
            }
            content.rows += 1;
            let digest = digest.finalize();
            for (sum, part) in content.sum.iter_mut().zip(digest.chunks_exact(8)) {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(part);
                *sum = sum.wrapping_add(u64::from_be_bytes(bytes));
            }
        }
        content
    }

    /// Adds other rows.
    pub(super) fn add(&mut self, other: Self) {
        self.rows += other.rows;
        for (sum, more) in self.sum.iter_mut().zip(other.sum) {
            *sum = sum.wrapping_add(more);
        }
    }

    /// Returns the digest, as 64 hexadecimal digits.
    pub fn digest(&self) -> String {
        let [a, b, c, d] = self.sum;
        format!("{a:016x}{b:016x}{c:016x}{d:016x}")
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, {}", self.rows, &self.digest()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Cell {
        Cell::Text(Some(text.to_owned()))
    }

    #[test]
    fn the_digest_depends_on_every_value_and_not_on_the_order_of_rows() {
        let rows = [
            vec![Cell::Int(Some(1)), text("ab"), text("c")],
            vec![Cell::Int(Some(2)), Cell::Text(None), Cell::Bytes(None)],
        ];
        let content = Content::of(&rows);
        assert_eq!(content.rows, 2);
        assert_eq!(content.digest().len(), 64);
        let mut reverse = Content::of(&rows[1..]);
        reverse.add(Content::of(&rows[..1]));
        assert_eq!(reverse, content);
        for other in [
            vec![Cell::Int(Some(1)), text("a"), text("bc")],
            vec![Cell::Int(Some(2)), text("ab"), text("c")],
            vec![Cell::Int(None), text("ab"), text("c")],
            vec![Cell::Int(Some(1)), Cell::Text(None), text("c")],
            vec![Cell::Int(Some(1)), text(""), text("c")],
        ] {
            assert_ne!(Content::of(&[other, rows[1].clone()]), content);
        }
    }

    #[test]
    fn a_text_counts_as_postgres_keeps_it_and_a_long_text_as_it_is() {
        let of = |cell: Cell| Content::of(&[vec![cell]]);
        let long = |text: &str| Cell::Long(Some(text.to_owned()));
        assert_eq!(of(text("a\0")), of(text("a\u{fffd}")));
        assert_ne!(of(long("a\0")), of(long("a\u{fffd}")));
    }
}
