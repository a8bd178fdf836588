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
