/// The trace that a task passes on to the services that it calls, and values for all services of the trace (W3C Trace Context and W3C
/// Baggage).
///
///     // In a server's handler: continue the trace of the incoming request, or begin one.
///     var propagation = TracePropagation(headers: incoming)
///     propagation.trace = propagation.trace ?? .random()
///     propagation.baggage["tenant"] = "acme"
///     try await TracePropagation.$current.withValue(propagation) { try await shop.order(id: 7) }
///
/// A client sends it only if its configuration enables it (`Configuration.tracing`). Each attempt and each hop has a separate span.
public struct TracePropagation: Sendable, Hashable {
    /// The propagation of the current task; `nil` to pass on nothing. Child tasks inherit it; detached tasks don't.
    @TaskLocal public static var current: TracePropagation?

    /// The trace, with the span of the current work; `nil` without one.
    public var trace: TraceContext?
    /// What tracing systems add to the trace. It is sent only with a trace.
    public var state: TraceState
    /// Values for all services of the trace.
    public var baggage: Baggage

    /// Creates a value for ``current``.
    public init(trace: TraceContext? = nil, state: TraceState = TraceState(), baggage: Baggage = Baggage()) {
        self.trace = trace
        self.state = state
        self.baggage = baggage
    }

    /// Reads the fields `traceparent`, `tracestate` and `baggage` of a request.
    ///
    /// An invalid `traceparent` is dropped together with `tracestate`, an invalid `tracestate` alone (W3C Trace Context §4.3), and an
    /// invalid member of `baggage` alone.
    ///
    /// - Parameters:
    ///   - headers: The fields of the request.
    ///   - diagnostics: Receives a warning for all that is dropped.
    public init(headers: HTTPFields, diagnostics: Diagnostics = Diagnostics()) {
        self.init()
        if let parent = headers["traceparent"] {
            trace = TraceContext(traceparent: parent)
            if trace == nil { diagnostics.report(.init(.warning, "A request's traceparent is invalid; it begins no trace here.")) }
        }
        if trace != nil, let text = headers["tracestate"] {
            if let state = TraceState(text) {
                self.state = state
            } else {
                diagnostics.report(.init(.warning, "A request's tracestate is invalid and was dropped."))
            }
        }
        if let text = headers["baggage"] {
            let (baggage, problems) = Baggage.parse(text)
            self.baggage = baggage
            for problem in problems { diagnostics.report(.init(.warning, "A request's baggage: \(problem).")) }
        }
    }
}

/// Values that accompany a request through all services of a trace (W3C Baggage), in their order.
///
///     let baggage: Baggage = ["tenant": "acme", "region": "Île-de-France"]
///
/// Values are percent-encoded when they are sent. Keys must be tokens; a member that can't be sent is left out, and the client's diagnostics
/// name it. Never put secrets into baggage: every service of the trace sees it.
public struct Baggage: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A value with its key.
    public struct Member: Sendable, Hashable {
        /// The key, a token. Keys are case-sensitive.
        public var key: String
        /// The value, not encoded.
        public var value: String
        /// The properties in their form on the wire, such as `ttl=30`.
        public var properties: [String]

        /// Creates a member.
        public init(_ key: String, _ value: String, properties: [String] = []) {
            self.key = key
            self.value = value
            self.properties = properties
        }
    }

    /// The most members that are sent. Every service passes on that many (W3C Baggage §3.3.2).
    public static let maximumMembers = 64
    /// The most bytes of the field that is sent. Every service passes on that many (§3.3.2).
    public static let maximumBytes = 8_192

    /// The members in their order; at most one of each key.
    public private(set) var members: [Member] = []

    /// Creates empty baggage.
    public init() {}

    /// Creates baggage from members; the last of several with one key counts.
    public init(_ members: some Sequence<Member>) {
        for member in members { set(member) }
    }

    /// Creates baggage from keys and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (key, value) in elements { set(Member(key, value)) }
    }

    /// Whether the baggage is empty.
    public var isEmpty: Bool { members.isEmpty }

    /// The value of a key. Setting it removes the member's properties; setting `nil` removes the member.
    public subscript(key: String) -> String? {
        get { members.first { $0.key == key }?.value }
        set {
            if let newValue {
                set(Member(key, newValue))
            } else {
                members.removeAll { $0.key == key }
            }
        }
    }

    /// Adds a member, or replaces the one with its key at its place.
    public mutating func set(_ member: Member) {
        if let index = members.firstIndex(where: { $0.key == member.key }) {
            members[index] = member
        } else {
            members.append(member)
        }
    }
}

