/// What an argument's value consists of, before names and lists are written in one of several manners.
indirect enum FieldTree {
    /// Nil.
    case missing
    /// One text.
    case text(String)
    /// Values in their order.
    case list([FieldTree])
    /// Names and values in their order.
    case record([(name: String, value: FieldTree)])

    /// Whether it is one text or none at all.
    var isSingle: Bool {
        switch self {
        case .missing, .text: true
        case .list, .record: false
        }
    }

    /// Whether it is a name with nothing behind it: what an encoded enum case without payload looks like.
    var isBareCase: Bool {
        guard case .record(let entries) = self, entries.count == 1, case .record(let inner)? = entries.first?.value else { return false }
        return inner.isEmpty
    }

    /// A text that sorts trees alike in every run.
    var sortKey: String {
        switch self {
        case .missing: ""
        case .text(let text): text
        case .list(let elements): elements.map(\.sortKey).joined(separator: "\u{1F}")
        case .record(let entries): entries.map { $0.name + "\u{1E}" + $0.value.sortKey }.joined(separator: "\u{1F}")
        }
    }
}
