import Foundation

extension HTTPFields {
    /// The field lines in the bytes as received, parsed on demand (RFC 9112 §5).
    ///
    /// Most fields in a response are never read. Creating strings for all of them costs many times as much as finding one field in the
    /// bytes.
    package struct Lines: Sendable {
        private let bytes: [UInt8]
        /// The offset of the first line.
        private let start: Int

        package init(_ bytes: [UInt8], from start: Int = 0) {
            self.bytes = bytes
            self.start = start
        }

        /// A Boolean value that is true if the lines are empty.
        package var isEmpty: Bool { start >= bytes.count }

        /// All fields, in their order.
        package var fields: [Field] {
            var fields: [Field] = []
            fields.reserveCapacity(12)
            forEach { Self.add($0, to: &fields) }
            return fields
        }

        /// Whether fields can be found by comparing bytes: each field has a line to itself, and all bytes are ASCII without NUL or bare CR.
        /// Non-ASCII names with different bytes can be equal in lower case. A NUL or a bare CR in a name becomes a space.
        package var isPlain: Bool {
            var isPlain = bytes.withUnsafeBytes { bytes in
                var all: UInt64 = 0
                var index = start
                while index < bytes.count - 8 {
                    all |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    index += 8
                }
                while index < bytes.count {
                    all |= UInt64(bytes[index])
                    index += 1
                }
                return all & 0x8080_8080_8080_8080 == 0 && Self.position(of: 0, in: bytes, from: start) == nil
            }
            forEach { line in
                if let first = line.first, Self.isBlank(first) { isPlain = false }
                if let position = Self.position(of: 13, in: line, from: 0), position < line.count - 1 { isPlain = false }
            }
            return isPlain
        }

        /// Passes the values of a name's fields to a closure, in order. The lines must be plain.
        func forEachValue(of name: Name, _ body: (UnsafeRawBufferPointer) -> Void) {
            var text = name.canonicalName
            text.withUTF8 { name in
                guard let last = name.last, !Self.isBlank(last) else { return }
                forEach { line in
                    guard line.count > name.count, line[name.count] == 58 || Self.isBlank(line[name.count]), Self.begins(line, with: name)
                    else { return }
                    var colon = name.count
                    while colon < line.count, Self.isBlank(line[colon]) { colon += 1 }
                    guard colon < line.count, line[colon] == 58 else { return }
                    body(Self.trimmed(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])))
                }
            }
        }

        /// Decodes UTF-8 if it is valid, otherwise Latin-1, in which every byte is a character. CR and NUL, which would end a line when the
        /// text is forwarded, become spaces (RFC 9110 §5.5).
        package static func text(_ bytes: UnsafeRawBufferPointer) -> String { decoded(bytes).text }

        /// Decodes like ``text(_:)``, and returns whether the text is Latin-1.
        package static func decoded(_ bytes: UnsafeRawBufferPointer) -> (text: String, isLatin1: Bool) {
            var all: UInt8 = 0
            var ends: UInt8 = 0
            for byte in bytes {
                all |= byte
                ends |= byte == 13 || byte == 10 || byte == 0 ? 1 : 0
            }
            if ends != 0 {
                return bytes.map { $0 == 13 || $0 == 10 || $0 == 0 ? 32 : $0 }.withUnsafeBytes { decoded(trimmed($0)) }
            }
            // Almost all values are ASCII, which is always valid UTF-8.
            if all < 0x80 { return (String(decoding: bytes, as: UTF8.self), false) }
            if let text = String(validating: bytes, as: UTF8.self) { return (text, false) }
            return (String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) })), true)
        }

        /// Passes each line to a closure, without its line feed.
        private func forEach(_ body: (UnsafeRawBufferPointer) -> Void) {
            bytes.withUnsafeBytes { bytes in
                var start = start
                while start < bytes.count {
                    let end = Self.position(of: 10, in: bytes, from: start) ?? bytes.count
                    body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                    start = end + 1
                }
            }
        }

        private static func add(_ line: UnsafeRawBufferPointer, to fields: inout [Field]) {
            guard let first = line.first else { return }
            if isBlank(first) {
                // A folded line continues the previous value (RFC 9112 §5.2).
                guard let last = fields.indices.last else { return }
                let rest = trimmed(line)
                guard !rest.isEmpty else { return }
                let bytes = fields[last].bytes
                let whole = bytes + (bytes.isEmpty ? [] : [32]) + rest
                fields[last] = whole.withUnsafeBytes { Field(name: fields[last].name, bytes: $0) }
                return
            }
            guard let colon = position(of: 58, in: line, from: 0), colon > 0 else { return }
            // Whitespace before the colon doesn't belong to the name (RFC 9112 §5.1).
            var end = colon
            while end > 1, isBlank(line[end - 1]) { end -= 1 }
            let name = UnsafeRawBufferPointer(rebasing: line[..<end])
            let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])
            fields.append(Field(name: .common(name) ?? Name(text(name)), bytes: trimmed(value)))
        }

        /// Whether a line begins with a lower-case name. Names never contain the colon that ends them.
        private static func begins(_ line: UnsafeRawBufferPointer, with name: UnsafeBufferPointer<UInt8>) -> Bool {
            for (byte, letter) in zip(line, name) {
                let isUpper = byte >= 65 && byte <= 90
                guard (isUpper ? byte | 0x20 : byte) == letter, byte != 58 else { return false }
            }
            return true
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

        private static func position(of byte: Int32, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
            guard let base = bytes.baseAddress, start < bytes.count else { return nil }
            return memchr(base + start, byte, bytes.count - start).map { UnsafeRawPointer($0) - base }
        }

        private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            var (start, end) = (0, bytes.count)
            while start < end, isBlank(bytes[start]) { start += 1 }
            while start < end, isBlank(bytes[end - 1]) || bytes[end - 1] == 13 { end -= 1 }
            return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        }
    }
}

/// The fields that most calls of a declared endpoint share: validated once and prepared for the wire once.
package final class CommonFields: Sendable {
    package let fields: HTTPFields
    /// A Boolean value that indicates whether all fields are valid to send.
    package let areValid: Bool
    /// A transport's prepared form of the fields, cached for the next request with the same fields. Another kind of transport replaces it.
    package let prepared = Locked<(any AnyObject & Sendable)?>(nil)

    package init(_ fields: HTTPFields) {
        self.fields = fields
        areValid = fields.allSatisfy(\.isValid)
    }
}
