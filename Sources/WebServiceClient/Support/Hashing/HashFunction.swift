/// A hash that takes its message piece by piece: what Digest access authentication (RFC 7616) is computed with.
///
/// Conforming types are values: a copy goes on from the state it was copied in, and neither sees what the other takes afterwards.
/// They are here because the package has no dependencies and Foundation has no hashes on Linux. None of them is meant for storing
/// passwords, and ``MD5`` is meant for nothing but talking to servers that know no better.
package protocol HashFunction: Sendable {
    /// The length of a digest in bytes.
    static var digestLength: Int { get }

    /// A hash that has taken nothing yet.
    init()

    /// Takes the next bytes of the message.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// The digest of all that was taken so far. The hash itself isn't changed, and can take more.
    func finalize() -> [UInt8]
}

extension HashFunction {
    /// Takes the next bytes of the message.
    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Takes a text's UTF-8 bytes.
    package mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// The bytes of a digest's words, which stand in the order of their bytes in memory.
    static func digest<Word: FixedWidthInteger>(of words: [Word]) -> [UInt8] {
        words.withUnsafeBytes { Array($0) }
    }

    /// The digest of the bytes, in lower-case hexadecimal digits.
    package static func hexadecimal(of bytes: [UInt8]) -> String {
        var hash = Self()
        hash.update(bytes)
        return Hexadecimal.text(of: hash.finalize())
    }

    /// The digest of a text's UTF-8 bytes, in lower-case hexadecimal digits.
    package static func hexadecimal(of text: String) -> String {
        var hash = Self()
        hash.update(text)
        return Hexadecimal.text(of: hash.finalize())
    }
}
