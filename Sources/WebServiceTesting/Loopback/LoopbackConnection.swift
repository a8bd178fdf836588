import Foundation

/// A connection of a ``LoopbackServer``, which reads requests and answers them one after the other on its own thread.
struct LoopbackConnection {
    let socket: LoopbackSocket
    let number: Int
    let core: LoopbackCore

    private var reader: ConnectionReader
    private var writer: ResponseWriter

    init(socket: LoopbackSocket, number: Int, core: LoopbackCore) {
        self.socket = socket
        self.number = number
        self.core = core
        reader = ConnectionReader(socket: socket)
        writer = ResponseWriter(socket: socket)
    }

    /// Serves requests until one side ends the connection.
    mutating func serve() {
        defer { socket.close() }
        var count = 0
        do {
            while let head = try reader.nextHead() {
                count += 1
                guard try answer(head, count) else { break }
            }
        } catch let malformed as MalformedRequest {
            core.note("Connection \(number): \(malformed.reason)")
            _ = try? writer.send(.text(malformed.reason + "\n", status: malformed.status), to: nil, keepingConnection: false)
            end()
        } catch let error as ConnectionEnd {
            _ = error
        } catch {
            core.note("Connection \(number): \(error)")
        }
    }

    /// Returns true if the connection stays open.
    private mutating func answer(_ head: RequestHead, _ count: Int) throws -> Bool {
        var request = LoopbackRequest(head: head, connection: number, numberOnConnection: count)
        let (route, parameters) = core.routes.find(method: head.method, segments: request.pathSegments)
        request.parameters = parameters
        if route.reading == .body {
            if head.expectsContinue { try writer.sendContinue() }
            try readBody(of: &request, head)
        }
        core.record(request)

        let response = respond(to: request, by: route)
        if case .script(let script) = try response.get().body {
            return try perform(script, after: try response.get().delay)
        }
        // After an early answer, a client that expects `100 Continue` may or may not send its body, so the next bytes are ambiguous.
        let isUnsure = route.reading == .headOnly && head.expectsContinue
        var goesOn = false
        do {
            goesOn = try writer.send(try response.get(), to: request, keepingConnection: request.keepsConnection && !isUnsure)
        } catch ConnectionEnd.faultReached {
            if case .reset? = try response.get().fault { socket.resetOnClose() } else { end() }
            throw ConnectionEnd.faultReached
        }
        if try response.get().fault == .halfClose {
            socket.finishSending()
            try reader.drain(until: nil)
            return false
        }
        guard goesOn else {
            end()
            return false
        }
        if route.reading == .headOnly { _ = try reader.nextBody(head.bodyLength) { _ in } }
        return true
    }

    /// Runs a script on the connection. Returns false, since the connection ends after it.
    private mutating func perform(_ script: (LoopbackWire) throws -> Void, after delay: Duration) throws -> Bool {
        if delay > .zero { try socket.pause(until: .now + delay) }
        let wire = LoopbackWire(socket: socket, reader: reader)
        defer { reader = wire.reader }
        try script(wire)
        if wire.resetsAtEnd {
            socket.resetOnClose()
        } else {
            end()
        }
        return false
    }

    private mutating func readBody(of request: inout LoopbackRequest, _ head: RequestHead) throws {
        var body = Data()
        var length = 0
        let limit = core.options.bodyLimit
        let trailers = try reader.nextBody(head.bodyLength) { bytes in
            length += bytes.count
            let room = limit - body.count
            if room > 0 { body.append(contentsOf: bytes.prefix(room)) }
        }
        request.body = body
        request.bodyLength = length
        request.trailers = trailers
    }

    /// Returns the response of a guard or the handler, or a failure if the connection ended and no response can be sent.
    private func respond(to request: LoopbackRequest, by route: LoopbackRoutes.Route) -> Result<LoopbackResponse, ConnectionEnd> {
        for check in route.guards {
            if let refusal = check.check(request) { return .success(refusal) }
        }
        do {
            switch route.action {
            case .sync(let handler): return .success(try handler(request))
            case .async(let handler): return .success(try HandlerCall(socket: socket).answer(to: request, by: handler))
            }
        } catch let end as ConnectionEnd {
            return .failure(end)
        } catch {
            core.note("The handler of \(request.method) \(request.path) threw: \(error)")
            return .success(.text("The handler threw: \(error)\n", status: 500))
        }
    }

    /// Closes the sending side and reads for up to two seconds: closing with unread bytes sends a reset, which can overtake the response.
    private mutating func end() {
        socket.finishSending()
        try? reader.drain(until: .now + .seconds(2))
    }
}

extension LoopbackRequest {
    init(head: RequestHead, connection: Int, numberOnConnection: Int) {
        self.init(
            method: head.method, targetBytes: head.target, fields: head.fields, body: Data(), bodyLength: 0, trailers: [:],
            connection: connection, numberOnConnection: numberOnConnection, arrival: .now, parameters: [:],
            keepsConnection: head.keepsConnection, isHTTP10: head.isHTTP10)
    }
}
