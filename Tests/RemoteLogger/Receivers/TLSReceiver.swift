import Foundation
import TestSupport
import Testing
import WebServiceClient

/// Accepts TLS connections on the loopback interface: Python's `ssl` in a separate process, which writes the bytes of each connection to a
/// file.
final class TLSReceiver: Sendable {
    /// The server's behavior.
    enum Script: String, Sendable {
        case read
        /// Reads, and closes each of the first connections gracefully after some bytes.
        case close
        /// Reads, and resets each of the first connections after some bytes.
        case reset
        /// Reads, and closes each of the first connections below TLS after some bytes, without an alert (RFC 8446 §6.1).
        case tear
        /// Closes each of the first connections during the handshake: at once, and then a bit later each time.
        case cut
        /// Like `cut`, with a reset.
        case abort
        /// Completes the handshake, and reads nothing.
        case stall
        /// Accepts the connection, and never starts the handshake.
        case deaf
        /// Doesn't use TLS.
        case plain
    }

    struct Failure: Error {}

    let port: UInt16
    private let folder: URL
    private let process: RunningProcess

    /// Returns whether the required programs are installed.
    static func isPossible() async -> Bool {
        guard await Tool.exists("openssl"), await Tool.exists("python3") else { return false }
        return true
    }

    /// - Parameters:
    ///   - server: The certificate that it presents.
    ///   - asksForClient: Whether clients need a certificate of the same authority.
    ///   - version: The only version of TLS, such as `1.2`; any by default.
    init(
        _ certificates: TLSCertificates, _ script: Script = .read, server: String = "server", asksForClient: Bool = false,
        version: String = ""
    ) async throws {
        folder = URL.temporaryDirectory.appending(path: "receiver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path(percentEncoded: false)
        try Self.program.write(toFile: path + "/receiver.py", atomically: true, encoding: .utf8)
        let arguments = [
            path + "/receiver.py", path, script.rawValue, certificates.path(server), asksForClient ? certificates.path("root.pem") : "",
            version,
        ]
        process = try RunningProcess(["python3"] + arguments, errors: .standardError)
        let found = Locked<UInt16?>(nil)
        let isUp = await eventually {
            let text = try? String(contentsOfFile: path + "/port", encoding: .utf8)
            found.withLock { $0 = text.flatMap { UInt16($0.trimmingCharacters(in: .whitespacesAndNewlines)) } }
            return found.withLock { $0 } != nil
        }
        guard isUp, let port = found.withLock({ $0 }) else {
            process.kill()
            throw Failure()
        }
        self.port = port
    }

    func stop() {
        process.kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The bytes of each connection.
    var connections: [[UInt8]] {
        var connections: [[UInt8]] = []
        while let data = FileManager.default.contents(atPath: folder.path(percentEncoded: false) + "/\(connections.count)") {
            connections.append([UInt8](data))
        }
        return connections
    }

    /// Returns whether a connection has ended after its client's close alert (RFC 8446 §6.1); `nil` while it is open.
    func endedInOrder(_ connection: Int) -> Bool? {
        let path = folder.path(percentEncoded: false) + "/\(connection).end"
        return FileManager.default.contents(atPath: path).map { $0 == Data("in order".utf8) }
    }

    private static let program = """
        import os, socket, ssl, struct, sys, threading, time
        folder, script, name, authority, version = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(name + ".pem", name + ".key")
        if authority:
            context.load_verify_locations(authority)
            context.verify_mode = ssl.CERT_REQUIRED
        if version:
            context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, "TLSv" + version.replace(".", "_"))
        server = socket.create_server(("127.0.0.1", 0), backlog=64)
        with open(folder + "/port.new", "w") as file: file.write(str(server.getsockname()[1]))
        os.rename(folder + "/port.new", folder + "/port")

        def serve(connection, number):
            out = open(folder + "/" + str(number), "wb", buffering=0)
            count = 0
            if script == "deaf": time.sleep(3600)
            if script in ("cut", "abort") and number < 6: return break_off(connection, number)
            if script == "plain": connection.sendall(b"220 hello\\r\\n"); time.sleep(3600)
            try: secure = context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=False)
            except (OSError, ssl.SSLError): return
            if script == "stall": time.sleep(3600)
            try:
                while True:
                    if script in ("close", "reset", "tear") and number < 6 and count > 4000 * (number + 1):
                        if script == "tear":
                            os.close(secure.detach())
                        elif script == "reset":
                            secure.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                            secure.close()
                        else:
                            secure.unwrap()
                            secure.close()
                        return
                    data = secure.recv(3000)
                    if not data: return end(number, "in order")
                    count += len(data)
                    out.write(data)
            except (OSError, ssl.SSLError): end(number, "torn")

        def break_off(connection, number):
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            shaking = context.wrap_bio(incoming, outgoing, server_side=True)
            try:
                if number > 0:
                    incoming.write(connection.recv(65536))
                    shaking.do_handshake()
            except ssl.SSLError: pass
            flight = outgoing.read()
            connection.sendall(flight[:len(flight) * (number - 1) // 4])
            if script == "abort": connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        def end(number, how):
            name = folder + "/" + str(number) + ".end"
            with open(name + ".new", "w") as file: file.write(how)
            os.rename(name + ".new", name)

        for number in range(1000000):
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, number), daemon=True).start()
        """
}
