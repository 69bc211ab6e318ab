//! How an attribute's values were divided, as a picture: one line per value, finer ones below.

use std::collections::HashMap;

use super::html::Html;

/// The values of one attribute, from the topmost one down.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The attribute.
    pub attribute: String,
    nodes: Vec<Node>,
    /// The nodes that are not divided, by name.
    leaves: HashMap<String, usize>,
    classes: usize,
    /// Whether every count of the release was found a place in the tree.
    counted: bool,
}

#[derive(Clone, Debug)]
struct Node {
    name: String,
    depth: usize,
    /// Which specialization divided it, from 1.
    step: Option<usize>,
    children: Vec<usize>,
    /// Noisy counts, by class.
    counts: Vec<u64>,
}

impl Tree {
    /// Only the topmost value.
    pub fn topmost(attribute: &str, value: &str, classes: usize) -> Self {
        let mut tree = Self {
            attribute: attribute.to_owned(),
            nodes: Vec::new(),
            leaves: HashMap::new(),
            classes,
            counted: true,
        };
        tree.add(value, 0);
        tree
    }

    /// Whether its topmost value was divided.
    pub fn is_divided(&self) -> bool {
        self.nodes.first().is_some_and(|top| top.step.is_some())
    }

    /// The topmost value.
    pub fn topmost_name(&self) -> &str {
        self.nodes.first().map_or("", |top| &top.name)
    }

    /// The values of the release, in order, each with its count; `None` where cells are not single values.
    pub fn released(&self) -> Vec<(&str, Option<u64>)> {
        let finest = self.lines().into_iter().filter(|(node, _)| node.step.is_none());
        finest.map(|(node, _)| (node.name.as_str(), self.counted.then(|| node.total()))).collect()
    }

    fn add(&mut self, name: &str, depth: usize) -> usize {
        let (name, counts) = (name.to_owned(), vec![0; self.classes]);
        self.leaves.insert(name.clone(), self.nodes.len());
        self.nodes.push(Node { name, depth, step: None, children: Vec::new(), counts });
        self.nodes.len() - 1
    }

    /// Divides a value in specialization number `step`; `false` if there is no such value to divide.
    pub fn divide(&mut self, step: usize, value: &str, into: &[String]) -> bool {
        let Some(parent) = self.leaves.remove(value) else { return false };
        let depth = self.nodes[parent].depth + 1;
        self.nodes[parent].step = Some(step);
        self.nodes[parent].children = into.iter().map(|child| self.add(child, depth)).collect();
        true
    }

    /// Adds a count of the release to its value. Cells that are not a single value have no place.
    pub fn count(&mut self, value: &str, class: usize, count: u64) {
        match self.leaves.get(value).and_then(|leaf| self.nodes[*leaf].counts.get_mut(class)) {
            Some(sum) => *sum = sum.saturating_add(count),
            None => self.counted = false,
        }
    }

    /// Adds up what was counted, once everything is.
    pub fn add_up(&mut self) {
        // Children come after their parents.
        for index in (0..self.nodes.len()).rev() {
            for child in self.nodes[index].children.clone() {
                for class in 0..self.classes {
                    let part = self.nodes[child].counts[class];
                    let sum = &mut self.nodes[index].counts[class];
                    *sum = sum.saturating_add(part);
                }
            }
        }
    }

    /// The nodes in the order in which they are drawn, each with its parent's place in that order.
    fn lines(&self) -> Vec<(&Node, Option<usize>)> {
        let mut lines = Vec::new();
        let mut waiting = vec![(0, None)];
        while let Some((index, parent)) = waiting.pop() {
            let node = &self.nodes[index];
            let place = lines.len();
            lines.push((node, parent));
            waiting.extend(node.children.iter().rev().map(|child| (*child, Some(place))));
        }
        lines
    }

    /// The picture. Colours are the page's; `number` makes its names unique in it.
    pub fn svg(&self, number: usize) -> Html {
        let lines = self.lines();
        let names = lines
            .iter()
            .map(|(node, _)| INDENT * node.depth + NAME + name_width(&shortened(&node.name)))
            .max()
            .unwrap_or(0)
            .max(LEAST_NAMES);
        let width = names + if self.counted { GAP + BAR + GAP + COUNT } else { 4 };
        let height = LINE * lines.len() + 2;
        let mut svg = Html::default();
        svg.raw("<svg class=\"tree\" role=\"img\" aria-labelledby=\"tree-").text(number);
        svg.raw("\" viewBox=\"0 0 ").text(width).raw(" ").text(height);
        svg.raw("\" width=\"").text(width).raw("\" height=\"").text(height).raw("\">\n");
        svg.raw("<title id=\"tree-").text(number).raw("\">").text(self.told()).raw("</title>\n");
        for (place, (node, parent)) in lines.iter().enumerate() {
            if let Some(parent) = parent {
                let (x, top) = (INDENT * (node.depth - 1) + MARK, middle(*parent) + RADIUS);
                let (y, right) = (middle(place), INDENT * node.depth + MARK - RADIUS);
                svg.raw("<path class=\"branch\" d=\"M").text(x).raw(" ").text(top).raw("V");
                svg.text(y).raw("H").text(right).raw("\"/>\n");
            }
        }
        let most = self.nodes.first().map_or(0, Node::total).max(1);
        for (place, (node, _)) in lines.iter().enumerate() {
            node.draw(place, &mut svg);
            if self.counted {
                node.draw_counts(place, names + GAP, most, &mut svg);
            }
        }
        svg.raw("</svg>\n");
        svg
    }

