import Foundation

/// Reads the blocks of a text in PEM (RFC 7468): `-----BEGIN LABEL-----`, base64, `-----END LABEL-----`. Text around blocks is left out.
enum PEMText {
    struct Block {
        /// What the block says it is, such as `CERTIFICATE`.
        let label: String
        /// The lines between, without their ends.
        let lines: [Substring]
        /// The number of the first line, from 1.
        let line: Int

        /// Whether header lines stand in it (RFC 1421 §4.6), as in keys that are encrypted the old way.
        var hasHeaders: Bool { lines.contains { $0.contains(":") } }

        /// The block's bytes.
        func decoded() throws(CertificateError) -> [UInt8] {
            guard !hasHeaders, let data = Data(base64Encoded: lines.joined()), !data.isEmpty else {
                throw CertificateError(
                    message: "The block \"\(label)\" that begins in line \(line) isn't base64: was it changed or cut when it was copied?")
            }
            return [UInt8](data)
        }

        /// The block as text of its own.
        var text: String {
            "-----BEGIN \(label)-----\n" + lines.map { $0 + "\n" }.joined() + "-----END \(label)-----\n"
        }
    }

    /// Whether a text has the beginning of a block.
    static func isLikely(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes.prefix(1 << 20), as: UTF8.self).contains("-----BEGIN ")
    }

    /// All blocks, in their order.
    static func blocks(in bytes: [UInt8]) throws(CertificateError) -> [Block] {
        let text = String(decoding: bytes, as: UTF8.self)
        var blocks: [Block] = []
        var open: (label: String, lines: [Substring], line: Int)?
        // A carriage return and a line feed are one character, which is a line end.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = trimmed(line)
            if let label = label(of: line, after: "-----BEGIN ") {
                if let open { throw unended(open.label, open.line) }
                open = (label, [], index + 1)
            } else if let label = label(of: line, after: "-----END ") {
                guard let block = open, block.label == label else {
                    throw CertificateError(
                        message: "Line \(index + 1) ends a block \"\(label)\" that has not begun: was a part of the text lost?")
                }
                blocks.append(Block(label: block.label, lines: block.lines, line: block.line))
                open = nil
            } else if !line.isEmpty {
                open?.lines.append(line)
            }
        }
        if let open { throw unended(open.label, open.line) }
        return blocks
    }

    /// The label in a line such as `-----BEGIN CERTIFICATE-----`; `nil` when the line is none.
    private static func label(of line: Substring, after start: String) -> String? {
        guard line.hasPrefix(start), line.hasSuffix("-----"), line.count >= start.count + 5 else { return nil }
        let label = line.dropFirst(start.count).dropLast(5)
        guard label.utf8.count <= 80, label.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
        return String(label)
    }

    /// Without blanks, and without the mark that some editors put at a file's beginning.
    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop { $0 == " " || $0 == "\t" || $0 == "\u{FEFF}" }
        while let last = line.last, last == " " || last == "\t" { line.removeLast() }
        return line
    }

    private static func unended(_ label: String, _ line: Int) -> CertificateError {
        CertificateError(message: "The block \"\(label)\" that begins in line \(line) has no end: was the text cut short?")
    }
}
