public import Foundation
public import WebServiceClient

/// An OData error (JSON Format, section 21.1), in the format of version 4, or of 2 and 3, in JSON or XML.
public struct ODataErrorBody: DescribedError, Sendable, Hashable {
    /// A further error, or more information about the same one.
    public struct Detail: Sendable, Hashable {
        /// The service's code.
        public var code: String
        /// The message for people.
        public var message: String
        /// The target of the error, such as a property.
        public var target: String?
        /// Annotations, the detail's own inner error, and other members.
        public var others: DynamicEntity
    }

    /// The service's code. Not the HTTP status, although some services use that. May be empty.
    public var code: String
    /// The message for people, in the language of the request.
    public var message: String
    /// The message's language, if the service sends it, as versions 2 and 3 do.
    public var language: String?
    /// The target of the error, such as a property.
    public var target: String?
    /// Further errors.
    public var details: [Detail]
    /// The service's information for developers, unchanged.
    public var innerError: ODataValue?
    /// Annotations and other members of the error.
    public var others: DynamicEntity
}

extension ODataErrorBody {
    /// Creates an error from a response's body. Returns `nil` if it isn't an OData error in JSON or XML, such as a proxy's HTML.
    public init?(_ body: Data) {
        if let error = XMLErrorReader.error(in: body) {
            self.init(error)
            return
        }
        guard let object = try? ODataValue(json: body).object else { return nil }
        self.init(in: object)
    }

    static let names = ["error", "odata.error", "@odata.error"]

    /// Creates the error from an object's members, if there is one.
    init?(in object: DynamicEntity) {
        for name in Self.names {
            if let error = object[name]?.object.flatMap({ ODataErrorBody($0) }) {
                self = error
                return
            }
        }
        return nil
    }

    /// Creates the error that ends an incomplete response: the output before it isn't valid JSON, and nothing follows it.
    init?(inStream body: Data) {
        let end = body.suffix(65_536)
        for name in Self.names {
            guard let place = end.range(of: Data("\"\(name)\"".utf8), options: .backwards) else { continue }
            var start = place.upperBound
            while start < end.endIndex, [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains(end[start]) { start += 1 }
            guard let object = ODataValue(lastJSON: end[start...])?.object, let error = ODataErrorBody(object) else { continue }
            self = error
            return
        }
        return nil
    }

    private init?(_ error: DynamicEntity) {
        guard error["code"] != nil || error["message"] != nil else { return nil }
        code = Self.text(error["code"]) ?? ""
        message = Self.text(error["message"]) ?? ""
        language = error["message"]?["lang"]?.string
        target = Self.place(error["target"])
        let listed = error["details"]?.array
        details = (listed ?? []).compactMap(\.object).map { Detail($0, target: "target") }
        // The name's case differs between services.
        let inner = error.properties.first { $0.name.lowercased() == "innererror" }
        innerError = inner?.value
        // SAP's V2 services put further errors in the inner error.
        if details.isEmpty {
            details = (inner?.value["errordetails"]?.array ?? []).compactMap(\.object).map { detail in
                Detail(detail, target: detail["target"] == nil ? "propertyref" : "target")
            }
        }
        let known = ["code", "message", "target", listed == nil && error["details"]?.isNull == false ? nil : "details", inner?.name]
        others = DynamicEntity(error.properties.filter { !known.contains($0.name) })
    }

    /// Returns the target of an error; `nil` for an empty text, which SAP's services send for none.
    fileprivate static func place(_ value: ODataValue?) -> String? { text(value).flatMap { $0.isEmpty ? nil : $0 } }

    fileprivate static func text(_ value: ODataValue?) -> String? {
        // In versions 2 and 3, the message is an object with a language.
        value?.string ?? value?.integer.map { String($0) } ?? value?["value"]?.string
    }
}

extension ODataErrorBody.Detail {
    fileprivate init(_ detail: DynamicEntity, target name: String) {
        code = ODataErrorBody.text(detail["code"]) ?? ""
        message = ODataErrorBody.text(detail["message"]) ?? ""
        target = ODataErrorBody.place(detail[name])
        others = DynamicEntity(detail.properties.filter { !["code", "message", name].contains($0.name) })
    }
}

extension ODataErrorBody: Decodable {
    /// Decodes the object around the error.
    public init(from decoder: any Decoder) throws {
        let body = try DynamicEntity(from: decoder)
        guard let error = ODataErrorBody(in: body) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "There is no OData error in the body."))
        }
        self = error
    }
}

extension ODataErrorBody: CustomStringConvertible {
    /// The code, message and details on one line.
    public var description: String {
        var text = code.isEmpty ? message : "\(code): \(message)"
        if let target { text += " (\(target))" }
        for detail in details { text += " [\(detail.code): \(detail.message)\(detail.target.map { " (\($0))" } ?? "")]" }
        return VisibleText.of(text)
    }
}
