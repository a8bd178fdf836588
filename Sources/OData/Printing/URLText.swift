/// Text of a URL under construction: what is appended is either syntax, which is ours and legal, or a value, which is encoded.
///
/// The one place of this module that percent-encodes. It goes by a list of what may stand raw, not of what may not: in a value only
/// the unreserved characters of RFC 3986, so that no value can end an option, a literal or a path segment, whoever decodes it.
struct URLText: Sendable {
    private(set) var text = ""

    static let apostrophe: Set<UInt8> = [0x27]
    /// What raw text in OData's spelling may hold outside of its quotes, besides unreserved characters.
    private static let rawSyntax = Set("!$'()*,/:;=@".utf8)
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// Appends our own text: ASCII that is legal where it stands; blanks are written `%20`.
    mutating func syntax(_ syntax: String) {
        guard syntax.utf8.contains(0x20) else {
            text += syntax
            return
        }
        text += syntax.replacing(" ", with: "%20")
    }

    /// Appends a value: everything is percent-encoded but unreserved characters and those to be kept.
    mutating func value(_ value: String, keeping kept: Set<UInt8> = []) {
        text.reserveCapacity(text.utf8.count + value.utf8.count)
        for byte in value.utf8 { append(byte, keeping: kept) }
    }

    /// Appends text in OData's own spelling: inside of quotes as a value, outside with its punctuation.
    mutating func raw(_ raw: String) {
        var isQuoted = false
        for byte in raw.utf8 {
            if byte == 0x27 { isQuoted.toggle() }
            append(byte, keeping: isQuoted ? Self.apostrophe : Self.rawSyntax)
        }
    }

    private mutating func append(_ byte: UInt8, keeping kept: Set<UInt8>) {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
            text.unicodeScalars.append(Unicode.Scalar(byte))
        case _ where kept.contains(byte):
            text.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            text.unicodeScalars.append("%")
            text.unicodeScalars.append(Unicode.Scalar(Self.hexadecimal[Int(byte >> 4)]))
            text.unicodeScalars.append(Unicode.Scalar(Self.hexadecimal[Int(byte & 15)]))
        }
    }
}
