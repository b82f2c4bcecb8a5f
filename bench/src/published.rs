//! What others published about the same questions, each figure with its setting. All second-hand.
//!
//! | id | source |
//! |---|---|
//! | `published:635` | round trip by the memory of the stacks, eclipse-threadx/threadx #635 |
//! | `published:636` | stack-heavy work by the memory of the stack, #636 |
//! | `published:638` | the same at four placements of the code, #638 |
//! | `published:634` | table sweep by memory, #634 |
//! | `published:630` | interrupt body by the memory of its code, #630 and #632 |
//! | `published:pollution` | switch under cache pollution on a PC, a newsgroup post |
//! | `published:riot` | inlined yield, RIOT's pull request "core/thread: allow for inline thread_yield_higher" |

use crate::row::Row;

/// Start of the name that selects published figures in place of a file.
pub const PREFIX: &str = "published:";

const DATA: &str = include_str!("published.json");

/// All of them.
pub fn all() -> Vec<Row> {
    // The data is part of this program; a test reads it.
    serde_json::from_str(DATA).unwrap_or_default()
}

/// The names that select some, in the order of the data.
pub fn ids() -> Vec<String> {
    let mut ids: Vec<_> = all().into_iter().map(|row| row.source).collect();
    ids.dedup();
    ids
}

/// Those of `name`; `published:all` has all.
///
/// # Errors
/// One line with the names there are.
pub fn of(name: &str) -> Result<Vec<Row>, String> {
    let all = all();
    if name.strip_prefix(PREFIX) == Some("all") {
        return Ok(all);
    }
    let some: Vec<_> = all.into_iter().filter(|row| row.source == name).collect();
    if some.is_empty() {
        return Err(format!("no published figures {name}: there are {} and {PREFIX}all", ids().join(", ")));
    }
    Ok(some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Origin;

    #[test]
    fn every_published_figure_has_its_setting() {
        let rows: Vec<Row> = serde_json::from_str(DATA).unwrap();
        assert_eq!(rows.len(), 41);
        for row in &rows {
            assert_eq!(row.origin, Origin::Published);
            assert_eq!(row.plausible(), Ok(()), "{row:?}");
            assert!(row.source.starts_with(PREFIX), "{row:?}");
            for known in [&row.bench, &row.board, &row.kernel, &row.unit, &row.note] {
                assert!(!known.is_empty(), "{row:?}");
            }
            assert!(
                row.min.is_some_and(|min| min > 0)
                    && row.min <= row.mean.or(row.min)
                    && row.mean <= row.max.or(row.mean)
            );
        }
    }

    #[test]
    fn the_figures_are_those_of_the_pull_requests() {
        let min = |id: &str, pick: &dyn Fn(&Row) -> bool| of(id).unwrap().iter().find(|row| pick(row)).unwrap().min;
        assert_eq!(min("published:635", &|r| r.memory == "BTCM" && r.cache == "cold"), Some(1370));
        assert_eq!(min("published:635", &|r| r.memory == "DRAM0" && r.cache == "warm"), Some(1440));
        assert_eq!(min("published:638", &|r| r.placement == Some(48) && r.memory == "DRAM0"), Some(49198));
        assert_eq!(of("published:638").unwrap().iter().map(|r| r.spread().unwrap()).max(), Some(7018));
        assert_eq!(min("published:riot", &|r| r.variant == "inline" && r.board.starts_with("msba2")), Some(697));
    }

    #[test]
    fn unknown_names_are_refused_with_those_there_are() {
        let says = of("published:999").unwrap_err();
        assert!(says.contains("published:635, published:636") && says.contains("published:all"), "{says}");
        assert_eq!(of("published:all").unwrap().len(), 41);
    }
}
