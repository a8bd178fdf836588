public import Foundation

/// Bytes: `Edm.Binary`, as base64url in V4 and as base64 in V2; both are read, with or without padding.
///
/// It is decoded from and encoded as such a text with any coder. A plain `Data` is read and written so by ``ODataDecoder`` and
/// ``ODataEncoder`` only: for other coders their own strategy decides.
public struct EdmBinary: Sendable, Hashable {
    /// The bytes.
    public var data: Data

    /// Bytes.
    public init(_ data: Data) {
        self.data = data
    }

    /// Reads base64url or base64, with or without padding; `nil` for other texts.
    public init?(_ text: String) {
        guard let data = Self.bytes(text) else { return nil }
        self.data = data
    }

    /// V2 services pad and break lines as MIME does, which base64 allows nowhere else.
    static func bytes(_ text: String) -> Data? {
        text.utf8.contains(0x0A) ? NumberText.base64URL(text.filter { !$0.isNewline }) : NumberText.base64URL(text)
    }
}

extension EdmBinary: CustomStringConvertible {
    /// Base64url without padding (RFC 4648, section 5).
    public var description: String { LiteralWriter.base64URL(data) }
}

extension EdmBinary: EdmConvertible {
    /// The literal.
    public var edmValue: EdmValue { .binary(data) }
}

extension EdmBinary: Codable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        self = try EdmText.read(from: decoder, by: { EdmBinary($0) }, like: "base64url or base64")
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        try EdmText.write(self, to: encoder)
    }
}

extension EdmBinary: PropertySample {
    /// Bytes that differ for each number.
    public static func propertySample(_ number: Int) -> EdmBinary? {
        EdmBinary(Data(String(number).utf8))
    }
}
