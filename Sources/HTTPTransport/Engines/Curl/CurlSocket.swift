import Dispatch
import Foundation

/// A connection of libcurl as the ``WebSocketWire`` of a WebSocket. It waits for its socket with dispatch sources, and reads and writes
/// without blocking.
///
/// `@unchecked Sendable`: after ``init(_:beginning:)`` everything is used only on the queue.
final class CurlSocket: WebSocketWire, @unchecked Sendable {
    /// The maximum size of a TLS record in bytes (RFC 8446 §5.1). Each write is at most this long: if TLS can't send a record at once, it
    /// must get the same bytes again.
    private static let recordSize = 16_384
    private static let bufferSize = 64 * 1024
    /// The number of reads before other work of the queue, such as closing, is done.
    private static let readsInARow = 16

    private let queue = DispatchQueue(label: "WebServiceClient.CurlTransport.socket")
    /// The connection; `nil` after the end.
    private var connection: CurlConnection?
    /// The user of the wire, retained until the end.
    private var user: (any WebSocketWireUser)?
    private var reading: (any DispatchSourceRead)?
    private var writing: (any DispatchSourceWrite)?
    private var isReadingSuspended = false
    private var isWritingSuspended = true
    /// The bytes that are being written, and the number of them that have been written.
    private var current: [UInt8]?
    private var done = 0

    /// Bytes that arrived together with the head of the response.
    private var beginning: [UInt8]

    init(_ connection: CurlConnection, beginning: [UInt8]) {
        self.connection = connection
        self.beginning = beginning
    }

    func start(_ user: any WebSocketWireUser) {
        queue.async { self.begin(user) }
    }

    func wantsToWrite() {
        queue.async { self.write() }
    }

    func wantsToRead() {
        queue.async {
            self.setReading(suspended: false)
            // TLS may hold bytes that the socket no longer has.
            self.read()
        }
    }

    func finish() {
        queue.async {
            self.write()
            self.stop()
        }
    }

    private func begin(_ user: any WebSocketWireUser) {
        guard let connection else { return }
        self.user = user
        // The descriptor must stay open until both sources have released it, so their handlers retain the connection.
        let reading = DispatchSource.makeReadSource(fileDescriptor: connection.socket, queue: queue)
        reading.setEventHandler { [weak self] in self?.readable() }
        reading.setCancelHandler { withExtendedLifetime(connection) {} }
        let writing = DispatchSource.makeWriteSource(fileDescriptor: connection.socket, queue: queue)
        writing.setEventHandler { [weak self] in self?.write() }
        writing.setCancelHandler { withExtendedLifetime(connection) {} }
        (self.reading, self.writing) = (reading, writing)
        reading.activate()
        if !beginning.isEmpty, !beginning.withUnsafeBytes({ user.received($0) }) { setReading(suspended: true) }
        beginning = []
        // TLS may hold more bytes than the socket.
        read()
        write()
    }

    private func readable() {
        read()
        // A pending write may be waiting for bytes that TLS has to read first.
        if current != nil { write() }
    }

    private func read() {
        guard connection != nil, let user, !isReadingSuspended else { return }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { room.deallocate() }
        for _ in 0..<Self.readsInARow {
            guard let connection else { return }
            do {
                guard let count = try connection.receive(into: room) else { return }
                guard count > 0 else { return end(nil) }
                guard user.received(UnsafeRawBufferPointer(rebasing: room[..<count])) else { return setReading(suspended: true) }
            } catch {
                return end(error)
            }
        }
        queue.async { self.read() }
    }

    private func write() {
        while let connection, let user {
            if current == nil {
                (current, done) = (user.nextBytes(), 0)
            }
            guard let bytes = current else { return setWriting(suspended: true) }
            do {
                while done < bytes.count {
                    let piece = done..<min(done + Self.recordSize, bytes.count)
                    let count = try Self.send(bytes, piece, over: connection)
                    guard count > 0 else { return setWriting(suspended: false) }
                    done += count
                }
            } catch {
                return end(error)
            }
            current = nil
            user.wrote()
        }
    }

    private static func send(_ bytes: [UInt8], _ piece: Range<Int>, over connection: CurlConnection) throws(TransportError) -> Int {
        let sent = bytes.withUnsafeBytes { all in
            Result { () throws(TransportError) in try connection.send(UnsafeRawBufferPointer(rebasing: all[piece])) }
        }
        return try sent.get()
    }

    private func end(_ error: TransportError?) {
        let user = user
        // Data that arrived before a failed write, such as the other side's Close frame, explains more than the failure.
        if error != nil { drain() }
        stop()
        user?.wireEnded(error)
    }

    private func drain() {
        guard let connection, let user, !isReadingSuspended else { return }
        var room = [UInt8](repeating: 0, count: Self.bufferSize)
        for _ in 0..<Self.readsInARow {
            let count = try? room.withUnsafeMutableBytes { try connection.receive(into: $0) }
            guard let count, count > 0 else { return }
            guard room.withUnsafeBytes({ user.received(UnsafeRawBufferPointer(rebasing: $0[..<count])) }) else { return }
        }
    }

    private func stop() {
        guard connection != nil else { return }
        // A suspended source never runs its cancel handler, and must not be released.
        setReading(suspended: false)
        setWriting(suspended: false)
        if let writing { writing.cancel() }
        reading?.cancel()
        (reading, writing, connection, user, current) = (nil, nil, nil, nil, nil)
    }

    private func setReading(suspended: Bool) {
        guard let reading, isReadingSuspended != suspended else { return }
        isReadingSuspended = suspended
        if suspended { reading.suspend() } else { reading.resume() }
    }

    /// The source for writing is inactive until it is needed for the first time.
    private func setWriting(suspended: Bool) {
        guard let writing, isWritingSuspended != suspended else { return }
        isWritingSuspended = suspended
        if suspended { writing.suspend() } else { writing.resume() }
    }
}
