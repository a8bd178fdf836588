import WebServiceClient

/// Runs a body that must succeed although a time passes in it, with ever longer times until it does.
///
/// What else has to happen within that time (connecting, the next piece of a body) takes longer than it on a busy machine. A transport that
/// counts what it shouldn't fails with each of the times. Twice the longest one is less than what a request waits by itself.
func patiently(_ body: (Duration) async throws -> Void) async throws {
    for time in [Duration.milliseconds(300), .seconds(2), .seconds(8)] {
        do { return try await body(time) } catch is TestingFailure {} catch is TransportError {}
    }
    try await body(.seconds(20))
}
