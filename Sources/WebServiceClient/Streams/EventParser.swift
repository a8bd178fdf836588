import Foundation

/// Reads an event stream that arrives in pieces, by the algorithm of WHATWG HTML §9.2.6.
///
/// An event that is cut off by the end of the stream is dropped, as the algorithm requires. A line may have 16 bytes more than an event's
/// data, for the name of the field.
package struct EventParser: Sendable {
    private let limit: Int
    private var lines: LineParser
    private var data: [UInt8] = []
    private var type: [UInt8] = []
    private var id: String
    /// The number of events, and the first line of the current one.
    private var count = 0
    private var begin: (line: Int, byte: Int)?

    /// The last event ID, as of the last complete event.
    package private(set) var lastID: String
    /// The reconnection time in milliseconds that the stream has set.
    package private(set) var reconnectionTime: Int?
    /// The place of the event that ``next()`` returned last.
    private(set) var place = StreamPlace(element: 0)

    /// - Parameters:
    ///   - lastID: The last event ID of an earlier connection.
    ///   - limit: The maximum number of bytes of an event's data.
    package init(lastID: String = "", limit: Int) {
        self.limit = max(0, limit)
        self.lastID = lastID
        id = lastID
        lines = LineParser(ends: .all, limit: 0)
        lines = LineParser(ends: .all, limit: lineLimit)
    }

    /// Begins to read the next connection of the same stream. An event that the last connection cut off is dropped; the last event ID and
    /// the reconnection time remain.
    package mutating func reconnect() {
        lines = LineParser(ends: .all, limit: lineLimit)
        (data, type, begin, id) = ([], [], nil, lastID)
    }

    /// A data line consists of the field's name and the data.
    private var lineLimit: Int { limit.addingReportingOverflow(16).overflow ? limit : limit + 16 }

    /// Adds a piece, after ``next()`` has returned `nil`.
    package mutating func feed(_ piece: UnsafeRawBufferPointer) { lines.feed(piece) }

    /// Returns the next event; `nil` if it hasn't arrived.
    ///
    /// - Throws: ``StreamError`` for an event over the limit.
    package mutating func next() throws -> ServerEvent? {
        while let line = try nextLine() {
            if line.isEmpty {
                if let event = dispatched() { return event }
            } else {
                if begin == nil { begin = (lines.number, lines.offset(of: line)) }
                try process(line)
            }
        }
        return nil
    }

    private mutating func nextLine() throws -> Range<Int>? {
        do {
            return try lines.next()
        } catch {
            throw StreamError.tooLarge("the event", limit, at: presentPlace)
        }
    }

    private var presentPlace: StreamPlace {
        StreamPlace(element: count + 1, line: begin?.line ?? lines.number + 1, byte: begin?.byte)
    }

    private mutating func process(_ line: Range<Int>) throws {
        // No known field has a longer name.
        let head = lines.buffer[line.lowerBound..<min(line.upperBound, line.lowerBound + 6)]
        let colon = head.firstIndex(of: UInt8(ascii: ":"))
        guard let end = colon ?? (line.count < 6 ? line.upperBound : nil), end > line.lowerBound else { return }
        var value = (colon.map { $0 + 1 } ?? end)..<line.upperBound
        if let first = value.first, lines.buffer[first] == 0x20 { value = (first + 1)..<value.upperBound }
        let name = lines.buffer[line.lowerBound..<end]
        if name.elementsEqual("data".utf8) {
            guard data.count + value.count <= limit else { throw StreamError.tooLarge("the event", limit, at: presentPlace) }
            data.append(contentsOf: lines.buffer[value])
            data.append(0x0A)
        } else if name.elementsEqual("event".utf8) {
            type = Array(lines.buffer[value])
        } else if name.elementsEqual("id".utf8) {
            if !lines.buffer[value].contains(0) { id = String(decoding: lines.buffer[value], as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8) {
            setReconnectionTime(lines.buffer[value])
        }
    }

    /// Sets the reconnection time if the value has only digits. A number that overflows counts as the longest time.
    private mutating func setReconnectionTime(_ digits: ArraySlice<UInt8>) {
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return }
        reconnectionTime = Int(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    private mutating func dispatched() -> ServerEvent? {
        defer {
            type = []
            data.removeAll(keepingCapacity: data.capacity <= BodyFeed.pieceSize)
            begin = nil
        }
        lastID = id
        guard !data.isEmpty else { return nil }
        count += 1
        let name = type.isEmpty ? "message" : String(decoding: type, as: UTF8.self)
        place = StreamPlace(element: count, line: begin?.line, byte: begin?.byte, event: name)
        return ServerEvent(type: name, data: String(decoding: data.dropLast(), as: UTF8.self), id: id)
    }
}
