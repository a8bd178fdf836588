/// Whether a person waits for a call, so that it tries harder. Calls are unsolicited by default.
///
///     let page = try await github.with(.solicited) { try await $0.repository(owner: "swiftlang", name: "swift") }
///     "refresh()": .get("/inbox").solicited()
///
/// A solicited call widens the policy in force, also ``RetryPolicy/never``: it is repeated after all 5xx statuses except 501, 505 and 511,
/// 408, 425 and 429, and after all failures that may be transient. It has twice the attempts, at least 8, in at least a minute, with waits
/// up to 10 seconds. The conditions on method and body, the call's deadline and the retry budget apply as ever, and cancelling ends
/// it at once.
public struct Solicited: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// Whether a person waits for the call.
    public var isSolicited: Bool

    /// Creates the attribute.
    public init(_ isSolicited: Bool = true) {
        self.isSolicited = isSolicited
    }

    /// The attribute's name.
    public var description: String { isSolicited ? "solicited" : "unsolicited" }

    package static let firstWords = ["solicited", "unsolicited"]
    package init?(described text: String) { self.init(text == "solicited") }
}

extension EndpointAttribute where Self == Solicited {
    /// A person waits for the call.
    public static var solicited: Solicited { Solicited() }
    /// No person waits for the call.
    public static var unsolicited: Solicited { Solicited(false) }
}

/// Whether an endpoint is idempotent: several requests have the same effect as one. It overrides what its method implies.
public struct Idempotence: EndpointAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// Whether the endpoint is idempotent.
    public var isIdempotent: Bool

    /// Creates the attribute.
    public init(_ isIdempotent: Bool = true) {
        self.isIdempotent = isIdempotent
    }

    /// The attribute's name.
    public var description: String { isIdempotent ? "idempotent" : "not idempotent" }

    package static let firstWords = ["idempotent", "not"]
    package init?(described text: String) { self.init(text == "idempotent") }

    /// A profile can't permit that requests are repeated whose methods aren't idempotent.
    package var leastTrustedSource: AttributeSource { isIdempotent ? .exportedTable : .profile }
}

extension EndpointAttribute where Self == Idempotence {
    /// Several requests have the same effect as one.
    public static var idempotent: Idempotence { Idempotence() }
}
