extension URITemplate {
    /// The first characters of a value, counted in Unicode scalars (RFC 6570 section 2.4.1), never in bytes.
    ///
    /// Where `%XX` of the value stand as they are, a run of them that spells one scalar counts as one character and isn't cut.
    static func prefix(of text: String, length: Int, as kind: Operator) -> String {
        guard text.utf8.count > length else { return text }
        guard kind.allowsReserved, text.utf8.contains(URLEncoding.percent) else {
            return String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
        }
        return URLEncoding.withBytes(of: text) { bytes in
            var end = 0
            var taken = 0
            while end < bytes.count, taken < length {
                end = character(in: bytes, at: end)
                taken += 1
            }
            return String(decoding: bytes[..<end], as: UTF8.self)
        }
    }

    /// Where the character that starts at the index ends: a raw scalar, or the triplets of an encoded one.
    private static func character(in bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Int {
        guard let lead = tripletByte(in: bytes, at: start) else {
            return min(start + width(ofLead: bytes[start]), bytes.count)
        }
        let width = width(ofLead: lead)
        guard width > 1 else { return start + 3 }
        var end = start + 3
        for _ in 1..<width {
            guard let next = tripletByte(in: bytes, at: end), next & 0xC0 == 0x80 else { return start + 3 }
            end += 3
        }
        return end
    }

    private static func tripletByte(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt8? {
        guard URLEncoding.isTriplet(bytes, at: index), let high = URLEncoding.hexadecimalValue(bytes[index + 1]),
            let low = URLEncoding.hexadecimalValue(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// How many bytes a scalar with this first byte has; 1 for what starts none.
    private static func width(ofLead byte: UInt8) -> Int {
        switch byte {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }
}
