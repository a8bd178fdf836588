/// Lists of names and values: queries and `application/x-www-form-urlencoded` bodies.
extension URLEncoding {
    /// A name or value of a form body: letters, digits and `*-._` stand raw, a blank becomes `+` (WHATWG URL section 5.2).
    ///
    /// Line ends aren't changed: CR LF becomes `%0D%0A`, a lone LF `%0A`.
    public static func formField(_ text: String) -> String {
        let encoded = encode(text, allowing: formWithBlank)
        return encoded.utf8.contains(UInt8(ascii: " ")) ? replacingBlanks(in: encoded) : encoded
    }

    /// A query without its `?`: the pairs in their order, joined by `&`. A nil value gives the bare name, an empty one `name=`.
    public static func query(_ pairs: [(name: String, value: String?)]) -> String {
        joined(pairs, encode: { encode($0) })
    }

    /// A form body: the pairs in their order, joined by `&`. A nil value gives the bare name, an empty one `name=`.
    public static func form(_ pairs: [(name: String, value: String?)]) -> String {
        joined(pairs, encode: formField)
    }

    /// The pairs of a form body or of a query that was written like one, `+` read as a blank; nil where a `%` or the UTF-8 is broken.
    ///
    /// Empty pieces between `&` are skipped; a piece without `=` is a name whose value is nil.
    public static func parseForm(_ text: String) -> [(name: String, value: String?)]? {
        parse(text, plusIsBlank: true)
    }

    /// The pairs of a query without its `?`, `+` read as a plus sign; nil where a `%` or the UTF-8 is broken.
    ///
    /// Empty pieces between `&` are skipped; a piece without `=` is a name whose value is nil.
    public static func parseQuery(_ text: String) -> [(name: String, value: String?)]? {
        parse(text, plusIsBlank: false)
    }
}

extension URLEncoding {
    private static let formWithBlank = Alphabet.form.union(Alphabet(" "))

    /// The text with each blank as a plus sign, for text which is ASCII already.
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
