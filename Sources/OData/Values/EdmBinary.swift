public import Foundation

/// Bytes: `Edm.Binary`, written as base64url in V4 and as base64 in V2; both are read, with or without padding.
///
/// Any coder decodes and encodes it as such text. Only ``ODataDecoder`` and ``ODataEncoder`` use this form for a plain `Data`; other coders
/// apply their own strategy.
public struct EdmBinary: Sendable, Hashable {
    /// The bytes.
    public var data: Data

    /// Creates a value from bytes.
    public init(_ data: Data) {
        self.data = data
    }

    /// Decodes base64url or base64, with or without padding; `nil` for other texts.
    public init?(_ text: String) {
        guard let data = Self.bytes(text) else { return nil }
        self.data = data
    }

    /// V2 services pad and break lines as in MIME, although base64 doesn't allow line breaks.
    package static func bytes(_ text: String) -> Data? {
        text.utf8.contains(0x0A) ? NumberText.base64URL(text.filter { !$0.isNewline }) : NumberText.base64URL(text)
    }
}

extension EdmBinary: CustomStringConvertible {
    /// Base64url without padding (RFC 4648, section 5).
    public var description: String { LiteralText.base64URL(data) }
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
    /// Returns bytes that differ for each number.
    public static func propertySample(_ number: Int) -> EdmBinary? {
        EdmBinary(Data(String(number).utf8))
    }
}
