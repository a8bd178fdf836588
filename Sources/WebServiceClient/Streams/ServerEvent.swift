public import Foundation

/// An event of an event stream, as Server-Sent Events define it (WHATWG HTML §9.2.6).
public struct ServerEvent: Sendable, Hashable, Codable {
    /// The type: `message`, unless the event names another.
    public var type: String
    /// The data: the event's data lines, joined by LF.
    public var data: String
    /// The last event ID: the event's own ID, or else that of the event before it; empty without any ID.
    public var id: String

    /// Creates an event.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// Encodes events in the format of event streams (WHATWG HTML §9.2.5), for uploads and for servers in tests.
///
///     var encoder = EventEncoder()
///     let bytes = try encoder.encode(ServerEvent(type: "delta", data: #"{"text":"Hi"}"#))
public struct EventEncoder: Sendable {
    /// The last event ID that readers of the stream know.
    private var lastID = ""

    /// Creates an encoder for one stream, which begins with no last event ID.
    public init() {}

    /// Returns the bytes of an event. The ID is written if it differs from that of the event before.
    ///
    /// - Throws: ``EventEncodingError`` for a text that the format can't carry: a CR in the data, a line end in the type, or a line end or
    ///   NUL in the ID.
    public mutating func encode(_ event: ServerEvent) throws -> Data {
        try Self.check(event.type, "type", for: [0x0A, 0x0D])
        try Self.check(event.id, "ID", for: [0x0A, 0x0D, 0x00])
        try Self.check(event.data, "data", for: [0x0D])
        var text = ""
        if event.type != "message", !event.type.isEmpty { text += "event: \(event.type)\n" }
        if event.id != lastID { text += "id: \(event.id)\n" }
        for line in event.data.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            text += "data: \(String(line))\n"
        }
        lastID = event.id
        return Data((text + "\n").utf8)
    }

    /// Returns the bytes of a comment, which readers ignore. Servers send comments so that idle connections aren't closed.
    public func comment(_ text: String = "") -> Data {
        let lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" }
        return Data((lines.map { ": \(String($0))" }.joined(separator: "\n") + "\n\n").utf8)
    }

    /// Returns the bytes that set how long readers wait before they reconnect, in whole milliseconds; negative durations count as zero.
    public func reconnectionTime(_ duration: Duration) -> Data {
        let parts = max(.zero, duration).bounded.components
        return Data("retry: \(parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000)\n\n".utf8)
    }

    private static func check(_ text: String, _ part: String, for bytes: [UInt8]) throws {
        guard let byte = text.utf8.first(where: bytes.contains) else { return }
        let name = byte == 0 ? "NUL" : byte == 0x0A ? "a line feed" : "a carriage return"
        throw EventEncodingError(
            description: "The event's \(part) contains \(name), which event streams can't carry: encode it, for example as JSON.")
    }
}

/// An error for an event that can't be encoded.
public struct EventEncodingError: DescribedError, Sendable {
    /// What happened and how to fix it.
    public let description: String
}
