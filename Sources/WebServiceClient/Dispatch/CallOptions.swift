/// What one call has of its own beside its arguments.
struct CallOptions: Sendable {
    /// Changes the request, after the client's preparers and before redirects.
    var prepare: (@Sendable (inout ServiceRequest) async throws -> Void)?
    /// The deadline of the whole call.
    var timeout: Duration?

    static let none = CallOptions()
}
