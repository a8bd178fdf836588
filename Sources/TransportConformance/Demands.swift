import Foundation
import WebServiceClient
import WebServiceTesting

/// Throws a failure with a sentence unless a condition holds.
func demand(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    guard condition else { throw TestingFailure(sentence()) }
}

/// Throws a failure that shows both values unless they are equal.
func demand<Value: Equatable>(_ found: Value, is expected: Value, _ what: @autoclosure () -> String) throws {
    guard found != expected else { return }
    throw TestingFailure("\(what()): expected \(shortened(expected)), found \(shortened(found))")
}

/// Throws a failure with the position of the first difference unless the bytes are equal.
func demand(_ found: Data, is expected: Data, _ what: @autoclosure () -> String) throws {
    guard found != expected else { return }
    let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(found.count, expected.count)
    var sentence = "\(what()): expected \(expected.count) bytes, found \(found.count); they differ at byte \(place)"
    if expected.count <= 200, found.count <= 200 {
        sentence += " (expected “\(String(decoding: expected, as: UTF8.self))”, found “\(String(decoding: found, as: UTF8.self))”)"
    }
    throw TestingFailure(sentence)
}

private func shortened(_ value: some Any) -> String {
    let text = "“\(value)”"
    return text.count <= 300 ? text : "\(text.prefix(300))… (\(text.count) characters)"
}

/// Runs a body that must succeed although a timeout passes during it, with increasing timeouts until it succeeds.
///
/// On a busy machine, the other steps within the timeout (connecting, the next piece of a body) may exceed it. A transport that counts the
/// wrong phase fails with each timeout. Twice the longest timeout is less than the default timeout of a request.
func patiently(_ body: (Duration) async throws -> Void) async throws {
    for time in [Duration.milliseconds(300), .seconds(2), .seconds(8)] {
        do { return try await body(time) } catch is TestingFailure {} catch is TransportError {}
    }
    try await body(.seconds(20))
}

/// Runs a body while a server answers with these routes, then stops the server.
@discardableResult
func serving<Value>(
    options: LoopbackServer.Options = LoopbackServer.Options(), _ build: (inout LoopbackRoutes) throws -> Void,
    during body: (LoopbackServer) async throws -> Value
) async throws -> Value {
    let server = try LoopbackServer(options: options, build)
    defer { server.stop() }
    return try await body(server)
}

/// Runs a body while a server answers every request with a handler.
@discardableResult
func answering<Value>(
    reading: LoopbackRoutes.Reading = .body, _ handler: @escaping LoopbackRoutes.Handler,
    during body: (LoopbackServer) async throws -> Value
) async throws -> Value {
    try await serving({ $0.fallback(reading: reading, handler: handler) }, during: body)
}

/// Runs a body while a server answers every request with the same response.
@discardableResult
func answering<Value>(with response: LoopbackResponse, during body: (LoopbackServer) async throws -> Value) async throws -> Value {
    try await answering({ _ in response }, during: body)
}

extension LoopbackServer {
    /// Returns a request to this server.
    func request(
        _ method: ServiceRequest.Method = .get, _ target: String = "/", headers: HTTPFields = [:], body: RequestBody? = nil
    ) throws -> ServiceRequest {
        ServiceRequest(method: method, url: try url(target), headers: headers, body: body)
    }

    /// Returns the only request. Fails if there are several or none.
    func onlyRequest() throws -> LoopbackRequest {
        let all = requests
        guard all.count == 1 else {
            throw TestingFailure("The server: expected one request, found \(all.count)" + all.map { "\n  \($0)" }.joined())
        }
        try demand(failures, is: [], "The server's failures")
        return all[0]
    }
}

/// Ends a case that hangs, with a failure.
struct ConformanceWatch {
    /// Runs a body in a separate task, and waits for its end or for the limit.
    func run(
        _ body: @escaping @Sendable (ConformanceSubject) async throws -> Void, on subject: ConformanceSubject, within limit: Duration,
        failure: @escaping @Sendable () -> TestingFailure
    ) async throws {
        let waiting = Locked<CheckedContinuation<Void, any Error>?>(nil)
        @Sendable func end(_ result: Result<Void, any Error>) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(with: result)
        }
        let tasks = Locked<[Task<Void, Never>]>([])
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0 = continuation }
                let work = Task {
                    do {
                        try await body(subject)
                        end(.success(()))
                    } catch {
                        end(.failure(error))
                    }
                    tasks.withLock { $0 }.last?.cancel()
                }
                let watch = Task {
                    guard (try? await Task.sleep(for: limit)) != nil else { return }
                    end(.failure(failure()))
                    work.cancel()
                }
                tasks.withLock { $0 = [work, watch] }
                // The work may have ended before it could cancel the watch.
                if waiting.withLock({ $0 == nil }) || Task.isCancelled {
                    work.cancel()
                    watch.cancel()
                }
            }
        } onCancel: {
            for task in tasks.withLock({ $0 }) { task.cancel() }
            end(.failure(CancellationError()))
        }
    }
}
