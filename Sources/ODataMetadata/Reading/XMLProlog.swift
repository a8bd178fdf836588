import Foundation

/// The begin of an XML document, before its root element.
enum XMLProlog {
    static let refusal = "The metadata document has a document type declaration, which CSDL doesn't use: it isn't read, since entities can "
        + "grow without bounds."

    /// Returns the document in an encoding of one byte per ASCII character, and refuses a document type declaration.
    static func checked(_ data: Data) throws -> Data {
        let data = unicode(data)
        var index = data.startIndex
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { index += 3 }
        while index < data.endIndex {
            let rest = data[index...]
            if rest.starts(with: "<?".utf8) {
                index = end(of: rest, "?>") ?? data.endIndex
            } else if rest.starts(with: "<!--".utf8) {
                index = end(of: rest.dropFirst(4), "-->") ?? data.endIndex
            } else if rest.starts(with: "<!".utf8) {
                let line = data[..<index].reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
                throw ServiceModelError(kind: .documentType, message: refusal, line: line, column: 1)
            } else if [0x20, 0x09, 0x0A, 0x0D].contains(data[index]) {
                index += 1
            } else {
                break
            }
        }
        return data
    }

    private static func end(of data: Data, _ mark: String) -> Data.Index? {
        data.range(of: Data(mark.utf8))?.upperBound
    }

    /// Converts UTF-16 with a byte order mark to UTF-8, without the XML declaration, which would contradict it.
    private static func unicode(_ data: Data) -> Data {
        guard data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE]),
            let text = String(data: data, encoding: .utf16)
        else { return data }
        let body = text.hasPrefix("<?xml") ? text.range(of: "?>").map { text[$0.upperBound...] } ?? text[...] : text[...]
        return Data(body.utf8)
    }
}
