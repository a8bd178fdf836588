import Foundation

/// Reads PEM blocks (RFC 7468): `-----BEGIN LABEL-----`, Base64, `-----END LABEL-----`. Text around blocks is ignored.
enum PEMText {
    struct Block {
        /// The block's label, such as `CERTIFICATE`.
        let label: String
        /// The lines between the delimiters, without line endings.
        let lines: [Substring]
        /// The number of the first line, counted from 1.
        let line: Int

        /// Whether the block contains header lines (RFC 1421 §4.6), as in keys that are encrypted in the old way.
        var hasHeaders: Bool { lines.contains { $0.contains(":") } }

        /// Returns the block's bytes.
        func decoded() throws(CertificateError) -> [UInt8] {
            guard !hasHeaders, let data = Data(base64Encoded: lines.joined()), !data.isEmpty else {
                throw CertificateError(
                    message: "The block \"\(label)\" that begins in line \(line) isn't base64: was it changed or cut when it was copied?")
            }
            return [UInt8](data)
        }

        /// The block as a separate text.
        var text: String {
            "-----BEGIN \(label)-----\n" + lines.map { $0 + "\n" }.joined() + "-----END \(label)-----\n"
        }
    }

    /// Whether the bytes contain the beginning of a block.
    static func isLikely(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes.prefix(1 << 20), as: UTF8.self).contains("-----BEGIN ")
    }

    /// Returns all blocks, in order.
    static func blocks(in bytes: [UInt8]) throws(CertificateError) -> [Block] {
        let text = String(decoding: bytes, as: UTF8.self)
        var blocks: [Block] = []
        var open: (label: String, lines: [Substring], line: Int)?
        // A carriage return and a line feed form one character, which is a line ending.
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

    /// Returns the label of a line such as `-----BEGIN CERTIFICATE-----`; `nil` for other lines.
    private static func label(of line: Substring, after start: String) -> String? {
        guard line.hasPrefix(start), line.hasSuffix("-----"), line.count >= start.count + 5 else { return nil }
        let label = line.dropFirst(start.count).dropLast(5)
        guard label.utf8.count <= 80, label.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
        return String(label)
    }

    /// Removes spaces, tabs and the byte-order mark that some editors put at the beginning of a file.
    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop { $0 == " " || $0 == "\t" || $0 == "\u{FEFF}" }
        while let last = line.last, last == " " || last == "\t" { line.removeLast() }
        return line
    }

    private static func unended(_ label: String, _ line: Int) -> CertificateError {
        CertificateError(message: "The block \"\(label)\" that begins in line \(line) has no end: was the text cut short?")
    }
}