    /// The picture for those who do not see it.
    fn told(&self) -> String {
        let divided = self.nodes.iter().filter(|node| node.step.is_some()).count();
        if divided == 0 {
            let all = self.nodes.first().map_or("", |node| &node.name);
            return format!("{} was not divided: every row has {all}", self.attribute);
        }
        let finest: Vec<&str> = self
            .lines()
            .into_iter()
            .filter(|(node, _)| node.step.is_none())
            .map(|(node, _)| node.name.as_str())
            .collect();
        let times = if divided == 1 { "once" } else { "in steps" };
        format!("{} was divided {times}, into {}", self.attribute, finest.join(", "))
    }
}

const LINE: usize = 26;
const INDENT: usize = 22;
/// Where the middle of a mark is, and how large it is.
const MARK: usize = 11;
const RADIUS: usize = 9;
/// Where a name begins, from its indent.
const NAME: usize = 26;
const LEAST_NAMES: usize = 110;
const GAP: usize = 8;
const BAR: usize = 96;
const COUNT: usize = 52;
/// Characters of a name that are drawn.
const MOST_CHARACTERS: usize = 32;

fn middle(place: usize) -> usize {
    place * LINE + LINE / 2
}

impl Node {
    fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    fn draw(&self, place: usize, svg: &mut Html) {
        let (x, y) = (INDENT * self.depth + MARK, middle(place));
        match self.step {
            Some(step) => {
                svg.raw("<circle class=\"step\" cx=\"").text(x).raw("\" cy=\"").text(y);
                svg.raw("\" r=\"").text(RADIUS).raw("\"/><text class=\"number\" x=\"").text(x);
                svg.raw("\" y=\"").text(y + 4).raw("\">").text(step).raw("</text>");
            }
            None => {
                svg.raw("<circle class=\"leaf\" cx=\"").text(x).raw("\" cy=\"").text(y);
                svg.raw("\" r=\"4\"/>");
            }
        }
        svg.raw("<text x=\"").text(x + NAME - MARK).raw("\" y=\"").text(y + 5).raw("\">");
        svg.text(shortened(&self.name)).raw("</text>\n");
    }

    fn draw_counts(&self, place: usize, left: usize, most: u64, svg: &mut Html) {
        let y = place * LINE + 7;
        let mut sum = 0u64;
        let length =
            |count: u64| (u128::from(count) * BAR as u128 / u128::from(most)).min(BAR as u128);
        for (class, count) in self.counts.iter().enumerate() {
            let from = length(sum);
            sum = sum.saturating_add(*count);
            let width = length(sum) - from;
            if width > 0 {
                svg.raw("<rect class=\"class-").text(class % super::page::COLOURS).raw("\" x=\"");
                svg.text(left as u128 + from).raw("\" y=\"").text(y).raw("\" width=\"").text(width);
                svg.raw("\" height=\"12\"/>");
            }
        }
        svg.raw("<text class=\"count\" x=\"").text(left + BAR + GAP + COUNT - 2).raw("\" y=\"");
        svg.text(y + 11).raw("\">").text(sum).raw("</text>\n");
    }
}

/// About how wide a name is drawn.
fn name_width(name: &str) -> usize {
    name.chars().map(|character| if character.is_ascii() { 8 } else { 14 }).sum()
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_CHARACTERS {
        return name.to_owned();
    }
    name.chars().take(MOST_CHARACTERS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_parts_stand_below_their_value() {
        let mut tree = Tree::topmost("job", "Any", 2);
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(tree.divide(1, "Any", &names(&["A", "B"])));
        assert!(tree.divide(3, "A", &names(&["A1", "A2"])));
        assert!(!tree.divide(4, "Any", &names(&["C"])), "it is divided already");
        tree.count("A1", 0, 5);
        tree.count("A2", 1, 7);
        tree.count("B", 0, 1);
        tree.add_up();
        let lines = tree.lines();
        let drawn: Vec<(&str, u64, Option<usize>)> = lines
            .iter()
            .map(|(node, parent)| (node.name.as_str(), node.total(), *parent))
            .collect();
        assert_eq!(
            drawn,
            [
                ("Any", 13, None),
                ("A", 12, Some(0)),
                ("A1", 5, Some(1)),
                ("A2", 7, Some(1)),
                ("B", 1, Some(0))
            ]
        );
        assert_eq!(tree.told(), "job was divided in steps, into A1, A2, B");
        assert!(tree.svg(0).into_string().contains(">13</text>"));
        tree.count("A1|A2", 0, 1);
        assert!(!tree.svg(0).into_string().contains("class=\"count\""), "no counts but true ones");
    }
}
