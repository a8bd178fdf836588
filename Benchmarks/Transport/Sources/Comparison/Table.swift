import Foundation

/// A Markdown table whose columns are also aligned in plain text.
enum Table {
    /// Prints a head and rows with the same number of cells. All columns but the first are aligned right.
    static func print(_ head: [String], _ rows: [[String]]) {
        let widths = head.indices.map { column in
            ([head] + rows).map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        let rule = widths.enumerated().map {
            $0.offset == 0 ? String(repeating: "-", count: max($0.element, 3)) : String(repeating: "-", count: max($0.element - 1, 2)) + ":"
        }
        for cells in [head, rule] + rows {
            let padded = zip(cells, widths).enumerated().map { column, pair in
                let blanks = String(repeating: " ", count: max(max(pair.1, 3) - pair.0.count, 0))
                return column == 0 ? pair.0 + blanks : blanks + pair.0
            }
            Swift.print("| " + padded.joined(separator: " | ") + " |")
        }
    }
}

/// The median of a list of figures.
enum Median {
    /// Returns the median: the mean of the middle two of an even number, `nan` for an empty list.
    static func of(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return .nan }
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}
