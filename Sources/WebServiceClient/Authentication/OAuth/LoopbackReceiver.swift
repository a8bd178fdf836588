import Foundation

#if canImport(Darwin)
import Darwin
private let streamKind = SOCK_STREAM
private let sendFlags: Int32 = 0
#elseif canImport(Glibc)
import Glibc
private let streamKind = Int32(SOCK_STREAM.rawValue)
private let sendFlags = Int32(MSG_NOSIGNAL)
#elseif canImport(Musl)
import Musl
private let streamKind = SOCK_STREAM
private let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// Receives the answer of a sign-in in the browser: a small HTTP server on a free port of 127.0.0.1 (RFC 8252 §7.3). It accepts one answer.
///
/// Other requests, such as for an icon, get a 404, and answers with another state a 400: another page or program can't end the sign-in. One
/// connection is served at a time, for at most some seconds.
final class LoopbackReceiver: Sendable {
    private struct State {
        var result: Result<String, any Error>?
        var isStarted = false
        var isClosed = false
    }

    /// The address that the browser is redirected to. It has the number, since `localhost` may be another interface (RFC 8252 §8.3).
    let redirectURI: String
    private let path: String
    private let listener: Int32
    /// A pipe whose end wakes the thread.
    private let wake: (read: Int32, write: Int32)
    private let waiter = CallWaiter()
    private let state = Locked(State())

    /// The maximum size in bytes of a request's head.
    private static let headLimit = 16 * 1024
    /// The time in milliseconds within which a connection must send its request. Some browsers open connections that they may not use.
    private static let patience: Int32 = 2_000

    /// Listens on a free port.
    ///
    /// - Parameter path: The path of the redirect URI.
    /// - Throws: ``OAuthError`` if the path is invalid or the system provides no socket.
    init(path: String) throws {
        guard path.hasPrefix("/"), URLEncoding.isEncoded(path, allowing: .path) else {
            throw OAuthError(.badEndpoint, detail: "The redirect's path must begin with / and be percent-encoded, without a query.")
        }
        self.path = path
        guard let (listener, port) = Self.listening() else { throw Self.fault() }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            let fault = Self.fault()
            closeDescriptor(listener)
            throw fault
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.listener = listener
        wake = (ends[0], ends[1])
        redirectURI = "http://127.0.0.1:\(port)\(path)"
    }

    deinit {
        close()
        closeDescriptor(listener)
        closeDescriptor(wake.read)
    }

