import Foundation

extension HTTPFields {
    /// The lines of fields as their bytes came, and how they are read (RFC 9112 §5).
    ///
    /// Most of what servers tell nobody asks for, and strings of it all cost many times what it takes to find one field among the bytes.
    package struct Lines: Sendable {
        private let bytes: [UInt8]
        /// Where the first line begins.
        private let start: Int

        package init(_ bytes: [UInt8], from start: Int = 0) {
            self.bytes = bytes
            self.start = start
        }

        /// Whether there is nothing to read.
        package var isEmpty: Bool { start >= bytes.count }

        /// All fields, in their order.
        package var fields: [Field] {
            var fields: [Field] = []
            fields.reserveCapacity(12)
            forEach { Self.add($0, to: &fields) }
            return fields
        }

        /// Whether each field has a line of its own, and all is ASCII without a NUL or a bare CR: only then a field is found by its bytes.
        /// Beyond ASCII, names of different bytes may be the same in lower case. A NUL or a bare CR in a name becomes a blank.
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

        /// Hands over the values of a name's fields, in their order, where the lines are plain.
        func forEachValue(of name: Name, _ body: (UnsafeRawBufferPointer) -> Void) {
            var text = name.canonicalName
            text.withUTF8 { name in
                guard !name.isEmpty else { return }
                forEach { line in
                    guard line.count > name.count, line[name.count] == 58, Self.begins(line, with: name) else { return }
                    body(Self.trimmed(UnsafeRawBufferPointer(rebasing: line[(name.count + 1)...])))
                }
            }
        }

        /// UTF-8 where it is valid, else Latin-1, in which every byte is a character. A CR and a NUL, which would end a line where the text is
        /// sent on, become blanks (RFC 9110 §5.5).
        package static func text(_ bytes: UnsafeRawBufferPointer) -> String { decoded(bytes).text }

        /// The same, and whether it is Latin-1.
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
            // ASCII, as nearly all is, needs no second look.
            if all < 0x80 { return (String(decoding: bytes, as: UTF8.self), false) }
            if let text = String(validating: bytes, as: UTF8.self) { return (text, false) }
            return (String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) })), true)
        }

        /// Hands over each line, without its line feed.
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
                // A folded line goes on with the value before it (RFC 9112 §5.2).
                guard let last = fields.indices.last else { return }
                let rest = trimmed(line)
                guard !rest.isEmpty else { return }
                let bytes = fields[last].bytes
                let whole = bytes + (bytes.isEmpty ? [] : [32]) + rest
                fields[last] = whole.withUnsafeBytes { Field(name: fields[last].name, bytes: $0) }
                return
            }
            guard let colon = position(of: 58, in: line, from: 0), colon > 0 else { return }
            let name = UnsafeRawBufferPointer(rebasing: line[..<colon])
            let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])
            fields.append(Field(name: .common(name) ?? Name(text(name)), bytes: trimmed(value)))
        }

        /// Whether a line begins with that name, which is in lower case. No name holds the colon that ends it.
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

/// The fields that most calls of a declared endpoint have in common: looked at once, and made ready for the wire once.
package final class CommonFields: Sendable {
    package let fields: HTTPFields
    /// Whether all of them may be sent.
    package let areValid: Bool
    /// What a transport has made of them, for the next request that has them. Of another kind it takes the place of what was there.
    package let prepared = Locked<(any AnyObject & Sendable)?>(nil)

    package init(_ fields: HTTPFields) {
        self.fields = fields
        areValid = fields.allSatisfy(\.isValid)
    }
}
