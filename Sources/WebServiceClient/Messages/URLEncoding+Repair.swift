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
