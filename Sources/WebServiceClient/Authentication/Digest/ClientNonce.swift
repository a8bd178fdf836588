/// Makes client nonces (RFC 7616 §3.4, `cnonce`).
enum ClientNonce {
    /// 128 bits of the system's secure random numbers in 32 hexadecimal digits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return withUnsafeBytes(of: (generator.next() as UInt64, generator.next() as UInt64)) { Hexadecimal.text(of: Array($0)) }
    }
}
