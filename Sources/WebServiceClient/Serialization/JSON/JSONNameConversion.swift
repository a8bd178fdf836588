import Foundation

/// Names on the wire as names of properties.
enum JSONNameConversion {
    /// The same as Foundation's `convertFromSnakeCase` makes of a name: `page_count` is `pageCount`, underscores at either end stay.
    static func fromSnakeCase(_ name: String) -> String {
        let head = name.prefix { $0 == "_" }
        let rest = name.dropFirst(head.count)
        guard let last = rest.lastIndex(where: { $0 != "_" }) else { return name }
        let words = rest[...last].split(separator: "_")
        guard words.count > 1, let first = words.first else { return name }
        return head + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + rest[rest.index(after: last)...]
    }
}
