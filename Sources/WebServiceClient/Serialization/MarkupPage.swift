import Foundation

/// A page of HTML or XML where something else was expected: sign-in pages, proxies' and servers' error pages.
struct MarkupPage {
    /// The text of the `<title>`, on one line, if there is one among the first 4 KiB.
    let title: String?

    /// `nil` when the body doesn't begin with a tag.
    init?(_ body: Data) {
        let head = body.prefix(4096)
        let start = head.first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
        guard start == UInt8(ascii: "<") else { return nil }
        title = Self.title(in: String(decoding: head, as: UTF8.self))
    }

    private static func title(in text: String) -> String? {
        guard let tag = text.range(of: "<title", options: .caseInsensitive),
            let open = text[tag.upperBound...].firstIndex(of: ">")
        else { return nil }
        let content = text[text.index(after: open)...].prefix { $0 != "<" }
        let words = content.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.isEmpty ? nil : SerializationError.excerpt(words)
    }
}
