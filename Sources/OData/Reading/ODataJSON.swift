import Foundation
import WebServiceClient

/// How OData spells values in JSON (JSON Format, section 7.1), for Foundation's decoder.
enum ODataJSON {
    /// Reads and writes payloads for clients.
    static let serializer = JSONSerializer { encoder, decoder in
        configure(encoder)
        configure(decoder)
    }

    /// A decoder for payloads: dates with any fraction and offset, binary as base64url or base64, `INF`, `-INF` and `NaN`.
    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        configure(decoder)
        return decoder
    }

    /// Binary as base64url, `INF`, `-INF` and `NaN`; dates are left to the serializer.
    private static func configure(_ encoder: JSONEncoder) {
        encoder.dataEncodingStrategy = .custom { data, encoder in
            var container = encoder.singleValueContainer()
            let text = data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            try container.encode(String(text.prefix { $0 != "=" }))
        }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
    }

    private static func configure(_ decoder: JSONDecoder) {
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
    }

    static func binary(_ text: String) -> Data? {
        var plain = text.replacing("-", with: "+").replacing("_", with: "/")
        while plain.utf8.count % 4 != 0 { plain += "=" }
        return Data(base64Encoded: plain)
    }
}
