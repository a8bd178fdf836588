import Foundation

/// How OData spells values in JSON (JSON Format, section 7.1), for Foundation's decoder.
enum ODataJSON {
    /// A decoder for payloads: dates with any fraction and offset, binary as base64url or base64, `INF`, `-INF` and `NaN`.
    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = DateTimeOffsetText.date(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "'\(text)' isn't a DateTimeOffset such as 2012-12-03T07:16:23Z.")
            }
            return date
        }
        decoder.dataDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let data = binary(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text isn't base64url.")
            }
            return data
        }
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
        return decoder
    }

    static func binary(_ text: String) -> Data? {
        var plain = text.replacing("-", with: "+").replacing("_", with: "/")
        while plain.utf8.count % 4 != 0 { plain += "=" }
        return Data(base64Encoded: plain)
    }
}
