/// Which cells of a measurement image are to run, from the words of its command line.
///
/// A cell has a name of parts joined by `/`, for example `deep_stack/BTCM/cold/24x16`. The command
/// line is words separated by spaces; the first is the program's name and means nothing. Words:
///
/// | word | meaning |
/// |---|---|
/// | none | every cell |
/// | `list` | the chosen cells are named and not measured |
/// | `quick` | the cells of the core set |
/// | anything else | the cell of this name, or all cells whose names begin with these parts |
///
/// Words add up: `quick service/BTCM` are the core cells and all services with their stack in BTCM.
///
/// ```
/// use measure::Selection;
/// let chosen = Selection::parse("suite quick deep_stack/BTCM");
/// assert!(chosen.has("deep_stack/BTCM/cold/24x16", false));
/// assert!(!chosen.has("deep_stack/DRAM0/cold/24x16", false));
/// assert!(chosen.has("context_switch/DRAM0/cold/call", true), "a core cell");
/// assert!(Selection::parse("").has("anything", false));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection<'a> {
    words: &'a str,
    list: bool,
    all: bool,
}

const LIST: &str = "list";
const QUICK: &str = "quick";

impl<'a> Selection<'a> {
    /// Reads a command line.
    #[must_use]
    pub fn parse(line: &'a str) -> Self {
        let line = line.trim();
        let words = line.find(char::is_whitespace).map_or("", |at| line.get(at..).unwrap_or("")).trim();
        let list = words.split_whitespace().any(|word| word == LIST);
        let all = words.split_whitespace().all(|word| word == LIST);
        Self { words, list, all }
    }

    /// Whether the cells are to be named only.
    #[must_use]
    pub const fn lists(&self) -> bool {
        self.list
    }

    /// Whether the cell of this name is chosen; `core` tells whether it is in the core set.
    #[must_use]
    pub fn has(&self, name: &str, core: bool) -> bool {
        self.all || self.words.split_whitespace().any(|word| answers(word, name, core))
    }

    /// The words that choose cells, in their order: one that none of the cells [`answers`] to is a mistake.
    pub fn words(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.words.split_whitespace().filter(|word| *word != LIST)
    }
}

/// Whether the cell of this name is one of those that `word` chooses; `core` tells whether it is in the core set.
#[must_use]
pub fn answers(word: &str, name: &str, core: bool) -> bool {
    if word == QUICK {
        return core;
    }
    let prefix = word.strip_suffix('/').unwrap_or(word);
    name.strip_prefix(prefix).is_some_and(|rest| !prefix.is_empty() && (rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    const CELLS: [(&str, bool); 5] = [
        ("context_switch/BTCM/cold/call", true),
        ("context_switch/DRAM0/cold/call", true),
        ("deep_stack/BTCM/cold/24x16", true),
        ("deep_stack/BTCM/cold/24x4", false),
        ("service/BTCM/warm/queue_send_receive", false),
    ];

    fn chosen(line: &str) -> Vec<usize> {
        let selection = Selection::parse(line);
        (0..CELLS.len()).filter(|&at| selection.has(CELLS[at].0, CELLS[at].1)).collect()
    }

    #[test]
    fn no_words_are_all_cells() {
        for line in ["", "   ", "suite", " suite ", "suite list"] {
            assert_eq!(chosen(line), [0, 1, 2, 3, 4], "{line:?}");
        }
        assert!(Selection::parse("suite list").lists());
        assert!(!Selection::parse("list").lists(), "the first word is the program");
    }

    #[test]
    fn words_are_whole_parts_and_add_up() {
        assert_eq!(chosen("suite deep_stack/BTCM/cold/24x16"), [2]);
        assert!(chosen("suite deep_stack/BTCM/cold/24x1").is_empty(), "not a whole part");
        assert_eq!(chosen("suite deep_stack"), [2, 3]);
        assert_eq!(chosen("suite deep_stack/"), [2, 3]);
        assert_eq!(chosen("suite quick service"), [0, 1, 2, 4]);
        assert_eq!(chosen("suite quick list"), [0, 1, 2]);
        assert!(chosen("suite /").is_empty());
    }

    #[test]
    fn a_word_without_a_cell_can_be_told() {
        let lost = |line: &'static str| -> Vec<&str> {
            let words = Selection::parse(line).words();
            words.filter(|word| !CELLS.iter().any(|(name, core)| answers(word, name, *core))).collect()
        };
        assert!(lost("suite quick deep_stack list").is_empty());
        assert_eq!(lost("suite quick deep_stak / list"), ["deep_stak", "/"]);
        assert!(lost("suite").is_empty());
    }
}
