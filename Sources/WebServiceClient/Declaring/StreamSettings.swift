// The settings of streams of values are attributes, so that a class, an endpoint or a call can set them.

extension StreamFraming: EndpointAttribute, PortableAttribute {}

extension StreamEnd: EndpointAttribute, PortableAttribute {
    package init?(described text: String) {
        if let data = text.inside("StreamEnd.data(")?.literalText {
            self = .data(data)
        } else if let type = text.inside("StreamEnd.event(")?.literalText {
            self = .event(type)
        } else {
            return nil
        }
    }

    /// A profile can't decide which streams are complete.
    package var leastTrustedSource: AttributeSource { .exportedTable }
}

extension ReconnectionPolicy: EndpointAttribute, PortableAttribute {
    package init?(described text: String) {
        guard let members = DescribedMembers(text, of: "ReconnectionPolicy"), let attempts = members.integer("attempts"),
            let wait = members.duration("longestWait"), let backoff = members["backoff"]?.divided(by: "Backoff("),
            let own = DescribedMembers("Backoff(\(backoff.after)", of: "Backoff"), let base = own.duration("base"),
            let factor = own["factor"].flatMap({ Double($0) }), let cap = own.duration("cap"),
            let jitter = own["jitter"].flatMap({ Backoff.Jitter(rawValue: $0.caseName) })
        else { return nil }
        self.init(attempts: attempts, backoff: Backoff(base: base, factor: factor, cap: cap, jitter: jitter), longestWait: wait)
    }

    /// A profile can't permit that requests are repeated.
    package var leastTrustedSource: AttributeSource { attempts == 0 ? .profile : .exportedTable }
}

/// The types of events by which the service reports an error within an event stream: ``EndpointDescriptor/failsStream(atEvent:)``.
public struct FailingEvents: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// The types, such as `error`, sorted.
    public let types: [String]

    /// Creates the attribute. With no types, no event fails the stream.
    public init(_ types: String...) { self.init(types: types) }

    init(types: [String]) { self.types = Set(types).sorted() }

    package init?(described text: String) {
        guard let types = DescribedMembers(text, of: "FailingEvents")?["types"]?.literalTexts else { return nil }
        self.init(types: types)
    }

    /// A profile can't replace the events that the program takes for errors.
    package var leastTrustedSource: AttributeSource { .exportedTable }
}

extension EndpointDescriptor {
    /// Sets how the body is divided into the elements of an ``ElementStream``, for services whose `Content-Type` doesn't specify it: JSON
    /// lines that are sent as plain text, for example. ``StreamFraming/events`` does the same for an ``EventStream``.
    public func framing(_ framing: StreamFraming) -> EndpointDescriptor {
        attribute(framing)
    }

    /// Sets the data that ends an event stream. The event with this data isn't delivered. A stream that ends without it is an error,
    /// because it was cut off.
    ///
    ///     "chat(request:)": .post("/chat/completions").endsStream(at: "[DONE]")
    public func endsStream(at data: String) -> EndpointDescriptor {
        attribute(StreamEnd.data(data))
    }

    /// Sets the type of the event that ends an event stream. This event is delivered. A stream that ends without it is an error, because it
    /// was cut off.
    ///
    ///     "messages(request:)": .post("/messages").endsStream(atEvent: "message_stop").failsStream(atEvent: "error")
    public func endsStream(atEvent type: String) -> EndpointDescriptor {
        attribute(StreamEnd.event(type))
    }

    /// Sets the types of events that report an error of the service. Such an event ends the stream with a ``ServiceError`` of the kind
    /// ``ServiceError/Kind/refused``, whose ``ServiceError/errorBody`` is the ``ServerEvent``. Without this modifier, events of all types
    /// are elements.
    public func failsStream(atEvent types: String...) -> EndpointDescriptor {
        attribute(FailingEvents(types: types))
    }

    /// Reconnects an event stream when its connection ends: see ``ReconnectionPolicy``.
    public func reconnecting(_ policy: ReconnectionPolicy = ReconnectionPolicy()) -> EndpointDescriptor {
        attribute(policy)
    }
}

/// Finds settings of streams that make no sense.
enum StreamCheck {
    /// Returns the faults in the settings of one endpoint, or in those of the class or the client.
    static func faults(_ settings: EndpointSettings, key: String?) -> [TableFault] {
        var faults: [TableFault] = []
        func add(_ problem: String, _ fix: String) {
            faults.append(TableFault(kind: .badPolicy, key: key, problem: problem, fix: fix))
        }
        let owner = TableFault.owner(key)
        for fault in settings.attributes[ReconnectionPolicy.self]?.faults ?? [] {
            add("the reconnection policy\(owner) is invalid: \(fault.problem)", fault.fix)
        }
        if settings.attributes[StreamEnd.self] == .event("") {
            add("the event that ends streams\(owner) has no type", "name one, such as \"done\"; an event without a type is a \"message\"")
        }
        let failing = settings.attributes[FailingEvents.self]?.types ?? []
        if failing.contains("") {
            add("an event that fails streams\(owner) has no type", "name one, such as \"error\"; an event without a type is a \"message\"")
        }
        if case .event(let type) = settings.attributes[StreamEnd.self], failing.contains(type) {
            add("the event type \"\(type)\" both ends and fails streams\(owner)", "remove one of the two")
        }
        return faults
    }
}
