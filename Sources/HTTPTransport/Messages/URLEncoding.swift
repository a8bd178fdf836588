/// The one home of percent-encoding: text to URL components and back (RFC 3986 section 2, RFC 3629).
///
/// Every function works on UTF-8 bytes with an ``Alphabet`` of those that may stand raw; all others become `%XX` in upper case. What
/// needs no change is returned as it is, without a copy. Nothing here looks at the meaning of a value: a placeholder, a slash or a
/// percent sign inside one is text like any other.
public enum URLEncoding {
    /// The text with every byte outside the alphabet as a percent triplet.
    ///
    /// A `%` of the text becomes `%25`, also before two hexadecimal digits, unless the alphabet holds it: the text is taken as
    /// plain text and never as encoded already. See ``repaired(_:allowing:)`` for the other case.
    public static func encode(_ text: String, allowing alphabet: Alphabet = .unreserved) -> String {
        withBytes(of: text) { bytes in
            var escapes = 0
            for byte in bytes where !alphabet.contains(byte) { escapes += 1 }
            if escapes == 0 { return text }
            return String(unsafeUninitializedCapacity: bytes.count + 2 * escapes) { buffer in
                var end = 0
                for byte in bytes {
                    if alphabet.contains(byte) {
                        buffer[end] = byte
                        end += 1
                    } else {
                        buffer[end] = percent
                        buffer[end + 1] = hexadecimalDigit(byte >> 4)
                        buffer[end + 2] = hexadecimalDigit(byte & 15)
                        end += 3
                    }
                }
                return end
            }
        }
    }

    /// The plain text of percent-encoded text, or nil where a `%` isn't followed by two hexadecimal digits or the bytes aren't UTF-8.
    ///
    /// `+` stays a plus sign: only forms read it as a blank, see ``parseForm(_:)``.
    public static func decode(_ text: String) -> String? {
        guard let bytes = decodeBytes(text) else { return nil }
        let decoded = String(decoding: bytes, as: UTF8.self)
        // Invalid sequences have been replaced by U+FFFD, which changes the bytes.
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }

    /// The bytes that percent-encoded text stands for, which needn't be UTF-8, or nil where a `%` isn't followed by two hexadecimal
    /// digits.
    public static func decodeBytes(_ text: String) -> [UInt8]? {
        withBytes(of: text) { bytes in decodeBytes(bytes, plusIsBlank: false) }
    }

    static func decodeBytes(_ bytes: UnsafeBufferPointer<UInt8>, plusIsBlank: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == percent {
                guard isTriplet(bytes, at: index), let high = hexadecimalValue(bytes[index + 1]),
                    let low = hexadecimalValue(bytes[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return decoded
    }

    /// Appends the text, encoded, to the bytes: what builds a URL piece by piece without a string for each piece.
    package static func append(_ text: String, to output: inout [UInt8], allowing alphabet: Alphabet) {
        withBytes(of: text) { bytes in
            var index = 0
            while index < bytes.count {
                let start = index
                while index < bytes.count, alphabet.contains(bytes[index]) { index += 1 }
                // Runs are copied at once; most values are nothing but one.
                if index > start { output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index])) }
                if index < bytes.count {
                    append(bytes[index], to: &output, allowing: alphabet)
                    index += 1
                }
            }
        }
    }

    package static func append(_ byte: UInt8, to output: inout [UInt8], allowing alphabet: Alphabet) {
        if alphabet.contains(byte) {
            output.append(byte)
        } else {
            output.append(percent)
            output.append(hexadecimalDigit(byte >> 4))
            output.append(hexadecimalDigit(byte & 15))
        }
    }
}

extension URLEncoding {
    package static let percent = UInt8(ascii: "%")

    /// Runs the body with the text's UTF-8 bytes; only a string that isn't native (Apple's bridged ones) is copied for it.
    package static func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try text.utf8.withContiguousStorageIfAvailable(body) { return result }
        return try Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// The upper-case digit of a value below 16; higher bits are ignored.
    static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        let nibble = value & 15
        return nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + (nibble - 10)
    }

    package static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Whether a whole `%XX` starts at the index.
    package static func isTriplet(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        index >= 0 && bytes.count - index > 2 && bytes[index] == percent && hexadecimalValue(bytes[index + 1]) != nil
            && hexadecimalValue(bytes[index + 2]) != nil
    }
}

