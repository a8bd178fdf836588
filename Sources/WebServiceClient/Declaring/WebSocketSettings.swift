/// The settings of an endpoint's WebSockets: ``EndpointDescriptor/webSocket(_:)``.
public struct WebSocketSettings: EndpointAttribute, PortableAttribute, Hashable, Codable {
    /// The subprotocols to offer, in order of preference (RFC 6455 §1.9); the server chooses one of them, or none:
    /// ``WebSocket/subprotocol``.
    public var subprotocols: [String]
    /// The maximum number of bytes of a message that is received. A larger one ends the WebSocket with the code 1009. Default 16 MiB.
    public var maximumMessageSize: Int
    /// The time between a pong and the next ping, which keeps the connection alive and shows that the other side is; `nil` for no pings.
    /// Default `nil`: proxies often end connections that are silent for a minute.
    public var pingInterval: Duration?
    /// The maximum time between a ping and its pong. After it, the WebSocket ends with ``WebSocketError/Kind/unresponsive`` if the ping was
    /// one of ``pingInterval`` and no messages wait for their reader; ``WebSocket/ping()`` only throws. Default 20 seconds.
    public var pongTimeout: Duration
    /// The maximum time that ``WebSocket/close(_:reason:)`` waits for the other side's Close frame. Default 10 seconds.
    public var closeTimeout: Duration

    /// Creates settings.
    public init(
        subprotocols: [String] = [], maximumMessageSize: Int = StreamLimits.element, pingInterval: Duration? = nil,
        pongTimeout: Duration = .seconds(20), closeTimeout: Duration = .seconds(10)
    ) {
        self.subprotocols = subprotocols
        self.maximumMessageSize = maximumMessageSize
        self.pingInterval = pingInterval
        self.pongTimeout = pongTimeout
        self.closeTimeout = closeTimeout
    }

    package init?(described text: String) {
        guard let members = DescribedMembers(text, of: "WebSocketSettings"), let names = members["subprotocols"]?.literalTexts,
            let size = members.integer("maximumMessageSize"), let ping = members["pingInterval"],
            let pong = members.duration("pongTimeout"),
            let close = members.duration("closeTimeout")
        else { return nil }
        let interval = ping.wrapped.flatMap { Duration(describedSeconds: $0) }
        guard interval != nil || ping == "nil" else { return nil }
        self.init(subprotocols: names, maximumMessageSize: size, pingInterval: interval, pongTimeout: pong, closeTimeout: close)
    }

    /// A profile can't raise the bounds of messages and waits.
    package var leastTrustedSource: AttributeSource { .exportedTable }

    /// The faults of the values.
    var faults: [(problem: String, fix: String)] {
        var faults: [(problem: String, fix: String)] = []
        for name in subprotocols where !HTTPFields.Name.isToken(name) {
            faults.append(("the subprotocol \"\(VisibleText.of(name))\" isn't a token", "use letters, digits and !#$%&'*+-.^_`|~"))
        }
        if Set(subprotocols).count < subprotocols.count { faults.append(("a subprotocol is offered twice", "offer each one once")) }
        if maximumMessageSize < 1 { faults.append(("no message fits into \(maximumMessageSize) bytes", "a larger maximumMessageSize")) }
        if let pingInterval, pingInterval <= .zero { faults.append(("the ping interval isn't positive", "a positive duration, or nil")) }
        if pongTimeout <= .zero { faults.append(("the pong timeout isn't positive", "a positive duration")) }
        if closeTimeout < .zero { faults.append(("the close timeout is negative", "zero or a positive duration")) }
        return faults
    }
}

extension EndpointDescriptor {
    /// Sets how the WebSockets of an endpoint are opened and kept alive. The method returns a ``WebSocket``, which needs no modifier for
    /// the default settings; with the modifier, verification also finds a transport that has no WebSockets.
    ///
    ///     "chat(room:)": .get("/rooms/%%room%%").webSocket(WebSocketSettings(subprotocols: ["chat.v2"], pingInterval: .seconds(30)))
    public func webSocket(_ settings: WebSocketSettings = WebSocketSettings()) -> EndpointDescriptor {
        attribute(settings)
    }
}

/// Finds settings of WebSockets that make no sense.
enum WebSocketCheck {
    /// Returns the faults in the settings of one endpoint, or in those of the class or the client.
    ///
    /// - Parameter method: The endpoint's method; `nil` for common settings.
    static func faults(_ settings: EndpointSettings, key: String?, method: ServiceRequest.Method? = nil) -> [TableFault] {
        guard let socket = settings.attributes[WebSocketSettings.self] else { return [] }
        var found = socket.faults
        if let method, method != .get {
            found.append(("a WebSocket is opened with GET, not with \(method)", "use .get(…), or remove .webSocket(…)"))
        }
        return found.map { TableFault(kind: .badPolicy, key: key, problem: $0.problem, fix: $0.fix) }
    }
}
