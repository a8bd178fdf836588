public import Foundation
public import WebServiceClient

/// What a service says of an error (JSON Format, section 21.1), in the shape of version 4, or of 2 and 3, in JSON or in XML.
public struct ODataErrorBody: DescribedError, Sendable, Hashable {
    /// A further error, or another view of the same.
    public struct Detail: Sendable, Hashable {
        /// The service's code.
        public var code: String
        /// What happened, for people.
        public var message: String
        /// What it is about, such as a property.
        public var target: String?
        /// Annotations, the detail's own inner error, and whatever else the service wrote into it.
        public var others: DynamicEntity
    }

    /// The service's code; not the HTTP status, though some services write that. May be empty.
    public var code: String
    /// What happened, for people, in the language of the request.
    public var message: String
    /// The message's language, where the service says it: versions 2 and 3 do.
    public var language: String?
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
    /// Reads a response's body; `nil` where it isn't an OData error in JSON or XML, as with the HTML of a proxy.
    public init?(_ body: Data) {
        if let error = XMLErrorReader.error(in: body) {
            self.init(error)
            return
        }
        guard let object = try? PayloadScanner.value(of: body).object else { return nil }
        self.init(in: object)
    }

    static let names = ["error", "odata.error", "@odata.error"]

    /// The error among an object's members, if there is one.
    init?(in object: DynamicEntity) {
        for name in Self.names {
            if let error = object[name]?.object.flatMap({ ODataErrorBody($0) }) {
                self = error
                return
            }
        }
        return nil
    }

    /// The error that a service broke its answer off with: what it wrote before isn't JSON any more, and nothing follows the error.
    init?(inStream body: Data) {
        let end = body.suffix(65_536)
        for name in Self.names {
            guard let place = end.range(of: Data("\"\(name)\"".utf8), options: .backwards) else { continue }
            var start = place.upperBound
            while start < end.endIndex, [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":")].contains(end[start]) { start += 1 }
            guard let object = PayloadScanner.lastValue(in: body, from: start - body.startIndex)?.object, let error = ODataErrorBody(object)
            else {
                continue
            }
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
        target = Self.text(error["target"])
        let listed = error["details"]?.array
        details = (listed ?? []).compactMap(\.object).map { Detail($0, target: "target") }
        // The name's case differs between services.
        let inner = error.properties.first { $0.name.lowercased() == "innererror" }
        innerError = inner?.value
        // SAP's V2 has further errors in there.
        if details.isEmpty {
            details = (inner?.value["errordetails"]?.array ?? []).compactMap(\.object).map { detail in
                Detail(detail, target: detail["target"] == nil ? "propertyref" : "target")
            }
        }
        let known = ["code", "message", "target", listed == nil && error["details"]?.isNull == false ? nil : "details", inner?.name]
        others = DynamicEntity(error.properties.filter { !known.contains($0.name) })
    }

    fileprivate static func text(_ value: ODataValue?) -> String? {
        // Versions 2 and 3 put the message's language beside it.
        value?.string ?? value?.integer.map { String($0) } ?? value?["value"]?.string
    }
}

extension ODataErrorBody.Detail {
    fileprivate init(_ detail: DynamicEntity, target name: String) {
        code = ODataErrorBody.text(detail["code"]) ?? ""
        message = ODataErrorBody.text(detail["message"]) ?? ""
        target = ODataErrorBody.text(detail[name])
        others = DynamicEntity(detail.properties.filter { !["code", "message", name].contains($0.name) })
    }
}

extension ODataErrorBody: Decodable {
    /// Reads the object around the error.
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
    /// Code, message and details on one line.
    public var description: String {
        var text = code.isEmpty ? message : "\(code): \(message)"
        if let target { text += " (\(target))" }
        for detail in details { text += " [\(detail.code): \(detail.message)\(detail.target.map { " (\($0))" } ?? "")]" }
        return VisibleText.of(text)
    }
}
