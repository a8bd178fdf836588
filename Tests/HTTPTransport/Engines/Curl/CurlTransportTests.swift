import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

/// What only this transport does; what every one does, the conformance suite shows.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlTransportTests {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        change(&configuration)
        return try CurlTransport(configuration: configuration)
    }

    @Test func `the library says what it is`() throws {
        let library = try CurlLibrary.open()
        #expect(library.versionNumber >= 0x07_44_00)
        #expect(library.version.split(separator: ".").count == 3)
        #expect(try CurlLibrary.open() == library)
    }

    @Test func `it is the default where URLSession is the open one`() {
        #if canImport(FoundationNetworking)
        #expect(DefaultTransport.shared is CurlTransport)
        #expect(DefaultTransport.fallbackReason == nil)
        #else
        #expect(DefaultTransport.shared is URLSessionTransport)
        #endif
    }

    @Test func `metrics tell of times, bytes and the connection`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
        let transport = try transport()
        var reuses: [Bool] = []
        // On a busy machine the server may close the idle connection before the next request.
        while reuses.last != true, reuses.count < 20 {
            let response = try await transport.send(ServiceRequest(url: server.url))
            _ = try await response.body.collect(upTo: 100)
            let metrics = try #require(response.report?.metrics)
            reuses.append(metrics.isConnectionReused == true)
            #expect(metrics.bytesReceived == 5)
            #expect(metrics.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(try #require(metrics.firstByte) <= #require(metrics.total))
            #expect(response.httpVersion == "HTTP/1.1")
        }
        #expect(reuses.first == false && reuses.last == true)
    }

    @Test(arguments: [CurlTransport.HTTPVersion.http1, .http2WhereOffered])
    func `requests don't wait for the answer to the first`(version: CurlTransport.HTTPVersion) async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .hang } }
        let transport = try transport { $0.httpVersion = version }
        let request = ServiceRequest(url: server.url)
        let tasks = (0..<5).map { _ in Task { try await transport.send(request) } }
        _ = try await server.waitForRequests(count: 5, within: .seconds(300))
        for task in tasks { task.cancel() }
        for task in tasks {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `what had come when the whole time is over stands before the error, for who collects`() async throws {
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nwhy")
            while !isOver.withLock({ $0 }) { usleep(20_000) }
        }
        let transport = try transport()
        // The first deadline may pass before the head arrives, or before the body is collected.
        for total in [Duration.milliseconds(200), .seconds(2), .seconds(20), .seconds(100)] {
            var request = try server.request()
            request.timeouts = ServiceTimeouts(firstByte: nil, idle: nil, total: total)
            guard let response = try? await transport.send(request) else { continue }
            var body = Data()
            let error = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 1000, into: &body) }
            #expect(error?.code == .timedOutTotal)
            guard !body.isEmpty || total == .seconds(100) else { continue }
            #expect(body == Data("why".utf8))
            return
        }
        Issue.record("no head has come within a hundred seconds")
    }

    @Test func `an invalidated transport takes no requests, and ends those it has`() async throws {
        let server = try LoopbackServer {
            $0.get("/") { _ in .pieces((0..<20).map { _ in .init(Data(count: 1), after: .milliseconds(5)) }) }
        }
        let transport = try transport()
        let response = try await transport.send(ServiceRequest(url: server.url))
        transport.invalidate()
        #expect(try await response.body.collect(upTo: 10_000).count == 20)
        let error = await #expect(throws: TransportError.self) { try await transport.send(ServiceRequest(url: server.url)) }
        #expect(error?.message.contains("invalidated") == true)
    }

    #if os(Linux) && compiler(>=6.2)
    // Runs in a separate process, since other suites use transports at the same time.
    @Test func `threads and descriptors go with the transport`() async throws {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                @Sendable func loops() throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count {
                        (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8))?.hasPrefix("curl-transport") == true
                    }
                }
                // But for the task pool's timer, which it opens for the first sleep that isn't over by then.
                @Sendable func descriptors() throws -> Int {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) != "anon_inode:[timerfd]"
                    }
                }
                let server = try LoopbackServer { $0.get("/") { _ in .text("hello") } }
                // The first one opens what the process keeps.
                var before = 0
                for number in 0..<20 {
                    var configuration = CurlTransport.Configuration()
                    configuration.proxy = .none
                    do {
                        let transport = try CurlTransport(configuration: configuration)
                        _ = try await transport.send(ServiceRequest(url: server.url)).body.collect(upTo: 100)
                    }
                    guard number == 0 else { continue }
                    // The first that sleeps has the task pool open what it wakes by; whether those below have to sleep is chance.
                    try await Task.sleep(for: .milliseconds(1))
                    try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))
                    try await watched { while try loops() > 0 { try await Task.sleep(for: .milliseconds(5)) } }
                    before = try descriptors()
                }
                try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))
                try await watched { [before] in
                    while try loops() > 0 || descriptors() > before { try await Task.sleep(for: .milliseconds(5)) }
                }
            }
        }
    }
    #endif

    #if os(Linux)
    @Test func `a child process inherits no socket of it`() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .drip(Data(count: 1000), every: .milliseconds(5)) } }
        let transport = try transport()
        let response = try await transport.send(ServiceRequest(url: server.url))
        let sockets = Self.sockets(to: server.port)
        #expect(sockets.count == 1)
        #expect(sockets.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
        let mine = try sockets.map { try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        let inherited = try await onOwnThread { try Self.descriptorsOfChild() }
        #expect(inherited.contains("pipe:"))
        for socket in mine { #expect(!inherited.contains(socket)) }
        response.body.cancel()
    }

    /// Returns the descriptors that a child process inherits, one per line. It doesn't use APIs that close descriptors, such as
    /// Foundation's `Process` and `RunningProcess`.
    private static func descriptorsOfChild() throws -> String {
        let pipe = Pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe.fileHandleForWriting.fileDescriptor, 1)
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup("ls -l /proc/$$/fd"), nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        guard posix_spawn(&child, "/bin/sh", &actions, nil, words, nil) == 0 else { throw CocoaError(.executableLoad) }
        try pipe.fileHandleForWriting.close()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        return String(decoding: output, as: UTF8.self)
    }

    /// The sockets of this process whose other end is that port.
    private static func sockets(to port: UInt16) -> [Int32] {
        (3..<4096).filter { descriptor in
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let found = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            return found == 0 && peer.sin_port.bigEndian == port
        }
    }
    #endif
}
