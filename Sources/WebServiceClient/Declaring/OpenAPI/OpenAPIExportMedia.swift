/// The fields, media types and statuses of an endpoint, with the defaults of its class.
struct OpenAPIExportMedia {
    private let endpoint: ClientDescription.Endpoint
    private let perMethod: ClientDescription.MethodDefaults?
    private let defaults: ClientDescription.Defaults?
    /// The header fields that are sent: those of the class, and those of the endpoint, which replace them.
    let fields: [ClientDescription.Part]
    /// What OpenAPI can't express.
    private(set) var notes: [String] = []
    /// The Responses Object (OpenAPI 3.1.1 §4.8.16).
    private(set) var responses: JSONValue = [:]

    init(_ endpoint: ClientDescription.Endpoint, of description: ClientDescription) {
        self.endpoint = endpoint
        perMethod = description.perMethod?.first { $0.method == endpoint.method }
        defaults = description.defaults
        var fields: [ClientDescription.Part] = []
        for level in [defaults?.headers ?? [], perMethod?.fields ?? [], endpoint.headers] {
            let names = Set(level.map { $0.name.lowercased() }).subtracting(["…"])
            fields.removeAll { names.contains($0.name.lowercased()) }
            fields += level
        }
        self.fields = fields
        responses = makeResponses()
    }

    /// The setting of the highest level that specifies it.
    func setting<Value>(_ setting: KeyPath<ClientDescription.Settings, Value?>) -> Value? {
        endpoint.settings?[keyPath: setting] ?? perMethod?.settings?[keyPath: setting] ?? defaults?.settings?[keyPath: setting]
    }

    /// The value of a header field without placeholders.
    private func field(_ name: String) -> String? {
        guard let value = fields.last(where: { $0.name.lowercased() == name })?.value else { return nil }
        return Template.placeholders(in: value).isEmpty && !value.contains(SecretMask.mask) ? value : nil
    }

    // MARK: Media types

    private static let json = "application/json"

    /// The media types of the request's body. An argument that has its own, such as a form with files, isn't known.
    var sent: [String] {
        let own = (endpoint.bodyTypes ?? []).filter(Self.isMediaType)
        if !own.isEmpty { return own }
        if let type = field("content-type"), Self.isMediaType(type) { return [type] }
        return [setting(\.serializer).flatMap(Self.mediaType(of:)) ?? Self.json]
    }

    /// The member `encoding` of a form (OpenAPI 3.1.1 §4.8.15); none if no property is special.
    func encoding(of type: String) -> [OpenAPIExport.Member] {
        let essence = MediaType(type)?.essence
        let properties = (endpoint.encodings ?? []).filter { $0.mediaType == essence }.map { property in
            var members: [OpenAPIExport.Member] = property.contentType.map { [("contentType", .string($0))] } ?? []
            if let text = property.style, let (style, explode) = Self.style(of: ArgumentStyle(text: text)) {
                members += [("style", .string(style)), ("explode", .boolean(explode))]
            }
            return (property.property, JSONValue.members(members))
        }
        return properties.isEmpty ? [] : [("encoding", .members(properties))]
    }

    /// The inverse of the styles' strategies; `nil` for those of no style.
    private static func style(of style: ArgumentStyle?) -> (name: String, explode: Bool)? {
        switch (style?.arrays, style?.objects) {
        case (.space, .joined): ("spaceDelimited", false)
        case (.pipe, .joined): ("pipeDelimited", false)
        case (.brackets, .nested): ("deepObject", true)
        case (.repeatedKey, .spread): ("form", true)
        case (.comma, .joined): ("form", false)
        default: nil
        }
    }

    /// The media types that are accepted, without parameters.
    private var accepted: [String] {
        if let text = field("accept") {
            let types = text.split(separator: ",").map { Self.withoutParameters(String($0)) }.filter(Self.isMediaType)
            if !types.isEmpty { return types }
        }
        switch setting(\.parsing) {
        case "raw"?: return ["*/*"]
        case let parser? where parser != "by media type": return [Self.withoutParameters(Self.mediaType(of: parser) ?? "*/*")]
        default: break
        }
        let serializers = [endpoint.settings, perMethod?.settings, defaults?.settings].compactMap { $0?.serializer }
        let types = serializers.map { (isForm: $0.hasPrefix("FormSerializer("), type: Self.mediaType(of: $0)) }
        guard let first = types.first, let type = first.type else { return [Self.json] }
        // Services that take forms usually answer in another format.
        let other = types.first { !$0.isForm }?.type ?? Self.json
        return (first.isForm ? [other, type] : [type]).map(Self.withoutParameters)
    }

    /// The media type in the text of a serializer: `JSONSerializer(application/json, keys in snake case)`.
    private static func mediaType(of serializer: String) -> String? {
        guard let open = serializer.firstIndex(of: "(") else { return nil }
        let inner = serializer[serializer.index(after: open)...].prefix { $0 != "," && $0 != ")" }
        return isMediaType(String(inner)) ? String(inner) : nil
    }

    private static func withoutParameters(_ type: String) -> String {
        type.prefix { $0 != ";" }.split { $0 == " " || $0 == "\t" }.joined()
    }

    private static func isMediaType(_ text: String) -> Bool {
        text.utf8.filter { $0 == UInt8(ascii: "/") }.count == 1 && text.utf8.first != UInt8(ascii: "/")
            && text.utf8.last != UInt8(ascii: "/") && text.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
    }

    // MARK: Responses

    private mutating func makeResponses() -> JSONValue {
        let isSocket = endpoint.attributes.contains { $0.hasPrefix("WebSocketSettings") }
        if isSocket {
            return .members([("101", ["description": "A WebSocket (RFC 6455)."]), Self.failure])
        }
        let content = JSONValue.members(accepted.map { ($0, [:]) })
        return .members(
            codes().map { code in
                // These have no content (RFC 9110 §15).
                let isEmpty = endpoint.method == "HEAD" || code.hasPrefix("1") || ["204", "205", "304"].contains(code)
                let body: [OpenAPIExport.Member] = isEmpty ? [] : [("content", content)]
                return (code, .members([("description", "Success.")] + body))
            } + [Self.failure])
    }

    private static let failure: OpenAPIExport.Member = ("default", ["description": "A failure."])

    /// The statuses that count as success, as names of responses: codes, or classes such as `2XX`.
    private mutating func codes() -> [String] {
        var ranges = [200...299]
        for text in [defaults?.success, perMethod?.success, endpoint.success].compactMap(\.self) {
            let isAdded = text.hasPrefix("+ ")
            let own = (isAdded ? text.dropFirst(2) : text[...]).split(separator: ",").compactMap(Self.range(of:))
            ranges = isAdded ? ranges + own : own
        }
        if ranges.contains(where: { $0.lowerBound < 100 || $0.upperBound > 599 }) {
            notes.append("OpenAPI has responses from 100 to 599 only.")
        }
        let statuses = Set(ranges.flatMap { Array($0.clamped(to: 99...600)) }).subtracting([99, 600])
        var codes: [String] = []
        for hundred in 1...5 {
            let members = (hundred * 100...hundred * 100 + 99).filter(statuses.contains)
            codes += members.count == 100 ? ["\(hundred)XX"] : members.map(String.init)
        }
        return codes
    }

    /// The range of a text such as `200…299` or `404`.
    private static func range(of text: Substring) -> ClosedRange<Int>? {
        let ends = text.split(separator: "…").map { Int($0.filter { $0 != " " }) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last else { return nil }
        return first...last
    }
}