// The form on the wire (W3C Baggage §3.2).
extension Baggage {
    /// Reads the value of a `baggage` field; several fields are joined with commas first.
    ///
    /// - Returns: The valid members, and a sentence without values for each member that was left out.
    public static func parse(_ text: String) -> (baggage: Baggage, problems: [String]) {
        var baggage = Baggage()
        var problems: [String] = []
        for (index, part) in text.utf8.split(separator: UInt8(ascii: ",")).enumerated() {
            let entry = Substring(part).trimmingBlanks
            if entry.isEmpty { continue }
            guard let member = Member(entry) else {
                problems.append("member \(index + 1) isn't a key with a percent-encoded value, and was left out")
                continue
            }
            if baggage.members.contains(where: { $0.key == member.key }) {
                problems.append("the key \"\(member.key)\" occurs several times, and its last value counts")
            }
            baggage.set(member)
        }
        return (baggage, problems)
    }

    /// Returns the value of the `baggage` field, `nil` if no member can be sent, and a sentence without values for each that is left out.
    ///
    /// Members with which there would be more than ``maximumMembers`` or ``maximumBytes`` are left out.
    public func fieldValue() -> (text: String?, problems: [String]) {
        var parts: [String] = []
        var length = 0
        var problems: [String] = []
        for member in members {
            guard let text = member.text else {
                problems.append("the member \"\(member.key)\" was left out: its key isn't a token, or a property is invalid")
                continue
            }
            let more = text.utf8.count + (parts.isEmpty ? 0 : 1)
            guard parts.count < Self.maximumMembers, length + more <= Self.maximumBytes else {
                let limit = parts.count < Self.maximumMembers ? "\(Self.maximumBytes) bytes" : "\(Self.maximumMembers) members"
                problems.append("the member \"\(member.key)\" was left out: there may be \(limit)")
                continue
            }
            length += more
            parts.append(text)
        }
        return (parts.isEmpty ? nil : parts.joined(separator: ","), problems)
    }
}

extension Baggage.Member {
    /// `baggage-octet` without `%`, which begins an escape.
    private static let octets = URLEncoding.Alphabet.alphanumeric.union(URLEncoding.Alphabet("!#$&'()*+-./:<=>?@[]^_`{|}~"))

    /// Reads a member without blanks at its ends.
    fileprivate init?(_ text: Substring) {
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Substring($0).trimmingBlanks }
        guard let (key, value) = Self.pair(parts[0]), let value, let bytes = URLEncoding.decodeBytes(value) else { return nil }
        let properties = parts.dropFirst().map(String.init)
        guard properties.allSatisfy(Self.isProperty) else { return nil }
        // Bytes that aren't UTF-8 become U+FFFD (§3.2.1.3.2).
        self.init(key, String(decoding: bytes, as: UTF8.self), properties: properties)
    }

    /// The member's text; `nil` if the key isn't a token or a property is invalid.
    fileprivate var text: String? {
        guard HTTPFields.Name.isToken(key), properties.allSatisfy(Self.isProperty) else { return nil }
        return ([key + "=" + URLEncoding.encode(value, allowing: Self.octets)] + properties).joined(separator: ";")
    }

    private static func isProperty(_ text: String) -> Bool { pair(text[...]) != nil }

    /// The key and the value around the first `=`; `nil` if one of them is invalid. There may be blanks around it.
    private static func pair(_ text: Substring) -> (key: String, value: String?)? {
        let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
        let key = String(text[..<(equals ?? text.endIndex)].trimmingBlanks)
        guard HTTPFields.Name.isToken(key) else { return nil }
        guard let equals else { return (key, nil) }
        let value = String(text[text.utf8.index(after: equals)...].trimmingBlanks)
        guard value.utf8.allSatisfy({ octets.contains($0) || $0 == UInt8(ascii: "%") }) else { return nil }
        return (key, value)
    }
}
