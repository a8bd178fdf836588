/// Percent-encoding and decoding of URL components (RFC 3986 section 2, RFC 3629).
///
/// Encoding functions work on UTF-8 bytes with an ``Alphabet`` of bytes that stay unencoded; all others become `%XX` in upper case.
/// ``encode(_:allowing:)`` returns text that needs no change without a copy, and treats a placeholder, slash or percent sign as ordinary
/// text.
public enum URLEncoding {
    /// Encodes every byte outside the alphabet as a percent triplet.
    ///
    /// A `%` in the text becomes `%25`, also before two hexadecimal digits, unless the alphabet contains it: the text is treated as plain
    /// text, never as already encoded. For text that may be encoded, see ``repaired(_:allowing:)``.
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

    /// Decodes percent-encoded text. Returns nil if a `%` isn't followed by two hexadecimal digits or the bytes aren't UTF-8.
    ///
    /// `+` stays a plus sign: only forms read it as a space, see ``parseForm(_:)``.
    public static func decode(_ text: String) -> String? {
        guard let bytes = decodeBytes(text) else { return nil }
        let decoded = String(decoding: bytes, as: UTF8.self)
        // Invalid sequences become U+FFFD, which changes the bytes.
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }

    /// Decodes percent-encoded text to bytes, which needn't be UTF-8. Returns nil if a `%` isn't followed by two hexadecimal digits.
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
                guard isTriplet(bytes, at: index), let high = bytes[index + 1].hexadecimal,
                    let low = bytes[index + 2].hexadecimal
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

