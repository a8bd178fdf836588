public import Foundation

/// A connection of a ``LoopbackServer``, controlled by a script after the request has been read.
///
///     routes.get("/slow") { _ in
///         .script { wire in
///             try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
///             try wire.pause(for: .milliseconds(50))
///             try wire.write("k")
///         }
///     }
///
/// The methods that send, read or wait throw when the client disconnects or the server stops. Let these errors propagate: the server then
/// closes the connection, and reports no failure.
///
/// With ``LoopbackRoutes/Reading/headOnly`` the request's body isn't read yet. Use a wire only on the thread that runs its script.
public final class LoopbackWire {
    private let socket: LoopbackSocket
    var reader: ConnectionReader
    private(set) var resetsAtEnd = false

    init(socket: LoopbackSocket, reader: ConnectionReader) {
        self.socket = socket
        self.reader = reader
    }

    /// Sends all bytes. Returns after the system has accepted them, so it blocks while the client doesn't read.
    public func write(_ bytes: Data) throws {
        let socket = self.socket
        let sent = bytes.withUnsafeBytes { all in Result { () throws(ConnectionEnd) in try socket.send(all) } }
        try sent.get()
    }

    /// Sends text in UTF-8, with unchanged line breaks.
    public func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    /// Returns the next bytes from the client, at most 64 KiB; `nil` if the client has closed its side gracefully.
    public func read() throws -> Data? {
        try reader.nextBytes()
    }

    /// Reads and discards the client's bytes until it closes its side.
    public func readToEnd() throws {
        while try read() != nil {}
    }

    /// Waits for a duration. A client that has closed its side counts as disconnected.
    public func pause(for duration: Duration) throws {
        try socket.pause(until: .now + duration)
    }

    /// Waits until the client disconnects or the server stops, then throws.
    public func hang() throws {
        try socket.pause(until: nil)
    }

    /// Waits until a condition is met. It is checked every two milliseconds.
    public func wait(until condition: () -> Bool) throws {
        while !condition() { try pause(for: .milliseconds(2)) }
    }

    /// Closes the sending side gracefully; the client's bytes can still be read.
    public func finishSending() {
        socket.finishSending()
    }

    /// Resets the connection after the script returns without an error.
    public func reset() {
        resetsAtEnd = true
    }
}
