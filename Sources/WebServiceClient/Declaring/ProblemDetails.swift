public import Foundation

/// The problem details of a failed call (RFC 9457): the service's description of the failure, in a standard format.
///
///     } catch let error as ServiceError {
///         if let problem = error.problem, problem.type == "https://example.com/probs/out-of-credit" {
///             let balance = try problem.member("balance", as: Int.self)
///             …
///         }
///     }
///
/// A client reads them from every body of a failure with the media type `application/problem+json` or `application/problem+xml` (appendix
/// B); see ``ProblemReading``. A member of the wrong type is ignored (§3.1). In XML, extension members are child elements, and the elements
/// of a list are named `i`.
public struct ProblemDetails: Sendable {
    /// The type of the problem, a URI reference that identifies it and isn't followed. Default `about:blank` (§3.1.1).
    public let type: String
    /// A short text for people about the type.
    public let title: String?
    /// The status code that the service generated. The response's own status counts.
    public let status: Int?
    /// An explanation for people of this occurrence. Programs must not parse it; see ``member(_:as:)``.
    public let detail: String?
    /// A URI reference that identifies this occurrence.
    public let instance: String?
    private let body: Data
    private let contentType: String?
    private let serializer: any SerializationDelegate

    /// The members that the RFC defines. Members of the wrong type are missing.
    private struct Members: Decodable {
        enum CodingKeys: String, CodingKey {
            case type, title, status, detail, instance
        }

        var type, title, detail, instance: String?
        var status: Int?

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) -> String? { try? container.decode(String.self, forKey: key) }
            (type, title, detail, instance) = (text(.type), text(.title), text(.detail), text(.instance))
            status = try? container.decode(Int.self, forKey: .status)
        }
    }

    /// Reads problem details in JSON.
    ///
    /// - Throws: The decoder's error if the bytes aren't a JSON object.
    public init(json: Data) throws {
        try self.init(json, contentType: nil, JSONSerializer())
    }

    /// Reads problem details in XML: an element `problem` in the namespace `urn:ietf:rfc:7807`, or in none.
    ///
    /// - Throws: The decoder's error if the bytes aren't such a text.
    public init(xml: Data) throws {
        try self.init(xml, contentType: nil, Self.xml)
    }

    /// The format of appendix B. The names are those of the RFC, whatever the client's own rules.
    fileprivate static let xml: XMLSerializer = {
        var rules = XMLRules()
        rules.rootName = "problem"
        rules.namespaces[""] = "urn:ietf:rfc:7807"
        return XMLSerializer(rules, contentType: "application/problem+xml")
    }()

    init(_ body: Data, contentType: String?, _ serializer: any SerializationDelegate) throws {
        let members = try serializer.decode(Members.self, from: body, at: [], contentType: contentType)
        type = members.type ?? "about:blank"
        (title, status, detail, instance) = (members.title, members.status, members.detail, members.instance)
        self.body = body
        self.contentType = contentType
        self.serializer = serializer
    }

    /// Returns an extension member (§3.2), decoded; `nil` if it is missing, null, or of another type (§3.1).
    ///
    /// - Parameters:
    ///   - name: The member's wire name.
    ///   - type: The type of its value, which may be a structure.
    public func member<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) -> Value? {
        // In XML, a list is an element around its elements.
        let isXMLList = serializer is XMLSerializer && type is any ExpressibleByArrayLiteral.Type
        return try? serializer.decode(Value.self, from: body, at: isXMLList ? [name, "i"] : [name], contentType: contentType)
    }

    /// The title and the detail as one text; `nil` without both.
    var message: String? {
        let parts = [title, detail].compactMap { $0 }.filter { !$0.isEmpty }
        guard !parts.isEmpty else { return nil }
        return String(parts.joined(separator: ": ").prefix(1_000))
    }
}

extension ProblemDetails: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The title, the detail, the status and the type, with secrets masked.
    public var description: String {
        let about = [status.map { "status \($0)" }, type == "about:blank" ? nil : type].compactMap { $0 }.joined(separator: ", ")
        let text = message.map { about.isEmpty ? $0 : "\($0) (\(about))" } ?? about
        return VisibleText.of(SecretMask.text(text.isEmpty ? "problem without a title" : text))
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``. A dump shows neither extensions nor secrets.
    public var customMirror: Mirror { Mirror(self, children: ["problem": description]) }
}

/// Which bodies of failures are read as problem details (RFC 9457).
///
///     "pay(order:)": .post("/orders/%%0%%/pay").attribute(ProblemReading.anyJSON)
///     EndpointDefaults().attribute(ProblemReading.off)
public enum ProblemReading: String, EndpointAttribute, PortableAttribute, Hashable, Codable, CaseIterable {
    /// Bodies with the media type `application/problem+json` or `application/problem+xml`. The default.
    case standard
    /// Also other JSON bodies with a text `title` or `detail`, for services that send them as `application/json`.
    case anyJSON
    /// None.
    case off

    /// Returns the problem details in a failure's body; `nil` if there are none.
    func problem(in body: Data, contentType: String?) -> ProblemDetails? {
        guard self != .off, !body.isEmpty, let type = contentType.flatMap({ MediaType($0) }) else { return nil }
        switch type.essence {
        case "application/problem+json":
            // The names are those of the RFC, whatever the client's own key strategy.
            return try? ProblemDetails(body, contentType: contentType, JSONSerializer())
        case "application/problem+xml":
            return try? ProblemDetails(body, contentType: contentType, ProblemDetails.xml)
        default:
            guard self == .anyJSON, type.subtype == "json" || type.suffix == "json",
                let problem = try? ProblemDetails(body, contentType: contentType, JSONSerializer()), problem.message != nil
            else { return nil }
            return problem
        }
    }
}
