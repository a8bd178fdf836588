public import Foundation

/// What a service says of an error (JSON Format, section 21.1), in the shape of version 4, or of 2 and 3.
public struct ODataErrorBody: Error, Sendable, Hashable {
    /// A further error, or another view of the same.
    public struct Detail: Sendable, Hashable {
        /// The service's code.
        public var code: String
        /// What happened, for people.
        public var message: String
        /// What it is about, such as a property.
        public var target: String?
    }

    /// The service's code; not the HTTP status, though some services write that. May be empty.
    public var code: String
    /// What happened, for people, in the language of the request.
    public var message: String
    /// What it is about, such as a property.
    public var target: String?
    /// Further errors.
    public var details: [Detail]
    /// What the service adds for its developers, as it is.
    public var innerError: ODataValue?
    /// Annotations and whatever else the service wrote into the error.
    public var others: DynamicEntity
}

extension ODataErrorBody {
    /// Reads a response's body; `nil` where it isn't an OData error in JSON, as with the HTML of a proxy.
    public init?(_ body: Data) {
        guard let error = try? ODataJSON.decoder().decode(ODataErrorBody.self, from: body) else { return nil }
        self = error
    }

    private init?(_ error: DynamicEntity) {
        func text(_ value: ODataValue?) -> String? {
            // Versions 2 and 3 put the message's language beside it.
            value?.string ?? value?.integer.map { String($0) } ?? value?["value"]?.string
        }
        guard error["code"] != nil || error["message"] != nil else { return nil }
        code = text(error["code"]) ?? ""
        message = text(error["message"]) ?? ""
        target = text(error["target"])
        let listed = error["details"]?.array ?? []
        details = listed.compactMap(\.object).map { detail in
            Detail(code: text(detail["code"]) ?? "", message: text(detail["message"]) ?? "", target: text(detail["target"]))
        }
        // The name's case differs between services.
        let inner = error.properties.first { $0.name.lowercased() == "innererror" }
        innerError = inner?.value
        let known = ["code", "message", "target", "details", inner?.name]
        others = DynamicEntity(error.properties.filter { !known.contains($0.name) })
    }
}

extension ODataErrorBody: Decodable {
    /// Reads the object around the error.
    public init(from decoder: any Decoder) throws {
        let body = try DynamicEntity(from: decoder)
        let candidates = ["error", "odata.error", "@odata.error"].lazy.compactMap { body[$0]?.object }
        guard let error = candidates.compactMap({ ODataErrorBody($0) }).first else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "There is no OData error in the body."))
        }
        self = error
    }
}

extension ODataErrorBody: CustomStringConvertible {
    /// Code, message and details on one line.
    public var description: String {
        var text = code.isEmpty ? message : "\(code): \(message)"
        if let target { text += " (\(target))" }
        for detail in details { text += " [\(detail.code): \(detail.message)\(detail.target.map { " (\($0))" } ?? "")]" }
        return text
    }
}