    /// Appends the encoded text to the bytes. Building a URL this way avoids a string for each component.
    package static func append(_ text: String, to output: inout [UInt8], allowing alphabet: Alphabet) {
        withBytes(of: text) { bytes in
            var index = 0
            while index < bytes.count {
                let start = index
                while index < bytes.count, alphabet.contains(bytes[index]) { index += 1 }
                // Runs are copied at once. Most values consist of a single run.
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

    /// Calls the body with the text's UTF-8 bytes. Only non-native strings (bridged ones on Apple platforms) are copied.
    package static func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try text.utf8.withContiguousStorageIfAvailable(body) { return result }
        return try Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// Returns the upper-case hexadecimal digit of a value below 16; higher bits are ignored.
    static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        let nibble = value & 15
        return nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + (nibble - 10)
    }

    /// Whether a complete `%XX` starts at the index.
    package static func isTriplet(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        index >= 0 && bytes.count - index > 2 && bytes[index] == percent && bytes[index + 1].hexadecimal != nil
            && bytes[index + 2].hexadecimal != nil
    }
}

extension URLEncoding {
    /// A set of bytes that stay unencoded in a component of a URL: 128 bits, one for each ASCII character.
    ///
    /// It never contains bytes above 127, so encoded text is always ASCII.
    public struct Alphabet: Hashable, Sendable {
        private let low: UInt64
        private let high: UInt64

        private init(low: UInt64, high: UInt64) {
            self.low = low
            self.high = high
        }

        /// Creates an alphabet of the string's ASCII characters. Other characters are ignored, because URLs must encode them.
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

        /// Whether the byte stays unencoded.
        public func contains(_ byte: UInt8) -> Bool {
            byte < 128 && (half(byte) &>> UInt64(byte & 63)) & 1 == 1
        }

        private func half(_ byte: UInt8) -> UInt64 { byte < 64 ? low : high }

        /// Returns the union of both alphabets.
        public func union(_ other: Alphabet) -> Alphabet {
            Alphabet(low: low | other.low, high: high | other.high)
        }
    }
}

extension URLEncoding.Alphabet {
    /// The empty alphabet, with which every byte is encoded.
    package static let nothing = Self("")

    package static let alphanumeric = Self("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Letters, digits and `-._~` (RFC 3986 section 2.3): characters without a special meaning, and the only ones of a value that a
    /// template leaves unencoded, except in `{+name}` and `{#name}`.
    public static let unreserved = alphanumeric.union(Self("-._~"))

    /// `!$&'()*+,;=` (RFC 3986 section 2.2).
    public static let subDelimiters = Self("!$&'()*+,;=")

    /// All delimiters (RFC 3986 section 2.2).
    public static let reserved = subDelimiters.union(Self(":/?#[]@"))

    /// The characters allowed in a path segment (`pchar`, RFC 3986 section 3.3).
    public static let pathSegment = unreserved.union(subDelimiters).union(Self(":@"))

    /// The characters allowed in a path: those of segments, and slashes.
    public static let path = pathSegment.union(Self("/"))

    /// The characters allowed in a query (RFC 3986 section 3.4), including its delimiters `&`, `=` and `+`.
    public static let query = pathSegment.union(Self("/?"))

    /// The characters allowed in a fragment (RFC 3986 section 3.5).
    public static let fragment = query

    /// The characters allowed in the user information before a host (RFC 3986 section 3.2.1).
    public static let userInformation = unreserved.union(subDelimiters).union(Self(":"))

    /// The characters allowed in a registered host name (RFC 3986 section 3.2.2).
    public static let hostName = unreserved.union(subDelimiters)

    /// The characters that `application/x-www-form-urlencoded` leaves unencoded (WHATWG URL section 1.3), without the space, which becomes
    /// `+`.
    public static let form = alphanumeric.union(Self("*-._"))

    /// The characters allowed in the name of a method or a header (`tchar`, RFC 9110 section 5.6.2).
    public static let token = alphanumeric.union(Self("!#$%&'*+-.^_`|~"))
}

/// Values for the components of a URL. Encoded values stay within their component: they add no path segment, query pair or fragment, and
/// decoding returns exactly the original value.
extension URLEncoding {
    /// Encodes a path segment: only unreserved characters stay unencoded, `/` becomes `%2F`.
    ///
    /// `.` and `..` are unreserved and stay unchanged, but receivers read them as steps in the path. Reject them first with
    /// ``isDotSegment(_:)``.
    public static func pathSegment(_ value: String) -> String { encode(value) }

    /// Encodes the name of a query pair: only unreserved characters stay unencoded, a space becomes `%20`, `+` becomes `%2B`.
    public static func queryName(_ name: String) -> String { encode(name) }

    /// Encodes the value of a query pair: only unreserved characters stay unencoded, a space becomes `%20`, `+` becomes `%2B`.
    public static func queryValue(_ value: String) -> String { encode(value) }

    /// Encodes a fragment (RFC 3986 section 3.5). Delimiters are data in a fragment and stay readable, except `#` and `%`.
    public static func fragment(_ value: String) -> String { encode(value, allowing: .fragment) }

    /// Whether a path segment is `.` or `..`, with its dots unencoded or as `%2E`, which many servers and proxies decode first.
    public static func isDotSegment(_ segment: String) -> Bool {
        guard segment.utf8.count <= 6, let first = segment.utf8.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else {
            return false
        }
        let plain = segment.contains("%") ? decode(segment) : segment
        return plain == "." || plain == ".."
    }
}

extension URLEncoding {
    /// The first control character in a header value, and its position.
    ///
    /// It never contains the value, which may be a secret.
    public struct HeaderFault: DescribedError, Hashable, Sendable {
        /// The control character, U+0000 to U+001F or U+007F, but not the tab.
        public let character: Unicode.Scalar
        /// Its zero-based position, counted in UTF-8 bytes.
        public let offset: Int

        /// The character and its position, for the middle of a sentence: "holds a line feed (U+000A) at offset 3".
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

    /// Returns the first character that header values don't allow, or nil if the value is valid.
    ///
    /// CR, LF and NUL would end the line or the message (RFC 9110 section 5.5). The other control characters except the tab are rejected as
    /// well, because receivers disagree about them. Non-ASCII text is valid and is sent as UTF-8.
    public static func headerFault(in value: String) -> HeaderFault? {
        withBytes(of: value) { bytes in
            for (offset, byte) in bytes.enumerated() where (byte < 32 && byte != 9) || byte == 127 {
                return HeaderFault(character: Unicode.Scalar(byte), offset: offset)
            }
            return nil
        }
    }

    /// Whether the text is a valid name of a header or a method: one or more token characters (RFC 9110 section 5.6.2).
    public static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { Alphabet.token.contains($0) }
    }
}

/// Checks and repairs text that should be percent-encoded already, such as a `Location` or a next link.
extension URLEncoding {
    /// Whether the text is valid in a URL without changes: only bytes of the alphabet and complete `%XX`.
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

    /// Encodes the bytes outside the alphabet and keeps each complete `%XX`; a lone `%` becomes `%25`.
    ///
    /// Valid text is returned unchanged, so the function is idempotent.
    public static func repaired(_ text: String, allowing alphabet: Alphabet) -> String {
        if isEncoded(text, allowing: alphabet) { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count + 16)
        appendRepaired(text, to: &output, allowing: alphabet)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the repaired text: complete `%XX` unchanged, all other bytes encoded according to the alphabet.
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