extension URLEncoding {
    /// The set of bytes that may stand raw in some place of a URL: 128 bits, one for each ASCII character.
    ///
    /// Bytes above 127 are never in it, so whatever is encoded with an alphabet is ASCII.
    public struct Alphabet: Hashable, Sendable {
        private let low: UInt64
        private let high: UInt64

        private init(low: UInt64, high: UInt64) {
            self.low = low
            self.high = high
        }

        /// The ASCII characters of the string; characters beyond ASCII are left out, as no URL may hold them raw.
        public init(_ characters: String) {
            var low: UInt64 = 0
            var high: UInt64 = 0
            for byte in characters.utf8 where byte < 128 {
                if byte < 64 {
                    low |= 1 &<< UInt64(byte)
                } else {
                    high |= 1 &<< UInt64(byte & 63)
                }
            }
            self.init(low: low, high: high)
        }

        /// Whether the byte may stand raw.
        public func contains(_ byte: UInt8) -> Bool {
            byte < 128 && (half(byte) &>> UInt64(byte & 63)) & 1 == 1
        }

        private func half(_ byte: UInt8) -> UInt64 { byte < 64 ? low : high }

        /// What either of the two alphabets holds.
        public func union(_ other: Alphabet) -> Alphabet {
            Alphabet(low: low | other.low, high: high | other.high)
        }
    }
}

extension URLEncoding.Alphabet {
    /// Nothing: every byte is encoded.
    package static let nothing = Self("")

    package static let alphanumeric = Self("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Letters, digits and `-._~` (RFC 3986 section 2.3): what means itself everywhere, and all that a template's value keeps raw.
    public static let unreserved = alphanumeric.union(Self("-._~"))

    /// `!$&'()*+,;=` (RFC 3986 section 2.2).
    public static let subDelimiters = Self("!$&'()*+,;=")

    /// All delimiters (RFC 3986 section 2.2).
    public static let reserved = subDelimiters.union(Self(":/?#[]@"))

    /// What RFC 3986 section 3.3 lets stand in one path segment (`pchar`).
    public static let pathSegment = unreserved.union(subDelimiters).union(Self(":@"))

    /// What may stand in a path: segments and slashes.
    public static let path = pathSegment.union(Self("/"))

    /// What RFC 3986 section 3.4 lets stand in a query, its delimiters `&`, `=` and `+` among them.
    public static let query = pathSegment.union(Self("/?"))

    /// What RFC 3986 section 3.5 lets stand in a fragment.
    public static let fragment = query

    /// What may stand in the user information before a host (RFC 3986 section 3.2.1).
    public static let userInformation = unreserved.union(subDelimiters).union(Self(":"))

    /// What may stand in a registered host name (RFC 3986 section 3.2.2).
    public static let hostName = unreserved.union(subDelimiters)

    /// What `application/x-www-form-urlencoded` keeps raw; the blank, which becomes `+`, isn't in it (WHATWG URL section 1.3).
    public static let form = alphanumeric.union(Self("*-._"))

    /// What a method or a header's name may hold (`tchar`, RFC 9110 section 5.6.2).
    public static let token = alphanumeric.union(Self("!#$%&'*+-.^_`|~"))
}

/// Values for the components of a URL. Each is encoded so that it can't leave its place: it adds no path segment, no query pair and
/// no fragment, and decoding gives back exactly the value.
extension URLEncoding {
    /// One path segment: only unreserved characters stand raw, `/` becomes `%2F`.
    ///
    /// `.` and `..` are unreserved and come out unchanged, yet a receiver reads them as steps in the path: refuse them first, see
    /// ``isDotSegment(_:)``.
    public static func pathSegment(_ value: String) -> String { encode(value) }

    /// The name of a query pair: only unreserved characters stand raw, a blank becomes `%20`, `+` becomes `%2B`.
    public static func queryName(_ name: String) -> String { encode(name) }

