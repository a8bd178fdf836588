/// The text of a URL under construction, from syntax, which is already legal, and values, which are encoded.
///
/// All percent-encoding in this module happens here. It uses an allowlist: in a value only the unreserved characters of RFC 3986, so that
/// no value can end an option, a literal or a path segment, regardless of the decoder.
package struct QueryText: Sendable {
    private var bytes: [UInt8] = []

    static let apostrophe = Kept(others: [0x27])
    static let parentheses = Kept(others: [0x28, 0x29])
    package static let annotation = Kept(others: [0x40])
    package static let star = Kept(others: [0x2A])
    static let mediaType = Kept(others: Array("/=;*".utf8))
    /// The characters of a URL within a query; those that would end the option are encoded.
    static let identifier = Kept(others: Array(":/@!$'()*,=".utf8))
    private static let unreserved = Kept(others: [])
    /// The characters that raw text in OData syntax may contain outside of quotes.
    private static let rawSyntax = Kept(others: Array("!$'()*,/:;=@".utf8))
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    package init() {
        bytes.reserveCapacity(256)
    }

    /// The text written so far.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    package var count: Int {
        bytes.count
    }

    /// Removes everything after an offset.
    mutating func cut(to count: Int) {
        bytes.removeLast(bytes.count - count)
    }

    var endsWithDigit: Bool {
        bytes.last.map { (0x30...0x39).contains($0) } ?? false
    }

    /// Appends a whole number.
    package mutating func number(_ number: some BinaryInteger) {
        bytes += String(number).utf8
    }

    /// Appends syntax: ASCII that is legal at this position; blanks become `%20`.
    mutating func syntax(_ syntax: String) {
        var syntax = syntax
        syntax.withUTF8 { buffer in
            for byte in buffer {
                if byte == 0x20 { encode(byte) } else { bytes.append(byte) }
            }
        }
    }

    /// Appends a value: percent-encodes everything except unreserved characters and `kept`.
    package mutating func value(_ value: String, keeping kept: Kept? = nil) {
        let kept = kept ?? Self.unreserved
        var value = value
        value.withUTF8 { buffer in
            for byte in buffer { append(byte, keeping: kept) }
        }
    }

    /// Appends a value and doubles its apostrophes. Works on bytes because a combining mark after an apostrophe forms a single Character
    /// with it.
    mutating func doubled(_ value: String) {
        let kept = Self.unreserved
        var value = value
        value.withUTF8 { buffer in
            for byte in buffer {
                if byte == 0x27 {
                    bytes.append(byte)
                    bytes.append(byte)
                } else {
                    append(byte, keeping: kept)
                }
            }
        }
    }

    /// Appends text in OData syntax: quoted parts are encoded as values, other parts keep their punctuation.
    package mutating func raw(_ raw: String) {
        var isQuoted = false
        for byte in raw.utf8 {
            if byte == 0x27 { isQuoted.toggle() }
            append(byte, keeping: isQuoted ? Self.apostrophe : Self.rawSyntax)
        }
    }

    private mutating func append(_ byte: UInt8, keeping kept: Kept) {
        if kept.contains(byte) { bytes.append(byte) } else { encode(byte) }
    }

    private mutating func encode(_ byte: UInt8) {
        bytes.append(0x25)
        bytes.append(Self.hexadecimal[Int(byte >> 4)])
        bytes.append(Self.hexadecimal[Int(byte & 15)])
    }
}

extension QueryText {
    /// The set of characters that aren't encoded, as a bit table for ASCII.
    package struct Kept: Sendable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        /// Creates a set of the unreserved characters and others.
        package init(others: [UInt8]) {
            for byte in Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8) + others {
                if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
            }
        }

        package func contains(_ byte: UInt8) -> Bool {
            switch byte {
            case 0..<64: low >> UInt64(byte) & 1 == 1
            case 64..<128: high >> UInt64(byte & 63) & 1 == 1
            default: false
            }
        }
    }
}
