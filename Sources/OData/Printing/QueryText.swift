/// Text of a URL under construction: what is appended is either syntax, which is ours and legal, or a value, which is encoded.
///
/// The one place of this module that percent-encodes. It goes by a list of what may stand raw, not of what may not: in a value only
/// the unreserved characters of RFC 3986, so that no value can end an option, a literal or a path segment, whoever decodes it.
struct QueryText: Sendable {
    private var bytes: [UInt8] = []

    static let apostrophe = Kept(others: [0x27])
    static let parentheses = Kept(others: [0x28, 0x29])
    static let annotation = Kept(others: [0x40])
    static let star = Kept(others: [0x2A])
    static let mediaType = Kept(others: Array("/=;*".utf8))
    /// A URL inside of a query; what would end the option is encoded.
    static let identifier = Kept(others: Array(":/@!$'()*,=".utf8))
    private static let unreserved = Kept(others: [])
    /// What raw text in OData's spelling may hold outside of its quotes.
    private static let rawSyntax = Kept(others: Array("!$'()*,/:;=@".utf8))
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    init() {
        bytes.reserveCapacity(256)
    }

    /// What was written so far.
    var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    var count: Int {
        bytes.count
    }

    /// Takes back what was written behind a place.
    mutating func cut(to count: Int) {
        bytes.removeLast(bytes.count - count)
    }

    var endsWithDigit: Bool {
        bytes.last.map { (0x30...0x39).contains($0) } ?? false
    }

    /// Appends a whole number.
    mutating func number(_ number: some BinaryInteger) {
        bytes += String(number).utf8
    }

    /// Appends our own text: ASCII that is legal where it stands; blanks are written `%20`.
    mutating func syntax(_ syntax: String) {
        var syntax = syntax
        syntax.withUTF8 { buffer in
            for byte in buffer {
                if byte == 0x20 { encode(byte) } else { bytes.append(byte) }
            }
        }
    }

    /// Appends a value: everything is percent-encoded but unreserved characters and those to be kept.
    mutating func value(_ value: String, keeping kept: Kept? = nil) {
        let kept = kept ?? Self.unreserved
        var value = value
        value.withUTF8 { buffer in
            for byte in buffer { append(byte, keeping: kept) }
        }
    }

    /// Appends a value whose apostrophes are written twice. By bytes: a combining mark behind an apostrophe makes a Character of both.
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

    /// Appends text in OData's own spelling: inside of quotes as a value, outside with its punctuation.
    mutating func raw(_ raw: String) {
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
    /// The list of what stands raw, as a table of bits for the ASCII characters.
    struct Kept: Sendable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        /// The unreserved characters and others.
        init(others: [UInt8]) {
            for byte in Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8) + others {
                if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
            }
        }

        func contains(_ byte: UInt8) -> Bool {
            switch byte {
            case 0..<64: low >> UInt64(byte) & 1 == 1
            case 64..<128: high >> UInt64(byte & 63) & 1 == 1
            default: false
            }
        }
    }
}
