/// A description of a client's endpoint table as a value, which can be stored, compared with an earlier one, and displayed.
///
/// It contains everything that changes the requests or results of calls, in the order of the table. Secrets are masked and look the same.
/// Other values of headers that aren't known to be harmless are masked as well, with a checksum of two bytes that distinguishes them. Types
/// of the program, such as serializers and error handlers, are described by their names. Closures aren't described.
public struct ClientDescription: Codable, Hashable, Sendable {
    /// The version of the format that this library writes.
    public static let currentVersion = 2

    /// The format version of this description; later formats have higher numbers.
    public var version = currentVersion
    /// The client's type.
    public var client: String
    /// The endpoints in table order.
    public var endpoints: [Endpoint]
    /// The class's defaults for all endpoints; `nil` if there are none.
    public var defaults: Defaults?
    /// The class's defaults per HTTP method, in the order of the methods' names; `nil` if there are none.
    public var perMethod: [MethodDefaults]?

    /// A named value of a request: a query item or a header.
    public struct Part: Codable, Hashable, Sendable {
        /// The name; `…` represents the names of an argument's fields.
        public var name: String
        /// The template of the value, with secrets masked; `nil` if the value comes from ``argument``, or if a header isn't sent.
        public var value: String?
        /// The position or the label of the argument that the value or the fields come from.
        public var argument: String?
        /// How the argument is written, if it isn't by the endpoint's settings: `json`, `arrays comma`, `cookie sid`.
        public var style: String?

        private static let cookieWord = "cookie "

        /// The style of a cookie, which has the cookie's name in front.
        static func style(ofCookie name: String, _ style: ArgumentStyle) -> String {
            ([cookieWord + name] + [style.text].compactMap(\.self)).joined(separator: ", ")
        }

        /// The name of the cookie; `nil` if the part isn't one.
        var cookieName: String? {
            guard argument != nil, let style, style.hasPrefix(Self.cookieWord) else { return nil }
            let rest = style.dropFirst(Self.cookieWord.count)
            return String(rest[..<(rest.firstRange(of: ", ")?.lowerBound ?? rest.endIndex)])
        }

        /// The style of the cookie without its name; `nil` if it has none.
        var styleOfCookie: String? {
            guard let style, let comma = style.firstRange(of: ", ") else { return nil }
            return String(style[comma.upperBound...])
        }
    }

    /// An argument of a method.
    public struct Argument: Codable, Hashable, Sendable {
        /// The label; `_` for an argument without one.
        public var label: String
        /// The position in the descriptor; `nil` for an argument that the descriptor ignores.
        public var position: Int?
        /// The places that the argument goes to: `path`, `route` (of a URI template), `query NAME`, `header NAME`, `body`, `service root`,
        /// `cache identifier`, `identifier`; `…` represents the names of the argument's fields.
        public var places: [String]
        /// Whether calls may leave the argument out; `nil` if they may not.
        public var isOptional: Bool?
        /// The argument's other names; `nil` if it has none.
        public var aliases: [String]?
    }

    /// How one property of a form is written (OpenAPI 3.1.1, "Encoding Object").
    public struct PropertyEncoding: Codable, Hashable, Sendable {
        /// The media type of the form, without parameters.
        public var mediaType: String
        /// The name of the property on the wire.
        public var property: String
        /// The media type of the property; `nil` if its value decides.
        public var contentType: String?
        /// How lists and structures are written, if it isn't by the endpoint's settings: `arrays comma, objects joined`.
        public var style: String?
    }

    /// Settings of calls; `nil` for those that aren't set.
    public struct Settings: Codable, Hashable, Sendable {
        /// How the response's body is read: `raw`, or the parser that reads it regardless of its media type.
        public var parsing: String?
        /// The serializer, with its media type.
        public var serializer: String?
        /// The type of the error handler.
        public var errorHandler: String?
        /// How arrays in queries, forms and headers are written.
        public var arrays: String?
        /// The type that builds the URLs.
        public var urlBuilder: String?
        /// The maximum number of bytes of a response's body.
        public var bodyLimit: Int?
        /// The deadlines, such as `firstByte 10 s, total 30 s`.
        public var deadlines: String?
        /// The trust policy with its pins.
        public var trust: String?
    }

    /// The defaults of all endpoints of a class.
    public struct Defaults: Codable, Hashable, Sendable {
        /// The service root; `nil` if there is none.
        public var serviceRoot: String?
        /// The headers.
        public var headers: [Part]
        /// The statuses that count as success, if the defaults specify them.
        public var success: String?
        /// The other settings.
        public var settings: Settings?
        /// The required capabilities of the transport.
        public var requires: [String]
        /// The attributes, by type and content, in the order of their texts.
        public var attributes: [String]
    }

    /// The defaults of the endpoints with one HTTP method.
    public struct MethodDefaults: Codable, Hashable, Sendable {
        /// The method.
        public var method: String
        /// The names of the headers.
        public var headers: [String]
        /// The headers with their values.
        public var fields: [Part]
        /// The statuses that count as success, if the defaults specify them.
        public var success: String?
        /// The other settings.
        public var settings: Settings?
        /// The required capabilities of the transport.
        public var requires: [String]
        /// The attributes, by type and content, in the order of their texts.
        public var attributes: [String]
    }

    /// One endpoint.
    public struct Endpoint: Codable, Hashable, Sendable {
        /// The key.
        public var key: String
        /// The method.
        public var method: String
        /// The route as declared.
        public var route: String
        /// The kind of route: `template`, or `uriTemplate` for RFC 6570.
        public var routeKind: String
        /// The arguments in their order; `nil` if the key is malformed.
        public var arguments: [Argument]?
        /// The query items that the descriptor adds, in their order.
        public var query: [Part]
        /// The headers that the descriptor sets, in their order.
        public var headers: [Part]
        /// The source of the body: an argument, `implicit` or `none`.
        public var body: String
        /// Whether a method that usually has no body may have one; `nil` if the descriptor doesn't specify it.
        public var allowsBody: Bool?
        /// Whether calls may pass a part of the arguments, in any order; `nil` if they pass all of them.
        public var takesPartOfLabels: Bool?
        /// The endpoint's own service root.
        public var serviceRoot: String?
        /// The media types of the body, if they aren't the serializer's, and the argument that chooses one.
        public var bodyTypes: [String]?
        /// How single properties of the body's forms are written, in the order of media types and names; `nil` if none is special.
        public var encodings: [PropertyEncoding]?
        /// The statuses that count as success, if the descriptor specifies them; with `+`, those in addition to the defaults.
        public var success: String?
        /// The root inside the payload.
        public var root: String?
        /// The template of the cached response's identifier, as declared.
        public var cacheIdentifier: String?
        /// The template of the call's identifier, as declared, with its policy: `order/%%id%% (reuse)`.
        public var identifier: String?
        /// The other settings; `nil` if there are none.
        public var settings: Settings?
        /// The required capabilities of the transport.
        public var requires: [String]
        /// The attributes, by type and content, in the order of their texts.
        public var attributes: [String]
    }
}

/// The forms of a description as text.
public enum DescriptionFormat: Sendable, Hashable, CaseIterable {
    /// A ``ClientDescription`` as JSON, with sorted names and a line for each value, for files under version control.
    case json
    /// An API reference for readers.
    case markdown
    /// An OpenAPI 3.1.1 document in JSON: see ``ClientDescription/openAPI(version:)``.
    case openAPI
}
