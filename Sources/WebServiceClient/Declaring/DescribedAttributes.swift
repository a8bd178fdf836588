/// The library's attributes and serializers by the texts that descriptions have for them.
///
/// A text is read only if the value that it leads to has the same text, so that a description never leads to another endpoint. Attributes
/// that a document must not loosen, such as a redirect policy that follows more than the client's, aren't read.
enum DescribedAttributes {
    /// The attribute with a text; `nil` if it is a type of the program, or isn't known.
    static func attribute(_ text: String) -> (any EndpointAttribute)? {
        if let known = catalogue[text] { return known }
        guard let found = parsed(text), ClientDescription.text(of: found) == text else { return nil }
        return found
    }

    /// The attributes with few possible values.
    private static let catalogue: [String: any EndpointAttribute] = {
        var all: [any EndpointAttribute] = CallPriority.allCases
        all += CacheMode.allCases
        all += ProblemReading.allCases
        all += FieldReflection.NestingStrategy.allCases
        all += FieldReflection.NilStrategy.allCases
        all += keys
        all += dates
        all += [true, false].flatMap { [Coalescing(isEnabled: $0), Idempotence($0), Solicited($0)] as [any EndpointAttribute] }
        all += [EndpointCaching.byServer, EndpointCaching.off] as [any EndpointAttribute]
        all += [CookiePolicy.off, RedirectPolicy.stop, RedirectPolicy.sameOrigin]
        all += [BodyCompression.off, ContinueExpectation.off, HedgingPolicy.off, WaitingForNetwork.off]
        all += [ServiceRateLimits.ignored, CircuitBreakerPolicy.off, CircuitBreakerPolicy()] as [any EndpointAttribute]
        all += (1...20).map { RetryPolicy(attempts: $0) }
        all += [RetryPolicy.unattended, RetryPolicy.solicited]
        for format in IdempotencyKey.Format.allCases { all.append(IdempotencyKey(format: format)) }
        for requirement in DigestVerification.Requirement.allCases {
            all.append(DigestVerification(requirement))
            for algorithm in ContentDigest.Algorithm.allCases { all.append(DigestVerification(requirement, wanting: [algorithm])) }
        }
        for algorithm in ContentDigest.Algorithm.allCases {
            for field in ContentDigest.Field.allCases { all.append(SentDigest([algorithm], in: field)) }
        }
        return Dictionary(all.map { (ClientDescription.text(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
    }()

    private static let keys: [FieldReflection.KeyStrategy] = [.asDeclared, .snakeCase]
    private static let dates: [FieldReflection.DateStrategy] =
        [.seconds, .milliseconds] + (0...9).map { .iso8601(fractionDigits: $0) }

    // MARK: Attributes with values

    private static func parsed(_ text: String) -> (any EndpointAttribute)? {
        if let bound = inside(text, "EndpointCaching.lifetime("), let duration = Duration(text: bound) {
            return EndpointCaching.lifetime(duration)
        }
        if let names = inside(text, "CacheTags("), !names.contains("\"") {
            var tags = CacheTags()
            tags.names = names.split(separator: ", ").map(String.init)
            return tags
        }
        if let age = inside(text, "OfflineCaching(upTo: ").flatMap({ Duration(text: $0) }) { return OfflineCaching(upTo: age) }
        if let limit = inside(text, "RateLimit(") { return rateLimit(limit) }
        if let wait = inside(text, "ServiceRateLimits(longest wait ").flatMap({ Duration(text: $0) }) {
            return ServiceRateLimits(longestWait: wait)
        }
        if let delay = inside(text, "HedgingPolicy(after: ").flatMap({ Duration(text: $0) }) { return HedgingPolicy.after(delay) }
        if let share = inside(text, "HedgingPolicy(afterPercentile: ").flatMap({ Double($0) }) {
            return HedgingPolicy.afterPercentile(share)
        }
        if let limit = inside(text, "WaitingForNetwork(up to ").flatMap({ Duration(text: $0) }) { return WaitingForNetwork(upTo: limit) }
        if let bytes = inside(text, "expects 100 Continue above ", " bytes").flatMap({ Int64($0) }) {
            return ContinueExpectation(above: bytes)
        }
        if let style = PagingStyle(text: text) { return style }
        for coding in ContentCoding.allCases {
            if let bytes = inside(text, "compressed by \(coding.name) above ", " bytes").flatMap({ Int($0) }) {
                return BodyCompression(coding, above: bytes)
            }
        }
        return nil
    }

    /// The part of a text between a beginning and an end; `nil` if it has others.
    private static func inside(_ text: String, _ beginning: String, _ end: String = ")") -> Substring? {
        guard text.hasPrefix(beginning), text.hasSuffix(end), text.count >= beginning.count + end.count else { return nil }
        return text.dropFirst(beginning.count).dropLast(end.count)
    }

    /// Reads `30 per 60 s, burst 5, longest wait 3 s`.
    private static func rateLimit(_ text: Substring) -> RateLimit? {
        let parts = text.split(separator: ", ")
        guard parts.count >= 2, let per = parts[0].firstRange(of: " per "), let count = Int(parts[0][..<per.lowerBound]),
            let period = Duration(text: parts[0][per.upperBound...]), let burst = Int(parts[1].dropFirst("burst ".count))
        else { return nil }
        let wait = parts.count > 2 ? Duration(text: parts[2].dropFirst("longest wait ".count)) : nil
        return RateLimit(count, per: period, burst: burst, longestWait: wait)
    }

    // MARK: Serializers

    /// The serializer with a text; `nil` if it is a type of the program, or isn't known.
    static func serializer(_ text: String) -> (any SerializationDelegate)? {
        candidates(text).first { ClientDescription.Settings.text(of: $0) == text }
    }

    private static func candidates(_ text: String) -> [any SerializationDelegate] {
        guard let open = text.firstIndex(of: "("), text.last == ")" else { return [] }
        let inner = text[text.index(after: open)...].dropLast()
        let type = String(inner[..<(inner.firstRange(of: ", ")?.lowerBound ?? inner.endIndex)])
        switch text[..<open] {
        case "JSONSerializer": return json(type)
        case "FormSerializer": return [FormSerializer()] + forms(inner.split(separator: ", "))
        case "PlainTextSerializer":
            let media = String(type.prefix { $0 != ";" })
            let charset = type.firstRange(of: "charset=").flatMap { TextEncoding(String(type[$0.upperBound...])) }
            return [PlainTextSerializer(charset ?? .utf8, mediaType: media)]
        case "RawDataSerializer": return [RawDataSerializer(contentType: type)]
        case "PropertyListSerializer":
            return [PropertyListSerializer(.xml, contentType: type), PropertyListSerializer(.binary, contentType: type)]
        case "XMLSerializer": return [XMLSerializer(contentType: type)]
        default: return []
        }
    }

    private static func json(_ type: String) -> [any SerializationDelegate] {
        let dates = [JSONDates.seconds, .milliseconds] + (0...9).map { JSONDates.iso8601(fractionDigits: $0) }
        return [JSONSerializer.Keys.asDeclared, .snakeCase].flatMap { keys in
            dates.map { JSONSerializer(contentType: type, dates: $0, keys: keys) }
        }
    }

    /// The form serializers with explicit rules, from the texts of these rules.
    private static func forms(_ parts: [Substring]) -> [any SerializationDelegate] {
        guard parts.count == 6, let arrays = FieldReflection.ArrayStrategy(rawValue: String(parts[1])),
            let nesting = FieldReflection.NestingStrategy(rawValue: String(parts[4])),
            let missing = FieldReflection.NilStrategy(rawValue: String(parts[5]))
        else { return [] }
        return keys.flatMap { keys in
            dates.map { dates in
                FormSerializer(FieldReflection(arrays: arrays, nesting: nesting, missing: missing, keys: keys, dates: dates))
            }
        }
    }
}
