/// Lists of names and values: queries and `application/x-www-form-urlencoded` bodies.
extension URLEncoding {
    /// Encodes a name or value of a form body: letters, digits and `*-._` stay unencoded, a space becomes `+` (WHATWG URL section 5.2).
    ///
    /// Line endings aren't changed: CR LF becomes `%0D%0A`, a lone LF `%0A`.
    public static func formField(_ text: String) -> String {
        let encoded = encode(text, allowing: formWithBlank)
        return encoded.utf8.contains(UInt8(ascii: " ")) ? replacingBlanks(in: encoded) : encoded
    }

    /// Returns a query without its `?`: the pairs in order, joined by `&`. A nil value produces the bare name, an empty one `name=`.
    public static func query(_ pairs: [(name: String, value: String?)]) -> String {
        joined(pairs, encode: { encode($0) })
    }

    /// Returns a form body: the pairs in order, joined by `&`. A nil value produces the bare name, an empty one `name=`.
    public static func form(_ pairs: [(name: String, value: String?)]) -> String {
        joined(pairs, encode: formField)
    }

    /// Parses a form body, or a query in form encoding, reading `+` as a space. Returns nil if a `%` escape or the UTF-8 is invalid.
    ///
    /// Empty pieces between `&` are skipped; a piece without `=` is a name whose value is nil.
    public static func parseForm(_ text: String) -> [(name: String, value: String?)]? {
        parse(text, plusIsBlank: true)
    }

    /// Parses a query without its `?`, reading `+` as a plus sign. Returns nil if a `%` escape or the UTF-8 is invalid.
    ///
    /// Empty pieces between `&` are skipped; a piece without `=` is a name whose value is nil.
    public static func parseQuery(_ text: String) -> [(name: String, value: String?)]? {
        parse(text, plusIsBlank: false)
    }
}

extension URLEncoding {
    private static let formWithBlank = Alphabet.form.union(Alphabet(" "))

    /// Replaces each space with a plus sign. The text must be ASCII.
    private static func replacingBlanks(in text: String) -> String {
        withBytes(of: text) { bytes in
            String(unsafeUninitializedCapacity: bytes.count) { buffer in
                var end = 0
                for byte in bytes {
                    buffer[end] = byte == UInt8(ascii: " ") ? UInt8(ascii: "+") : byte
                    end += 1
                }
                return end
            }
        }
    }

    private static func joined(_ pairs: [(name: String, value: String?)], encode: (String) -> String) -> String {
        var text = ""
        var isFirst = true
        for (name, value) in pairs {
            if !isFirst { text.append("&") }
            isFirst = false
            text.append(encode(name))
            if let value {
                text.append("=")
                text.append(encode(value))
            }
        }
        return text
    }

    private static func parse(_ text: String, plusIsBlank: Bool) -> [(name: String, value: String?)]? {
        var pairs: [(name: String, value: String?)] = []
        for piece in text.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = halves.first, let name = plain(first, plusIsBlank: plusIsBlank) else { return nil }
            guard halves.count == 2 else {
                pairs.append((name, nil))
                continue
            }
            guard let value = plain(halves[1], plusIsBlank: plusIsBlank) else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }

    private static func plain(_ piece: Substring.UTF8View, plusIsBlank: Bool) -> String? {
        guard let bytes = Array(piece).withUnsafeBufferPointer({ decodeBytes($0, plusIsBlank: plusIsBlank) }) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }
}