    /// The value of a query pair: only unreserved characters stand raw, a blank becomes `%20`, `+` becomes `%2B`.
    public static func queryValue(_ value: String) -> String { encode(value) }

    /// A fragment (RFC 3986 section 3.5): delimiters are data there, so they stay readable; `#` and `%` don't.
    public static func fragment(_ value: String) -> String { encode(value, allowing: .fragment) }

    /// Whether a path segment means "here" or "one up": `.` or `..`, its dots raw or as `%2E`, as many servers and proxies decode
    /// them first.
    public static func isDotSegment(_ segment: String) -> Bool {
        guard segment.utf8.count <= 6, let first = segment.utf8.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else {
            return false
        }
        let plain = segment.contains("%") ? decode(segment) : segment
        return plain == "." || plain == ".."
    }
}

extension URLEncoding {
    /// What makes a text unfit as the value of a header: one control character and where it stands.
    ///
    /// It never holds the value itself, which may be a secret.
    public struct HeaderFault: DescribedError, Hashable, Sendable {
        /// The control character, U+0000 to U+001F or U+007F.
        public let character: Unicode.Scalar
        /// Its zero-based position, counted in UTF-8 bytes.
        public let offset: Int

        /// Which character stands where, for the middle of a sentence: "holds a line feed (U+000A) at offset 3".
        public var description: String {
            let name =
                switch character {
                case "\0": "a NUL"
                case "\r": "a carriage return"
                case "\n": "a line feed"
                default: "a control character"
                }
            let digits = String(character.value, radix: 16, uppercase: true)
            let code = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            return "holds \(name) (U+\(code)) at offset \(offset)"
        }
    }

    /// The first character that no header's value may hold, or nil where the value is fit.
    ///
    /// CR, LF and NUL would end the line or the message (RFC 9110 section 5.5); the other controls but the tab are refused as well,
    /// since receivers disagree about them. Text beyond ASCII passes and travels as UTF-8.
    public static func headerFault(in value: String) -> HeaderFault? {
        withBytes(of: value) { bytes in
            for (offset, byte) in bytes.enumerated() where (byte < 32 && byte != 9) || byte == 127 {
                return HeaderFault(character: Unicode.Scalar(byte), offset: offset)
            }
            return nil
        }
    }

    /// Whether the text may be the name of a header or a method: one or more token characters (RFC 9110 section 5.6.2).
    public static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { Alphabet.token.contains($0) }
    }
}

/// Text that should be percent-encoded already, such as a `Location` or a next link: checked, or mended.
extension URLEncoding {
    /// Whether the text can stand in a URL as it is: only bytes of the alphabet and whole `%XX`.
    public static func isEncoded(_ text: String, allowing alphabet: Alphabet) -> Bool {
        withBytes(of: text) { bytes in
            var index = 0
            while index < bytes.count {
                if isTriplet(bytes, at: index) {
                    index += 3
                } else if bytes[index] != percent, alphabet.contains(bytes[index]) {
                    index += 1
                } else {
                    return false
                }
            }
            return true
        }
    }

    /// The text with what may not stand raw encoded and each whole `%XX` kept; a lone `%` becomes `%25`.
    ///
    /// What is right already comes back unchanged, so repairing twice changes nothing.
    public static func repaired(_ text: String, allowing alphabet: Alphabet) -> String {
        if isEncoded(text, allowing: alphabet) { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + 16)
        appendRepaired(text, to: &output, allowing: alphabet)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the text, repaired: whole `%XX` as they are, all else encoded by the alphabet.
    package static func appendRepaired(_ text: String, to output: inout [UInt8], allowing alphabet: Alphabet) {
        withBytes(of: text) { bytes in
            var index = 0
            while index < bytes.count {
                if isTriplet(bytes, at: index) {
                    output.append(contentsOf: bytes[index..<index + 3])
                    index += 3
                } else {
                    let allowed = bytes[index] == percent ? Alphabet.nothing : alphabet
                    append(bytes[index], to: &output, allowing: allowed)
                    index += 1
                }
            }
        }
    }
}
