import WebServiceClient

/// Header fields for a record, masked already: of a bounded length whatever the other side sends.
enum HeaderExcerpt {
    /// The most bytes of a value.
    static var valueLimit: Int { 1_024 }
    /// The most bytes of all names and values together.
    static var limit: Int { 16_384 }

    /// The fields by their names, in order, an ellipsis where a value is cut. Those that don't fit any more are left out, and counted below `…`,
    /// which is no field's name.
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

    /// The values of a name. Masks come first, and then the cut: what is cut in two isn't known for a secret.
    private static func value(of name: HTTPFields.Name, in headers: HTTPFields, _ redaction: LogRedaction) -> String {
        let text = headers[values: name].joined(separator: ", ")
        guard text.utf8.count > valueLimit else { return text }
        let masked = redaction.masked(text)
        guard masked.utf8.count > valueLimit else { return masked }
        return BodyExcerpt.beginning(of: masked, bytes: valueLimit - "…".utf8.count, isCut: false) + "…"
    }
}