    /// Waits for the answer.
    ///
    /// - Parameter isOwn: Whether a request's target is the answer to this sign-in.
    /// - Returns: The request's target.
    /// - Throws: `CancellationError`.
    func answer(_ isOwn: @escaping @Sendable (_ target: String) -> Bool) async throws -> String {
        let starts = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isClosed
        }
        // A thread, because waiting would block one of the task pool's. It retains the receiver until it ends.
        if starts { Thread { self.serve(isOwn) }.start() }
        try await waiter.wait(unless: CallCancellation())
        guard let result = state.withLock({ $0.result }) else { throw CancellationError() }
        return try result.get()
    }

    /// Ends the wait and the thread.
    func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        closeDescriptor(wake.write)
        waiter.end(.failure(CancellationError()))
    }

    // MARK: The thread

    private func serve(_ isOwn: (String) -> Bool) {
        // It has no effect if the wait has ended for another reason.
        defer { waiter.end(.failure(OAuthError(.refused, detail: "The port for the sign-in's answer failed: sign in again."))) }
        while wait(for: listener, Int16(POLLIN), -1) {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                // Out of descriptors, or the connection has ended already: don't spin.
                if wait(for: nil, 0, 50) { return }
                continue
            }
            Self.prepare(connection)
            let target = target(from: connection)
            let isAnswer = target.map { Self.path(of: $0) == path } ?? false
            let isAccepted = isAnswer && isOwn(target ?? "")
            if let target {
                let text = isAccepted ? Self.text(of: target) : isAnswer ? Self.foreign : "Not found."
                respond(to: connection, status: isAccepted ? 200 : isAnswer ? 400 : 404, text)
            }
            closeDescriptor(connection)
            guard isAccepted, let target else { continue }
            state.withLock { $0.result = .success(target) }
            waiter.end(.success(()))
            return
        }
    }

    /// Waits until a descriptor is ready.
    ///
    /// - Returns: `false` if the receiver was closed or the time has passed; without a descriptor, whether it was closed.
    private func wait(for descriptor: Int32?, _ events: Int16, _ milliseconds: Int32) -> Bool {
        while true {
            var polled = [pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)]
            if let descriptor { polled.append(pollfd(fd: descriptor, events: events, revents: 0)) }
            let found = poll(&polled, nfds_t(polled.count), milliseconds)
            if polled[0].revents != 0 { return descriptor == nil }
            if found > 0 { return true }
            if found == 0 || errno != EINTR { return false }
        }
    }

    /// Reads a request's head and returns its target; `nil` if it isn't a complete GET request.
    private func target(from connection: Int32) -> String? {
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let end = MonotonicInstant.now.advanced(by: .milliseconds(Int(Self.patience)))
        while head.count < Self.headLimit, MonotonicInstant.now < end {
            guard wait(for: connection, Int16(POLLIN), Self.patience) else { return nil }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            head += buffer[..<count]
            switch Self.request(in: head) {
            case .incomplete: continue
            case .invalid: return nil
            case .get(let target): return target
            }
        }
        return nil
    }

    /// The kind of the first bytes of a connection.
    enum Request: Equatable {
        case incomplete
        case invalid
        /// A GET with its target.
        case get(String)
    }

    /// Reads a request's head. It must be complete, or closing the socket would reset the connection before the response arrives.
    static func request(in head: [UInt8]) -> Request {
        let hasEnd = head.indices.contains { index in
            guard head[index] == UInt8(ascii: "\n") else { return false }
            let rest = head[(index + 1)...]
            return rest.first == UInt8(ascii: "\n") || rest.starts(with: "\r\n".utf8)
        }
        guard hasEnd else { return .incomplete }
        let line = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "GET", words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/1.") else { return .invalid }
        return .get(String(words[1]))
    }

    private static func path(of target: String) -> String {
        String(target.prefix { $0 != "?" && $0 != "#" })
    }

    private static let foreign = "This answer doesn't belong to the current sign-in."

    /// The page for the answer. The program can still fail to exchange its code.
    private static func text(of target: String) -> String {
        let isRefusal = AuthorizationCode.parameters(of: target)?["error"] != nil
        return (isRefusal ? "The sign-in was refused." : "The program has received your sign-in.") + " You can close this page."
    }

    private func respond(to connection: Int32, status: Int, _ text: String) {
        let reasons = [200: "OK", 400: "Bad Request", 404: "Not Found"]
        let response =
            "HTTP/1.1 \(status) \(reasons[status] ?? "")\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: \(text.utf8.count)\r\n"
            + "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n" + text
        var rest = Array(response.utf8)[...]
        while !rest.isEmpty, wait(for: connection, Int16(POLLOUT), Self.patience) {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, sendFlags) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
        shutdown(connection, Int32(SHUT_WR))
    }

    // MARK: Sockets

    private static func listening() -> (Int32, port: UInt16)? {
        let descriptor = socket(AF_INET, streamKind, 0)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            guard let generic = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
        }
        guard isBound, listen(descriptor, 16) == 0 else {
            closeDescriptor(descriptor)
            return nil
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Makes a socket non-blocking, closes it in child processes, and disables SIGPIPE.
    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    private static func fault() -> OAuthError {
        let reason = String(cString: strerror(errno)).lowercased()
        return OAuthError(.badEndpoint, detail: "No port of 127.0.0.1 can be opened for the sign-in's answer (\(reason)).")
    }
}

/// The system's `close`, which the method of the same name hides.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
