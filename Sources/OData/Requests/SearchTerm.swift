/// A part of `$search`.
public enum SearchTerm: Sendable, Hashable {
    /// Words, all of which must match.
    case words(String)
    /// Words in this order.
    case phrase(String)
}

extension QueryPrinter {
    /// Words of ASCII letters and digits stand as they are; everything else is quoted, since services disagree on what else a
    /// word may hold, and `AND`, `OR` and `NOT` would be operators.
    func write(_ search: [SearchTerm], to text: inout QueryText) throws(ODataQueryError) {
        for (index, term) in search.enumerated() {
            if index > 0 { text.syntax(" AND ") }
            switch term {
            case .phrase(let phrase):
                guard phrase.contains(where: { !$0.isWhitespace }) else { throw .invalidSearch(phrase, reason: "it is empty") }
                try writeQuoted(phrase, to: &text)
            case .words(let words):
                let parts = words.split(whereSeparator: \.isWhitespace)
                guard !parts.isEmpty else { throw .invalidSearch(words, reason: "it is empty") }
                for (index, word) in parts.enumerated() {
                    if index > 0 { text.syntax(" ") }
                    let isPlain = word.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
                    if isPlain, !["AND", "OR", "NOT"].contains(word) {
                        text.value(String(word))
                    } else {
                        try writeQuoted(String(word), to: &text)
                    }
                }
            }
        }
    }

    private func writeQuoted(_ phrase: String, to text: inout QueryText) throws(ODataQueryError) {
        guard !phrase.unicodeScalars.contains("\"") else {
            throw .invalidSearch(phrase, reason: "OData can't search for a double quote; leave it out")
        }
        text.value("\"" + phrase.replacing("\\", with: "\\\\") + "\"")
    }
}
