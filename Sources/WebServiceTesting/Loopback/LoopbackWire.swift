public import Foundation

/// A connection of a ``LoopbackServer`` in the hands of a script, from the moment the request was read.
///
///     routes.get("/slow") { _ in
///         .script { wire in
///             try wire.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
///             try wire.pause(for: .milliseconds(50))
///             try wire.write("k")
///         }
///     }
///
/// Its methods throw when the client goes or the server stops; let these errors through, they end the connection and are no failure.
/// With ``LoopbackRoutes/Reading/headOnly`` the request's body is still to be read. A wire belongs to the thread that runs its script.
public final class LoopbackWire {
    private let socket: LoopbackSocket
    var reader: ConnectionReader
    private(set) var isToBeReset = false

    package init(socket: LoopbackSocket, reader: ConnectionReader) {
        self.socket = socket
        self.reader = reader
    }

    /// Sends all bytes; it returns when the system has taken the last of them, so a client that reads nothing blocks it.
    public func write(_ bytes: Data) throws {
        let socket = self.socket
        let sent = bytes.withUnsafeBytes { all in Result { () throws(ConnectionEnd) in try socket.send(all) } }
        try sent.get()
    }

    /// Sends a text in UTF-8, its line ends as they are.
    public func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    /// The next bytes that the client has sent, at most 64 KiB; `nil` when it has ended its side in order.
    public func read() throws -> Data? {
        try reader.nextBytes()
    }

    /// Reads and drops what the client sends until it ends its side.
    public func readToEnd() throws {
        while try read() != nil {}
    }

    /// Waits so long. A client that closes its side meanwhile counts as gone.
    public func pause(for duration: Duration) throws {
        try socket.pause(until: .now + duration)
    }

    /// Waits until the client goes or the server stops, and throws then.
    public func hang() throws {
        try socket.pause(until: nil)
    }

    /// Waits until something is the case; it is asked every two milliseconds.
    public func wait(until condition: () -> Bool) throws {
        while !condition() { try pause(for: .milliseconds(2)) }
    }

    /// Ends the sending side in order; the client's bytes can still be read.
    public func finishSending() {
        socket.finishSending()
    }

    /// Lets the connection end with a reset when the script returns.
    public func reset() {
        isToBeReset = true
    }
}
