import Foundation
import HTTPTransport

/// The beginning of a body, for a record: UTF-8 text with masked secrets, of a bounded length.
struct BodyExcerpt: Sendable {
    /// The highest limit.
    static let largestLimit = 64 << 10

    /// The maximum number of bytes of the text.
    private let limit: Int
    private var bytes = Data()

    /// The number of further bytes that are kept: a secret that is cut in two isn't recognized, so masks come before the cut.
    static var margin: Int { 4_096 }

    /// Creates an excerpt of at most `limit` bytes; `nil` if that is 0.
    init?(upTo limit: Int) {
        guard limit > 0 else { return nil }
        self.limit = min(limit, Self.largestLimit)
    }

    /// Appends the next piece of the body.
    mutating func append(_ piece: Data) {
        let room = limit + Self.margin - bytes.count
        if room > 0 { bytes.append(piece.prefix(room)) }
    }

    /// The text, with an ellipsis if it is cut; `nil` without a body, or if it isn't UTF-8: secrets in another charset can't be
    /// recognized.
    ///
    /// - Parameter size: The bytes of the whole body.
    func text(contentType: String?, size: Int64, redaction: LogRedaction, secrets: RequestSecrets? = nil) -> String? {
        guard !bytes.isEmpty, let whole = decoded else { return nil }
        let masked = redaction.masked(SecretMask.text(ofBody: whole, contentType: contentType, of: secrets))
        let isCut = size > Int64(bytes.count)
        guard masked.utf8.count > limit || isCut else { return masked }
        return Self.beginning(of: masked, bytes: limit, isCut: isCut) + "…"
    }

    /// The beginning of a masked text.
    ///
    /// - Parameter isCut: Whether the text was cut before it was masked. Its last ``margin`` is then omitted, since it may contain half a
    ///   secret: earlier masks may have shortened the text and moved the cut forward.
    static func beginning(of masked: String, bytes limit: Int, isCut: Bool) -> Substring {
        let most = isCut ? min(limit, max(0, masked.utf8.count - margin)) : limit
        // A position within a character rounds down to its start.
        let end = masked.utf8.index(masked.startIndex, offsetBy: most, limitedBy: masked.endIndex) ?? masked.endIndex
        return masked[..<end]
    }

    /// The bytes as text, without a last character that is cut in two.
    private var decoded: String? {
        guard !bytes.contains(0) else { return nil }
        for dropped in 0...min(3, bytes.count) {
            if let text = String(bytes: bytes.dropLast(dropped), encoding: .utf8) { return text }
        }
        return nil
    }
}

/// Masked header fields for a record, of a bounded length for any input.
enum HeaderExcerpt {
    /// The maximum number of bytes of a value.
    static var valueLimit: Int { 1_024 }
    /// The maximum number of bytes of all names and values together.
    static var limit: Int { 16_384 }

    /// The fields by their names, in order, with an ellipsis where a value is cut. Fields that don't fit are omitted and counted under `…`,
    /// which isn't a valid field name.
    static func metadata(of headers: HTTPFields, redaction: LogRedaction) -> LogMetadata {
        var fields = LogMetadata()
        var seen: Set<String> = []
        var (bytes, leftOut) = (0, 0)
        for field in headers where seen.insert(field.name.canonicalName).inserted {
            let name = field.name.canonicalName
            let text = value(of: field.name, in: headers, redaction)
            guard bytes + name.utf8.count + text.utf8.count <= limit else {
                leftOut += 1
                continue
            }
            bytes += name.utf8.count + text.utf8.count
            fields[name] = .string(text)
        }
        if leftOut > 0 { fields["…"] = .string("\(leftOut) left out") }
        return fields
    }

    /// The values of a name. Masks come before the cut: a secret that is cut in two isn't recognized.
    private static func value(of name: HTTPFields.Name, in headers: HTTPFields, _ redaction: LogRedaction) -> String {
        let text = headers[values: name].joined(separator: ", ")
        guard text.utf8.count > valueLimit else { return text }
        let masked = redaction.masked(text)
        guard masked.utf8.count > valueLimit else { return masked }
        return BodyExcerpt.beginning(of: masked, bytes: valueLimit - "…".utf8.count, isCut: false) + "…"
    }
}
