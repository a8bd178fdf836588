/// A message authentication code with a secret key (RFC 2104), such as HMAC-SHA-256, for signatures of requests.
///
/// It is a value, like the hash that it uses: a copy continues from the current state, independently of the original.
package struct HMAC<Hash: HashFunction>: Sendable {
    private var inner: Hash
    private let outer: Hash

    /// Creates a code without input. A key that is longer than a block of the hash is replaced by its digest (RFC 2104 §2).
    package init(key: [UInt8]) {
        var key = key
        if key.count > Hash.blockLength {
            var hash = Hash()
            hash.update(key)
            key = hash.finalize()
        }
        key += [UInt8](repeating: 0, count: max(0, Hash.blockLength - key.count))
        inner = Self.hash(after: key, with: 0x36)
        outer = Self.hash(after: key, with: 0x5c)
    }

    /// Adds the next bytes of the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { inner.update(bytes) }

    /// Returns the code of all input so far, in ``HashFunction/digestLength`` bytes.
    package func finalize() -> [UInt8] {
        var hash = outer
        hash.update(inner.finalize())
        return hash.finalize()
    }

    /// Returns the code of a message.
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = Self(key: key)
        message.withUnsafeBytes { code.update($0) }
        return code.finalize()
    }

    private static func hash(after key: [UInt8], with pad: UInt8) -> Hash {
        var hash = Hash()
        hash.update(key.map { $0 ^ pad })
        return hash
    }
}
